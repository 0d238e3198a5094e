"""Sparse tensors: what they hold, what is computed of them, and what is refused."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.serialization.files.errors import ArchiveError


def _example() -> Any:
    return torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))


def test_what_they_are() -> None:
    s = _example()
    assert isinstance(s, torch.Tensor)
    assert (s.layout, s.is_sparse, s.is_sparse_csr) == (torch.sparse_coo, True, False)
    assert (tuple(s.shape), s.numel(), s.dim(), len(s), s._nnz()) == ((2, 3), 6, 2, 2, 3)
    assert (s.sparse_dim(), s.dense_dim(), s.is_coalesced()) == (2, 0, False)
    assert s.to_dense().tolist() == [[0, 0, 3], [4, 0, 5]]
    rows = s.to_sparse_csr()
    assert (rows.layout, rows.is_sparse, rows.is_sparse_csr) == (torch.sparse_csr, False, True)
    assert rows.crow_indices().tolist() == [0, 1, 3]
    assert rows.col_indices().tolist() == [2, 0, 2]
    assert rows.t().layout is torch.sparse_csc
    assert torch.sparse_coo_tensor((2, 3)).to_dense().tolist() == [[0.0] * 3] * 2
    assert s.type() == "torch.sparse.FloatTensor"


def test_how_they_are_printed() -> None:
    s = _example()
    assert repr(s) == (
        "tensor(indices=tensor([[0, 1, 1],\n"
        "                       [2, 0, 2]]),\n"
        "       values=tensor([3., 4., 5.]),\n"
        "       size=(2, 3), nnz=3, layout=torch.sparse_coo)"
    )
    assert repr(torch.eye(3).double().to_sparse_csr()) == (
        "tensor(crow_indices=tensor([0, 1, 2, 3]),\n"
        "       col_indices=tensor([0, 1, 2]),\n"
        "       values=tensor([1., 1., 1.]), size=(3, 3), nnz=3, dtype=torch.float64,\n"
        "       layout=torch.sparse_csr)"
    )
    assert "size=(2, 0)" in repr(torch.zeros_like(s))


def test_places_named_twice_are_added() -> None:
    s = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (1, 2))
    assert s.coalesce().values().tolist() == [3]
    assert s.to_dense().tolist() == [[0, 3]]
    with pytest.raises(RuntimeError, match=r"please call \.coalesce"):
        s.indices()


_MATRICES = st.lists(
    st.lists(st.integers(-3, 3).map(float), min_size=4, max_size=4), min_size=4, max_size=4
)


@settings(max_examples=12, deadline=None)
@drawn(_MATRICES, _MATRICES)
def test_results_are_those_of_dense_tensors(a: list[list[float]], b: list[list[float]]) -> None:
    x, y = torch.tensor(a), torch.tensor(b)
    for layout in (torch.sparse_coo, torch.sparse_csr):
        s, other = x.to_sparse(layout=layout), y.to_sparse(layout=layout)
        pairs = [
            *((s + other, x + y), (s - other, x - y), (s * other, x * y), (s * y, x * y)),
            *((s * 2, x * 2), (-s, -x), (s.sin(), x.sin()), (s / 4, x / 4), (s**2, x**2)),
            *((s @ y, x @ y), (s @ other, x @ y), (s @ y[0], x @ y[0]), (s.t(), x.t())),
            *((x @ other, x @ y), (y + s, y + x), (s.sum(), x.sum()), (s.abs(), x.abs())),
        ]
        pairs += [
            (s.sum(0), x.sum(0)),
            (torch.cat([s.to_sparse_coo()] * 2, 1), torch.cat([x, x], 1)),
        ]
        pairs += [(s.to_sparse_coo()[1], x[1]), (s.double(), x.double())]
        for found, wanted in pairs:
            dense = found.to_dense()
            assert dense.dtype is wanted.dtype
            assert torch.allclose(dense, wanted)
    places = torch.tensor([2, 0, 2])
    assert torch.equal(x.to_sparse().index_select(1, places).to_dense(), x.index_select(1, places))
    assert torch.equal(torch.stack([x.to_sparse()] * 2, 1).to_dense(), torch.stack([x, x], 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.bfloat16])
@pytest.mark.parametrize("recorded", [True, False])
def test_products_with_dense_matrices_in_every_layout(dtype: Any, recorded: bool) -> None:
    drawn = torch.Generator().manual_seed(5)
    places = torch.randint(0, 40, (2, 90), generator=drawn)  # some of them twice, some rows empty
    numbers = torch.randn(90, generator=drawn).to(dtype)
    wide = torch.randn(40, 33, generator=drawn).to(dtype)
    twice = torch.sparse_coo_tensor(places, numbers, (70, 40))
    whole = twice.to_dense()
    with torch.set_grad_enabled(recorded):
        for matrix in (twice, twice.coalesce(), twice.to_sparse_csr(), twice.to_sparse_csc()):
            near = {"rtol": 0.02, "atol": 0.05} if dtype is torch.bfloat16 else {"atol": 1e-5}
            for right in (wide, wide.t().contiguous().t(), wide[:, :1], wide[:, :0]):
                assert torch.allclose(matrix @ right, whole @ right, **near)
            assert torch.allclose(matrix.t() @ whole[:, :3], whole.t() @ whole[:, :3], **near)
            assert torch.allclose(matrix @ wide[:, 0], whole @ wide[:, 0], **near)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_products_give_gradients_to_both_sides(layout: Any) -> None:
    whole = torch.zeros(5, 4, dtype=torch.float64)
    whole[[0, 0, 3, 4, 4], [1, 3, 0, 1, 2]] = torch.tensor(
        [2.0, -1, 3, 0.5, 7], dtype=torch.float64
    )
    right = torch.arange(12.0, dtype=torch.float64).reshape(4, 3)
    shares = torch.arange(15.0, dtype=torch.float64).reshape(5, 3)

    def found(matrix: Any, factor: Any) -> tuple[Any, ...]:
        factor = factor.clone().requires_grad_()
        ((matrix @ factor) * shares).sum().backward()
        return factor.grad, matrix.grad

    ours = whole.to_sparse(layout=layout)
    same = whole.clone().requires_grad_()
    alone, _ = found(ours, right)
    both, own = found(ours.requires_grad_(), right)
    wanted, dense = found(same, right)
    assert torch.allclose(alone, wanted)
    assert torch.allclose(both, wanted)
    assert torch.allclose(own.to_dense(), dense * (whole != 0))
    assert torch.autograd.gradcheck(
        lambda x: whole.to_sparse(layout=layout) @ x, [right.clone().requires_grad_()]
    )


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_sums_and_products_at_the_same_places(layout: Any) -> None:
    whole = torch.tensor([[0.0, 2, 0], [3, 0, 4]])
    values = torch.tensor([2.0, 3.0, 4.0])
    one = whole.to_sparse(layout=layout)
    other = (whole * 10).to_sparse(layout=layout)
    elsewhere = torch.tensor([[1.0, 2, 0], [0, 0, 4]]).to_sparse(layout=layout)
    for second, dense in ((other, whole * 10), (elsewhere, elsewhere.to_dense())):
        assert torch.equal((one + second).to_dense(), whole + dense)
        assert torch.equal(torch.sub(one, second, alpha=2).to_dense(), whole - 2 * dense)
        assert torch.equal((one * second).to_dense(), whole * dense)
        assert (one + second).layout is layout
    made = one + one
    if layout is torch.sparse_coo:
        assert made.is_coalesced()
        made.indices().zero_()
    assert torch.equal(one.to_dense(), whole)
    grown = torch.sparse_coo_tensor([[0, 1, 1], [1, 0, 2]], values.requires_grad_(), (2, 3))
    grown = grown.coalesce()
    (grown * grown + grown).to_dense().sum().backward()
    assert values.grad.tolist() == [5.0, 7.0, 9.0]


def test_dtypes_of_products_of_single_elements() -> None:
    narrow = torch.tensor(3, dtype=torch.int8).to_sparse()
    wide = torch.tensor(5).to_sparse()
    for made in (narrow * wide, wide * narrow, wide * narrow.to_dense()):
        assert made.dtype is torch.int64
        assert made.to_dense().item() == 15
    assert (torch.eye(2, dtype=torch.int8).to_sparse() * wide).dtype is torch.int8


def test_numbers_meet_each_part_of_an_element() -> None:
    s = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0], (2, 2))
    two = torch.tensor(2.0)
    for made, parts in (
        *((each, [2.0, 4.0, 6.0]) for each in (s * 2, 2 * s, s * two, two.to_sparse() * s)),
        *((each, [0.5, 1.0, 1.5]) for each in (s / 2, s / two, s.clone().div_(2))),
        (-s, [-1.0, -2.0, -3.0]),
    ):
        assert not made.is_coalesced()
        assert made._values().tolist() == parts
    whole = torch.div(s, 2, rounding_mode="floor")
    assert whole._values().tolist() == [1.0, 1.0]  # of 3 / 2, not of 1 / 2 and of 2 / 2
    flags = torch.sparse_coo_tensor([[0, 0]], torch.tensor([True, True]), (1,))
    assert (flags * 2).to_dense().tolist() == [4]


def test_rows_made_of_coordinates_share_their_elements() -> None:
    s = _example().coalesce()
    rows, columns = s.to_sparse_csr(), s.to_sparse_csc()
    s.values()[0] = 7
    assert rows.values().tolist() == [7.0, 4.0, 5.0]
    assert columns.values().tolist() == [4.0, 3.0, 5.0]
    assert columns.row_indices().tolist() == [1, 0, 1]


@pytest.mark.parametrize("size", [3, 40])
def test_products_at_the_places_of_a_matrix(size: int) -> None:
    drawn = torch.Generator().manual_seed(2)
    a = torch.randn(size, 5, dtype=torch.float64, generator=drawn)
    b = torch.randn(5, 2 * size, dtype=torch.float64, generator=drawn)
    whole = torch.zeros(size, 2 * size, dtype=torch.float64)
    whole[[0, 1, 1, 2], [1, 0, 5, 2]] = 3.0
    kept = whole != 0

    def found(product: Any) -> tuple[Any, ...]:
        left, right = a.clone().requires_grad_(), b.clone().requires_grad_()
        made = product(left, right)
        (made * made).sum().backward()
        return made.detach(), left.grad, right.grad

    ours = found(
        lambda left, right: torch.sparse.sampled_addmm(
            whole.to_sparse_csr(), left, right, beta=0.5, alpha=2
        ).to_dense()
    )
    wanted = found(lambda left, right: (2 * (left @ right) + 0.5 * whole) * kept)
    for one, other in zip(ours, wanted, strict=True):
        assert torch.allclose(one, other)


def test_which_matrices_are_multiplied_at_places() -> None:
    rows = torch.eye(2, 3).to_sparse_csr()
    for left, right, said in (
        (torch.ones(2), torch.ones(4, 3), "Expected mat1 to be a matrix, got 1-D tensor"),
        (torch.ones(2, 4), torch.ones(5, 3), "cannot be multiplied (2x4 and 5x3)"),
        (torch.ones(3, 4), torch.ones(4, 3), "self.shape[-2] must match mat1.shape[-2]"),
        (torch.ones(2, 4), torch.ones(4, 2), "self.shape[-1] must match mat2.shape[-1]"),
        (torch.ones(2, 4).double(), torch.ones(4, 3), "same dtype, but got Double and Float"),
        (torch.ones(2, 4).int(), torch.ones(4, 3).int(), "and self to have the same dtype"),
    ):
        with pytest.raises(RuntimeError, match=re.escape(said)):
            torch.sparse.sampled_addmm(rows, left, right)


def test_gradients_of_values_and_of_leaves() -> None:
    values = torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
    s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], values, (2, 3))
    weights = torch.arange(6.0).reshape(3, 2).requires_grad_()
    (torch.sparse.mm(s, weights) ** 2).sum().backward()
    dense = torch.tensor([[0.0, 0, 3], [4, 0, 5]], requires_grad=True)
    same = torch.arange(6.0).reshape(3, 2).requires_grad_()
    ((dense @ same) ** 2).sum().backward()
    assert values.grad.tolist() == [dense.grad[0, 2], dense.grad[1, 0], dense.grad[1, 2]]
    assert torch.equal(weights.grad, same.grad)

    leaf = _example().requires_grad_()
    (leaf.to_dense() ** 2).sum().backward()
    assert leaf.grad.layout is torch.sparse_coo
    assert torch.equal(leaf.grad.to_dense(), 2 * leaf.to_dense().detach())


def test_values_that_are_looked_at_have_no_gradients() -> None:
    leaf = _example().requires_grad_()
    assert not leaf._values().requires_grad
    leaf._values().mul_(2)
    assert leaf._values().tolist() == [6, 8, 10]


def test_softmax_over_what_is_kept() -> None:
    dense = _example().to_dense()
    rows = torch.where(dense == 0, -torch.inf, dense).softmax(1)
    assert torch.allclose(torch.sparse.softmax(_example(), 1).to_dense(), rows)
    logs = torch.sparse.log_softmax(_example(), 1)
    assert torch.allclose(logs.coalesce().values().exp(), torch.tensor([1, rows[1, 0], rows[1, 2]]))


def test_what_has_no_form_is_refused_by_name() -> None:
    s = _example()
    for call, name in (
        (s.exp, "aten::exp"),
        (s.max, "aten::max"),
        (lambda: s + 1, "aten::add|sparse"),
        (lambda: torch.equal(s, s), "aten::equal"),
        (lambda: s.reshape(6), "aten::reshape"),
    ):
        with pytest.raises((NotImplementedError, RuntimeError, AttributeError), match=name):
            call()
    with pytest.raises(RuntimeError, match="Use add"):
        s + torch.ones(2, 3)
    with pytest.raises(TypeError, match="to_dense"):
        s.numpy()
    with pytest.raises(NotImplementedError, match="layout"):
        torch.ones(2, 2).to_sparse(layout=torch.sparse_bsr)
    with pytest.raises(RuntimeError, match="but got Strided"):
        torch.ones(2).coalesce()


def test_wrong_places_are_refused() -> None:
    for indices, values in (([[0, 5]], [1.0, 2.0]), ([[0, -1]], [1.0, 2.0])):
        s = torch.sparse_coo_tensor(indices, values, (3,))
        with pytest.raises((RuntimeError, IndexError)):
            s.coalesce()
        with pytest.raises((RuntimeError, IndexError)):
            torch.sparse_coo_tensor(indices, values, (3,), check_invariants=True)
    with pytest.raises(RuntimeError, match="same nnz"):
        torch.sparse_coo_tensor([[0, 1]], [1.0], (3,))
    for starts, inner in (
        ([0, 9, 2], [0, 1]),
        ([0, 1, 2], [0, 7]),
        ([1, 1, 2], [0, 1]),
        ([0], [0]),
    ):
        with pytest.raises(RuntimeError):
            torch.sparse_csr_tensor(starts, inner, [1.0, 2.0], (2, 2))


def test_in_place_and_copies() -> None:
    s = _example()
    twin, kept = copy.deepcopy(s), s.clone()
    assert s.mul_(2) is s
    assert s.to_dense().sum() == 2 * twin.to_dense().sum() == 2 * kept.sum()
    assert s.zero_()._nnz() == 0


def _pair(dtype: torch.dtype) -> torch.Tensor:
    return torch.sparse_coo_tensor([[0, 1]], torch.tensor([1, 2], dtype=dtype), (3,))


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_"])
def test_what_is_written_keeps_its_dtype(name: str) -> None:
    for own, other in ((torch.uint8, torch.int16), (torch.float32, torch.float64)):
        for s in (_pair(own), torch.ones(3, dtype=own)):
            wanted = getattr(torch.Tensor, name)(s.to_dense().clone(), _pair(other).to_dense())
            assert getattr(s, name)(_pair(other)) is s
            assert s.dtype is own
            assert torch.equal(s.to_dense(), wanted)
        with pytest.raises(RuntimeError, match=r"Float.* output .*Long"):
            getattr(_pair(torch.int64), name)(_pair(torch.float32))
        with pytest.raises(RuntimeError, match=r"Float.* output .*Long"):
            getattr(torch.ones(3, dtype=torch.int64), name)(_pair(torch.float32))
    with pytest.raises(RuntimeError, match=r"Float can't be cast .* Long"):
        _pair(torch.int64).div_(2)


def test_they_are_saved(tmp_path: Path) -> None:
    given = {
        "coo": _example().coalesce(),
        "csr": torch.eye(3).to_sparse_csr(),
        "again": [_example()],
    }
    torch.save(given, tmp_path / "sparse.pt")
    found = torch.load(tmp_path / "sparse.pt")
    assert found["coo"].is_coalesced()
    assert not found["again"][0].is_coalesced()
    assert repr(found) == repr(given)


def test_files_with_wrong_places_are_refused(tmp_path: Path) -> None:
    for broken in (
        torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0]),
        torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,), is_coalesced=True),
    ):
        own = broken.__dict__["parts"]
        (own.starts if hasattr(own, "starts") else own.indices).fill_(7)
        torch.save(broken, tmp_path / "broken.pt")
        with pytest.raises(ArchiveError, match="sparse"):
            torch.load(tmp_path / "broken.pt")


def test_diagonals() -> None:
    made = torch.sparse.spdiags(
        torch.arange(9).reshape(3, 3), torch.tensor([0, -1, 2]), (3, 3)
    ).to_dense()
    assert made.tolist() == [[0, 0, 8], [3, 1, 0], [0, 4, 2]]


def test_scripts_sum_sparse_tensors() -> None:
    def sums(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        sum = torch.sparse.sum
        return sum(x), sum(x, [0]).to_dense(), sum(x, [0, 1], torch.float64)

    scripted = torch.jit.script(sums)
    assert "torch._sparse_sum(x)" in scripted.code
    x = torch.tensor([[1.0, 0], [2, 3]]).to_sparse()
    assert [t.tolist() for t in scripted(x)] == [t.tolist() for t in sums(x)] == [6, [3, 3], 6]
    assert scripted(x)[2].dtype is torch.float64


def test_scripts_know_the_operators_of_sparse_tensors() -> None:
    @torch.jit.script
    def total(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        if x.is_sparse:
            x = x.coalesce()
            return torch.sparse.mm(x, w) * x.values().sum() * x.sparse_dim()
        if x.layout == torch.sparse_csr:
            w = w[x.col_indices()] * x.crow_indices()[-1]
        return x.to_dense() @ w

    assert total(torch.eye(2), torch.ones(2, 1)).tolist() == [[1.0], [1.0]]
    kinds = {node.kind() for node in total.graph.nodes()}
    assert "prim::If" in kinds
    for name in ("_sparse_mm", "coalesce", "values", "col_indices", "crow_indices", "to_dense"):
        assert f"aten::{name}(" in str(total.graph)


@pytest.mark.parametrize("name", ["_indices", "_values", "_nnz", "_dimI", "_dimV"])
def test_tensors_that_keep_all_elements_have_no_places(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"Could not run 'aten::{name}' with arguments"):
        getattr(torch.ones(2), name)()


def test_products_by_rows_are_reduced_as_told() -> None:
    by_rows = torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.0, 3.0]]).to_sparse_csr()
    w = torch.tensor([[1.0, -1.0], [2.0, 5.0]])
    names = ("sum", "mean", "amax", "max", "min")
    found = {name: torch.sparse.mm(by_rows, w, name).tolist() for name in names}
    assert found == {
        "sum": [[5.0, 9.0], [0.0, 0.0], [6.0, 15.0]],
        "mean": [[2.5, 4.5], [0.0, 0.0], [6.0, 15.0]],
        "amax": [[4.0, 10.0], [0.0, 0.0], [6.0, 15.0]],
        "max": [[4.0, 10.0], [0.0, 0.0], [6.0, 15.0]],
        "min": [[1.0, -1.0], [0.0, 0.0], [6.0, 15.0]],
    }
    with pytest.raises(RuntimeError, match="reduce type of prod has not been enabled"):
        torch.sparse.mm(by_rows, w, "prod")
    with pytest.raises(NotImplementedError, match="Could not run 'aten::_sparse_mm_reduce_impl'"):
        torch.sparse.mm(by_rows.to_dense(), w, "sum")


def test_row_numbers_and_where_rows_begin() -> None:
    starts = torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 1, 3]), 5)
    assert starts.tolist() == [0, 2, 3, 3, 4, 4]
    places = torch._convert_indices_from_csr_to_coo(starts[:-1], torch.tensor([0, 1, 1, 0]))
    assert places.tolist() == [[0, 0, 1, 3], [0, 1, 1, 0]]
    turned = torch._convert_indices_from_csr_to_coo(
        starts[:-1], torch.tensor([0, 1, 1, 0]), transpose=True, out_int32=True
    )
    assert (turned.tolist(), turned.dtype) == ([[0, 1, 1, 0], [0, 0, 1, 3]], torch.int32)
    with pytest.raises(RuntimeError, match="supposed to be a vector, but got 2 dimensional"):
        torch._convert_indices_from_coo_to_csr(torch.tensor([[0]]), 5)
    floats = torch.ones(2)
    with pytest.raises(NotImplementedError, match="not implemented for 'Float'"):
        torch._convert_indices_from_coo_to_csr(floats, 5)


def test_sizes_are_not_found_from_negative_places() -> None:
    with pytest.raises(RuntimeError, match="found negative index -3 for dim 1"):
        torch.sparse_coo_tensor(torch.tensor([[0], [-3]]), torch.ones(1))


def test_a_tensor_without_dimensions_at_the_places_of_a_sparse_one() -> None:
    whole = torch.tensor(5.0)
    kept = whole.sparse_mask(torch.tensor(True).to_sparse().coalesce())
    assert (kept._nnz(), kept.to_dense().item()) == (1, 5.0)
    none = whole.sparse_mask(torch.tensor(False).to_sparse().coalesce())
    assert (none._nnz(), none.to_dense().item()) == (0, 0.0)
    for dtype in (torch.bool, torch.int32, torch.float16):
        assert torch.ones((), dtype=dtype).to_sparse().to_dense().dtype is dtype


def test_scripts_name_tensors_of_blocks_and_calls_of_them_are_refused() -> None:
    @torch.jit.script
    def of_blocks(starts: torch.Tensor, inner: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        if values.dim() == 3:
            return torch.sparse_bsr_tensor(starts, inner, values, size=(2, 2), dtype=values.dtype)
        return torch.sparse_csr_tensor(starts, inner, values, size=(1, 1))

    starts, inner = torch.tensor([0, 1]), torch.tensor([0])
    assert "aten::sparse_bsr_tensor(" in str(of_blocks.graph)
    assert of_blocks(starts, inner, torch.ones(1)).to_dense().tolist() == [[1.0]]
    with pytest.raises(NotImplementedError, match="sparse_bsr_tensor: sparse tensors are kept by"):
        of_blocks(starts, inner, torch.ones(1, 2, 2))


def test_sums_are_sorted_where_both_are() -> None:
    sparse = torch.sparse_coo_tensor([[2, 0, 2]], [1.0, 2.0, 3.0], (4,))
    doubled = sparse + sparse
    assert (doubled.is_coalesced(), doubled._nnz()) == (False, 3)
    beside = sparse + torch.sparse_coo_tensor([[1]], [5.0], (4,))
    assert (beside.is_coalesced(), beside._nnz()) == (False, 4)
    assert beside.to_dense().tolist() == [2.0, 5.0, 4.0, 0.0]
    sorted_ = sparse.coalesce() + beside.coalesce()
    assert (sorted_.is_coalesced(), sorted_._nnz()) == (True, 3)
    table = torch.nn.Embedding(5, 2, sparse=True)
    for _ in range(2):
        table(torch.tensor([1, 2, 1])).sum().backward()
    assert not table.weight.grad.is_coalesced()
    assert table.weight.grad._indices().tolist() == [[1, 2, 1, 1, 2, 1]]


def test_signs_that_native_code_knows_are_those_of_sparse_and_meta_tensors_too() -> None:
    dense = torch.ones(3)
    for _ in range(300):
        dense.__neg__()
    assert (-dense.to_sparse()).to_dense().tolist() == [-1.0, -1.0, -1.0]
    assert (-dense.to("meta")).is_meta
    with pytest.raises(RuntimeError, match="Negation, the `-` operator, on a bool tensor"):
        -torch.tensor([True])


@pytest.mark.parametrize("name", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_sparse_tensors_without_elements_are_made_by_their_layout(name: str) -> None:
    layout = getattr(torch, name)
    for made in (
        torch.zeros(2, 3, layout=layout, dtype=torch.double),
        torch.empty([2, 3], layout=layout, dtype=torch.double),
        torch.zeros_like(torch.rand(2, 3, dtype=torch.double), layout=layout),
    ):
        assert (made.layout, tuple(made.shape), made.dtype) == (layout, (2, 3), torch.double)
        assert (made._nnz(), made.to_dense().tolist()) == (0, [[0.0] * 3] * 2)
    with pytest.raises(NotImplementedError, match="aten::ones"):
        torch.ones(2, 3, layout=layout)
    with pytest.raises(NotImplementedError, match="layout"):
        torch.zeros(2, 3, layout=torch.sparse_bsr)


def test_matrices_are_turned_by_their_properties() -> None:
    dense = torch.tensor([[0, 1 + 2j, 0], [3, 0, 0]])
    sparse = dense.to_sparse()
    for turned, wanted in ((sparse.mT, dense.mT), (sparse.mH, dense.mH), (sparse.H, dense.H)):
        assert turned.layout is torch.sparse_coo
        assert torch.equal(turned.to_dense(), wanted)
    assert torch.stack([sparse, sparse]).mT.shape == (2, 3, 2)
    assert torch.eye(3).to_sparse_csr().mT.layout is torch.sparse_csc
    with pytest.raises(RuntimeError, match="only supported on matrices or batches"):
        _ = torch.ones(3).to_sparse().mT
    with pytest.raises(RuntimeError, match=r"consider using tensor\.mH"):
        _ = torch.stack([sparse, sparse]).H
    real = torch.eye(2).to_sparse().requires_grad_()
    (real.mT.to_dense() * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert torch.equal(real.grad.to_dense(), torch.tensor([[1.0, 0.0], [0.0, 4.0]]))


def test_places_in_order_are_named_once_in_a_sum() -> None:
    a = torch.sparse_coo_tensor([[0, 2, 4]], [1.0, 2, 3], (6,))
    b = torch.sparse_coo_tensor([[0, 3, 4]], [10.0, 20, 30], (6,))
    for one, other in ((a, b), (a.coalesce(), b), (a, b.coalesce())):
        total = one + other
        assert not total.is_coalesced()
        assert total._indices().tolist() == [[0, 2, 3, 4]]
        assert total._values().tolist() == [11.0, 2.0, 20.0, 33.0]
    assert (a.coalesce() + b.coalesce()).is_coalesced()
    values = torch.tensor([1.0, 2.0], requires_grad=True)
    total = torch.sparse_coo_tensor([[0, 1]], values, (6,)) + a
    (total.to_dense() ** 2).sum().backward()
    assert values.grad.tolist() == [4.0, 4.0]


def test_a_walk_may_begin_with_a_sparse_gradient() -> None:
    sparse = torch.sparse_coo_tensor([[1, 1]], [1.0, 1.0], (2,))
    x = torch.tensor([1.5, 1.5], requires_grad=True)
    x.backward(sparse)
    assert x.grad.is_sparse
    assert x.grad.to_dense().tolist() == [0, 2]
    x.backward(torch.ones(2))
    assert x.grad.tolist() == [1, 3]
    (x * 2).backward(sparse)
    assert x.grad.to_dense().tolist() == [1, 7]
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        x.backward(torch.sparse_coo_tensor([[1]], [1.0], (3,)))


def test_factors_are_taken_in_the_dtype_in_which_both_meet() -> None:
    bytes_ = torch.tensor([1, 2, 3], dtype=torch.uint8).to_sparse()
    signed = torch.tensor([5, 0, -3], dtype=torch.int8)
    for first in (signed, signed.to_sparse()):
        made = torch.sub(first, bytes_).to_dense()
        assert (made.tolist(), made.dtype) == ([4, -2, -6], torch.int16)
        assert torch.add(first, bytes_, alpha=300).to_dense().tolist() == [305, 600, 897]
        with pytest.raises(RuntimeError, match="alpha must not be a floating point number"):
            torch.add(first, bytes_, alpha=0.5)
        with pytest.raises(RuntimeError, match="boolean negative"):
            torch.sub(first, bytes_, alpha=True)
        with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
            torch.sub(first, bytes_.bool())
    written = signed.clone()
    assert written.sub_(bytes_).tolist() == [4, -2, -6]
    assert signed.to_sparse().add_(bytes_, alpha=0.5).to_dense().tolist() == signed.tolist()


def test_what_is_wrong_with_a_matrix_is_said_in_torchs_words() -> None:
    checks = torch.sparse.check_sparse_tensor_invariants

    def made(starts: list[int], inner: list[int], **options: Any) -> Any:
        return torch.sparse_csr_tensor(starts, inner, [1.0, 2.0], (2, 2), **options)

    for starts, inner, said in (
        ([1, 2, 2], [0, 1], "`crow_indices[..., 0] == 0` is not satisfied."),
        ([0, 1, 3], [0, 1], "`crow_indices[..., -1] == nnz` is not satisfied."),
        ([0, 1, 2], [0, 3], "`0 <= col_indices < ncols` is not satisfied."),
        ([0, 2], [0, 1], "crow_indices.shape[-1] must be equal to the number of rows + 1 (=3)"),
    ):
        with pytest.raises(RuntimeError, match=re.escape(said)):
            made(starts, inner)
    assert made([0, 2, 2], [1, 0]).to_dense().tolist() == [[2, 1], [0, 0]]
    with pytest.raises(RuntimeError, match="are sorted and distinct"):
        made([0, 2, 2], [1, 0], check_invariants=True)
    checked = checks()(lambda: made([0, 2, 2], [1, 1]))
    with pytest.raises(RuntimeError, match="are sorted and distinct"):
        checked()
    assert not checks.is_enabled()
    with checks(), pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        torch.sparse_coo_tensor([[5]], [1.0], (3,))
    with checks(), pytest.raises(RuntimeError, match="found negative index -1 for dim 0"):
        torch.sparse_coo_tensor([[-1]], [1.0], (3,))


def test_a_watch_over_places_is_not_begun_twice() -> None:
    watch = torch.sparse.check_sparse_tensor_invariants()
    with watch, pytest.raises(RuntimeError, match="already activated"), watch:
        pass
    assert not torch.sparse.check_sparse_tensor_invariants.is_enabled()


def test_products_and_copies_with_other_tensors() -> None:
    s = _example()
    for dense, wanted in (
        (torch.tensor([[2.0, 1.0, 3.0]]), [[0, 0, 9], [8, 0, 15]]),
        (torch.tensor([[2.0], [3.0]]), [[0, 0, 6], [12, 0, 15]]),
        (torch.tensor([1.0, 1.0, 0.5]), [[0, 0, 1.5], [4, 0, 2.5]]),
    ):
        assert (s * dense).to_dense().tolist() == (dense * s).to_dense().tolist() == wanted
    written = s.double()
    assert written.copy_(s * 2) is written
    assert (written.to_dense().tolist(), written.dtype) == ([[0, 0, 6], [8, 0, 10]], torch.float64)
    with pytest.raises(RuntimeError, match=r"copy_\(\) between dense and sparse Tensors is not"):
        torch.ones(2, 3).copy_(s)
    with pytest.raises(RuntimeError, match=r"Sparse division requires .* \(got shape \[2, 3\]"):
        s / torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="Sparse floor division requires a scalar"):
        s // s
    assert torch.div(s, 2, rounding_mode="floor").to_dense().tolist() == [[0, 0, 1], [2, 0, 2]]


def test_few_elements_are_coalesced_and_may_be_true() -> None:
    def made(places: list[int], values: list[float]) -> Any:
        return torch.sparse_coo_tensor([places], values, (1,))

    assert made([], []).is_coalesced()
    assert made([0], [1.0]).is_coalesced()
    assert not made([0, 0], [1.0, -1.0]).is_coalesced()
    assert [bool(made(*each)) for each in (([0], [2.0]), ([0, 0], [1.0, -1.0]))] == [True, False]
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value"):
        bool(_example())
    whole = torch.sparse_coo_tensor(torch.zeros(0, 3).long(), torch.ones(3, 2), (2,))
    assert whole.coalesce().values().tolist() == [[3, 3]]


@pytest.mark.parametrize(
    "name", ["cumsum", "cumprod", "logcumsumexp", "roll", "flip", "unfold", "view", "fft_fft"]
)
def test_what_looks_at_other_elements_is_no_function_of_values(name: str) -> None:
    arguments = {"unfold": (0, 1, 1), "view": (6,), "fft_fft": ()}.get(name, (0,))
    with pytest.raises(NotImplementedError, match=f"aten::{name}'"):
        getattr(torch.ops.aten, name)(_example(), *arguments)


@pytest.mark.parametrize("name", ["asin", "arcsin", "special_expm1", "relu", "nan_to_num", "sgn"])
def test_what_keeps_zeros_is_a_function_of_values(name: str) -> None:
    s = _example() / 10
    function = getattr(torch.ops.aten, name)
    assert torch.equal(function(s).to_dense(), function(s.to_dense()))


def test_sparse_results_go_into_out() -> None:
    s, out = _example().coalesce(), _example()
    assert torch.sin(s, out=out) is out
    assert torch.equal(out.to_dense(), s.to_dense().sin())
    halves = torch.div(s, -2, rounding_mode="floor", out=out)
    assert torch.equal(halves.to_dense(), s.to_dense().div(-2, rounding_mode="floor"))
    assert torch.zeros((4, 3), out=out).layout == torch.sparse_coo
    assert (tuple(out.shape), out._nnz()) == ((4, 3), 0)
    dense = torch.empty(0)
    assert torch.mm(s, torch.ones(3, 2), out=dense) is dense
    assert torch.equal(dense, s.to_dense() @ torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired"):
        torch.sin(s, out=s.long())
    with pytest.raises(NotImplementedError, match="aten::sin"):
        torch.sin(s, out=dense)


def test_elements_named_twice_are_not_changed_one_by_one() -> None:
    twice = torch.sparse_coo_tensor([[0, 0]], [0.5, 0.25], (2,))
    with pytest.raises(RuntimeError, match="asin_ requires coalesced input"):
        twice.asin_()
    assert twice.clone().div_(2).to_dense().tolist() == [0.375, 0]
    assert twice.neg_().to_dense().tolist() == [-0.75, 0]
    assert twice.coalesce().asin_().to_dense()[0].item() == pytest.approx(-0.848062)


@pytest.mark.parametrize("dim", [0, 1, 2, (0, 2), (0, 1), (0, 1, 2)])
def test_sums_keep_reduced_dimensions(dim: Any) -> None:
    s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], torch.rand(3, 4), (2, 3, 4))
    kept = s.sum(dim, keepdim=True)
    assert torch.allclose(
        kept.to_dense() if kept.is_sparse else kept, s.to_dense().sum(dim, keepdim=True)
    )


def test_sparse_products_are_of_matrices() -> None:
    s = torch.sparse_coo_tensor([[0], [0], [0]], [2.0], (2, 2, 2))
    with pytest.raises(RuntimeError, match=r"Expected mat1_.dim\(\) == 2 to be true"):
        torch.sparse.mm(s, s)
    with pytest.raises(RuntimeError, match="addmm: matrices expected, got 3D tensor"):
        torch.sparse.mm(s, torch.ones(2, 2))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (((1, 3), [0], (3, 2, 3)), "Output shape must be 2d"),
        (((3, 2, 3), [0, 1, 2], (4, 4)), "Diagonals must be vector or matrix"),
        (((2, 3), [[1, 2], [0, 3]], (3, 3)), "Offsets must be scalar or vector"),
        (((3, 3), [-1, 0], (3, 3)), r"Number of diagonals \(3\) does not match the number of o"),
        (((2, 2), [0, 1], (2, 3), torch.strided), "Only output layouts .* got Strided"),
        (((2, 5), [0, 0], (5, 5)), "Offset tensor contains duplicate values"),
        (((1, 5), [0.0], (5, 5)), "Offset Tensor must have dtype Long but got Float"),
    ],
)
def test_what_is_no_matrix_of_diagonals_is_refused(arguments: Any, said: str) -> None:
    sizes, offsets, *rest = arguments
    with pytest.raises(RuntimeError, match=said):
        torch.sparse.spdiags(torch.ones(sizes), torch.tensor(offsets), *rest)


@pytest.mark.parametrize(
    ("of_sparse", "of_dense"),
    [([3], [2, 3]), ([1, 3], [2, 3]), ([2, 1], [2, 3]), ([], [2, 3]), ([2, 3], [3]), ([3], [3])],
)
def test_products_broadcast_over_sparse_dimensions(
    of_sparse: list[int], of_dense: list[int]
) -> None:
    one = torch.arange(float(torch.zeros(of_sparse).numel())).reshape(of_sparse) + 1 * (
        not of_sparse
    )
    other = torch.arange(1.0, 1 + torch.zeros(of_dense).numel()).reshape(of_dense)
    for made in (one.to_sparse() * other, other * one.to_sparse()):
        assert made.is_sparse
        assert made.is_coalesced()
        assert made.to_dense().tolist() == (one * other).tolist()


def test_dense_dimensions_of_sparse_factors_broadcast() -> None:
    wide = torch.arange(12.0).reshape(2, 3, 2).to_sparse(1)
    narrow = torch.tensor([[[2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0]]]).to_sparse(1)
    expected = (wide.to_dense() * narrow.to_dense()).tolist()
    assert (narrow * wide).to_dense().tolist() == expected
    number = torch.tensor(2.0).to_sparse()
    assert (number * wide).to_dense().tolist() == (wide.to_dense() * 2).tolist()
    with pytest.raises(RuntimeError, match="and shape of sparse dimensions"):
        wide * wide.to_dense().to_sparse(2)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(4\) must match"):
        wide * torch.ones(4)


def test_numbers_and_whole_dimensions_are_indices() -> None:
    dense = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    tensor = dense.to_sparse()
    assert (tensor[0, 2].item(), tensor[-1, -1].item(), tensor[0, 1].item()) == (2.0, 3.0, 0.0)
    for key in ((slice(None), 2), (..., 0), (1, ...), (None, 1), (slice(None), None), ...):
        assert tensor[key].to_dense().tolist() == dense[key].tolist()
    assert tensor.to_sparse_csr()[0, 2].item() == 2.0
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 2"):
        tensor[5]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
        tensor[0, 0, 0]
    with pytest.raises(NotImplementedError, match="index_select takes several places"):
        tensor[1:]


def test_other_sparse_tensors_are_made_of_one() -> None:
    tensor = torch.tensor([[1.0, 0.0], [0.0, 2.0]]).to_sparse()
    assert (tensor.new().shape, tensor.new(2, 3).shape) == ((0,), (2, 3))
    assert tensor.new(torch.Size([2, 3]))._nnz() == 0
    again = tensor.new(tensor.indices(), tensor.values(), tensor.size())
    assert again.to_dense().tolist() == tensor.to_dense().tolist()
    with pytest.raises(TypeError, match="only accepts sizes"):
        tensor.new([2, 3])
    assert tensor.clone().resize_as_(torch.zeros(3, 2).to_sparse()).shape == (3, 2)
    assert torch.zeros(1).resize_as_(tensor).shape == (2, 2)
    assert tensor.to_sparse_csr().to_sparse(layout=torch.strided).tolist() == [[1, 0], [0, 2]]
    assert tensor.to_sparse() is tensor


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_csc])
def test_what_is_made_of_rows_and_columns_lies_so(layout: Any) -> None:
    dense = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    tensor = dense.to_sparse(layout=layout)
    square = torch.ones(3, 3).to_sparse(layout=layout)
    for made in (tensor + tensor, tensor * tensor, tensor @ square, torch.zeros_like(tensor)):
        assert made.layout == layout
    full = torch.full_like(tensor, 2.0)
    assert (full.layout, full._nnz(), full.values().tolist()) == (layout, 3, [2.0, 2.0, 2.0])
    assert (torch.randn_like(tensor)._nnz(), torch.ones_like(tensor).sum().item()) == (3, 3.0)
    assert (tensor + torch.ones(2, 3)).tolist() == (dense + 1).tolist()
    assert torch.result_type(tensor, 1.5) == torch.float32
    assert torch.result_type(tensor, torch.ones(1).double()) == torch.float64
    kind = layout_name(layout)
    for call in (tensor.stride, tensor.is_contiguous):
        with pytest.raises(RuntimeError, match=f"Sparse {kind} tensors do not have"):
            call()
    with pytest.raises(NotImplementedError, match="storage of SparseCsrTensorImpl"):
        tensor.untyped_storage()


def layout_name(layout: Any) -> str:
    return str(layout).rpartition("_")[2].upper()


def test_elements_of_rows_and_columns_have_dimensions_of_their_own() -> None:
    dense = torch.arange(12.0).reshape(2, 3, 2)
    dense[0, 1] = 0
    for made in (dense.to_sparse_csr(dense_dim=1), dense.to_sparse_csc(dense_dim=1)):
        assert (made.dense_dim(), made._nnz()) == (1, 5)
        assert made.to_dense().tolist() == dense.tolist()
    given = torch.sparse_csr_tensor([0, 1, 2], [0, 1], torch.ones(2, 2), (2, 3, 2))
    assert given.to_dense()[:, :, 0].tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(RuntimeError, match="only single matrices are compressed"):
        torch.sparse_csr_tensor([0, 1, 2], [0, 1], torch.ones(2, 2), (2, 3))


def test_products_with_vectors_are_added() -> None:
    matrix = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]).to_sparse_csr()
    ones = torch.ones(3)
    assert torch.addmv(torch.ones(2), matrix, ones, beta=2, alpha=3).tolist() == [11.0, 11.0]
    with pytest.raises(RuntimeError, match="must have the same dtype, but got Double, Float, and"):
        torch.addmv(torch.ones(2).double(), matrix, ones)
    out = torch.zeros(2, 3).to_sparse_csr()
    made = torch.sparse.sampled_addmm(matrix, torch.ones(2, 1), torch.ones(1, 3), out=out)
    assert made is out
    assert out.values().tolist() == [2.0, 3.0, 4.0]


def test_dtypes_of_factors_are_the_same() -> None:
    tensor = torch.ones(2, 2).to_sparse()
    wide = torch.ones(2, 2).double()
    with pytest.raises(RuntimeError, match="mat1 dtype Float does not match mat2 dtype Double"):
        torch.sparse.mm(tensor, wide.to_sparse())
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        torch.sparse.mm(tensor, wide)
    with pytest.raises(RuntimeError, match="asin_ requires coalesced input"):
        torch.sparse_coo_tensor([[0, 0]], [0.5, 0.1], (2,)).arcsin_()


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (torch.sparse_coo, "expected scalar type Float but found Double"),
        (torch.sparse_csr, "expected scalar type Double but found Float"),
    ],
)
def test_what_a_product_is_added_to_has_its_dtype(layout: Any, said: str) -> None:
    matrix, ones = torch.eye(2, 3).to_sparse(layout=layout), torch.ones(3, 1)
    assert torch.addmm(torch.ones(2, 1), matrix, ones).tolist() == [[2.0], [2.0]]
    for added in (torch.addmm, torch.sparse.addmm):
        with pytest.raises(RuntimeError, match=said):
            added(torch.ones(2, 1).double(), matrix, ones)


def test_complex_elements_do_not_become_their_sizes_in_place() -> None:
    z = torch.tensor([[3 + 4j, 0]]).to_sparse().coalesce()
    assert z.abs().to_dense().tolist() == [[5.0, 0.0]]
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
        z.abs_()


def test_tensors_of_other_sizes_are_sparse_too() -> None:
    tensor = torch.ones(2, 2).to_sparse_csc()
    made = tensor.new_zeros(2, 3)
    assert (made.layout, made.shape, made._nnz()) == (torch.sparse_csc, (2, 3), 0)
    assert tensor.new_empty((3,), layout=torch.sparse_coo, dtype=torch.int64).shape == (3,)
    assert tensor.new_zeros((2,), layout=torch.strided).tolist() == [0.0, 0.0]
    assert torch.zeros(1).new_empty((2, 3), layout=torch.sparse_coo).is_sparse


@pytest.mark.parametrize("name", ["empty_like", "zeros_like"])
def test_what_is_like_a_sparse_tensor_has_no_memory_format(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"^memory format option is only supported by strided"):
        getattr(torch, name)(_example(), memory_format=torch.preserve_format)


def test_slices_are_counted_from_the_end_too() -> None:
    s = torch.tensor([[1.0, 0, 2], [0, 0, 3]]).to_sparse()
    assert s.index_select(1, torch.tensor([-1, 0, -2])).to_dense().tolist() == [
        [2, 1, 0],
        [3, 0, 0],
    ]
    for index, dim in ((2, 0), (-3, 0), (3, 1)):
        said = (
            rf"^index_select\(\): index contains {index} that is out of range for tensor of size \["
        )
        with pytest.raises(IndexError, match=said):
            s.index_select(dim, torch.tensor([0, index]))


def test_a_dense_tensor_is_made_like_a_sparse_one() -> None:
    s = _example()
    for name in ("zeros_like", "empty_like"):
        made = getattr(torch, name)(s, layout=torch.strided, memory_format=torch.preserve_format)
        assert (made.layout, tuple(made.shape), made.dtype) == (torch.strided, (2, 3), s.dtype)


def test_sums_of_rows_stay_by_rows() -> None:
    c = torch.tensor([[1.0, 0, 2], [0, 0, 3]]).to_sparse_csr()
    for dim, wanted in ((0, [[1, 0, 5]]), (1, [[3], [3]]), ((0, 1), [[6]])):
        found = c.sum(dim, keepdim=True)
        assert (found.layout, found.to_dense().tolist()) == (torch.sparse_csr, wanted)
    assert c.to_sparse_csc().sum(0, keepdim=True).layout == torch.sparse_csc
    assert c.sum((0, 1)).item() == 6
    assert c.neg().abs_().values().tolist() == [1, 2, 3]


def _twice() -> Any:
    """One place is named twice."""
    return torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0], (2, 3)).requires_grad_()


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (torch.sparse.sum, [1, 1]),
        (lambda s: s.to_dense().pow(2).sum(), [6, 6]),
        (lambda s: s.coalesce().to_dense().pow(2).sum(), [6, 6]),
        (lambda s: torch.sparse.sum(s, 0).to_dense().pow(2).sum(), [6, 6]),
        (lambda s: torch.sparse.mm(s, torch.arange(6.0).view(3, 2)).pow(2).sum(), [78, 246]),
    ],
)
def test_gradients_of_places_that_are_named_twice_are_theirs_once(call: Any, wanted: Any) -> None:
    s = _twice()
    call(s).backward()
    t = _twice()
    (found,) = torch.autograd.grad(call(t), t)
    for each in (s.grad, found):
        assert (each.indices().tolist(), each.values().tolist()) == ([[0, 1], [1, 2]], wanted)


def test_sparse_results_take_sparse_gradients() -> None:
    v = torch.tensor([[7.0, 1, 0], [0, 0, 5]])
    for gradient in (v, v.to_sparse()):
        s = _twice()
        (s * 2).backward(gradient)
        assert s.grad.to_dense().tolist() == [[0, 2, 0], [0, 0, 10]]
    with pytest.raises(RuntimeError, match=r"^grad can be implicitly created only for scalar"):
        (_twice() * 2).backward()
    with pytest.raises(RuntimeError, match=r"^Mismatch in shape: grad_output\[0\] has a shape of"):
        (_twice() * 2).backward(v.to_sparse()[0])


def test_more_elements_than_can_be_counted_are_refused() -> None:
    n = 100_000
    with pytest.raises(RuntimeError, match=r"^numel: integer multiplication overflow$"):
        torch.sparse_coo_tensor([[n, n - 1]] * 4, [1.0, 2.0], (n + 1,) * 4)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex128"])
def test_the_dtype_of_values_is_told_once(dtype: str) -> None:
    s = torch.sparse_coo_tensor([[0]], [1], (2,), dtype=getattr(torch, dtype))
    assert repr(s).count("dtype=") == 1
    large = torch.sparse_coo_tensor([[0]], [1e300], (2,), dtype=torch.float64)
    assert "values=tensor([1.0000e+300])" in repr(large)


def test_slices_one_by_one_and_some() -> None:
    s = _example()
    assert [each.to_dense().tolist() for each in s.unbind(1)] == [[0, 4], [0, 0], [3, 5]]
    assert s.narrow_copy(1, 1, 2).to_dense().tolist() == [[0, 3], [0, 5]]
    for dim, start, length, said in (
        (1, 2, 2, r"^Invalid range to narrow\. range\(start, start\+length\) must be a subset of"),
        (2, 0, 1, r"^Dimension 2 out of range\. Expecting 0 <= dim < 2\."),
    ):
        with pytest.raises(RuntimeError, match=said):
            s.narrow_copy(dim, start, length)


def test_a_sparse_tensor_is_masked() -> None:
    pattern = torch.sparse_coo_tensor([[1, 0, 1], [2, 1, 2]], [1.0, 1.0, 1.0], (2, 3))
    s = _example().requires_grad_()
    found = s.sparse_mask(pattern)
    assert found._values().tolist() == [5, 0, 5]
    assert found._indices().tolist() == pattern._indices().tolist()
    found.to_dense().sum().backward()
    assert s.grad.to_dense().tolist() == [[0, 0, 0], [0, 0, 2]]
    by_rows = s.detach().sparse_mask(pattern.coalesce().to_sparse_csr())
    assert (by_rows.layout, by_rows.values().tolist()) == (torch.sparse_csr, [0, 5])


def test_what_stays_is_the_tensor_itself() -> None:
    s, again = _example(), _example().double()
    assert s.cpu() is s
    assert s.to("cpu") is s
    assert s.float() is s
    assert (again._nnz(), again.is_coalesced(), again.dtype) == (3, False, torch.float64)
    assert s.to(torch.float32, copy=True) is not s
    assert (s.is_pinned(), s.storage_offset()) == (False, 0)


def test_products_of_whole_rows() -> None:
    twice = torch.sparse_coo_tensor([[1, 1], [2, 2]], [1.0, 2.0], (2, 3))
    found = torch.hspmm(twice, torch.ones(3, 2))
    assert (found.indices().tolist(), found.values().tolist()) == ([[1]], [[3, 3]])
    assert (found.sparse_dim(), found.dense_dim()) == (1, 1)
    added = torch.saddmm(_example(), twice, torch.ones(3, 3), beta=2)
    assert added.to_dense().tolist() == [[0, 0, 6], [11, 3, 13]]


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_layers_take_sparse_inputs(layout: Any) -> None:
    s = _example().coalesce().to_sparse(layout=layout)
    made = torch.nn.functional.linear(s, torch.ones(4, 3), torch.arange(4.0))
    assert made.tolist() == [[3, 4, 5, 6], [9, 10, 11, 12]]


def test_dense_tensors_are_named_where_none_can_be() -> None:
    with pytest.raises(NotImplementedError, match=r"^a dense tensor stands where only"):
        torch.bmm(torch.ones(2, 2, 3), torch.stack([_example().t()] * 2))


def test_values_have_the_sizes_of_the_dense_dimensions() -> None:
    for values, sizes, said in (
        (torch.ones(2, 3), (3, 3, 2), r"expected \[2, 2\], got \[2, 3\]$"),
        (torch.ones(2, 1, 0), (3, 3, 2, 0), r"expected \[2, 2, 0\], got \[2, 1, 0\]$"),
    ):
        with pytest.raises(RuntimeError, match="^values has incorrect size, " + said):
            torch.sparse_coo_tensor([[1, 2], [0, 2]], values, sizes)


def test_small_whole_numbers_are_counted_in_int64_and_picked_as_they_are() -> None:
    for dtype in (torch.int8, torch.bool):
        s = torch.ones(2, 2, dtype=dtype).to_sparse()
        assert (s[0, 0].dtype, s.sum(0).dtype, s.sum().dtype) == (dtype, torch.int64, torch.int64)
        assert s.sum(0).to_dense().tolist() == [2, 2]


def test_words_about_sizes_of_sparse_operands() -> None:
    s = torch.eye(2).to_sparse()
    assert s.permute(dims=(1, 0)).to_dense().tolist() == [[1, 0], [0, 1]]
    assert s.norm(dim=(0, 1)).item() == pytest.approx(2**0.5)
    for call, said in (
        (lambda: torch.mv(s, torch.ones(3)), "mv: expected self.size(-1) == vec.size(-1)"),
        (lambda: torch.mv(s, torch.ones(2, 2)), "mv: two tensor dim should be 2 and 1, but got"),
        (lambda: torch.cat([s, torch.eye(3).to_sparse()]), "but found shape: [3, 3] at position 1"),
        (lambda: torch.cat([s, torch.eye(2)]), "a dense tensor was found at position 1."),
        (lambda: s.norm(dim=0), "norm_sparse currently only supports full reductions, so 'dim'"),
        (lambda: s.norm(keepdim=True), "norm_sparse currently does not support keepdim=True"),
    ):
        with pytest.raises(RuntimeError, match=re.escape(said)):
            call()


def test_what_is_to_make_a_sparse_tensor_is_looked_at() -> None:
    places, values = torch.tensor([[1, 2], [0, 2]]), torch.ones(2)
    starts, inner = torch.tensor([0, 1, 2]), torch.tensor([0, 1])
    torch._validate_sparse_coo_tensor_args(places, values, (3, 3), True)
    torch._validate_sparse_csr_tensor_args(starts, inner, values, (2, 2))
    torch._validate_sparse_csc_tensor_args(starts, inner, values, (2, 2))
    look = torch._validate_sparse_compressed_tensor_args
    look(starts, inner, values, (2, 2), torch.sparse_csc)
    for call, said in (
        (
            lambda: torch._validate_sparse_coo_tensor_args(places, values, (2, 3)),
            "size is inconsistent with indices: for dim 0, size is 2 but found index 2",
        ),
        (lambda: look(starts, inner + 5, values, (2, 2), torch.sparse_csr), "`0 <= col_indices <"),
        (
            lambda: look(starts, inner, values, (2, 2), torch.sparse_coo),
            "expected sparse compressed tensor layout but got Sparse",
        ),
    ):
        with pytest.raises(RuntimeError, match=re.escape(said)):
            call()


@pytest.mark.parametrize("sizes", [(3,), (4, 3), (2, 2, 3), (0, 3)])
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_a_linear_layer_with_a_sparse_weight_takes_any_number_of_dimensions(
    sizes: tuple[int, ...], layout: str
) -> None:
    dense = torch.tensor([[0.0, 2.0, 3.0], [4.0, 0.0, 6.0]])
    weight = getattr(dense, f"to_sparse_{layout}")().requires_grad_()
    x, same = (torch.ones(sizes, requires_grad=True) for _ in range(2))
    bias = torch.tensor([1.0, -1.0])
    made = torch.nn.functional.linear(x, weight, bias)
    assert torch.equal(made, torch.nn.functional.linear(same, dense, bias))
    made.sum().backward()
    torch.nn.functional.linear(same, dense, bias).sum().backward()
    assert torch.equal(x.grad, same.grad)
    assert weight.grad.layout is weight.layout


def test_the_default_complex_dtype_is_not_printed() -> None:
    z = torch.tensor([0j, 1j])
    assert "dtype" not in repr(z.to_sparse())
    assert "dtype=torch.complex128" in repr(z.to(torch.complex128).to_sparse())


def test_operands_may_be_given_by_name() -> None:
    dense = torch.tensor([[3.0, 4], [5, 6]])
    sparse, rows = dense.to_sparse(), dense.to_sparse_csr()
    squares = [[9.0, 16], [25, 36]]
    assert torch.mul(sparse, other=sparse).to_dense().tolist() == squares
    assert torch.mul(input=rows, other=dense).to_dense().tolist() == squares
    assert torch.add(sparse, other=sparse, alpha=2).to_dense().tolist() == (3 * dense).tolist()
    assert torch.mm(rows, mat2=dense).tolist() == torch.mm(dense, dense).tolist()
    with pytest.raises(RuntimeError, match="unexpected keyword argument 'third'"):
        torch.mul(sparse, third=dense)


def test_tensors_are_joined_along_a_dimension_of_their_values() -> None:
    x = torch.arange(24.0).view(2, 3, 4).requires_grad_()
    one, other = x.to_sparse(2), torch.ones(2, 3, 5).to_sparse(2)
    made = torch.cat([one, other], -1)
    assert (made.shape, made.sparse_dim(), made.is_coalesced()) == ((2, 3, 9), 2, False)
    dense = torch.cat([x, torch.ones(2, 3, 5)], 2)
    assert torch.equal(made.to_dense(), dense)
    made.to_dense().sum().backward()
    assert x.grad is not None
    assert x.grad[0, 1].tolist() == [1] * 4
    with pytest.raises(RuntimeError, match="same sparse_dim and dense_dim: 2, 1, but tensor at"):
        torch.cat([one, torch.ones(2, 3, 4).to_sparse(1)], 0)
