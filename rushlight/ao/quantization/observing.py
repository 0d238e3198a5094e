"""What observers are, and those of least and greatest values."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

from ...jit.decorators import export
from ...nn.modules.module import Module
from ...nn.state import Metadata, StateDict
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from ...ops.tensors.construct import tensor
from ...ops.tensors.tensor import Tensor
from .ranges import (
    calculate_qmin_qmax,
    check_min_max_valid,
    fitting,
    middle_of,
    validate_qmin_qmax,
)

__all__ = [
    "EPS",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "UniformQuantizationObserverBase",
]

Made = Callable[..., object]

EPS: Final = 1.1920928955078125e-07
"""The least scale: what float32 adds to 1 at least."""

_aminmax = eager_function("aten::aminmax")
_empty = eager_function("aten::empty")
_flatten = eager_function("aten::flatten")
_max = eager_function("aten::maximum")
_min = eager_function("aten::minimum")

_torch = import_module(__name__.partition(".")[0])
"""The package itself: script takes constants from modules alone."""

_QUINT8: Final = DTYPES["quint8"]
_TENSOR_AFFINE: Final = QSCHEMES["per_tensor_affine"]
_TENSOR_SYMMETRIC: Final = QSCHEMES["per_tensor_symmetric"]
_CHANNEL_AFFINE: Final = QSCHEMES["per_channel_affine"]
_CHANNEL_SYMMETRIC: Final = QSCHEMES["per_channel_symmetric"]
_TAKEN: Final = (
    *("qint8", "quint8", "quint4x2", "qint32", "int8", "uint8", "int16", "int32"),
    *("float8_e5m2", "float8_e4m3fn", "uint16"),
)
_GAP: Final = " " * 20  # torch's sentences have their line breaks


class _PartialWrapper:
    """A class with some of its arguments, some of which are made anew each time."""

    __module__ = f"{__package__}.observer"

    def __init__(self, p: partial[object]) -> None:
        self.p = p
        self.callable_args: dict[str, Callable[[], object]] = {}

    def __call__(self, *args: object, **keywords: object) -> Any:
        made = {name: make() for name, make in self.callable_args.items() if name not in keywords}
        return self.p(*args, **keywords, **made)

    def __repr__(self) -> str:
        return f"{self.p!r}{self.callable_args!r}"

    def with_args(self, **kwargs: object) -> _PartialWrapper:
        """The same with more arguments."""
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs: Callable[[], object]) -> _PartialWrapper:
        """The same with more arguments that are made when they are needed."""
        return _with_callable_args(self, **kwargs)


def _with_args(cls_or_self: Made, /, **kwargs: object) -> _PartialWrapper:
    made = _PartialWrapper(partial(cls_or_self, **kwargs))
    if isinstance(cls_or_self, _PartialWrapper):
        made.callable_args = dict(cls_or_self.callable_args)
    return made


def _with_callable_args(cls_or_self: Made, /, **kwargs: Callable[[], object]) -> _PartialWrapper:
    if not isinstance(cls_or_self, _PartialWrapper):
        cls_or_self = _with_args(cls_or_self)
    made = _PartialWrapper(cls_or_self.p)
    made.callable_args = {**cls_or_self.callable_args, **kwargs}
    return made


class ObserverBase(ABC, Module):
    """What all observers are.

    Args:
        dtype: what values are to be quantized to.
        is_dynamic: by the range of each call, not by those seen before.
    """

    __module__ = f"{__package__}.observer"
    dtype: DType
    is_dynamic: bool

    def __init__(self, dtype: DType, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype = dtype
        self.is_dynamic = is_dynamic

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Take note of values, and give them back."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: object) -> Any:
        """The scales (float32) and zero points that the values seen ask for."""

    with_args = classmethod(_with_args)
    with_callable_args = classmethod(_with_callable_args)


class UniformQuantizationObserverBase(ObserverBase):
    """Observers of ranges that are divided evenly.

    Args:
        dtype: what values are to be quantized to.
        qscheme: how: of a tensor or of channels, around 0 or from end to end.
        reduce_range: leave one bit out.
        quant_min, quant_max: the numbers to use; those of the dtype unless both are given.
        factory_kwargs: `device` and `dtype` of the state.
        eps: the least scale.

    Raises:
        AssertionError: a dtype that values are not quantized to; a range without 0.
        NotImplementedError: a range of unsigned numbers around 0 that is to be reduced.
    """

    __module__ = f"{__package__}.observer"
    _version = 3
    eps: Tensor
    qscheme: QScheme
    quant_min: int
    quant_max: int

    def __init__(
        self,
        dtype: DType = _QUINT8,
        qscheme: QScheme = _TENSOR_AFFINE,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: object,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.qscheme = qscheme
        if reduce_range:
            warnings.warn(
                "Please use quant_min and quant_max to specify the range for observers. "
                f"{_GAP}reduce_range will be deprecated in a future release of PyTorch.",
                stacklevel=2,
            )
        self.reduce_range = reduce_range
        self.register_buffer("eps", tensor([eps], **(factory_kwargs or {})))
        if qscheme not in QSCHEMES.values():
            self._refuse_scheme()
        if dtype.name not in _TAKEN:
            kinds = ", ".join(f"torch.{name}" for name in _TAKEN)
            raise AssertionError(f"Default Observer only works for ({kinds}) data type")
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if quant_min is not None and quant_max is not None:
            validate_qmin_qmax(quant_min, quant_max)
        self.quant_min, self.quant_max = calculate_qmin_qmax(
            quant_min, quant_max, self.has_customized_qrange, dtype, reduce_range
        )

    def _refuse_scheme(self) -> None:
        """Raise NotImplementedError: not by this scheme."""
        raise NotImplementedError(f"{type(self).__name__}'s qscheme {self.qscheme!r} is none")

    def _refuse_dynamic(self, why: str = "") -> None:
        """Raise NotImplementedError: only over values seen before."""
        raise NotImplementedError(
            f"{type(self).__name__} doesn't support dynamic quantization{why}"
        )

    def _validate_qmin_qmax(self, quant_min: int, quant_max: int) -> None:
        validate_qmin_qmax(quant_min, quant_max)

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
        version = local_metadata.get("version")
        if version is None or version == 1:
            state_dict[f"{prefix}eps"] = tensor([EPS])  # those of the first version had none
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)

    @export
    def _calculate_qparams(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        if not check_min_max_valid(min_val, max_val):
            return tensor([1.0], device=min_val.device), tensor([0], device=min_val.device)
        kind = 0
        if (
            self.qscheme == _torch.per_tensor_symmetric
            or self.qscheme == _torch.per_channel_symmetric
        ):
            kind = 1
        elif self.qscheme == _torch.per_channel_affine_float_qparams:
            kind = 2
        is_unsigned = self.dtype == _torch.quint8 or self.dtype == _torch.uint8
        middle = middle_of(is_unsigned, self.quant_min, self.quant_max, self.has_customized_qrange)
        if self.dtype == _torch.uint16:
            middle = 32768
        scale, zero_point = fitting(
            min_val, max_val, self.quant_min, self.quant_max, self.eps, kind, middle
        )
        return scale.reshape([-1]), zero_point.reshape([-1])


class MinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest value seen, of all elements.

    Raises:
        NotImplementedError: a scheme of channels.
    """

    __module__ = f"{__package__}.observer"
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self,
        dtype: DType = _QUINT8,
        qscheme: QScheme = _TENSOR_AFFINE,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: object,
    ) -> None:
        if qscheme is not _TENSOR_AFFINE and qscheme is not _TENSOR_SYMMETRIC:
            raise NotImplementedError(self._schemes_taken(qscheme))
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        made = factory_kwargs or {}
        self.register_buffer("min_val", tensor(float("inf"), **made))
        self.register_buffer("max_val", tensor(float("-inf"), **made))
        if self.qscheme is _TENSOR_SYMMETRIC and reduce_range and dtype is _QUINT8:
            raise NotImplementedError(
                f"Cannot reduce range for symmetric{_GAP}{_GAP}quantization for quint8"
            )

    @classmethod
    def _schemes_taken(cls, qscheme: object) -> str:
        return (
            f"{cls.__name__}'s qscheme only support torch.per_tensor_symmetric {_GAP}"
            "and torch.per_tensor_affine."
        )

    def forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        low, high = _aminmax(x)
        self.min_val.copy_(_min(low, self.min_val))
        self.max_val.copy_(_max(high, self.max_val))
        return x_orig

    @export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return self._calculate_qparams(self.min_val, self.max_val)

    @export
    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    @export
    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        self.min_val.copy_(tensor(float("inf")))
        self.max_val.copy_(tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Moving averages of the least and the greatest value of each call.

    Args:
        averaging_constant: the share of each new call.

    Raises:
        NotImplementedError: a scheme of channels; dynamic, with a share other than 1.
    """

    __module__ = f"{__package__}.observer"

    def __init__(
        self,
        averaging_constant: float = 0.01,
        dtype: DType = _QUINT8,
        qscheme: QScheme = _TENSOR_AFFINE,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        self.averaging_constant = averaging_constant
        if is_dynamic and averaging_constant != 1:
            self._refuse_dynamic(f" for averaging constant of {averaging_constant}")
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )

    @classmethod
    def _schemes_taken(cls, qscheme: object) -> str:
        gap = _GAP[4:]
        return (
            f"{cls.__name__}'s qscheme only support {gap}torch.per_tensor_symmetric and "
            f"torch.per_tensor_affine. {gap}but got: {qscheme}"
        )

    def forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        low, high = _aminmax(x)
        if self.min_val != float("inf") or self.max_val != float("-inf"):
            low = self.min_val + self.averaging_constant * (low - self.min_val)
            high = self.max_val + self.averaging_constant * (high - self.max_val)
        self.min_val.copy_(low)
        self.max_val.copy_(high)
        return x_orig


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest value seen of each channel.

    Args:
        ch_axis: the dimension of channels.

    Raises:
        NotImplementedError: a scheme of tensors; dynamic.
    """

    __module__ = f"{__package__}.observer"
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self,
        ch_axis: int = 0,
        dtype: DType = _QUINT8,
        qscheme: QScheme = _CHANNEL_AFFINE,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, object] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: object,
    ) -> None:
        if qscheme is _TENSOR_AFFINE or qscheme is _TENSOR_SYMMETRIC:
            raise NotImplementedError(
                f"{type(self).__name__}'s qscheme only support {_GAP}"
                "torch.per_channel_symmetric, torch.per_channel_affine and "
                "torch.per_channel_affine_float_qparams."
            )
        if is_dynamic:
            self._refuse_dynamic()
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        made = factory_kwargs or {}
        self.ch_axis = ch_axis
        self.register_buffer("min_val", _empty([0], **made))
        self.register_buffer("max_val", _empty([0], **made))
        if self.qscheme is _CHANNEL_SYMMETRIC and reduce_range and dtype is _QUINT8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def forward(self, x_orig: Tensor) -> Tensor:
        return self._forward(x_orig)

    def _forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel() == 0:
            return x_orig
        low, high = self._ends(x_orig)
        if self.min_val.numel() > 0:
            low = _min(low, self.min_val)
            high = _max(high, self.max_val)
        self._keep(low, high)
        return x_orig

    def _ends(self, x_orig: Tensor) -> tuple[Tensor, Tensor]:
        """The least and the greatest value of each channel."""
        x = x_orig.detach().transpose(self.ch_axis, 0).to(self.min_val.dtype)
        low, high = _aminmax(_flatten(x, 1), dim=1)
        return low, high

    def _keep(self, low: Tensor, high: Tensor) -> None:
        self.min_val.resize_(low.shape)
        self.max_val.resize_(high.shape)
        self.min_val.copy_(low)
        self.max_val.copy_(high)

    @export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

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
        version = local_metadata.get("version")
        names = ("min_val", "max_val")
        if version is not None and version < 3:
            names = ("min_vals", "max_vals")  # what they were called
        for own, name in zip(("min_val", "max_val"), names, strict=True):
            given = state_dict.get(prefix + name)
            if given is None:
                given = state_dict.get(prefix + own)
            if given is not None:  # as many channels as were seen there
                getattr(self, own).resize_(given.shape)
                state_dict[prefix + own] = given
            elif strict:
                missing_keys.append(prefix + name)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, False, [], unexpected_keys, error_msgs
        )

    @export
    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        self.min_val.resize_([0])
        self.max_val.resize_([0])


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Moving averages of the least and the greatest value of each channel.

    Args:
        averaging_constant: the share of each new call.
        ch_axis: the dimension of channels.

    Raises:
        NotImplementedError: a scheme of tensors; dynamic.
    """

    __module__ = f"{__package__}.observer"

    def __init__(
        self,
        averaging_constant: float = 0.01,
        ch_axis: int = 0,
        dtype: DType = _QUINT8,
        qscheme: QScheme = _CHANNEL_AFFINE,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel() == 0:
            return x_orig
        low, high = self._ends(x_orig)
        if self.min_val.numel() > 0:
            low = self.min_val + self.averaging_constant * (low - self.min_val)
            high = self.max_val + self.averaging_constant * (high - self.max_val)
        self._keep(low, high)
        return x_orig
