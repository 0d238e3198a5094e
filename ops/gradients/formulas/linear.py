"""Gradients of matrix products."""

from __future__ import annotations

from typing import Final

from ...linear_algebra.contraction import contraction, dims_to_sum
from ...tensors.tensor import Tensor
from ..table.rows import Ints, Tensors, Wanted, aten, composite, conj, gradient, same_as


def turned(x: Tensor) -> Tensor:
    """The conjugate transposes of matrices."""
    return conj(x.transpose(-2, -1))


def _grouped(one: Tensor, other: Tensor, offs: Tensor | None, operand: Tensor) -> Tensor:
    """A product in groups, where the gradient may be more exact than the operands."""
    return aten._grouped_mm(one.to(operand.dtype), other.to(operand.dtype), offs)


def _times(g: Tensor, factor: float) -> Tensor:
    return g if factor == 1 else g * conj(factor)


def first_factor(g: Tensor, second: Tensor, columns: object = False) -> Tensor:
    """The gradient of the first factor of a product, by columns where that one was."""
    return (conj(second) @ g.t()).t() if columns else g @ turned(second)


def second_factor(g: Tensor, first: Tensor, columns: object = False) -> Tensor:
    """The gradient of the second factor of a product, by columns where that one was."""
    return (g.t() @ conj(first)).t() if columns else turned(first) @ g


gradient(
    "aten::mm",
    self=lambda g, mat2, self_columns: first_factor(g, mat2, self_columns),
    mat2=lambda g, self, mat2_columns: second_factor(g, self, mat2_columns),
)
gradient(
    "aten::bmm",
    self=lambda g, mat2: first_factor(g, mat2),
    mat2=lambda g, self: second_factor(g, self),
)
gradient(
    "aten::_grouped_mm",
    self=lambda g, mat2, offs: _grouped(g, mat2.mT, offs, mat2),
    mat2=lambda g, self, offs: _grouped(self.mT, g, offs, self),
)
gradient(
    "aten::mv",
    self=lambda g, vec: aten.outer(g, conj(vec)),
    vec=lambda g, self: aten.mv(conj(self.t()), g),
)
gradient(
    "aten::dot",
    self=lambda g, tensor: g * conj(tensor),
    tensor=lambda g, self: g * conj(self),
)
gradient(
    "aten::vdot",
    self=lambda g, other: conj(g) * other,
    other=lambda g, self: g * self,
)
gradient(
    "aten::addmm",
    self=lambda g, beta=1: _times(g, beta),
    mat1=lambda g, mat2, mat1_columns, alpha=1: _times(first_factor(g, mat2, mat1_columns), alpha),
    mat2=lambda g, mat1, mat2_columns, alpha=1: _times(second_factor(g, mat1, mat2_columns), alpha),
)
gradient(
    "aten::baddbmm",
    self=lambda g, beta=1: _times(g, beta),
    batch1=lambda g, batch2, alpha=1: _times(g @ turned(batch2), alpha),
    batch2=lambda g, batch1, alpha=1: _times(turned(batch1) @ g, alpha),
)
gradient(
    "aten::addbmm",
    self=lambda g, beta=1: _times(g, beta),
    batch1=lambda g, batch2, alpha=1: _times(g @ turned(batch2), alpha),
    batch2=lambda g, batch1, alpha=1: _times(turned(batch1) @ g, alpha),
)
gradient(
    "aten::addmv",
    self=lambda g, beta=1: _times(g, beta),
    mat=lambda g, vec, alpha=1: _times(aten.outer(g, conj(vec)), alpha),
    vec=lambda g, mat, alpha=1: _times(aten.mv(conj(mat.t()), g), alpha),
)
gradient(
    "aten::addr",
    self=lambda g, beta=1: _times(g, beta),
    vec1=lambda g, vec2, alpha=1: _times(aten.mv(g, conj(vec2)), alpha),
    vec2=lambda g, vec1, alpha=1: _times(aten.mv(g.t(), conj(vec1)), alpha),
)
gradient(
    "aten::outer",
    "aten::ger",
    self=lambda g, vec2: aten.mv(g, conj(vec2)),
    vec2=lambda g, self: aten.mv(g.t(), conj(self)),
    name="MulBackward0",
)


def _columns(batch: Tensor) -> Tensor:
    """The columns of all matrices of a batch as rows of one."""
    return batch.mT.flatten(0, -2)


