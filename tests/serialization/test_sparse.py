"""Sparse tensors in archives; `sparse.pt` is torch's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.pickles.nodes import ListNode, SparseNode, StorageNode, TensorNode
from rushlight.serialization.pickles.reader import read_pickle
from rushlight.serialization.pickles.writer import write_pickle

SAMPLE = Path(__file__).parent / "data" / "sparse.pt"
TABLE = [[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]


class Holder(torch.nn.Module):
    def __init__(self, given: Any) -> None:
        super().__init__()
        self.register_buffer("given", given)

    def forward(self) -> torch.Tensor:
        return self.given


def again(module: Any) -> Any:
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(module), file)
    return torch.jit.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("saved_here", [False, True])
def test_an_archive_of_torch(saved_here: bool) -> None:
    loaded: Any = torch.jit.load(SAMPLE)
    if saved_here:
        loaded = again(loaded)
    assert loaded(torch.ones(3, 1)).tolist() == [[4.0], [10.0]]
    weight = loaded.weight
    assert isinstance(weight, torch.nn.Parameter)
    assert weight.layout == torch.sparse_coo
    assert weight.requires_grad
    assert [name for name, _ in loaded.named_parameters()] == ["weight"]
    assert loaded.twice._nnz() == 2
    assert not loaded.twice.is_coalesced()
    assert loaded.rows.layout == torch.sparse_csr
    assert loaded.rows.to_dense().tolist() == TABLE
    assert [each.layout for each in loaded.both] == [torch.sparse_coo, torch.sparse_csr]
    loaded(torch.ones(3, 1)).sum().backward()
    assert weight.grad.to_dense().tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    "given",
    [
        torch.sparse_coo_tensor(torch.zeros(2, 0), torch.zeros(0), (2, 3)),
        torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.ones(2, 4), (3, 4)),
        torch.eye(3, dtype=torch.int64).to_sparse(),
        torch.eye(3, dtype=torch.float64).to_sparse_csr(),
    ],
    ids=["empty", "hybrid", "int64", "float64"],
)
def test_sparse_buffers_survive(given: Any) -> None:
    loaded = again(Holder(given))()
    assert (loaded.layout, loaded.dtype) == (given.layout, given.dtype)
    assert torch.equal(loaded.to_dense(), given.to_dense())


def test_layouts_that_archives_do_not_have() -> None:
    with pytest.raises(ArchiveError, match=r"layout torch.sparse_csc cannot be saved"):
        again(Holder(torch.eye(3).to_sparse_csc()))


def node(indices: list[list[int]], values: list[float], sizes: tuple[int, ...]) -> SparseNode:
    """What a pickle says of a sparse tensor with parts of these sizes."""
    count = len(values)
    places = StorageNode("Long", "0", "cpu", len(indices) * count)
    own = StorageNode("Float", "1", "cpu", count)
    parts = (
        TensorNode(places, 0, (len(indices), count), (count, 1), False),
        TensorNode(own, 0, (count,), (1,), False),
    )
    return SparseNode("sparse_coo", sizes, parts, True)


def test_pickles_of_sparse_tensors_are_read_as_written() -> None:
    given = node([[0, 1], [1, 0]], [1.0, 2.0], (2, 3))
    read: Any = read_pickle(write_pickle(ListNode([given, given], "List[Tensor]")), "data.pkl")
    first, second = read.items
    assert first is second
    assert (first.layout, first.size, first.requires_grad) == ("sparse_coo", (2, 3), True)
    assert [part.size for part in first.parts] == [(2, 2), (2,)]


def test_places_outside_are_refused() -> None:
    file = io.BytesIO()
    wrong = torch.sparse_coo_tensor(torch.tensor([[5], [0]]), torch.ones(1), (2, 2))
    torch.jit.save(torch.jit.script(Holder(wrong)), file)
    with pytest.raises(ArchiveError, match=r"for dim 0, size is 2 but found index 5"):
        torch.jit.load(io.BytesIO(file.getvalue()))


def test_a_sparse_tensor_without_its_parts() -> None:
    call = b"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n(K\x01K\x02K\x02\x86\x89NNtR."
    with pytest.raises(ArchiveError, match="holds a sparse tensor of an unknown form"):
        read_pickle(call, "data.pkl")


def test_code_that_is_not_trusted_computes_nothing_of_them() -> None:
    loaded = torch.jit.load(SAMPLE, trust="none")
    with pytest.raises(NotImplementedError, match="code that is not trusted takes no sparse"):
        loaded(torch.ones(3, 1))


@pytest.mark.parametrize("is_zip", [False, True])
@pytest.mark.parametrize("weights_only", [False, True])
def test_checkpoints_of_sparse_tensors(weights_only: bool, is_zip: bool) -> None:
    table = torch.tensor(TABLE)
    given = {"rows": table.to_sparse(), "starts": table.to_sparse_csr()}
    file = io.BytesIO()
    torch.save(given, file, _use_new_zipfile_serialization=is_zip)
    read = torch.load(io.BytesIO(file.getvalue()), weights_only=weights_only)
    assert [each.layout for each in read.values()] == [torch.sparse_coo, torch.sparse_csr]
    assert [each.to_dense().tolist() for each in read.values()] == [TABLE, TABLE]


class _AsBefore21:
    """What PyTorch wrote of a sparse tensor before 2.1: no word on the order of its places."""

    def __init__(self, indices: list[list[int]]) -> None:
        self.parts = (torch.tensor(indices), torch.tensor([1.0, 2.0]), torch.Size((2, 3)))

    def __reduce__(self) -> tuple[object, ...]:
        return torch._utils._rebuild_sparse_tensor, (torch.sparse_coo, self.parts)


@pytest.mark.parametrize("weights_only", [False, True])
def test_checkpoints_from_before_2_1(weights_only: bool) -> None:
    file = io.BytesIO()
    torch.save({"rows": _AsBefore21([[0, 1], [2, 0]])}, file)
    read = torch.load(io.BytesIO(file.getvalue()), weights_only=weights_only)["rows"]
    assert (read.to_dense().tolist(), read.is_coalesced()) == ([[0, 0, 1], [2, 0, 0]], False)


@pytest.mark.parametrize(
    "parts",
    [
        ([[0, 1], [2, 0]], torch.tensor([1.0, 2.0]), torch.Size((2, 3))),
        (torch.tensor([[0, 1], [2, 0]]), [1.0, 2.0], torch.Size((2, 3))),
        (torch.tensor([[0, 1], [2, 0]]), torch.tensor([1.0, 2.0]), 6),
        (torch.tensor([[0, 1], [2, 0]]), torch.tensor([1.0, 2.0])),
    ],
)
def test_checkpoints_with_sparse_tensors_of_other_parts(parts: tuple[Any, ...]) -> None:
    made = _AsBefore21([[0, 1], [2, 0]])
    made.parts = parts  # type: ignore[assignment]
    file = io.BytesIO()
    torch.save({"rows": made}, file)
    with pytest.raises(ArchiveError, match="has a sparse tensor without its parts"):
        torch.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("column", [3, -1])
def test_places_of_checkpoints_lie_inside_the_sizes(column: int, weights_only: bool) -> None:
    file = io.BytesIO()
    torch.save({"rows": _AsBefore21([[0, 1], [2, column]])}, file)
    file.seek(0)
    with pytest.raises(ArchiveError, match=r"has a sparse tensor that is none: .* for dim 1"):
        torch.load(file, weights_only=weights_only)
