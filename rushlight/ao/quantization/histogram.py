"""The observer that keeps a histogram, and looks for the range that loses least."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...jit.decorators import export, ignore
from ...nn.state import Metadata, StateDict
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from ...ops.tensors.construct import tensor
from ...ops.tensors.tensor import Tensor
from .observing import EPS, UniformQuantizationObserverBase

__all__ = ["HistogramObserver"]

_aminmax = eager_function("aten::aminmax")
_bincount = eager_function("aten::bincount")
_bucketize = eager_function("aten::bucketize")
_histc = eager_function("aten::histc")
_linspace = eager_function("aten::linspace")
_max = eager_function("aten::maximum")
_min = eager_function("aten::minimum")
_zeros = eager_function("aten::zeros")

_TENSOR_SCHEMES: Final = (QSCHEMES["per_tensor_affine"], QSCHEMES["per_tensor_symmetric"])
_QUINT8: Final = DTYPES["quint8"]
_STEP: Final = 1e-5
"""The share of the values that each step of the search leaves out on one side."""


class HistogramObserver(UniformQuantizationObserverBase):
    """A histogram of all values seen; values outside the range that loses least are cut.

    A histogram is widened when values outside it come: each bin is cut into 16 pieces, which go
    to the wider bins they lie in.

    Args:
        bins: of how many bins it is.

    Raises:
        NotImplementedError: a scheme of channels; dynamic.
    """

    __module__ = f"{__package__}.observer"
    histogram: Tensor
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self,
        bins: int = 2048,
        dtype: DType = _QUINT8,
        qscheme: QScheme = _TENSOR_SCHEMES[0],
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: object,
    ) -> None:
        if qscheme not in _TENSOR_SCHEMES:
            raise NotImplementedError(
                f"{type(self).__name__}'s qscheme only support torch.per_tensor_symmetric"
                f"{' ' * 21}and torch.per_tensor_affine."
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
        self.bins = bins
        self.register_buffer("histogram", _zeros([self.bins], **made))
        self.register_buffer("min_val", tensor(float("inf"), **made))
        self.register_buffer("max_val", tensor(float("-inf"), **made))
        self.dst_nbins: int = 2 ** (32 if dtype.name in ("qint32", "int32") else 8)
        self.upsample_rate = 16

    def forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach()
        low, high = _aminmax(x)
        if bool(low == float("-inf")) or bool(high == float("inf")):
            warnings.warn("torch.inf detected in input tensor, ignoring input", stacklevel=2)
            x = x[x.abs() != float("inf")]
            if x.numel() == 0:
                return x_orig
            low, high = _aminmax(x)
        if bool(self.min_val == float("inf")) and bool(self.max_val == float("-inf")):
            self.reset_histogram(x, low, high)
            return x_orig
        new_low = _min(low, self.min_val)
        new_high = _max(high, self.max_val)
        seen = _histc(x, self.bins, min=float(new_low), max=float(new_high))
        if bool(new_low == self.min_val) and bool(new_high == self.max_val):
            self.histogram.copy_(self.histogram + seen)
        else:
            self.histogram.copy_(
                self._combine_histograms(
                    self.histogram, self.min_val, self.max_val, seen, new_low, new_high
                )
            )
        self.min_val.copy_(new_low)
        self.max_val.copy_(new_high)
        return x_orig

    def reset_histogram(self, x: Tensor, min_val: Tensor, max_val: Tensor) -> None:
        """Begin anew with values between two ends."""
        self.min_val.copy_(min_val)
        self.max_val.copy_(max_val)
        self.histogram.copy_(_histc(x, self.bins, min=float(min_val), max=float(max_val)))

    def _combine_histograms(
        self,
        orig_hist: Tensor,
        orig_min: Tensor,
        orig_max: Tensor,
        update_hist: Tensor,
        update_min: Tensor,
        update_max: Tensor,
    ) -> Tensor:
        """The sum of two histograms, the second of which covers the first one's range."""
        if bool(orig_min == orig_max):
            place = _histc(
                orig_min.reshape([1]), self.bins, min=float(update_min), max=float(update_max)
            )
            return update_hist + place * orig_hist.sum()
        return update_hist + self._upscale_histogram(
            orig_hist, orig_min, orig_max, update_min, update_max
        )

    def _upscale_histogram(
        self,
        histogram: Tensor,
        orig_min: Tensor,
        orig_max: Tensor,
        update_min: Tensor,
        update_max: Tensor,
    ) -> Tensor:
        """The histogram over a wider range: pieces of bins go where their middles lie."""
        pieces = self.bins * self.upsample_rate
        width = (orig_max - orig_min) / pieces
        begins = _linspace(float(orig_min), float(orig_max), pieces + 1)[:-1]
        ends = _linspace(float(update_min), float(update_max), self.bins + 1)
        places = (_bucketize(begins + 0.5 * width, ends, right=True) - 1).clamp(0, self.bins - 1)
        shares = (histogram / self.upsample_rate).reshape([-1, 1])
        shares = shares.expand([-1, self.upsample_rate]).reshape([-1])
        return _bincount(places, shares, self.bins).to(histogram.dtype)

    def _compute_quantization_error(self, next_start_bin: int, next_end_bin: int) -> float:
        """The squared error if values outside these bins are cut, summed over all values."""
        counts = np.asarray(self.histogram.numpy(), np.float32)
        width = np.float32((self.max_val.item() - self.min_val.item()) / self.bins)
        return _error(counts, width, next_start_bin, next_end_bin, self.dst_nbins)

    @ignore
    def _non_linear_param_search(self) -> tuple[Tensor, Tensor]:
        """The ends of the range of least squared error that was found.

        From both ends inwards: the side is moved on which a step leaves out more bins; as soon
        as the error rises the search is over.
        """
        counts = np.asarray(self.histogram.numpy(), np.float32)
        low = self.min_val.numpy()
        width = np.float32((self.max_val.numpy() - low) / np.float32(self.bins))
        first, last = _search(counts, width, self.dst_nbins)
        return (
            tensor(float(low + width * np.float32(first))),
            tensor(float(low + width * np.float32(last + 1))),
        )

    @export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        if bool(self.min_val == float("inf")) and bool(self.max_val == float("-inf")):
            warnings.warn(
                "must run observer before calling calculate_qparams."
                "                                    Returning default scale and zero point ",
                stacklevel=2,
            )
            return tensor([1.0]), tensor([0])
        low, high = self._non_linear_param_search()
        return self._calculate_qparams(low, high)

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
        for name in ("min_val", "max_val"):
            given = state_dict.get(prefix + name)
            if given is not None and given.shape != getattr(self, name).shape:
                getattr(self, name).resize_(given.shape)  # old states have one element
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"


