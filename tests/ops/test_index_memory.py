"""Indices and counts are checked where they are used: nothing is read or written outside."""

import sys
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.memory.storage import view_of

M = 2**63 - 1
native = pytest.mark.skipif(family("indexing.places") is None, reason="no native code")


def _guarded(size: int, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    """A vector, and all of the memory around it."""
    memory = np.zeros(size + 2000, dtype)
    return memory[1000 : 1000 + size], memory


# --------------------------------------------------------------------------- kernels


@native
@pytest.mark.parametrize("wrong", [-1, 10, 500, -500, M, -M - 1])
def test_native_kernels_write_no_place_that_is_not_there(wrong: int) -> None:
    places = family("indexing.places")
    index = np.array([0, 3, wrong, 4])
    target, memory = _guarded(10)
    for operation in ("put", "sum", "product", "max", "min"):
        for form in (target, target.reshape(1, 10), target.reshape(10, 1), target.reshape(2, 5)):
            for axis in range(form.ndim):
                shape = (*form.shape[:axis], 4, *form.shape[axis + 1 :])
                ones = np.ones(shape, np.float32)
                line = (1,) * axis + (4,) + (1,) * (form.ndim - axis - 1)
                for each in (
                    index,
                    np.ascontiguousarray(np.broadcast_to(index.reshape(line), shape)),
                ):
                    assert places.combine(form, axis, each, ones, operation) is False
                    assert places.take(form, axis, each) is None
    assert not memory[:1000].any()
    assert not memory[1010:].any()


@native
def test_native_kernels_refuse_shapes_that_do_not_fit() -> None:
    places, ranks, rows = family("indexing.places"), family("ordering.ranks"), family("rows.rows")
    resamples = family("windows.resamples")
    x, few, more = np.ones((2, 4), np.float32), np.zeros((1, 3), int), np.zeros((9, 3), int)
    assert places.combine(x, 1, few, np.ones((1, 3), np.float32), "sum") is None
    assert places.combine(x, 1, more[:2], np.ones((2, 2), np.float32), "sum") is None
    assert places.combine(x, 1, few[0], np.ones((2, 3)), "put") is None
    assert places.take(x, 1, more) is None
    for k in (0, 5, -1):
        with pytest.raises(ValueError, match="there are no"):
            ranks.top(x, k, "max")
    with pytest.raises(ValueError, match="are not there"):
        resamples.resample(x[:, :, None], np.array([[4]]), np.ones((1, 1), np.float32))
    with pytest.raises(ValueError, match="do not fit"):
        rows.layer_norm(x, np.ones(3, np.float32), np.ones(3, np.float32), 0.0)


def _indices_in_their_target() -> tuple[Any, Any]:
    """An index whose numbers the operator that follows it writes over, and its memory as floats."""
    index = torch.arange(1023, -1, -1)
    return index, torch.from_numpy(view_of(index.numpy(), (2048,), (4,), 0, np.dtype(np.float32)))


def test_an_index_that_would_be_filled_is_refused() -> None:
    index = torch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        index.index_fill_(0, index, 0)
    assert index.tolist() == [2, 1, 0]


@pytest.mark.parametrize("name", ["scatter_add_", "index_add_", "scatter_", "index_copy_"])
def test_an_index_in_the_memory_that_is_written_stays_inside(name: str) -> None:
    for factor in (1.0, 1e30):
        index, floats = _indices_in_their_target()
        with suppress(RuntimeError, IndexError):  # it is refused, or found out
            getattr(floats, name)(0, index, torch.full((1024,), factor))
        assert len(index) == 1024


def test_an_index_that_another_thread_changes_stays_inside() -> None:
    size = 4096
    index, target = torch.zeros(size, dtype=torch.int64), torch.zeros(size)
    mask, stop = torch.zeros(size, dtype=torch.bool), threading.Event()

    def change() -> None:
        array, flags = index.numpy(), mask.numpy()
        while not stop.is_set():
            array[:] = 2**45
            flags[:] = True
            array[:] = 0
            flags[:] = False

    thread = threading.Thread(target=change)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread.start()
    ones = torch.ones(size)
    calls = [
        lambda: target.scatter_add_(0, index, ones),
        lambda: target.index_add_(0, index, ones),
        lambda: target.index_put_((index,), ones, True),
        lambda: target[index],
        lambda: target[index, None],
        lambda: target.gather(0, index),
        lambda: target[mask],
        lambda: mask.nonzero(),
        lambda: torch.bincount(index),
        lambda: index.repeat_interleave(index),
        lambda: torch.argsort(mask.view(torch.uint8), stable=True),
    ]
    try:
        for call in calls * 5:
            with suppress(RuntimeError, IndexError, MemoryError):
                call()
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)
    assert not target.isnan().any()


