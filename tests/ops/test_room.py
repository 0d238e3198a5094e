"""Results that no memory holds are refused before work on their parts begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional as F

PLANE = torch.ones(1, 1, 2, 2)
HUGE: dict[str, Callable[[], object]] = {
    "tril_indices": lambda: torch.tril_indices(1 << 30, 1 << 30),
    "triu_indices": lambda: torch.triu_indices(1 << 40, 1 << 40, -3),
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(PLANE, (1 << 30, 1 << 30)),
    "adaptive_max_pool2d": lambda: F.adaptive_max_pool2d(PLANE, (1 << 30, 1 << 29)),
    **{
        mode: lambda mode=mode: F.interpolate(PLANE, (1 << 30, 1 << 30), mode=mode)
        for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")
    },
    "antialias": lambda: F.interpolate(PLANE, (1 << 30, 1 << 30), mode="bilinear", antialias=True),
    "bytes": lambda: F.interpolate(PLANE.byte(), (1 << 30, 1 << 30), mode="bilinear"),
}


@pytest.mark.parametrize("name", HUGE)
def test_refused_at_once(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"overflow|not enough memory"):
        HUGE[name]()


def test_triangles() -> None:
    for row in range(5):
        for col in range(5):
            for offset in range(-6, 7):
                for ours, numpy in (
                    (torch.tril_indices, np.tril_indices),
                    (torch.triu_indices, np.triu_indices),
                ):
                    found = ours(row, col, offset).tolist()
                    assert found == [part.tolist() for part in numpy(row, offset, col)]
    assert torch.tril_indices(1 << 40, 3, -(1 << 41)).shape == (2, 0)
    assert torch.triu_indices(2, 2, dtype=torch.int32).dtype is torch.int32
