"""`x.real = ...` and `x.imag = ...` write into the tensor."""

from __future__ import annotations

import rushlight as torch


def test_assigned_parts() -> None:
    x = torch.tensor([1 + 2j, 3 + 4j])
    x.real = torch.tensor([5.0, 6.0])
    assert x.tolist() == [5 + 2j, 6 + 4j]
    x.imag = -1
    assert x.tolist() == [5 - 1j, 6 - 1j]


def test_assigned_part_of_a_real_tensor() -> None:
    x = torch.zeros(2)
    x.real = torch.tensor([1, 2])
    assert x.tolist() == [1.0, 2.0]
