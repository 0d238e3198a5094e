"""The short-time Fourier transform of signals, and its inverse."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from ..kernels import of_floats, written_by_numpy
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import OperatorError
from ..memory.warned import warn_caller_once
from ..shapes.pad import pad
from ..shapes.shape import unfold
from ..table.pointwise import as_array
from ..table.promotion import kind
from ..table.table import operator
from .fourier import complex_of, to_real, transform, transform_real

_FLAGS = ("normalized", "onesided", "return_complex", "align_to_window")


def _check_window(call: _Call) -> None:
    if kind(call.signal.dtype) < 2:
        raise OperatorError(f"{call}: expected a tensor of floating point or complex values")
    if call.signal.ndim not in (1, 2):
        raise OperatorError(f"{call}: expected a 1D or 2D tensor")
    samples = call.signal.shape[-1]
    if not 0 < call.n_fft <= samples:
        raise OperatorError(f"{call}: expected 0 < n_fft < {samples}, but got n_fft={call.n_fft}")
    if call.hop <= 0:
        raise OperatorError(f"{call}: expected hop_length > 0, but got hop_length={call.hop}")
    _check_length(call.n_fft, call.length, call.window, call)


def _check_length(n_fft: int, length: int, window: Array | None, where: object) -> None:
    if not 0 < length <= n_fft:
        raise OperatorError(
            f"{where}: expected 0 < win_length <= n_fft, but got win_length={length}"
        )
    if window is not None and window.shape != (length,):
        raise OperatorError(
            f"{where}: expected a 1D window tensor of size equal to win_length={length}, "
            f"but got window with size {list(window.shape)}"
        )


class _Call(NamedTuple):
    """A call, which torch writes out before what is wrong."""

    signal: Array
    n_fft: int
    hop: int
    length: int
    window: Array | None
    flags: tuple[bool | None, ...]

    def __str__(self) -> str:
        """As torch does; flags are numbers there."""
        named = zip(_FLAGS, self.flags, strict=True)
        rest = ", ".join(f"{name}={'None' if flag is None else int(flag)}" for name, flag in named)
        word = dtype_of(self.signal).scalar_name
        sort = {"Float": "torch.FloatTensor", "Double": "torch.DoubleTensor"}.get(word, word)
        given = "None" if self.window is None else f"{sort}{{{list(self.window.shape)}}}"
        return (
            f"stft({sort}{list(self.signal.shape)}, n_fft={self.n_fft}, hop_length={self.hop}, "
            f"win_length={self.length}, window={given}, {rest}) "
        )


_TO_SUPPRESS: Final = (
    "To suppress this warning and use a rectangular window, explicitly set "
    "`window=torch.ones(n_fft, device=<device>)`."
)


def _whole_window(window: Array | None, n_fft: int, length: int, dtype: Dtype) -> Array | None:
    """The window with zeros on both sides to the transform's length; None for all ones."""
    if length == n_fft:
        return window
    given = np.ones(length, dtype) if window is None else window
    left = (n_fft - length) // 2
    return np.pad(given, (left, n_fft - length - left))


def _weighted(pieces: Array, window: Array) -> Array:
    """Pieces of a signal times a window."""
    found = of_floats("multiply", pieces, window) if pieces.dtype == window.dtype else None
    return as_array(pieces * window) if found is None else found