_Counts = npt.NDArray[np.float32]


def _error(counts: _Counts, width: np.float32, first: int, last: int, steps: int) -> float:
    """The squared error of a histogram whose bins [first, last] are divided into even steps.

    A bin's values lie evenly in it; each is taken to the middle of the step it lies in, those
    outside to the outermost ones.
    """
    step = np.float32(width * np.float32(last - first + 1) / np.float32(steps))
    if step == 0:
        return 0.0
    begins = (np.arange(len(counts), dtype=np.float32) - np.float32(first)) * width
    ends = begins + width
    lows = np.clip(np.floor(begins / step), 0, np.float32(steps - 1))
    highs = np.clip(np.floor(ends / step), 0, np.float32(steps - 1))
    half = step / np.float32(2)
    density = counts / width

    def squares(low: Any, high: Any) -> _Counts:
        """The integral of squares between two distances from the middle of a step."""
        made: _Counts = (density * (high * high * high - low * low * low)) / np.float32(3)
        return made

    total = squares(begins - (lows + np.float32(0.5)) * step, half)
    total = total + (highs - lows - 1) * squares(-half, half)
    total = total + squares(-half, ends - (highs * step + half))
    return float(total.sum())


def _search(counts: _Counts, width: np.float32, steps: int) -> tuple[int, int]:
    """The first and the last bin of the range that loses least."""
    sums = np.cumsum(counts, dtype=np.float32)
    total = np.float32(counts.sum())
    least, (first, last) = np.inf, (0, len(counts) - 1)
    left_out, kept = 0.0, 1.0
    while left_out < kept:
        lower, upper = left_out + _STEP, kept - _STEP
        left = int(np.searchsorted(sums, np.float32(lower) * total))
        left = min(max(left, first), last)
        right = int(np.searchsorted(sums, np.float32(upper) * total, side="right")) - 1
        right = max(min(right, last), first)
        if left - first > last - right:
            left_out, moved = lower, (left, last)
        else:
            kept, moved = upper, (first, right)
        if moved == (first, last):
            continue
        error = _error(counts, width, *moved, steps)
        if error > least:
            break
        least, (first, last) = error, moved
    return first, last
