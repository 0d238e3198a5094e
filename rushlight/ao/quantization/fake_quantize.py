"""Modules that round values as quantization would, for training with it."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from ...jit.decorators import export
from ...nn.modules.module import Module
from ...nn.state import Metadata, StateDict
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from ...ops.tensors.construct import finfo, iinfo, tensor
from ...ops.tensors.tensor import Tensor
from .observer import (
    AffineQuantizedObserverBase,
    FixedQParamsObserver,
    HistogramObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    ObserverBase,
    _PartialWrapper,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
)
from .observing import _with_args

__all__ = [
    "FakeQuantize",
    "FakeQuantizeBase",
    "FixedQParamsFakeQuantize",
    "FusedMovingAvgObsFakeQuantize",
    "default_affine_fixed_qparams_fake_quant",
    "default_dynamic_fake_quant",
    "default_embedding_fake_quant",
    "default_embedding_fake_quant_4bit",
    "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant",
    "default_fused_wt_fake_quant",
    "default_histogram_fake_quant",
    "default_per_channel_weight_fake_quant",
    "default_symmetric_fixed_qparams_fake_quant",
    "default_weight_fake_quant",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
]

_by_channels = eager_function("aten::fake_quantize_per_channel_affine")
_by_tensor = eager_function("aten::fake_quantize_per_tensor_affine")
_fused = eager_function("aten::fused_moving_avg_obs_fake_quant")

_CHANNEL_FLOAT: Final = QSCHEMES["per_channel_affine_float_qparams"]
_CHANNEL_SCHEMES: Final = (
    *(QSCHEMES["per_channel_affine"], QSCHEMES["per_channel_symmetric"]),
    _CHANNEL_FLOAT,
)
_TENSOR_SCHEMES: Final = (QSCHEMES["per_tensor_affine"], QSCHEMES["per_tensor_symmetric"])
_SYMMETRIC: Final = (QSCHEMES["per_tensor_symmetric"], QSCHEMES["per_channel_symmetric"])
_FLOAT32: Final = DTYPES["float32"]
_INT32: Final = DTYPES["int32"]
_INT64: Final = DTYPES["int64"]
_QINT8: Final = DTYPES["qint8"]
_QUINT8: Final = DTYPES["quint8"]
_UINT8: Final = DTYPES["uint8"]


def _is_per_channel(qscheme: QScheme) -> bool:
    return qscheme in _CHANNEL_SCHEMES


def _is_per_tensor(qscheme: QScheme) -> bool:
    return qscheme in _TENSOR_SCHEMES


def _is_symmetric_quant(qscheme: QScheme) -> bool:
    return qscheme in _SYMMETRIC


def _is_float_qparams(qscheme: QScheme) -> bool:
    return qscheme is _CHANNEL_FLOAT


class FakeQuantizeBase(ABC, Module):
    """What rounds values as quantization would; it can be switched off, as its observer can."""

    fake_quant_enabled: Tensor
    observer_enabled: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", tensor([1], dtype=_UINT8))
        self.register_buffer("observer_enabled", tensor([1], dtype=_UINT8))

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """The values, rounded."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: object) -> Any:
        """The scales and zero points that the values seen ask for."""

    @export
    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Round values from now on, or do not."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    @export
    def disable_fake_quant(self) -> None:
        """Give values back as they are from now on."""
        self.enable_fake_quant(False)

    @export
    def enable_observer(self, enabled: bool = True) -> None:
        """Take note of values from now on, or do not."""
        self.observer_enabled[0] = 1 if enabled else 0

    @export
    def disable_observer(self) -> None:
        """Keep scale and zero point as they are from now on."""
        self.enable_observer(False)

    @classmethod
    def with_args(cls, **kwargs: object) -> _PartialWrapper:
        """The class with some of its arguments."""
        return _with_args(cls, **kwargs)


