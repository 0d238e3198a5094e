"""What masks choose, and what is not zero: the kernels and the operators, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels.code.calls.run import run
from rushlight.ops.kernels.code.indexing.chosen import chosen_text
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.memory.errors import IndexOutOfRange
from rushlight.ops.table.table import TABLE

native = pytest.mark.skipif(kernels.family("indexing.chosen") is None, reason="no native code here")

SHAPES = [(1,), (64,), (65,), (4097,), (13_000,), (3, 7), (100, 100), (5, 1), (70, 2, 3)]
DTYPES = "? b h i l f d".split()


def sparse(shape: tuple[int, ...], dtype: str, part: float) -> Any:
    random = np.random.default_rng(sum(shape))
    made = (random.random(shape) < part).astype(dtype)
    if dtype in "fd":
        made[made != 0] = np.nan
        made[made == 0] = -0.0
    return made


@native
@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_find_what_is_not_zero(dtype: str) -> None:
    module = kernels.family("indexing.chosen")
    for shape in SHAPES:
        for part in (0, 0.1, 0.9, 1):
            x = sparse(shape, dtype, part)
            marks = module.chosen(x)
            assert marks.total == np.count_nonzero(x)
            assert np.array_equal(module.places(marks), x.nonzero())


@native
@pytest.mark.parametrize("dtype", ["?", "h", "f", "D", "F"])
def test_kernels_take_and_put_elements_and_rows(dtype: str) -> None:
    module, random = kernels.family("indexing.chosen"), np.random.default_rng(1)
    for shape in SHAPES:
        mask = sparse(shape, "?", 0.3)
        marks = module.chosen(mask)
        for rest in ((), (3,), (2, 17)):
            x = random.integers(0, 2, (*shape, *rest)).astype(dtype)
            values = random.integers(0, 2, (marks.total, *rest)).astype(dtype)
            if dtype == "D":
                assert module.take(marks, x) is None
                assert not module.put(marks, x, values)
                continue
            assert np.array_equal(module.take(marks, x), x[mask])
            if values.size > 1:
                want = x.copy()
                want[mask] = values
                assert module.put(marks, x, values)
                assert np.array_equal(x, want)


PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
HASWELL = Target("haswell", True, False, False, "haswell", "")


@native
@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64")
@pytest.mark.parametrize("target", [PLAIN, HASWELL])
def test_cpus_with_shorter_vectors_mark_alike(target: Target) -> None:
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    x = sparse((4096 + 77,), "f", 0.2)
    text = chosen_text(target, "mark", "float")
    mark = placed(assembled(text, target), ("chosen",))["chosen"]
    bits, begins = np.empty(128, np.int64), np.zeros(3, np.int64)
    run(mark, 2, 2, x.size, x, bits, begins)
    found = np.unpackbits(bits.view(np.uint8), bitorder="little")
    assert np.array_equal(found[: x.size], x != 0)
    assert not found[x.size :].any()
    assert begins.tolist() == [0, *map(np.count_nonzero, (x[:4096], x[4096:]))]


@pytest.mark.parametrize("turned", [False, True])
def test_operators_choose_as_numpy(turned: bool) -> None:
    random = np.random.default_rng(3)
    x, mask = random.standard_normal((40, 30)).astype(np.float32), random.random((40, 30)) > 0.6
    if turned:
        x, mask = x.T, mask.T
    a, m = torch.from_numpy(x), torch.from_numpy(mask)
    places = m.nonzero()
    assert np.array_equal(places.numpy(), np.argwhere(mask))
    assert places.stride() == (1, mask.sum())  # stored by columns, as torch has it
    assert [each.stride() for each in torch.where(m)] == [(1,), (1,)]
    assert np.array_equal(a[m].numpy(), x[mask])
    assert np.array_equal(torch.masked_select(a, m[0]).numpy(), x[:, mask[0]].ravel())
    assert np.array_equal(a[m[:, 0]].numpy(), x[mask[:, 0]])
    values = torch.arange(1200.0)
    want = x.copy()
    want[mask] = np.arange(mask.sum())
    assert np.array_equal(a.masked_scatter(m, values).numpy(), want)
    made = a.clone()
    made[m] = values[: int(m.sum())]
    assert np.array_equal(made.numpy(), want)
    made[m] = 7
    made[m[:, 0]] = values[: x.shape[1]]
    want[mask] = 7
    want[mask[:, 0]] = np.arange(x.shape[1])
    assert np.array_equal(made.numpy(), want)


def test_too_few_values_for_a_mask_are_refused() -> None:
    x, mask = torch.zeros(4, 5), torch.ones(4, 5, dtype=torch.bool)
    with pytest.raises(RuntimeError, match="elements of source < number of ones in mask"):
        x.masked_scatter_(mask, torch.ones(19))
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x[mask] = torch.ones(19)
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x[mask] = torch.ones(21)
    assert not x.any()


@native
@pytest.mark.parametrize("shape", [(7,), (5, 3), (4, 2, 3)])
def test_rows_that_are_taken_are_the_same_whether_somebody_learns_or_not(shape: Any) -> None:
    index = TABLE.operator("aten::index.Tensor")
    assert index is not None
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    for places in (np.array([2, -1, 0, 2]), np.array([[1], [3]])):
        seen = kernels.family("calls.prepared").seen(index.forward, (x, [places]))
        alone = index.forward(x, [places])
        assert np.array_equal(seen.result, x[places])
        assert np.array_equal(alone, x[places])
        assert alone.strides == seen.result.strides
        assert seen.notes
        assert () not in seen.notes
    mask = x[..., 0] > 2 if x.ndim > 1 else x > 2
    seen = kernels.family("calls.prepared").seen(index.forward, (x, [mask]))
    assert np.array_equal(seen.result, x[mask])
    assert () in seen.notes  # nothing is learned from what depends on elements
    with pytest.raises(IndexOutOfRange, match="out of bounds"):
        index.forward(x, [np.array([0, shape[0]])])


@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors")
@pytest.mark.parametrize("value", [7.0, torch.tensor(7.0)])
def test_elements_in_one_place_are_filled_where_a_mask_names_any(value: Any) -> None:
    x = torch.zeros(2, 1)
    mask = torch.tensor([[True, False, False], [False, False, False]])
    assert x.expand(2, 3).masked_fill_(mask, value).tolist() == [[7.0] * 3, [0.0] * 3]
    assert x.tolist() == [[7.0], [0.0]]
    flags = torch.tensor([True, False, True])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        flags[1:].masked_fill_(flags[:-1], False)
    assert flags.masked_fill_(flags, False).tolist() == [False] * 3
