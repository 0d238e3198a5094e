"""Gradients of Fourier transforms over several dimensions, and of complex products by `einsum`, in
forms of their own: the transform or product the other way, without the operators of which their
composites are made."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from ..formulas.spectral import OPPOSITE, counted_twice, dims_of, resized
from ..table.rows import Ints, Tensors, aten, conj, direct

TERMS = 2
"""Of products of more tensors the gradients are left to the composite."""


def _places(sizes: Ints, s: Ints | None, dim: Ints | None) -> tuple[list[int], list[int]]:
    """The dimensions that are transformed, and the sizes they are cut or filled to."""
    dims = [d % len(sizes) for d in dims_of(len(sizes), s, dim)]
    given = [-1] * len(dims) if s is None else list(s)
    return dims, [sizes[d] if n == -1 else n for d, n in zip(dims, given, strict=True)]


def _back(g: Tensor, sizes: Ints, dims: list[int], norm: str | None, other: str) -> Tensor:
    """The adjoint of a transform between complex numbers over all of some dimensions."""
    if not dims:
        return g
    return _resized(getattr(aten, other)(g, None, dims, OPPOSITE[norm]), sizes, dims)


def _resized(found: Tensor, sizes: Ints, dims: list[int]) -> Tensor:
    for d in dims:
        found = resized(found, sizes[d], d)
    return found


def _declare(kind: str, other: str) -> None:
    """The gradient of a transform between complex numbers: the other one."""

    @direct(f"aten::fft_{kind}2", f"aten::fft_{kind}n", of="self", of_operators=True)
    def other_way(
        g: Tensor, self_sizes: Ints, s: Ints | None, dim: Ints | None, norm: str | None
    ) -> tuple[Tensor]:
        dims, _ = _places(self_sizes, s, dim)
        return (_back(g, self_sizes, dims, norm, other),)


_declare("fft", "fft_ifftn")
_declare("ifft", "fft_fftn")


@direct("aten::fft_rfft2", "aten::fft_rfftn", of="self", of_operators=True)
def rfftn(
    g: Tensor,
    self_sizes: Ints,
    s: Ints | None,
    dim: Ints | None,
    norm: str | None,
) -> tuple[Tensor] | None:
    """The inverse transform of what was kept of the last dimension."""
    dims, (*_, n) = _places(self_sizes, s, dim)
    if len({*dims}) < len(dims):
        return None
    found = aten.fft_ifftn(resized(g, n, dims[-1]), None, dims, OPPOSITE[norm])
    return (_resized(found.real, self_sizes, dims),)


@direct("aten::fft_irfft2", "aten::fft_irfftn", of="self", of_operators=True)
def irfftn(
    g: Tensor, self_sizes: Ints, s: Ints | None, dim: Ints | None, norm: str | None
) -> tuple[Tensor] | None:
    """The transform, of whose last dimension one half counts for both."""
    dims, _ = _places(self_sizes, s, dim)
    if len({*dims}) < len(dims):
        return None
    found = counted_twice(
        aten.fft_rfftn(g, None, dims, OPPOSITE[norm]), g.shape[dims[-1]], dims[-1]
    )
    return (_resized(found, self_sizes, dims),)


@direct("aten::einsum", of="tensors", of_operators=True)
def einsum(g: Tensor, equation: str, tensors: Tensors) -> tuple[list[Tensor]] | None:
    """Products of the gradient with the other tensor's conjugate, of two complex tensors whose
    letters stand for one size each; real ones are left to the composite, which is written natively.
    """
    if len(tensors) != TERMS or any(each._array.dtype.kind != "c" for each in tensors):
        return None
    terms, arrow, result = equation.replace(" ", "").partition("->")
    left, comma, right = terms.partition(",")
    if not (arrow and comma) or "." in equation:
        return None
    sizes: dict[str, int] = {}
    for term, tensor in zip((left, right), tensors, strict=True):
        for letter, size in zip(term, tensor.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return None
    if any(len({*term}) < len(term) for term in (left, right, result)):
        return None
    if not ({*left} <= {*right, *result} and {*right} <= {*left, *result}):
        return None
    one, other = tensors
    return (
        [
            aten.einsum(f"{result},{right}->{left}", [g, conj(other)]),
            aten.einsum(f"{result},{left}->{right}", [g, conj(one)]),
        ],
    )