@operator(
    "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, "
    "bool? align_to_window=None) -> Tensor",
    autocast="full",
    out="",
    prepared=True,
)
def stft(
    self: Array,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Array | None,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> Array:
    """The transforms of overlapping pieces: frequencies times pieces."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    is_complex = self.dtype.kind == "c" or (window is not None and window.dtype.kind == "c")
    if return_complex is None and not is_complex:
        raise OperatorError(
            "stft requires the return_complex parameter be given for real inputs, and will "
            "further require that return_complex=True in a future PyTorch release."
        )
    flags = (normalized, onesided, return_complex, align_to_window)
    _check_window(_Call(self, n_fft, hop, length, window, flags))
    if window is None:
        written_by_numpy()  # a call that warns is done in full
        warn_caller_once(
            "A window was not provided. A rectangular window will be applied,which is known to "
            "cause spectral leakage. Other windows such as torch.hann_window or "
            "torch.hamming_window are recommended to reduce spectral leakage."
            f"{_TO_SUPPRESS}"
        )
    if onesided and is_complex:
        raise OperatorError("Cannot have onesided output if window or input is complex")
    batch = self if self.ndim == 2 else self[None]
    whole = _whole_window(window, n_fft, length, self.dtype)
    pieces = unfold(batch, 1, n_fft, hop)
    pieces = pieces if whole is None else _weighted(pieces, whole)
    norm = "ortho" if normalized else None
    half = not is_complex if onesided is None else onesided
    found = transform_real(pieces, 2, norm) if half else transform(pieces, 2, norm, True)
    found = found.swapaxes(1, 2)
    found = found if self.ndim == 2 else found[0]
    if return_complex is False:
        return np.stack([found.real, found.imag], -1)
    return found


@operator(
    "aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    'Tensor? window=None, bool center=True, str pad_mode="reflect", bool normalized=False, '
    "bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    autocast="full",
    first_in_python=True,
    out="",
    prepared=True,
)
def stft_centred(
    self: Array,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Array | None,
    center: bool,
    pad_mode: str,
    *rest: Any,
) -> Array:
    if center:
        wide = self.reshape((1,) * (3 - self.ndim) + self.shape)
        padded = as_array(pad(wide, [n_fft // 2, n_fft // 2], pad_mode, None))
        self = padded.reshape(padded.shape[-self.ndim :])
    return stft(self, n_fft, hop_length, win_length, window, *rest)


# --------------------------------------------------------------------------- the inverse


def _check_spectrum(self: Array, n_fft: int, hop: int, onesided: bool) -> None:
    if self.dtype.kind != "c":
        raise OperatorError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    where = f"istft({dtype_of(self).scalar_name}{list(self.shape)}, n_fft={n_fft}): "
    if not self.size:
        raise OperatorError(f"{where}input tensor cannot be empty.")
    if self.ndim not in (2, 3):
        raise OperatorError(f"{where}expected a tensor with 3 or 4 dimensions.")
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if self.shape[-2] != wanted:
        kind = "n_fft / 2 + 1" if onesided else "n_fft"
        raise OperatorError(
            f"{where}expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {kind} when onesided={'True' if onesided else 'False'}, but got "
            f"{self.shape[-2]}"
        )
    if hop <= 0:
        raise OperatorError(f"{where}expected hop_length > 0")


def _overlapped(pieces: Array, hop: int) -> Array:
    """The sum of pieces (batch, piece, place), each `hop` further than the one before; what comes
    first of pieces is added last, so that each sum goes through them in order."""
    batch, count, size = pieces.shape
    steps = -(-size // hop)
    total = np.zeros((batch, count + steps - 1, hop), pieces.dtype)
    for step in reversed(range(steps)):
        part = pieces[:, :, step * hop : (step + 1) * hop]
        total[:, step : step + count, : part.shape[2]] += part
    return total.reshape(batch, -1)[:, : (count - 1) * hop + size]


@operator(
    "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, "
    "int? length=None, bool return_complex=False) -> Tensor",
    out="",
)
def istft(
    self: Array,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Array | None,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> Array:
    """The signal whose short-time transform this is, by least squares (Griffin and Lim, 1984)."""
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    if window is None:
        warn_caller_once(
            "A window was not provided. A rectangular window will be applied.Please provide the "
            "same window used by stft to make the inversion lossless."
            f"{_TO_SUPPRESS}"
        )
    half = self.shape[-2] != n_fft if onesided is None else onesided
    _check_spectrum(self, n_fft, hop, half)
    _check_length(n_fft, size, window, "istft")
    spectrum = (self if self.ndim == 3 else self[None]).swapaxes(1, 2)
    real = spectrum.real.dtype
    whole = _whole_window(window, n_fft, size, real)
    weights = np.ones(n_fft, real) if whole is None else whole
    norm = "ortho" if normalized else None
    if return_complex:
        pieces = transform(spectrum, 2, norm, False)
    else:
        one_side = spectrum if half else spectrum[..., : n_fft // 2 + 1]
        pieces = to_real(one_side, 2, n_fft, norm)
    total = _overlapped(as_array(pieces * weights), hop)
    squares = np.broadcast_to(weights * weights, (1, spectrum.shape[1], n_fft))
    cover = _overlapped(squares, hop)
    found = _cut(total, cover, n_fft, center, length)
    wide = complex_of(real) if return_complex else real
    return (found if self.ndim == 3 else found[0]).astype(wide, copy=False)


def _cut(total: Array, cover: Array, n_fft: int, center: bool, length: int | None) -> Array:
    """The part of the signal that is wanted, divided by what the windows add up to."""
    start = n_fft // 2 if center else 0
    end = total.shape[1] - (n_fft // 2 if center else 0)
    if length is not None:
        end = start + length
    kept, weights = total[:, start:end], cover[:, start:end]
    if weights.size and np.abs(weights).min() <= 1e-11:
        raise OperatorError(
            "istft: window overlap add min: 1",
            headline="the windows do not cover the whole signal",
        )
    found = as_array(kept / weights)
    if length is not None and found.shape[1] < length:
        warn_caller_once(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings."
        )
        found = np.pad(found, ((0, 0), (0, length - found.shape[1])))
    return found