class FakeQuantize(FakeQuantizeBase):
    """Rounds values to the numbers that an observer's range gives, and back to floats.

    Args:
        observer: a class of observers.
        quant_min, quant_max: the numbers to use; those of the observer unless both are given.
        observer_kwargs: arguments of the observer; `dtype`, `qscheme`, ...

    Raises:
        AssertionError: a range that is empty, or not in that of the dtype.
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        observer: Callable[..., Module] = MovingAverageMinMaxObserver,
        quant_min: int | None = None,
        quant_max: int | None = None,
        is_dynamic: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            dtype = observer_kwargs.get("dtype", _QUINT8)
            if hasattr(observer, "p"):
                given = getattr(observer.p, "keywords", {})
                dtype = given.get("dtype", dtype)
            _check_bounds(dtype, quant_min, quant_max)
            observer_kwargs.update({"quant_min": quant_min, "quant_max": quant_max})
        observer_kwargs["is_dynamic"] = is_dynamic
        self.activation_post_process = observer(**observer_kwargs)
        seen = self.activation_post_process
        self.quant_min = seen.quant_min
        self.quant_max = seen.quant_max
        self.is_dynamic = seen.is_dynamic
        zeros = _FLOAT32 if _is_float_qparams(seen.qscheme) else _INT32
        self.register_buffer("scale", tensor([1.0], dtype=_FLOAT32))
        self.register_buffer("zero_point", tensor([0], dtype=zeros))
        self.dtype: DType = seen.dtype
        self.qscheme: QScheme = seen.qscheme
        self.ch_axis: int = getattr(seen, "ch_axis", -1)
        if not (_is_per_channel(self.qscheme) or _is_per_tensor(self.qscheme)):
            raise AssertionError(
                "Only per channel and per tensor quantization are supported in fake quantize "
                f"got qscheme: {self.qscheme}"
            )
        self.is_per_channel = _is_per_channel(self.qscheme)

    @export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Tensor) -> Tensor:
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            scale, zero_point = self.calculate_qparams()
            scale = scale.to(self.scale.device)
            if self.scale.shape != scale.shape:
                self.scale.resize_(scale.shape)
                self.zero_point.resize_(zero_point.shape)
            self.scale.copy_(scale)
            self.zero_point.copy_(zero_point)
        if self.fake_quant_enabled[0] == 1:
            if self.is_per_channel:
                X = _by_channels(
                    X, self.scale, self.zero_point, self.ch_axis, self.quant_min, self.quant_max
                )
            else:
                X = _by_tensor(X, self.scale, self.zero_point, self.quant_min, self.quant_max)
        return X

    @export
    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, "
            f"observer_enabled={self.observer_enabled}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, dtype={self.dtype}, qscheme={self.qscheme}, "
            f"ch_axis={self.ch_axis}, scale={self.scale}, zero_point={self.zero_point}"
        )

    def _load_from_state_dict(
        self,
        state_dict: StateDict,
        prefix: str,
        local_metadata: Metadata,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for name in ("scale", "zero_point"):
            given = state_dict.get(prefix + name)
            if given is not None:  # as many channels as were seen there
                getattr(self, name).resize_(given.shape)
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)


def _check_bounds(dtype: DType, quant_min: int, quant_max: int) -> None:
    """Check that numbers fit into a dtype.

    Raises:
        AssertionError: they do not.
        TypeError: it is one of floats.
    """
    name = {"qint8": "int8", "quint8": "uint8", "qint32": "int32", "quint4x2": "uint8"}
    kind = DTYPES[name.get(dtype.name, dtype.name)]
    info = finfo(kind) if kind.name.startswith("float8") else iinfo(kind)
    if not info.min <= quant_min:
        raise AssertionError("quant_min out of bound")
    if not quant_max <= info.max:
        raise AssertionError("quant_max out of bound")


class FixedQParamsFakeQuantize(FakeQuantize):
    """Rounds values by a scale and a zero point that are known beforehand.

    Raises:
        AssertionError: the observer is not one of these.
    """

    def __init__(self, observer: Callable[..., Module]) -> None:
        super().__init__(observer=observer)
        if type(self.activation_post_process) is not FixedQParamsObserver:
            raise AssertionError(
                f"{type(self).__name__}'s observer must be a {FixedQParamsObserver.__name__}"
            )
        self._observer_ctr = observer
        self.scale = self.activation_post_process.scale
        self.zero_point = self.activation_post_process.zero_point

    @export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return self.scale, self.zero_point

    @export
    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, "
            f"observer_enabled={self.observer_enabled}, scale={self.scale}, "
            f"zero_point={self.zero_point}, dtype={self.dtype}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, qscheme={self.qscheme}"
        )


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """`FakeQuantize` by moving averages of the ends of the range, as one operator.

    Raises:
        AssertionError: another observer.
    """

    def __init__(
        self,
        observer: Callable[..., Module] = MovingAverageMinMaxObserver,
        quant_min: int = 0,
        quant_max: int = 255,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        seen = self.activation_post_process
        if not isinstance(
            seen, MovingAverageMinMaxObserver | MovingAveragePerChannelMinMaxObserver
        ):
            raise AssertionError(
                "Fused observer+fake_quant module only works with MovingAverageMinMaxObserver"
            )
        self.register_buffer("fake_quant_enabled", tensor([1], dtype=_INT64))
        self.register_buffer("observer_enabled", tensor([1], dtype=_INT64))
        self.is_symmetric_quant = _is_symmetric_quant(seen.qscheme)

    @export
    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, "
            f"observer_enabled={self.observer_enabled}, scale={self.scale}, "
            f"zero_point={self.zero_point}, dtype={self.dtype}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, qscheme={self.qscheme}, "
            f"reduce_range={self.activation_post_process.reduce_range}"
        )

    def forward(self, X: Tensor) -> Tensor:
        return _fused(
            X,
            self.observer_enabled,
            self.fake_quant_enabled,
            self.activation_post_process.min_val,
            self.activation_post_process.max_val,
            self.scale,
            self.zero_point,
            self.activation_post_process.averaging_constant,
            self.quant_min,
            self.quant_max,
            self.ch_axis,
            self.is_per_channel,
            self.is_symmetric_quant,
        )


# --------------------------------------------------------------------------- named ones

_AFFINE: Final = _TENSOR_SCHEMES[0]
_AROUND_0: Final = _TENSOR_SCHEMES[1]
_OF_CHANNELS: Final = _CHANNEL_SCHEMES[1]
_SMALLEST: Final = 2**-12
_MEAN: Final = MovingAverageMinMaxObserver
_MEANS: Final = MovingAveragePerChannelMinMaxObserver

default_fake_quant = FakeQuantize.with_args(
    observer=_MEAN,
    quant_min=0,
    quant_max=255,
    dtype=_QUINT8,
    qscheme=_AFFINE,
    reduce_range=True,
)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=_MEAN,
    quant_min=-128,
    quant_max=127,
    dtype=_QINT8,
    qscheme=_AROUND_0,
    reduce_range=False,
)
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=_MEAN,
    quant_min=0,
    quant_max=255,
    is_dynamic=True,
    dtype=_QUINT8,
    averaging_constant=1,
)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer
)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=_MEANS,
    quant_min=-128,
    quant_max=127,
    dtype=_QINT8,
    qscheme=_OF_CHANNELS,
    reduce_range=False,
    ch_axis=0,
)
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=_MEANS,
    qscheme=_CHANNEL_FLOAT,
    dtype=_QUINT8,
    quant_min=0,
    quant_max=255,
    ch_axis=0,
    averaging_constant=1,
)
default_embedding_fake_quant_4bit = FakeQuantize.with_args(
    observer=_MEANS,
    qscheme=_CHANNEL_FLOAT,
    ch_axis=0,
    dtype=DTYPES["quint4x2"],
    averaging_constant=1,
)
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver,
    quant_min=0,
    quant_max=255,
    dtype=_QUINT8,
    qscheme=_AFFINE,
    reduce_range=True,
)
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_MEAN, quant_min=0, quant_max=255, dtype=_QUINT8
)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_MEAN, quant_min=-128, quant_max=127, dtype=_QINT8, qscheme=_AROUND_0
)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_MEANS, quant_min=-128, quant_max=127, dtype=_QINT8, qscheme=_OF_CHANNELS
)
fused_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_MEAN,
    quant_min=-127,
    quant_max=127,
    dtype=_QINT8,
    qscheme=_AROUND_0,
    eps=_SMALLEST,
)
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_MEANS,
    quant_min=-127,
    quant_max=127,
    dtype=_QINT8,
    qscheme=_OF_CHANNELS,
    eps=_SMALLEST,
)


def _is_activation_post_process(module: object) -> bool:
    """Whether a module observes values or rounds them for show."""
    return isinstance(module, ObserverBase | AffineQuantizedObserverBase | FakeQuantizeBase)


# --------------------------------------------------------------------------- switches


def _switched(mod: object, name: str) -> None:
    """Call a switch of a module if it is a fake quantizer, scripted or not."""
    original = getattr(mod, "original_name", "")
    if isinstance(mod, FakeQuantizeBase) or original in (
        "FakeQuantize",
        "FixedQParamsFakeQuantize",
        "FusedMovingAvgObsFakeQuantize",
    ):
        getattr(mod, name)()


def disable_fake_quant(mod: object) -> None:
    """Switch rounding off; for `model.apply`."""
    _switched(mod, "disable_fake_quant")


def enable_fake_quant(mod: object) -> None:
    """Switch rounding on; for `model.apply`."""
    _switched(mod, "enable_fake_quant")


def disable_observer(mod: object) -> None:
    """Stop observing; for `model.apply`."""
    _switched(mod, "disable_observer")


def enable_observer(mod: object) -> None:
    """Observe again; for `model.apply`."""
    _switched(mod, "enable_observer")
