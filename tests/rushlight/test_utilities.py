"""The smaller modules: `_utils`, `utils.hooks`, `backends.cudnn`, `ops`."""

from __future__ import annotations

import copy

import pytest

import rushlight as torch
from rushlight import _utils


def test_tensors_as_one_vector() -> None:
    tensors = [torch.ones(2, 2), torch.zeros(3)]
    flat = _utils._flatten_dense_tensors(tensors)
    assert flat.tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert [t.shape for t in _utils._unflatten_dense_tensors(flat, tensors)] == [(2, 2), (3,)]


def test_a_tensor_is_put_together_again() -> None:
    storage = torch.arange(4.0).storage()
    made = _utils._rebuild_tensor_v2(storage, 1, (2,), (2,), True, {})
    assert made.tolist() == [1, 3]
    assert made.requires_grad


def test_flags_are_set_within_a_block() -> None:
    cudnn = torch.backends.cudnn
    with cudnn.flags(enabled=False, deterministic=True):
        assert not cudnn.enabled
        assert cudnn.deterministic
    assert cudnn.enabled
    assert not cudnn.deterministic


def test_operators_are_copied() -> None:
    copied = copy.deepcopy(torch.ops.aten.relu)
    assert copied(torch.tensor(-1.0)) == 0
    assert copied.default(torch.tensor(2.0)) == 2


def test_memory_is_shared_by_dlpack() -> None:
    x = torch.ones(2)
    shared = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    shared[0] = 5
    assert x.tolist() == [5, 1]


def test_the_cpu_is_the_device() -> None:
    with torch.device("cpu"):
        assert torch.ones(1).device.type == "cpu"
    with pytest.raises(AssertionError, match="not compiled with CUDA"), torch.device("cuda"):
        pass
    assert torch.cpu.is_available()
    assert torch.cpu.device_count() == 1