def _left(g: Tensor, self_sizes: Ints, other: Tensor, self_columns: bool, wanted: Wanted) -> Tensor:
    """The gradient of the first factor of `matmul`."""
    if other.ndim == 1:
        if len(self_sizes) == 1:
            return g * conj(other)
        return g.unsqueeze(-1) * conj(other)
    if len(self_sizes) == 1:
        found = (g.unsqueeze(-2) @ turned(other)).squeeze(-2)
        return found.flatten(0, -2).sum([0]) if found.ndim > 1 else found
    if len(self_sizes) == 2 and other.ndim > 2 and wanted["other"]:
        return first_factor(_columns(g).t(), _columns(other).t(), self_columns)
    return first_factor(g, other, self_columns and other.ndim == 2)


def _right(
    g: Tensor, self: Tensor, other_sizes: Ints, other_columns: bool, wanted: Wanted
) -> Tensor:
    """The gradient of the second factor of `matmul`."""
    if self.ndim == 1:
        if len(other_sizes) == 1:
            return g * conj(self)
        if len(other_sizes) > 2 or other_columns:
            return (g.unsqueeze(-1) * conj(self).unsqueeze(-2)).mT
        return conj(self).unsqueeze(-1) * g.unsqueeze(-2)
    if len(other_sizes) == 1:
        columns = conj(self).flatten(0, -2)
        return aten.mv(columns.t(), g.reshape([-1]))
    if len(other_sizes) == 2 and self.ndim > 2:
        return second_factor(g.flatten(0, -2), self.flatten(0, -2), other_columns)
    if len(other_sizes) > 2 and self.ndim == 2 and wanted["self"]:
        return (g.mT @ conj(self)).mT  # batches are multiplied as one matrix of their columns
    return second_factor(g, self, other_columns)


_OF_RANKS: Final = {
    **{(1, 1): "DotBackward0", (2, 1): "MvBackward0"},
    **{(1, 2): "SqueezeBackward4", (2, 2): "MmBackward0"},
}


def _matmul_name(self: Tensor, other: Tensor) -> str:
    return _OF_RANKS.get((self._array.ndim, other._array.ndim), "UnsafeViewBackward0")


gradient("aten::matmul", self=_left, other=_right, name=_matmul_name)
same_as("aten::matmul", "aten::__matmul__")


def _rows(x: Tensor) -> Tensor:
    return x if x.ndim == 2 else x.reshape([-1, x.shape[-1]])


gradient(
    "aten::linear",
    input=lambda g, weight: g @ conj(weight) if weight.ndim > 1 else g.unsqueeze(-1) * conj(weight),
    weight=lambda g, input, weight_sizes: (
        _rows(g).t() @ conj(_rows(input))
        if len(weight_sizes) > 1
        else aten.mv(conj(_rows(input)).t(), g.reshape([-1]))
    ),
    bias=lambda g: g,
    name=lambda input, weight, bias=None: (
        ("AddmmBackward0" if bias is not None else "MmBackward0")
        if input._array.ndim == 2
        else "ViewBackward0"
        if bias is not None
        else "UnsafeViewBackward0"
    ),
)


def _chain(matrices: Tensors) -> Tensor:
    found = matrices[0]
    for matrix in matrices[1:]:
        found = found @ matrix
    return found


@composite("aten::linalg_multi_dot")
def multi_dot(tensors: Tensors) -> Tensor:
    """The product of all."""
    return _chain(tensors)


@composite("aten::chain_matmul")
def chain(matrices: Tensors) -> Tensor:
    """The product of all."""
    return _chain(matrices)


@composite("aten::tensordot")
def tensordot(self: Tensor, other: Tensor, dims_self: Ints, dims_other: Ints) -> Tensor:
    """A sum of products over pairs of dimensions, as a matrix product."""
    mine = [d % self.ndim for d in dims_self]
    theirs = [d % other.ndim for d in dims_other]
    rest = [d for d in range(self.ndim) if d not in mine]
    last = [d for d in range(other.ndim) if d not in theirs]
    count = 1
    for a, b in zip(mine, theirs, strict=True):
        if self.shape[a] != other.shape[b]:  # one of them is 1
            self = self.sum([a], True) if other.shape[b] == 1 else self
            other = other.sum([b], True) if self.shape[a] == 1 else other
        count *= self.shape[a]
    left = self.permute([*rest, *mine]).reshape([-1, count])
    right = other.permute([*theirs, *last]).reshape([count, -1])
    sizes = [self.shape[d] for d in rest] + [other.shape[d] for d in last]
    return (left @ right).reshape(sizes)


