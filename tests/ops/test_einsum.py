"""Sums of products named by letters: values, and strides as in torch (those of one product)."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch

CASES = [
    ("ij,jk->ik", [(3, 4), (4, 5)], (5, 1)),
    ("ij,jk->ki", [(3, 4), (4, 5)], (3, 1)),
    ("bcwd,bcdh->bcwh", [(2, 3, 4, 5), (2, 3, 5, 6)], (72, 24, 6, 1)),
    ("ibnd,jbnd->bnij", [(4, 2, 3, 5), (6, 2, 3, 5)], (72, 24, 6, 1)),
    ("bij,bkj->ikb", [(2, 3, 4), (2, 5, 4)], (5, 1, 15)),
    ("nctkv,kvw->nctw", [(2, 3, 4, 2, 5), (2, 5, 5)], (60, 20, 5, 1)),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 5)], (75, 5, 25, 1)),
    ("abc,cd,de->abe", [(2, 3, 4), (4, 5), (5, 6)], (18, 6, 1)),
    ("bn,anm,bm->ba", [(2, 5), (3, 5, 4), (2, 4)], (3, 1)),
    ("ij,k->i", [(3, 4), (5,)], (1,)),
    ("aab,b->ab", [(3, 3, 4), (4,)], (4, 1)),
    ("ij,jk->ik", [(3, 0), (0, 5)], (5, 1)),
    ("ii->i", [(3, 3)], (4,)),
    ("ii", [(3, 3)], ()),
    ("i,i", [(3,), (3,)], ()),
]


@pytest.mark.parametrize(("equation", "shapes", "strides"), CASES)
def test_values_strides_and_gradients(
    equation: str, shapes: list[tuple[int, ...]], strides: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(*shape, dtype=torch.float64) for shape in shapes]
    wanted = np.einsum(equation, *[t.numpy() for t in tensors])
    found = torch.einsum(equation, *tensors)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    assert found.stride() == strides
    leaves = [t.clone().requires_grad_() for t in tensors]
    made = torch.einsum(equation, *leaves)
    np.testing.assert_allclose(made.detach().numpy(), wanted, atol=1e-12)
    if found.numel():
        weights = torch.randn(tuple(found.shape), dtype=torch.float64)
        (made * weights).sum().backward()
        step = 1e-6
        direction = torch.randn_like(tensors[0])
        moved = torch.einsum(equation, tensors[0] + step * direction, *tensors[1:])
        slope = ((moved - found) * weights).sum() / step
        np.testing.assert_allclose(float(slope), float((leaves[0].grad * direction).sum()), 1e-4)


def test_a_diagonal_is_a_view() -> None:
    x = torch.zeros(3, 3)
    torch.einsum("ii->i", x).fill_(1)
    assert x.tolist() == torch.eye(3).tolist()
    assert torch.einsum("ij->ji", x).stride() == (1, 3)


def test_whole_numbers_and_narrow_floats() -> None:
    whole = torch.einsum("ij->i", torch.ones(2, 3, dtype=torch.int32))
    assert whole.dtype == torch.int64
    assert whole.tolist() == [3, 3]
    narrow = torch.einsum("ij,j->i", torch.ones(2, 3).bfloat16(), torch.ones(3).bfloat16())
    assert narrow.dtype == torch.bfloat16
    assert narrow.tolist() == [3, 3]


def test_dtypes_may_differ_where_nothing_is_summed_over() -> None:
    a, b = torch.ones(3, 3), torch.ones(3, 3, dtype=torch.float64)
    for equation, other in (("ij,k->ijk", b[0]), ("ij,ij->ij", b), ("i,j->ji", b[0])):
        left = a if equation[1] == "j" else a[0]
        assert torch.einsum(equation, left, other).dtype == torch.float64
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        torch.einsum("ij,jk->ik", a, b)
    with pytest.raises(RuntimeError, match="expected scalar type Double but found Float"):
        torch.einsum("ij,jk->ki", a, b)  # the second operand comes first in the result


def test_numbers_in_place_of_letters() -> None:
    square, wide = torch.tensor([[1.0, 2], [3, 4]]), torch.ones(2, 3)
    assert torch.einsum(square, [0, 0]).item() == 5
    assert torch.einsum(square, [0, 0], [0]).tolist() == [1, 4]
    assert torch.einsum(wide, (51, 7), [7]).tolist() == [2, 2, 2]
    assert torch.einsum(wide, [Ellipsis, 1], [1, Ellipsis]).shape == (3, 2)
    for numbers in ([0, 52], [-1, 0], [2**70, 0]):
        with pytest.raises(ValueError, match="in subscript list is not within the valid range"):
            torch.einsum(wide, numbers)
    with pytest.raises(RuntimeError, match="subscript A is repeated for operand 0 but the sizes"):
        torch.einsum(wide, [0, 0])
    with pytest.raises(ValueError, match="must specify the equation string and at least one"):
        torch.einsum(wide)


@pytest.mark.parametrize("equation", ["i,j->ij", "i,j->ji", "ki,kj->kij", "ij,jk->ijk"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_nothing_is_summed_over_in_large_results(equation: str, dtype: torch.dtype) -> None:
    sizes = {"i": 120, "j": 90, "k": 3}
    left, right = equation.partition("->")[0].split(",")
    one, two = (
        (torch.randn([sizes[each] for each in labels]) * 9).to(dtype) for labels in (left, right)
    )
    made = torch.einsum(equation, one, two)
    wanted = torch.einsum(equation, one.double(), two.double())
    assert made.dtype == dtype
    assert made.stride() == wanted.stride()
    assert torch.allclose(made.double(), wanted, rtol=1e-6)
    for _ in range(4):
        assert torch.equal(torch.einsum(equation, one, two), made)


def test_later_calls_give_the_same_bits_and_strides() -> None:
    a, b, c = torch.randn(4, 5, 6), torch.randn(4, 6, 5), torch.randn(4, 6)
    calls = [("bij,bjk->bik", a, b), ("bij,bj->ib", a, c), ("bi,bj->bij", c, c), ("bij->bi", a)]
    calls += [("ij,jk->ki", a[0], b[0]), ("i,i->", c[0], c[1]), ("...ij,...jk->...ik", a, b)]
    for equation, *tensors in calls:
        first = torch.einsum(equation, *tensors)
        for _ in range(60):
            later = torch.einsum(equation, *tensors)
            assert torch.equal(later, first)
            assert later.stride() == first.stride()
    with pytest.raises(RuntimeError, match="does not broadcast"):
        torch.einsum("bij,bjk->bik", a, a)


@pytest.mark.parametrize(
    ("equation", "shapes", "told"),
    [
        ("...a,...a", [(2, 3, 4), (2, 4, 4)], "dimension 1 covered by ellipsis in operand 1has "),
        ("a...,...", [(5, 2, 3), (4,)], "dimension 0 covered by ellipsis in operand 1has size 4 "),
    ],
)
def test_sizes_behind_an_ellipsis_meet(
    equation: str, shapes: list[tuple[int, ...]], told: str
) -> None:
    with pytest.raises(RuntimeError, match=told + ".*does not broadcast with previously seen ell"):
        torch.einsum(equation, *map(torch.ones, shapes))
