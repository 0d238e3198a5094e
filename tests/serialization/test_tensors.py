"""Storages and the arrays over them."""

from __future__ import annotations

import io
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rushlight.interpreter.values.attribute_places import AttributePlaces
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.container_writer import ContainerWriter
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.pickles.nodes import DictNode, ObjectNode, StorageNode, TensorNode
from rushlight.serialization.pickles.reader import read_pickle
from rushlight.serialization.pickles.tensors import StorageReader, StorageTable, window_of
from rushlight.typecheck.types.types import TENSOR

DATA = Path(__file__).parent / "data"
DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    ml_dtypes.bfloat16,
]


def through_an_archive(arrays: list[np.ndarray]) -> list[np.ndarray]:
    table = StorageTable()
    nodes = [table.tensor(array) for array in arrays]
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "archive")
    table.write(writer, "data/")
    writer.finish()
    reader = StorageReader(ArchiveReader(sink.getvalue()), "data/")
    return [reader.array(node) for node in nodes]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_arrays_survive(data: st.DataObject) -> None:
    dtype = np.dtype(data.draw(st.sampled_from(DTYPES)))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    view = np.transpose(array, data.draw(st.permutations(range(array.ndim))))
    for axis in range(view.ndim):
        step = data.draw(st.sampled_from([1, 2, -1]))
        view = view[(slice(None),) * axis + (slice(None, None, step),)]
    (again,) = through_an_archive([view])
    assert again.dtype == view.dtype
    assert again.shape == view.shape
    assert np.array_equal(again, view)


@pytest.mark.parametrize("dtype", ["float32", ml_dtypes.bfloat16])
def test_views_share_memory_and_one_record(dtype: str) -> None:
    base = np.arange(10).astype(dtype)
    whole, part, every_second = through_an_archive([base, base[3:6], base[::2]])
    whole[4] = 100
    assert part[1] == every_second[2] == 100
    table = StorageTable()
    nodes = [table.tensor(a) for a in (base, base[3:6], base[::2].reshape(5, 1).T)]
    assert [n.storage.key for n in nodes] == ["0", "0", "0"]
    assert [n.offset for n in nodes] == [0, 3, 0]


def test_read_arrays_are_written_as_they_were() -> None:
    """Strides, offsets and storages of a torch archive come out again unchanged."""
    with ArchiveReader(DATA / "sample.pt") as archive:
        root = read_pickle(archive.read("data.pkl"), "data.pkl")
        assert isinstance(root, ObjectNode)
        assert isinstance(root.state, DictNode)
        state = root.state.by_name()
        reader, table = StorageReader(archive, "data/"), StorageTable()
        for name in ("base", "view"):
            node = state[name]
            assert isinstance(node, TensorNode)
            again = table.tensor(reader.array(node))
            assert again.storage == node.storage
            assert (again.offset, again.size, again.stride) == (node.offset, node.size, node.stride)
        assert reader.array(state["view"]).tolist() == [2, 3, 4]  # type: ignore[arg-type]


def test_an_expanded_array_stays_small() -> None:
    wide = np.broadcast_to(np.float32(3), (1000, 1000))
    node = StorageTable().tensor(wide)
    assert node.storage.numel == 1
    assert node.stride == (0, 0)


def test_a_reversed_array_is_copied() -> None:
    assert window_of(np.arange(3)[::-1]) is None
    assert through_an_archive([np.arange(3)[::-1]])[0].tolist() == [2, 1, 0]


# -- damage


def reader_of(content: bytes) -> StorageReader:
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "a")
    writer.add("data/0", content)
    writer.finish()
    return StorageReader(ArchiveReader(sink.getvalue()), "data/")


def tensor(
    numel: int, offset: int, size: tuple[int, ...], stride: tuple[int, ...], kind: str = "Float"
) -> TensorNode:
    return TensorNode(StorageNode(kind, "0", "cpu", numel), offset, size, stride, False)


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (tensor(4, 0, (5,), (1,)), "reaches outside"),
        (tensor(4, 3, (2,), (1,)), "reaches outside"),
        (tensor(4, 0, (2, 2), (3, 1)), "reaches outside"),
        (tensor(4, 0, (2,), (2**62,)), "reaches outside"),
        (tensor(4, -1, (2,), (1,)), "impossible"),
        (tensor(4, 3, (2,), (-1,)), "impossible"),
        (tensor(4, 0, (2,), (1, 1)), "impossible"),
        (tensor(4, 0, (0, 2**62, 2**62), (1, 1, 1)), "impossible"),
        (tensor(4, 0, (2**62, 2**62), (0, 0)), "impossible"),
        (tensor(-4, 0, (2,), (1,)), "impossible"),
        (tensor(5, 0, (2,), (1,)), "needs 20"),
        (tensor(2**60, 0, (2,), (1,)), "needs"),
        (tensor(4, 0, (2,), (1,), "Strange"), "no kind of storage"),
        (tensor(4, 0, (2,), (1,), "QUInt2x4"), "not supported"),
        (tensor(4, 0, (10,), (1,), "QUInt4x2"), "reaches outside|needs"),
        (tensor(4, 0, (2, 2), (1, 2), "QUInt4x2"), "do not lie in order"),
        (tensor(4, 1, (2,), (1,), "QUInt4x2"), "do not lie in order"),
        (tensor(4, 0, (2**62, 2**62), (2**62, 1), "QUInt4x2"), "outside|impossible"),
    ],
)
def test_windows_stay_inside_their_storage(node: TensorNode, problem: str) -> None:
    with pytest.raises(ArchiveError, match=problem):
        reader_of(np.arange(4, dtype=np.float32).tobytes()).array(node)


def test_a_missing_record_is_named() -> None:
    node = TensorNode(StorageNode("Float", "7", "cpu", 1), 0, (), (), False)
    with pytest.raises(ArchiveError, match="no record `data/7`"):
        reader_of(b"").array(node)


def test_a_storage_declared_twice_is_one() -> None:
    reader = reader_of(np.arange(4, dtype=np.float32).tobytes())
    kinds = [("Float", 4), ("Int", 4), ("BFloat16", 8), ("Byte", 16)]
    arrays = [reader.array(tensor(n, 0, (n,), (1,), kind)) for kind, n in kinds]
    arrays[3][4:8] = 0
    assert [int(array[k]) for array, k in zip(arrays, (1, 1, 3, 7), strict=True)] == [0] * 4
    places = AttributePlaces()
    assert len({id(places.of(array, TENSOR)) for array in arrays}) == 1


def test_two_storages_over_one_part_of_a_file_are_one_place() -> None:
    memory = bytearray(64)
    parts = [(0, 10), (5, 10), (11, 5)]
    arrays = [np.frombuffer(memoryview(memory)[a * 4 : (a + n) * 4], np.float32) for a, n in parts]
    places = AttributePlaces()
    first, second, third = (places.of(array, TENSOR) for array in arrays)
    assert first is second is third
    assert places.of(np.zeros(10, np.float32), TENSOR) is not first
