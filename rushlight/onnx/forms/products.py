"""Products of matrices and vectors."""

from __future__ import annotations

from ..items import Item, Operand, Unsupported
from ..table import exports
from ..writer import Writer, is_number
from .arithmetic import scaled
from .reductions import norm_of

__all__ = ["linear"]


@exports("aten::matmul", "aten::mm", "aten::bmm", "aten::mv", "aten::dot")
@exports("aten::linalg_matmul")
def matmul(w: Writer, self: Item, other: Item) -> Item:
    return w.op("MatMul", w.tensor(self), w.tensor(other))


@exports("aten::inner")
def inner(w: Writer, self: Item, other: Item) -> Item:
    x, y = w.tensor(self), w.tensor(other)
    if w.rank(y) > 2:
        raise Unsupported("the second operand has more than two dimensions")
    return w.op("MatMul", x, w.transpose(y, [1, 0]) if w.rank(y) == 2 else y)


@exports("aten::linear")
def linear(w: Writer, input: Item, weight: Item, bias: Item = None) -> Item:
    x, matrix = w.tensor(input), w.tensor(weight)
    if w.rank(matrix) == 2 and x.shape is not None and len(x.shape) == 2:
        added = w.optional(bias)
        return w.op("Gemm", x, matrix, added, transB=1)
    turned = w.transpose(matrix, [1, 0]) if w.rank(matrix) == 2 else matrix
    found = w.op("MatMul", x, turned)
    return found if bias is None else w.op("Add", found, w.tensor(bias))


@exports("aten::addmm")
def addmm(w: Writer, self: Item, mat1: Item, mat2: Item, beta: Item = 1, alpha: Item = 1) -> Item:
    return _plus(w, self, matmul(w, mat1, mat2), beta, alpha)


def _plus(w: Writer, self: Item, product: Item, beta: Item, alpha: Item) -> Item:
    x, y = scaled(w, self, beta), scaled(w, product, alpha)
    if is_number(beta) and beta == 0:
        return y
    return w.op("Add", *w.common(x, y))


@exports("aten::addbmm")
def addbmm(w: Writer, self: Item, one: Item, two: Item, beta: Item = 1, alpha: Item = 1) -> Item:
    product = w.op("MatMul", w.tensor(one), w.tensor(two))
    return _plus(w, self, w.reduce("ReduceSum", product, [0], False), beta, alpha)


@exports("aten::baddbmm", "aten::addmv")
def baddbmm(w: Writer, self: Item, one: Item, two: Item, beta: Item = 1, alpha: Item = 1) -> Item:
    return _plus(w, self, matmul(w, one, two), beta, alpha)


@exports("aten::outer", "aten::ger")
def outer(w: Writer, self: Item, vec2: Item) -> Item:
    x, y = w.common(self, vec2)
    return w.op("Mul", w.unsqueeze(x, 1), w.unsqueeze(y, 0))


@exports("aten::einsum")
def einsum(w: Writer, equation: Item, tensors: Item, path: Item = None) -> Item:
    if not isinstance(equation, str) or not isinstance(tensors, list):
        raise Unsupported("an equation that only a run knows")
    return w.op("Einsum", *w.common(*tensors), equation=equation)


@exports("aten::bilinear")
def bilinear(w: Writer, input1: Item, input2: Item, weight: Item, bias: Item = None) -> Item:
    x, y, table = w.tensor(input1), w.tensor(input2), w.tensor(weight)
    letters = "abcdefgh"[: w.rank(x) - 1]
    found = w.op("Einsum", x, table, y, equation=f"{letters}i,kij,{letters}j->{letters}k")
    return found if bias is None else w.op("Add", found, w.tensor(bias))


@exports("aten::linalg_cross", "aten::cross")
def cross(w: Writer, self: Item, other: Item, dim: Item = None) -> Item:
    x, y = w.common(self, other)
    if dim is None:
        raise Unsupported("the dimension must be given")
    axis = w.axis(dim, w.rank(x))

    def turned(z: Operand, by: int) -> Operand:
        order = w.ints(*[(n + by) % 3 for n in range(3)])
        return w.op("Gather", z, order, axis=axis)

    one = w.op("Mul", turned(x, 1), turned(y, 2))
    return w.op("Sub", one, w.op("Mul", turned(x, 2), turned(y, 1)))


@exports("aten::cosine_similarity")
def cosine_similarity(w: Writer, x1: Item, x2: Item, dim: Item = 1, eps: Item = 1e-8) -> Item:
    x, y = w.common(x1, x2)
    axis = w.axis(dim, max(w.rank(x), w.rank(y)))
    least = w.tensor(eps, x.dtype)
    parts = []
    for each in (x, y):
        length = w.reduce("ReduceL2", each, [axis], True)
        parts.append(w.op("Div", each, w.op("Max", length, least)))
    return w.reduce("ReduceSum", w.op("Mul", *parts), [axis], False)


@exports("aten::pairwise_distance")
def pairwise_distance(
    w: Writer, x1: Item, x2: Item, p: Item = 2, eps: Item = 1e-6, keepdim: Item = False
) -> Item:
    x, y = w.common(x1, x2)
    gap = w.op("Add", w.op("Sub", x, y), w.tensor(eps, x.dtype))
    return norm_of(w, gap, w.real(p, "p"), [-1], keepdim is True)


@exports("aten::cdist")
def cdist(w: Writer, x1: Item, x2: Item, p: Item = 2, compute_mode: Item = None) -> Item:
    x, y = w.tensor(x1), w.tensor(x2)
    gap = w.op("Sub", w.unsqueeze(x, w.rank(x) - 1), w.unsqueeze(y, w.rank(y) - 2))
    return norm_of(w, gap, w.real(p, "p"), [-1], False)
