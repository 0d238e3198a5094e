"""Complex numbers that are moved, chosen or change signs: native code learns such calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.table.direct import notes_of_parts
from rushlight.ops.table.table import TABLE

Call = Callable[[Any, Any], Any]
CALLS: dict[str, tuple[Call, Call]] = {
    "contiguous": (lambda t, x: x.t().contiguous(), lambda n, x: x.T.copy()),
    "cat": (lambda t, x: t.cat([x, x.flip(1)], 1), lambda n, x: n.hstack([x, x[:, ::-1]])),
    "stack": (lambda t, x: t.stack([x, x.flip(0)]), lambda n, x: n.stack([x, x[::-1]])),
    "filled": (lambda t, x: t.full_like(x, 1 - 2j), lambda n, x: n.full_like(x, 1 - 2j)),
    "ones": (lambda t, x: t.ones_like(x), lambda n, x: n.ones_like(x)),
    "zeros": (lambda t, x: x.clone().zero_(), lambda n, x: n.zeros_like(x)),
    "numbers": (lambda t, x: x.clone().fill_(2.5), lambda n, x: n.full_like(x, 2.5)),
    "where": (
        lambda t, x: t.where(x.real > 0, x, x[:1]),
        lambda n, x: n.where(x.real > 0, x, x[:1]),
    ),
    "masked": (
        lambda t, x: x.masked_fill(x.imag > 0, 3j),
        lambda n, x: n.where(x.imag > 0, n.asarray(3j, x.dtype), x),
    ),
    "negative": (lambda t, x: -x.t(), lambda n, x: -x.T),
    "copied": (lambda t, x: t.empty_like(x).copy_(x.flip(1)), lambda n, x: x[:, ::-1].copy()),
}


@pytest.mark.parametrize("name", ["complex64", "complex128"])
@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("shape", [(3, 5), (40, 50)])
def test_as_numpy_moves_them(case: str, name: str, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    x = (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(name)
    x[0, :2] = complex(np.nan, -0.0), complex(-np.inf, 0.0)
    ours, numpys = CALLS[case]
    wanted, given = numpys(np, x), torch.from_numpy(x)
    for _ in range(70):
        made = ours(torch, given).numpy()
        assert made.dtype == wanted.dtype
        assert made.tobytes() == np.ascontiguousarray(wanted).tobytes()


@pytest.mark.skipif(family("elementwise.arrays") is None, reason="no native code here")
def test_parts_of_them_have_kernels() -> None:
    entry = TABLE.operator("aten::zero_")
    assert entry is not None
    for name in ("complex64", "complex128"):
        result = np.empty((8, 5), name)
        assert notes_of_parts(entry, [result], result) is not None


@pytest.mark.parametrize("name", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 7), (5, 1), (7,), ()])
def test_sums_are_those_of_the_first_call(name: str, shape: tuple[int, ...]) -> None:
    parts = torch.tensor([0.0, -0.0, 1.5, -2.25, float("inf"), -float("inf"), float("nan")])
    x = torch.complex(parts.expand(5, 7), parts.roll(2).expand(5, 7)).to(getattr(torch, name))
    whole = torch.complex(parts.roll(1)[:, None].expand(7, 7), parts.roll(4).expand(7, 7))
    y = whole.to(x.dtype)[: shape[0] if shape else 1]
    y = y if shape == (5, 7) else y[:, :1] if shape == (5, 1) else y[0] if shape else y[0, 2]
    first = (x + y).numpy().tobytes(), (x - y).numpy().tobytes()
    with np.errstate(all="ignore"):
        one = y.numpy() * np.ones((), name)
        assert np.array_equal((x + y).numpy(), x.numpy() + one, equal_nan=True)
    for _ in range(70):
        assert ((x + y).numpy().tobytes(), (x - y).numpy().tobytes()) == first
    both = x.clone()
    for _ in range(70):
        assert both.copy_(x).add_(both).numpy().tobytes() == (x + x).numpy().tobytes()
