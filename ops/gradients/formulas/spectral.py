"""Gradients of Fourier transforms."""

from __future__ import annotations

import numpy as np

from ...memory.dtype import DType
from ...tensors.tensor import Tensor
from ..table.rows import Ints, aten, composite, conj, gradient

gradient(
    "aten::_fft_c2c",
    self=lambda g, dim, normalization, forward: aten._fft_c2c(g, dim, normalization, not forward),
)


OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
"""How the transform in the other direction is scaled."""


def _adjoint_c2c(
    g: Tensor, self_sizes: Ints, self_dtype: DType, dim: int, norm: str | None, back: str
) -> Tensor:
    """The adjoint of a transform; of real numbers it is real before it is cut off."""
    found = getattr(aten, back)(g, None, dim, OPPOSITE[norm])
    return resized(found if self_dtype.is_complex else found.real, self_sizes[dim], dim)


def resized(x: Tensor, size: int, dim: int) -> Tensor:
    """Cut off, which is a copy, or filled with zeros."""
    now = x.shape[dim]
    if now >= size:
        return x if now == size else x.narrow(dim, 0, size).clone()
    shape = list(x.shape)
    shape[dim] = size - now
    return aten.cat([x, x.new_zeros(shape)], dim)


gradient(
    "aten::fft_fft",
    self=lambda g, self_sizes, self_dtype, dim, norm: _adjoint_c2c(
        g, self_sizes, self_dtype, dim, norm, "fft_ifft"
    ),
    name="FftC2CBackward0",
)
gradient(
    "aten::fft_ifft",
    self=lambda g, self_sizes, self_dtype, dim, norm: _adjoint_c2c(
        g, self_sizes, self_dtype, dim, norm, "fft_fft"
    ),
    name="FftC2CBackward0",
)


def _of_real(
    g: Tensor, self_sizes: Ints, self_dtype: DType, n: int | None, dim: int, norm: str | None
) -> Tensor:
    """The adjoint of keeping half of a transform."""
    whole = resized(g, self_sizes[dim] if n is None else n, dim)
    return _adjoint_c2c(whole, self_sizes, self_dtype, dim, norm, "fft_ifft")


gradient("aten::fft_rfft", self=_of_real, name="FftR2CBackward0")


def _of_half(g: Tensor, self_sizes: Ints, n: int | None, dim: int, norm: str | None) -> Tensor:
    """The adjoint of a transform of half a spectrum."""
    size = g.shape[dim]
    found = counted_twice(aten.fft_rfft(g, size, dim, OPPOSITE[norm]), size, dim)
    return resized(found, self_sizes[dim], dim)


