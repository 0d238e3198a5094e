"""NumPy's arrays and functions beside tensors; the old ways to a tensor's memory."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch


def test_sums_with_arrays_are_tensors() -> None:
    t = torch.ones(2)
    for result in (t + np.ones(2), np.add(np.ones(2), t)):
        assert isinstance(result, torch.Tensor)
        assert result.dtype == torch.float64
    assert isinstance(np.sin(t), torch.Tensor)
    assert isinstance(np.float64(2) * t, torch.Tensor)
    with pytest.raises(TypeError):
        np.ones(2, np.int32) * t


def test_storage_and_new() -> None:
    t = torch.arange(6.0).reshape(2, 3)[1]
    assert t.storage().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert t.new(2, 3).shape == (2, 3)
    made = t.double().new([1, 2])
    assert (made.dtype, made.tolist()) == (torch.float64, [1.0, 2.0])


def test_a_complex_number_before_a_wide_unsigned_tensor() -> None:
    assert torch.div(1j, torch.tensor(1, dtype=torch.uint16)).dtype == torch.complex64
    with pytest.raises(NotImplementedError, match="div_floor_cpu"):
        1j // torch.tensor(1, dtype=torch.uint32)
    with pytest.raises(RuntimeError, match="Promotion for uint16"):
        torch.tensor(1j) / torch.tensor(1, dtype=torch.uint16)
