"""Cross products of many vectors, and equal steps."""

from __future__ import annotations

import numpy as np

import rushlight as torch


def test_crosses_of_many_vectors_are_learned_without_a_bit_of_difference() -> None:
    for name in ("float32", "float64"):
        x, y = (torch.randn(40, 50, 5, dtype=getattr(torch, name)) for _ in range(2))
        first, second = x[..., 1:4], y[..., :3]
        wanted = np.cross(first.numpy(), second.numpy())
        for _ in range(30):
            made = torch.cross(first, second, dim=-1)
            assert torch.equal(made, torch.linalg.cross(first, second))
            np.testing.assert_allclose(made.numpy(), wanted, 1e-5, 1e-5)


def test_steps_between_two_numbers_are_nobody_elses() -> None:
    for steps in (5001, 20_000, 100_001):
        x = torch.linspace(-3, 7, steps)
        np.testing.assert_allclose(x.numpy(), np.linspace(-3, 7, steps), 0, 2e-6)
        x.fill_(5)
        assert float(torch.linspace(-3, 7, steps)[0]) == -3
