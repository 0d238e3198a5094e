"""Edges around planes: those of NumPy's `pad`, of every size of element, and known beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops.kernels import family, threads
from rushlight.ops.table import direct
from rushlight.ops.table.table import TABLE

F = torch.nn.functional
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
DTYPES = ("u1", "i2", "f2", "f4", "i8", "f8", "c8", "c16")


def numbers(shape: Any, dtype: str = "f4") -> Any:
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)


@settings(max_examples=120, deadline=None)
@given(st.integers(1, 3), st.sampled_from(sorted(MODES)), st.sampled_from(DTYPES), st.data())
def test_every_mode_size_and_dtype(dims: int, mode: str, dtype: str, data: st.DataObject) -> None:
    space = [data.draw(st.integers(1, 40 if dim == dims - 1 else 5)) for dim in range(dims)]
    most = [n - 1 if mode == "reflect" else n for n in space]
    pairs = [(data.draw(st.integers(0, m)), data.draw(st.integers(0, m))) for m in most]
    x = numbers((2, 3, *space), dtype)
    wanted = np.pad(x, [(0, 0), (0, 0), *pairs], MODES[mode])
    pad = [side for pair in reversed(pairs) for side in pair]
    assert np.array_equal(F.pad(torch.from_numpy(x), pad, mode).numpy(), wanted)


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_what_is_cut_off(mode: str) -> None:
    x = numbers((1, 2, 6, 30))
    made = F.pad(torch.from_numpy(x), (-3, 2, 2, -1), mode).numpy()
    wanted = np.pad(x[..., :-1, 3:], [(0, 0), (0, 0), (2, 0), (0, 2)], MODES[mode])
    assert np.array_equal(made, wanted)
    assert F.pad(torch.from_numpy(x), (-20, -10, 0, 1), mode).shape == (1, 2, 7, 0)


def test_channels_stay_last_and_parts_of_arrays_are_taken() -> None:
    x = torch.from_numpy(numbers((2, 4, 5, 6)))
    turned = x.contiguous(memory_format=torch.channels_last)
    made = F.pad(turned, (1, 2, 1, 1), "reflect")
    assert made.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(made, F.pad(x, (1, 2, 1, 1), "reflect"))
    part = x[:, ::2, 1:, ::2]
    wanted = F.pad(part.contiguous(), (2, 1, 1, 3), "replicate")
    assert torch.equal(F.pad(part, (2, 1, 1, 3), "replicate"), wanted)


def test_threads_change_nothing() -> None:
    x = torch.from_numpy(numbers((4, 16, 60, 61)))
    before, found = threads.get_threads(), []
    try:
        for count in (1, 2, 3):
            threads.set_threads(count)
            found.append(F.pad(x, (3, 3, 3, 3), "reflect"))
    finally:
        threads.set_threads(before)
    wanted = np.pad(x.numpy(), [(0, 0), (0, 0), (3, 3), (3, 3)], "reflect")
    assert all(np.array_equal(each.numpy(), wanted) for each in found)


@pytest.mark.skipif(family("convolutions.edges") is None, reason="no native code here")
def test_calls_become_known() -> None:
    entry = TABLE.operator("aten::pad")
    assert entry is not None
    for seed in range(150):
        x = np.random.default_rng(seed).random((1, 3, 8, 9), "f4")
        made = F.pad(torch.from_numpy(x), (1, 2, 1, 2), "reflect")
        assert np.array_equal(made.numpy(), np.pad(x, [(0, 0), (0, 0), (1, 2), (1, 2)], "reflect"))
    assert not direct.knows_calls() or direct._NATIVE[entry].count


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_numbers_around_planes_are_there_in_every_call(dtype: torch.dtype) -> None:
    x = torch.arange(48).reshape(2, 4, 6).to(dtype)
    wanted = np.pad(x.float().numpy(), [(0, 0), (0, 0), (1, 2)])
    assert all(np.array_equal(F.pad(x, [1, 2]).float().numpy(), wanted) for _ in range(60))


@pytest.mark.parametrize("mode", sorted(MODES))
def test_quantized_planes_are_padded(mode: str) -> None:
    x = torch.quantize_per_tensor(torch.arange(24.0).reshape(1, 4, 6), 1.0, 0, torch.quint8)
    wanted = np.pad(x.dequantize().numpy(), [(0, 0), (0, 0), (1, 2)], MODES[mode])
    assert np.array_equal(F.pad(x, [1, 2], mode).dequantize().numpy(), wanted)
