"""`torch.ao.quantization.observer`: all observers, and those that configurations name."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from ...jit.decorators import export
from ...jit.module import ScriptModule
from ...nn.modules.module import Module
from ...ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from ...ops.tensors.construct import tensor
from ...ops.tensors.tensor import Tensor
from .granularity import (
    Granularity,
    MappingType,
    PerAxis,
    PerBlock,
    PerGroup,
    PerRow,
    PerTensor,
    PerToken,
    TorchAODType,
    ZeroPointDomain,
    get_block_size,
)
from .histogram import HistogramObserver
from .observing import (
    EPS,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    UniformQuantizationObserverBase,
)
from .observing import _PartialWrapper as _PartialWrapper

__all__ = [
    "AffineQuantizedObserverBase",
    "FixedQParamsObserver",
    "Granularity",
    "HistogramObserver",
    "MappingType",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver",
    "ObserverBase",
    "PerAxis",
    "PerBlock",
    "PerChannelMinMaxObserver",
    "PerGroup",
    "PerRow",
    "PerTensor",
    "PerToken",
    "PlaceholderObserver",
    "RecordingObserver",
    "ReuseInputObserver",
    "TorchAODType",
    "UniformQuantizationObserverBase",
    "ZeroPointDomain",
    "default_affine_fixed_qparams_observer",
    "default_debug_observer",
    "default_dynamic_quant_observer",
    "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer",
    "default_float_qparams_observer",
    "default_float_qparams_observer_4bit",
    "default_histogram_observer",
    "default_observer",
    "default_per_channel_weight_observer",
    "default_placeholder_observer",
    "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer",
    "default_weight_observer",
    "get_block_size",
    "get_observer_state_dict",
    "load_observer_state_dict",
    "per_channel_weight_observer_range_neg_127_to_127",
    "weight_observer_range_neg_127_to_127",
]

_ObserverBase = UniformQuantizationObserverBase

_FLOAT32: Final = DTYPES["float32"]
_QINT8: Final = DTYPES["qint8"]
_QUINT8: Final = DTYPES["quint8"]
_TENSOR_AFFINE: Final = QSCHEMES["per_tensor_affine"]


class FixedQParamsObserver(ObserverBase):
    """A scale and a zero point that are known beforehand.

    Args:
        scale, zero_point: these.
        quant_min, quant_max: the numbers to use.
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: DType = _QUINT8,
        qscheme: QScheme = _TENSOR_AFFINE,
        quant_min: int = 0,
        quant_max: int = 255,
        is_dynamic: bool = False,
        **kwargs: object,
    ) -> None:
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.register_buffer("scale", tensor([scale], dtype=_FLOAT32))
        self.register_buffer("zero_point", tensor([zero_point], dtype=DTYPES["int32"]))
        self.dtype = dtype
        self.qscheme = qscheme

    def forward(self, X: Tensor) -> Tensor:
        return X

    @export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """Says what a value is to be quantized to, and looks at none.

    Args:
        custom_op_name: the operator that does it, if a special one.
        compute_dtype: deprecated; the dtype of dynamic quantization.
    """

    def __init__(
        self,
        dtype: DType = _FLOAT32,
        custom_op_name: str = "",
        compute_dtype: DType | None = None,
        quant_min: int | None = None,
        quant_max: int | None = None,
        qscheme: QScheme | None = None,
        eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = _TENSOR_AFFINE if qscheme is None else qscheme
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.eps = EPS if eps is None else eps
        self.custom_op = custom_op_name
        if compute_dtype is not None:
            gap = " " * 20
            warnings.warn(
                f"Please use `is_dynamic` instead of `compute_dtype`. {gap}`compute_dtype` will "
                f"be deprecated in a future release {gap}of PyTorch.",
                stacklevel=2,
            )

    def forward(self, x: Tensor) -> Tensor:
        return x

    @export
    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    @export
    def calculate_qparams(self) -> None:  # type: ignore[override]
        raise Exception("calculate_qparams should not be called for PlaceholderObserver")


class RecordingObserver(ObserverBase):
    """Keeps all values."""

    tensor_val: list[Tensor]

    def __init__(self, dtype: DType = _QUINT8) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val = []

    def forward(self, x: Tensor) -> Tensor:
        self.tensor_val.append(x.clone())
        return x

    @export
    def calculate_qparams(self) -> None:  # type: ignore[override]
        raise Exception("calculate_qparams should not be called for RecordingObserver")

    @export
    def get_tensor_value(self) -> list[Tensor]:
        """All values seen."""
        return self.tensor_val


class NoopObserver(ObserverBase):
    """Says what dtype values are to have, and looks at none.

    Args:
        custom_op_name: the operator that does it, if a special one.
    """

    def __init__(self, dtype: DType = DTYPES["float16"], custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        return x

    @export
    def calculate_qparams(self) -> None:  # type: ignore[override]
        raise Exception("calculate_qparams should not be called for NoopObserver")


class ReuseInputObserver(ObserverBase):
    """Says that what an operator gives is quantized as what it takes."""

    def __init__(self) -> None:
        super().__init__(_QUINT8, is_dynamic=False)

    def forward(self, x: Tensor) -> Tensor:
        return x

    @export
    def calculate_qparams(self) -> None:  # type: ignore[override]
        raise Exception("calculate_qparams should not be called for ReuseInputObserver")


class AffineQuantizedObserverBase(ABC, Module):
    """What observers of blocks of elements have in common; they give scales by `get_block_size`."""

    with_args = ObserverBase.with_args

    def __init__(
        self,
        mapping_type: MappingType,
        target_dtype: DType,
        granularity: Granularity,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float | None = None,
        scale_dtype: DType | None = None,
        zero_point_dtype: DType | None = None,
        preserve_zero: bool = True,
        zero_point_domain: ZeroPointDomain | None = ZeroPointDomain.INT,
        **kwargs: object,
    ) -> None:
        super().__init__()
        if granularity is None:
            raise AssertionError("granularity is None")
        if zero_point_domain is None:
            raise ValueError("Please use ZeroPointDomain.NONE instead of None")
        self.mapping_type = mapping_type
        self.target_dtype = target_dtype
        self.granularity = granularity
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.eps = eps
        self.scale_dtype = scale_dtype
        self.zero_point_dtype = zero_point_dtype
        self.preserve_zero = preserve_zero
        self.zero_point_domain = zero_point_domain
        vars(self).update(kwargs)

    @abstractmethod
    def forward(self, input: Tensor) -> Tensor:
        """Take note of values, and give them back."""

    @abstractmethod
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """The scales and zero points that the values seen ask for."""


# --------------------------------------------------------------------------- named ones


def _fixed(scale: float, zero_point: int) -> _PartialWrapper:
    return FixedQParamsObserver.with_args(
        scale=scale, zero_point=zero_point, dtype=_QUINT8, quant_min=0, quant_max=255
    )


_SMALLEST: Final = 2**-12
_AROUND_0: Final = QSCHEMES["per_tensor_symmetric"]
_OF_CHANNELS: Final = QSCHEMES["per_channel_symmetric"]
_BY_FLOATS: Final = QSCHEMES["per_channel_affine_float_qparams"]

default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(dtype=_QINT8, qscheme=_AROUND_0)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=_QINT8, qscheme=_AROUND_0, quant_min=-127, quant_max=127, eps=_SMALLEST
)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=_QINT8, qscheme=_OF_CHANNELS
)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=_QINT8, qscheme=_OF_CHANNELS, quant_min=-127, quant_max=127, eps=_SMALLEST
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=_QUINT8, quant_min=0, quant_max=255, is_dynamic=True
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=_QUINT8, qscheme=_BY_FLOATS, ch_axis=0
)
default_float_qparams_observer_4bit = PerChannelMinMaxObserver.with_args(
    dtype=DTYPES["quint4x2"], qscheme=_BY_FLOATS, ch_axis=0
)
default_fixed_qparams_range_neg1to1_observer = _fixed(2.0 / 256.0, 128)
default_fixed_qparams_range_0to1_observer = _fixed(1.0 / 256.0, 0)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver


def get_observer_state_dict(mod: Module) -> OrderedDict[str, Any]:
    """What the observers of a model have seen: those entries of its state."""
    word = "observer" if isinstance(mod, ScriptModule) else "activation_post_process"
    return OrderedDict((key, value) for key, value in mod.state_dict().items() if word in key)


def load_observer_state_dict(mod: Module, obs_dict: Mapping[str, object]) -> None:
    """Put what `get_observer_state_dict` gave into the observers of a model.

    Raises:
        RuntimeError: an observer's state does not fit.
    """
    for prefix, module in mod.named_modules():
        if not hasattr(module, "calculate_qparams"):
            continue
        lead = f"{prefix}." if prefix else ""
        own = {key[len(lead) :]: v for key, v in obs_dict.items() if key.startswith(lead)}
        module.load_state_dict(own, strict=False)
