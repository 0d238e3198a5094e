"""Softmax and its logarithm along dimensions that are not the last one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import threads
from rushlight.ops.layers import softmax

SHAPES = (((4, 32, 10, 10), 1), ((100, 17), 0), ((2, 1, 16), 1), ((5, 3, 7, 16), 2), ((3, 2, 5), 1))


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_columns(shape: tuple[int, ...], dim: int, name: str) -> None:
    x = torch.randn(shape, dtype=getattr(torch, name)) * 4
    wide = x.double().numpy()
    below = wide - wide.max(dim, keepdims=True)
    total = np.exp(below).sum(dim, keepdims=True)
    near = 3e-6 if name == "float32" else 1e-13
    np.testing.assert_allclose(torch.softmax(x, dim).numpy(), np.exp(below) / total, near, near)
    logs = torch.log_softmax(x, dim).numpy()
    np.testing.assert_allclose(logs, below - np.log(total), 0, 8 * near)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize(("shape", "dim"), [((64, 96), 0), ((2, 19, 8, 8), 1), ((2, 5, 7, 7), 1)])
def test_sums_of_16_bit_floats_are_of_float32(
    shape: tuple[int, ...], dim: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = (torch.randn(shape) * 4).to(getattr(torch, name))
    made = torch.softmax(x, dim)
    monkeypatch.setattr(softmax, "_columns_for", lambda *_: None)
    wanted = softmax._any_softmax(x._array, dim, None).astype(np.float32)
    off, near = np.abs(made.float().numpy() - wanted), 2**-7 if name == "bfloat16" else 2**-10
    assert (off <= wanted * near + 2**-24).all()
    assert (off > 0).mean() < 0.01


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_what_is_not_finite(shape: tuple[int, ...], dim: int) -> None:
    x = torch.randn(shape)
    x.select(dim, 0).fill_(-math.inf)
    made = torch.softmax(x, dim).select(dim, 0)
    assert bool((made == 0).all()) or (shape[dim] == 1 and bool(made.isnan().all()))
    x.select(dim, 0).fill_(math.nan)
    assert torch.softmax(x, dim).isnan().all()
    assert torch.log_softmax(x, dim).isnan().all()


def test_threads_change_no_bit() -> None:
    x, found = torch.randn(3, 50, 700), set[bytes]()
    before = threads.get_threads()
    for count in (1, 2, 3):
        threads.set_threads(count)
        found.add(torch.softmax(x, 1).numpy().tobytes() + torch.log_softmax(x, 1).numpy().tobytes())
    threads.set_threads(before)
    assert len(found) == 1
