"""Running sums of complex numbers are taken in double precision, part by part, as torch does."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_sums_are_rounded_once(dim: int, turned: bool) -> None:
    x = torch.randn(7, 30, 5, dtype=torch.complex64)
    x = x.transpose(0, 2) if turned else x
    wide = x.numpy().astype(np.complex128)
    wanted = np.add.accumulate(wide, dim).astype(np.complex64)
    for _ in range(60):
        assert np.array_equal(x.cumsum(dim).numpy(), wanted)


def test_zeros_begin_them() -> None:
    made = torch.complex(torch.tensor([-0.0, 1.0]), torch.tensor([-0.0, -1.0])).cumsum(0)
    assert [str(each) for each in made.tolist()] == ["0j", "(1-1j)"]