@composite("aten::inner")
def inner(self: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dimension."""
    if not self.ndim or not other.ndim:
        return self * other
    return tensordot(self, other, [-1], [-1])


@composite("aten::linalg_vecdot")
def vecdot(x: Tensor, y: Tensor, dim: int = -1) -> Tensor:
    """Sums of products of one's conjugate with the other."""
    product = conj(x) * y
    return product.sum([dim]) if product.ndim else product


@composite("aten::kron")
def kron(self: Tensor, other: Tensor) -> Tensor:
    """All products of elements."""
    ndim = max(self.ndim, other.ndim)
    a = [1] * (ndim - self.ndim) + list(self.shape)
    b = [1] * (ndim - other.ndim) + list(other.shape)
    left = self.reshape([n for s in a for n in (s, 1)])
    right = other.reshape([n for s in b for n in (1, s)])
    return (left * right).reshape([s * t for s, t in zip(a, b, strict=True)])


def _side(sizes: Ints, dim: int | None) -> int:
    """The dimension of vectors: the first of size 3, if none is given."""
    return list(sizes).index(3) if dim is None else dim


gradient(
    "aten::cross",
    "aten::linalg_cross",
    self=lambda g, self_sizes, other, dim=None: aten.linalg_cross(
        conj(other), g, dim=_side(self_sizes, dim)
    ),
    other=lambda g, self, dim=None: aten.linalg_cross(g, conj(self), dim=_side(self.shape, dim)),
    name="LinalgCrossBackward0",
)


@composite("aten::einsum", name="ViewBackward0")
def einsum(equation: str, tensors: Tensors) -> Tensor:
    """Sums of products named by letters, through products of aligned tensors."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    spare = [chr(c) for c in range(0x3B1, 0x3B1 + 24)]
    dots = max(
        (
            t.ndim - len(w.replace("...", ""))
            for t, w in zip(tensors, terms, strict=True)
            if "..." in w
        ),
        default=0,
    )
    expanded = []
    for tensor, term in zip(tensors, terms, strict=True):
        count = tensor.ndim - len(term.replace("...", ""))
        expanded.append(term.replace("...", "".join(spare[dots - count : dots])))
    if arrow:
        letters = list(right.replace("...", "".join(spare[:dots])))
    else:
        every = "".join(terms).replace("...", "")
        letters = spare[:dots] + sorted(c for c in set(every) if every.count(c) == 1)
    summed = [c for c in dict.fromkeys("".join(expanded)) if c not in letters]
    order = letters + summed
    found, *others = [
        _aligned(tensor, term, order) for tensor, term in zip(tensors, expanded, strict=True)
    ]
    counts = [sum(t.shape[dim] != 1 for t in (found, *others)) for dim in range(len(order))]
    for other in others:
        found = _contracted(found, other, counts, len(letters))
    dims = list(range(len(letters), len(order)))
    return found.sum(dims) if dims else found


def _contracted(left: Tensor, right: Tensor, counts: list[int], first: int) -> Tensor:
    """The product of two aligned tensors, summed over what no tensor after them has."""
    both, one, two = dims_to_sum(left.shape, right.shape, counts, first)
    left = left.sum(one, True) if one else left
    right = right.sum(two, True) if two else right
    if not both:
        return left * right
    way = contraction(left.shape, right.shape, both)
    a = left.permute(way.left).reshape(way.left_shape)
    b = right.permute(way.right).reshape(way.right_shape)
    product = b.bmm(a) if way.swapped else a.bmm(b)
    return product.reshape(way.shape).permute(way.back)


def _aligned(tensor: Tensor, term: str, order: list[str]) -> Tensor:
    """A tensor with its dimensions in an order, with size 1 where it has none."""
    letters = list(term)
    for letter in dict.fromkeys(term):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            tensor = tensor.diagonal(0, first, second)
            letters = [c for i, c in enumerate(letters) if i not in (first, second)] + [letter]
    here = [c for c in order if c in letters]
    tensor = tensor.permute([letters.index(c) for c in here])
    sizes = dict(zip(here, tensor.shape, strict=True))
    return tensor.reshape([sizes.get(c, 1) for c in order])