# --------------------------------------------------------------------------- counts


_OVERFLOW = "numel: integer multiplication overflow"
_STORAGE = "Storage size calculation overflowed with sizes="


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("torch.repeat_interleave(torch.tensor([2**62, 2**62, 2**62, 2**62 + 3]))", _OVERFLOW),
        ("x[:4].repeat_interleave(torch.tensor([2**62, 2**62, 2**62, 2**62 + 3]))", _OVERFLOW),
        ("x.repeat_interleave(2**62)", _OVERFLOW),
        ("x[:1].repeat_interleave(2**62)", f"{_STORAGE}[4611686018427387904]"),
        ("x.repeat_interleave(-1)", "Repeats must be non-negative"),
        ("x.repeat_interleave(torch.tensor([-1]))", "repeats can not be negative"),
        ("x[:2].repeat_interleave(torch.tensor([1, 2]), output_size=7)", "allocated size does not"),
        ("x.repeat_interleave(2, output_size=7)", "repeat_interleave: Invalid output_size, expec"),
        ("torch.bincount(torch.tensor([M]))", "maximum value of input overflowed, it should be < "),
        ("torch.bincount(torch.tensor([2**60]))", f"{_STORAGE}[1152921504606846977]"),
        ("torch.bincount(torch.tensor([1]), minlength=2**62)", f"{_STORAGE}[4611686018427387904]"),
        ("torch.nn.functional.one_hot(torch.tensor([M]))", "zeros: Dimension size must be non-neg"),
        ("torch.nn.functional.one_hot(torch.tensor([1]), 2**62)", f"{_STORAGE}[1, 46116860184273"),
        ("torch.linspace(0, 1, M)", f"{_STORAGE}[9223372036854775807]"),
        ("torch.logspace(0, 1, M)", f"{_STORAGE}[9223372036854775807]"),
        ("torch.zeros(2**62, 4)", f"{_STORAGE}[4611686018427387904, 4]"),
        ("torch.ones(M)", f"{_STORAGE}[9223372036854775807]"),
        ("torch.rand(2**62)", f"{_STORAGE}[4611686018427387904]"),
        ("x.tile(2**61)", _OVERFLOW),
        ("x.repeat(2**31, 2**31)", _STORAGE),
        ("torch.nonzero_static(x, size=2**62)", f"{_STORAGE}[4611686018427387904, 1]"),
        (
            "torch.embedding_bag(w, i, torch.tensor([0, M, -M - 1, -1]))",
            "index out of range in sel",
        ),
        ("torch.embedding_bag(w, i, torch.tensor([0, -1, 2]))", "index out of range in self"),
    ],
)
def test_counts_are_bounded_before_memory_is_asked_for(text: str, sentence: str) -> None:
    space = {"torch": torch, "x": torch.arange(12.0), "M": M}
    space |= {"w": torch.ones(3, 4), "i": torch.tensor([0, 1, 2, 0])}
    with pytest.raises((RuntimeError, IndexError)) as error:
        eval(text, space)
    assert str(error.value).startswith(sentence)


def test_rows_outside_of_a_table_of_bags_are_told_as_torch_tells_them() -> None:
    bags = torch.nn.functional.embedding_bag
    table, rows = torch.ones(10, 2), torch.tensor([[1, 10]])
    with pytest.raises(RuntimeError, match=r"Index 1 of input takes value 10 which is not in the"):
        bags(rows, table)
    with pytest.raises(RuntimeError, match=r"idx < num_embeddings but found idx to be 10"):
        bags(rows, table, padding_idx=0)
    with pytest.raises(RuntimeError, match=r"idx < num_embeddings but found idx to be 10"):
        bags(rows, table.double())
