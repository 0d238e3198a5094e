"""Fourier transforms, by ONNX's `DFT`; those over several dimensions are in `spelled.script`."""

from __future__ import annotations

from ..complex_parts import is_complex
from ..items import Item, Operand
from ..table import exports, exports_complex
from ..writer import INT, Writer
from . import arithmetic
from .complex_numbers import multiplied


def _input(w: Writer, item: Item) -> Operand:
    """A tensor of a transform: floats or complex."""
    x = w.tensor(item)
    return x if is_complex(x) else w.floating(x)


def _transformed(
    w: Writer, x: Operand, n: Item, dim: Item, *, inverse: bool = False, onesided: bool = False
) -> Operand:
    """ONNX's transform along a dimension, which divides by its length if it is the `inverse`."""
    rank = w.rank(x)
    axis = w.axis(dim, rank)
    parts = w.parts(x) if is_complex(x) else w.unsqueeze(x, rank)
    length = None if n is None else w.reshape(w.tensor(n, INT), [])
    dims: list[Item] = [*(x.shape or ()), 2]
    size = dims[axis] if n is None else n
    dims[axis] = size // 2 + 1 if onesided and isinstance(size, int) else None if onesided else size
    flags = {"inverse": int(inverse), "onesided": int(onesided)}
    place = None if w.opset < 20 else w.constant(axis, INT)
    older = axis if place is None else None
    return w.as_complex(w.op("DFT", parts, length, place, dims=dims, axis=older, **flags))


def _normed(w: Writer, made: Operand, count: Item, norm: Item, *, inverse: bool) -> Operand:
    """A transform of so many places with the factor that its norm asks for."""
    wanted = norm or "backward"
    if wanted == ("forward" if inverse else "backward"):
        power = 1.0 if inverse else 0.0
    elif wanted == "ortho":
        power = 0.5 if inverse else -0.5
    else:
        power = 0.0 if inverse else -1.0
    if not power:
        return made
    real_dtype = w.parts(made).dtype if is_complex(made) else made.dtype
    factor = w.op("Pow", w.tensor(count, real_dtype), w.constant(power, real_dtype))
    found: Operand = w.tensor((multiplied if is_complex(made) else arithmetic.mul)(w, made, factor))
    return found


def _count(w: Writer, x: Operand, n: Item, dim: Item) -> Item:
    return w.size(x, w.axis(dim, w.rank(x))) if n is None else n


@exports("aten::fft_fft")
@exports_complex("aten::fft_fft")
def fft(w: Writer, self: Item, n: Item = None, dim: Item = -1, norm: Item = None) -> Item:
    x = _input(w, self)
    return _normed(w, _transformed(w, x, n, dim), _count(w, x, n, dim), norm, inverse=False)


@exports("aten::fft_ifft")
@exports_complex("aten::fft_ifft")
def ifft(w: Writer, self: Item, n: Item = None, dim: Item = -1, norm: Item = None) -> Item:
    x = _input(w, self)
    made = _transformed(w, x, n, dim, inverse=True)
    return _normed(w, made, _count(w, x, n, dim), norm, inverse=True)


@exports("aten::fft_rfft")
def rfft(w: Writer, self: Item, n: Item = None, dim: Item = -1, norm: Item = None) -> Item:
    x = _input(w, self)
    made = _transformed(w, x, n, dim, onesided=True)
    return _normed(w, made, _count(w, x, n, dim), norm, inverse=False)


@exports("aten::fft_irfft")
@exports_complex("aten::fft_irfft")
def irfft(w: Writer, self: Item, n: Item = None, dim: Item = -1, norm: Item = None) -> Item:
    """The inverse of the spectrum that is meant: its other half mirrors what is there."""
    x = w.tensor(self, w.complex_of(_input(w, self).dtype))
    axis = w.axis(dim, w.rank(x))
    if n is None:
        n = arithmetic.mul(w, arithmetic.sub(w, w.size(x, axis), 1), 2)
    half = arithmetic.add(w, arithmetic.floor_divide(w, n, 2), 1)
    parts = _resized(w, w.parts(x), axis, half)
    rest = w.slice(parts, axis, arithmetic.sub(w, n, half), 0, -1)
    opposite = w.op("Mul", rest, w.constant([1, -1], parts.dtype))
    whole = w.as_complex(w.op("Concat", parts, opposite, axis=axis))
    made = w.halves(_transformed(w, whole, None, axis, inverse=True))[0]
    return _normed(w, made, n, norm, inverse=True)


def _resized(w: Writer, parts: Operand, axis: int, size: Item) -> Operand:
    """The first places of a dimension, and zeros behind them where there are fewer."""
    known = None if parts.shape is None else parts.shape[axis]
    if isinstance(known, int) and known == size:
        return parts
    kept = w.slice(parts, axis, 0, size)
    if isinstance(known, int) and isinstance(size, int) and known > size:
        return kept
    missing = arithmetic.sub(w, size, w.size(kept, axis))
    rank = w.rank(parts)
    pads: list[Item] = [0] * (2 * rank)
    pads[rank + axis] = missing
    dims: list[Item] = list(kept.shape or ())
    dims[axis] = size
    return w.op("Pad", kept, w.vector(pads), w.constant(0, parts.dtype), dims=dims)