def counted_twice(found: Tensor, size: int, dim: int) -> Tensor:
    """Half a spectrum of `size`, with what stands for both halves twice."""
    times = np.ones((found.shape[dim],) + (1,) * (found.ndim - dim % found.ndim))
    times[1 : (size + 1) // 2] = 2
    parts = aten.view_as_real(found)
    return aten.view_as_complex(parts * Tensor._of(times).to(parts.dtype))


gradient("aten::fft_irfft", self=_of_half, name="FftC2RBackward0")


def dims_of(rank: int, s: Ints | None, dim: Ints | None) -> list[int]:
    """The dimensions that are transformed: all, the last ones, or those that are said."""
    if dim is None:
        return list(range(rank)) if s is None else list(range(-len(s), 0))
    return list(dim)


def _declare(kind: str, first: str | None, last: str | None, each: str) -> None:
    """A transform over several dimensions, one after the other."""

    def transform(
        self: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
    ) -> Tensor:
        dims = dims_of(self.ndim, s, dim)
        if first is last is None and not self.dtype.is_complex:
            self = self.to(self.dtype.complex_form)
        sizes = [None] * len(dims) if s is None else [None if n == -1 else n for n in s]
        pairs = list(zip(dims, sizes, strict=True))
        if first is not None:
            d, n = pairs.pop()
            self = getattr(aten, first)(self, n, d, norm)
        end = pairs.pop() if last is not None else None
        for d, n in reversed(pairs):
            self = getattr(aten, each)(self, n, d, norm)
        if last is not None and end is not None:
            self = getattr(aten, last)(self, end[1], end[0], norm)
        return self

    composite(f"aten::fft_{kind}2", f"aten::fft_{kind}n")(transform)


_declare("fft", None, None, "fft_fft")
_declare("ifft", None, None, "fft_ifft")
_declare("rfft", "fft_rfft", None, "fft_fft")
_declare("irfft", None, "fft_irfft", "fft_ifft")


@composite("aten::fft_hfft", name="FftC2RBackward0")
def hfft(self: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real transform of half a signal."""
    return aten.fft_irfft(conj(self), n, dim, OPPOSITE[norm])


@composite("aten::fft_ihfft", name="ConjBackward0")
def ihfft(self: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Its inverse."""
    return conj(aten.fft_rfft(self, n, dim, OPPOSITE[norm]))


@composite("aten::fft_hfft2", "aten::fft_hfftn", name="FftC2RBackward0")
def hfftn(
    self: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Tensor:
    """The same over several dimensions."""
    before, dims, n, last = _but_last(self.ndim, s, dim)
    if n is not None and n // 2 + 1 < self.shape[last]:
        self = self if self.dtype.is_complex else self.to(self.dtype.complex_form)
        self = self.narrow(last, 0, n // 2 + 1)  # before the others are transformed, as in torch
    across = aten.fft_fftn(self, before, dims, norm) if dims else self
    return aten.fft_hfft(across, n, last, norm)


def _but_last(
    rank: int, s: Ints | None, dim: Ints | None
) -> tuple[Ints | None, list[int], int | None, int]:
    """Sizes and dimensions without the last ones, and these."""
    *dims, last = dims_of(rank, s, dim)
    if s is None:
        return None, dims, None, last
    return s[:-1], dims, None if s[-1] == -1 else s[-1], last


def _ihfftn_name(self: Tensor, s: Ints | None, dim: Ints, norm: object) -> str:
    return "ConjBackward0" if len(dims_of(self.ndim, s, dim)) == 1 else "FftC2CBackward0"


@composite("aten::fft_ihfft2", "aten::fft_ihfftn", name=_ihfftn_name)
def ihfftn(
    self: Tensor, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Tensor:
    """Their inverse."""
    before, dims, n, last = _but_last(self.ndim, s, dim)
    half = aten.fft_ihfft(self, n, last, norm)
    return aten.fft_ifftn(half, before, dims, norm) if dims else half


@composite("aten::stft")
def stft(
    self: Tensor, n_fft: int, hop_length: int | None, win_length: int | None, window: Tensor | None,
    normalized: bool, onesided: bool | None, return_complex: bool | None, center: bool = False,
    pad_mode: str = "reflect",
) -> Tensor:  # fmt: skip
    """The transforms of overlapping pieces."""
    single = self.ndim == 1
    x = self.unsqueeze(0) if single else self
    if center:
        x = aten.pad(x.unsqueeze(0), [n_fft // 2, n_fft // 2], pad_mode).squeeze(0)
    pieces = x.unfold(-1, n_fft, n_fft // 4 if hop_length is None else hop_length)
    if window is not None:
        left = (n_fft - window.shape[0]) // 2
        right = n_fft - window.shape[0] - left
        pieces = pieces * aten.constant_pad_nd(window, [left, right], 0)
    real = pieces._array.dtype.kind != "c"
    half = real if onesided is None else onesided
    norm = "ortho" if normalized else None
    found = (aten.fft_rfft if half and real else aten.fft_fft)(pieces, None, -1, norm)
    found = found.transpose(1, 2)
    found = found.squeeze(0) if single else found
    return aten.view_as_real(found) if return_complex is False else found


@composite("aten::istft", lays="by rows")
def istft(
    self: Tensor, n_fft: int, hop_length: int | None, win_length: int | None, window: Tensor | None,
    center: bool, normalized: bool, onesided: bool | None, length: int | None, return_complex: bool,
) -> Tensor:  # fmt: skip
    """The pieces of the signal, added where they overlap, by what their windows add up to."""
    single = self.ndim == 2
    spectrum = (self.unsqueeze(0) if single else self).transpose(1, 2)
    half = self.shape[-2] != n_fft if onesided is None else onesided
    norm = "ortho" if normalized else None
    if return_complex:
        pieces = aten.fft_ifft(spectrum, None, -1, norm)
    else:
        side = spectrum if half else spectrum.narrow(-1, 0, n_fft // 2 + 1)
        pieces = aten.fft_irfft(side, n_fft, -1, norm)
    weights = _padded_window(pieces, window, n_fft, n_fft if win_length is None else win_length)
    hop = n_fft // 4 if hop_length is None else hop_length
    total = _overlapped(pieces * weights, hop)
    cover = _overlapped((weights * weights).expand([1, *pieces.shape[1:]]), hop)
    start = n_fft // 2 if center else 0
    size = total.shape[1] - 2 * start
    kept = min(size if length is None else length, total.shape[1] - start)
    found = total.narrow(1, start, kept) / cover.narrow(1, start, kept)
    if length is not None and kept < length:
        found = aten.constant_pad_nd(found, [0, length - kept], 0)
    return found.squeeze(0) if single else found


def _padded_window(like: Tensor, window: Tensor | None, n_fft: int, size: int) -> Tensor:
    """The window, of ones if there is none, in the middle of a piece."""
    ones = aten.abs(like.detach()).new_ones([size]) if window is None else window
    left = (n_fft - size) // 2
    return aten.constant_pad_nd(ones, [left, n_fft - size - left], 0)


def _overlapped(pieces: Tensor, hop: int) -> Tensor:
    """The sum of pieces (batch, piece, place), each `hop` further than the one before."""
    batch, count, size = pieces.shape
    places = (np.arange(count)[:, None] * hop + np.arange(size)).ravel()
    total = pieces.new_zeros([batch, (count - 1) * hop + size])
    return total.index_add(1, Tensor._of(places), pieces.reshape([batch, -1]))
