"""Forms of products of matrices; see `forms.py`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..eager.aten import aten
from ..table.grad_mode import is_recording
from ..tensors.tensor import Tensor
from .forms import form_of

# --------------------------------------------------------------------------- products


@form_of("linear")
def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> object:
    if weight.dim() != 2 or (bias is not None and bias.dim() != 1) or not x.dim():
        return NotImplemented
    if bias is not None and x.dim() == 2:
        return aten.addmm(bias, x, aten.t(weight))
    if bias is not None and x.is_contiguous():
        flat = aten.view(x, [-1 if x.numel() else 0, x.shape[-1]])
        found = aten.addmm(bias, flat, aten.t(weight))
        return aten.view(found, [*x.shape[:-1], weight.shape[0]])
    found = aten.matmul(x, aten.t(weight))
    return found if bias is None else aten.add(found, bias)


@form_of("matmul")
def _matmul(a: Tensor, b: Tensor) -> object:
    match min(a.dim(), 3), min(b.dim(), 3):
        case 1, 1:
            return aten.dot(a, b)
        case 2, 1:
            return aten.mv(a, b)
        case 1, 2:
            return aten.squeeze(aten.mm(aten.unsqueeze(a, 0), b), 0)
        case 2, 2:
            return aten.mm(a, b)
        case (0, _) | (_, 0):
            return NotImplemented
    return _folded(a, b) if _folds(a, b) else _batched(a, b)


def _folds(a: Tensor, b: Tensor) -> bool:
    """Whether the larger operand is seen as one matrix, by torch's rule."""
    large, small = (a, b) if a.dim() >= b.dim() else (aten.mT(b), a)
    if large.dim() < 3 or small.dim() > 2:
        return False
    if small.requires_grad and is_recording():
        return True
    if a.dim() == 2:
        return False
    steps, shape = large.stride(), large.shape
    return not large.numel() or all(
        steps[d] == steps[d + 1] * shape[d + 1] for d in range(large.dim() - 2)
    )


def _folded(a: Tensor, b: Tensor) -> Tensor:
    turned = a.dim() < b.dim()
    large, small = (aten.mT(b), a if a.dim() == 1 else aten.t(a)) if turned else (a, b)
    shape = list(large.shape[:-1])
    flat = aten.reshape(large, [prod(shape), large.shape[-1]])
    if small.dim() == 1:
        return aten._unsafe_view(aten.mv(flat, small), shape)
    found = aten._unsafe_view(aten.mm(flat, small), [*shape, small.shape[1]])
    return aten.mT(found) if turned else found


def _batched(a: Tensor, b: Tensor) -> Tensor:
    n = a.shape[-2] if a.dim() > 1 else 1
    p = b.shape[-1] if b.dim() > 1 else 1
    left, right = list(a.shape[:-2]), list(b.shape[:-2])
    rank = max(len(left), len(right))
    pairs = zip([1] * (rank - len(left)) + left, [1] * (rank - len(right)) + right, strict=True)
    batch = [y if x == 1 else x for x, y in pairs]
    count, k, rows = prod(batch), a.shape[-1], b.shape[-2] if b.dim() > 1 else b.shape[0]
    one = aten.reshape(aten.expand(a, [*batch, n, k]), [count, n, k])
    if b.dim() == 1:
        other = aten.reshape(aten.expand(aten.unsqueeze(b, 1), [*batch, rows, 1]), [count, rows, 1])
    else:
        other = aten.reshape(aten.expand(b, [*batch, rows, p]), [count, rows, p])
    ends = [*([n] if a.dim() > 1 else []), *([p] if b.dim() > 1 else [])]
    return aten._unsafe_view(aten.bmm(one, other), [*batch, *ends])


@form_of("outer", "ger")
def _outer(a: Tensor, b: Tensor) -> object:
    if a.dim() != 1 or b.dim() != 1:
        return NotImplemented
    return aten.mul(aten.view(a, [a.shape[0], 1]), b)


@form_of("einsum")
def _einsum(equation: str, operands: Sequence[Tensor], path: object) -> object:
    """Two operands by one product of batches of matrices."""
    inputs, arrow, result = equation.replace(" ", "").partition("->")
    names = inputs.split(",")
    if len(operands) != 2 or "." in equation or not arrow:
        return NotImplemented
    if any(
        len(set(n)) != len(n) or len(n) != x.dim() for n, x in zip(names, operands, strict=True)
    ):
        return NotImplemented
    sizes: dict[str, int] = {}
    for name, x in zip(names, operands, strict=True):
        for letter, size in zip(name, x.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return NotImplemented
    one, other = names
    both = [c for c in one if c in other]
    if not set(result) <= set(sizes) or any(
        c not in result
        for name, else_ in ((one, other), (other, one))
        for c in name
        if c not in else_
    ):
        return NotImplemented
    batch = [c for c in both if c in result]
    summed = [c for c in both if c not in result]
    left = [c for c in one if c not in other]
    right = [c for c in other if c not in one]

    def count(letters: Sequence[str]) -> int:
        return prod(sizes[c] for c in letters)

    a = aten.permute(operands[0], [one.index(c) for c in (*batch, *left, *summed)])
    b = aten.permute(operands[1], [other.index(c) for c in (*batch, *summed, *right)])
    a = aten.reshape(a, [count(batch), count(left), count(summed)])
    b = aten.reshape(b, [count(batch), count(summed), count(right)])
    order = [*batch, *left, *right]
    made = aten.view(aten.bmm(a, b), [sizes[c] for c in order])
    return aten.permute(made, [order.index(c) for c in result])


@form_of("tensordot")
def _tensordot(a: Tensor, b: Tensor, of_a: Sequence[int], of_b: Sequence[int]) -> object:
    one, other = ([d % x.dim() for d in dims] for x, dims in ((a, of_a), (b, of_b)))
    if any(a.shape[c] != b.shape[d] for c, d in zip(one, other, strict=True)):
        return NotImplemented
    left = [d for d in range(a.dim()) if d not in one]
    right = [d for d in range(b.dim()) if d not in other]
    summed = prod(a.shape[d] for d in one)
    rows, columns = [a.shape[d] for d in left], [b.shape[d] for d in right]
    p = aten.reshape(aten.permute(a, [*left, *one]), [prod(rows), summed])
    q = aten.reshape(aten.permute(b, [*other, *right]), [summed, prod(columns)])
    return aten.view(aten.mm(p, q), [*rows, *columns])
