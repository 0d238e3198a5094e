"""Memory shared with NumPy and through DLPack: both sides see what either writes."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import rushlight as torch

NAMES = "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 bool complex64".split()


@pytest.mark.parametrize("name", NAMES)
def test_numpy_shares_memory_both_ways(name: str) -> None:
    array = np.ones((2, 3), name)
    tensor = torch.from_numpy(array)
    array[1, 2] = 0
    assert not tensor[1, 2].item()
    assert tensor.data_ptr() == array.ctypes.data
    assert np.shares_memory(tensor.numpy(), array)
    assert np.shares_memory(np.asarray(tensor), array)
    assert not np.shares_memory(np.array(tensor), array)


@pytest.mark.parametrize("name", NAMES)
def test_dlpack_shares_memory_both_ways(name: str) -> None:
    tensor = torch.ones(2, 3, dtype=getattr(torch, name)).t()
    array = np.from_dlpack(tensor)
    back = torch.from_dlpack(array)
    assert back.stride() == tensor.stride() == (1, 3)
    assert back.dtype is tensor.dtype
    tensor[0, 1] = 0
    assert not array[0, 1]
    assert not back[0, 1].item()
    assert back.data_ptr() == tensor.data_ptr()
    assert tensor.__dlpack_device__() == (1, 0)


def test_a_tensor_and_a_capsule_are_taken_and_copied_on_demand() -> None:
    tensor = torch.arange(4)
    assert torch.from_dlpack(tensor).data_ptr() == tensor.data_ptr()
    assert torch.from_dlpack(tensor, copy=True).data_ptr() != tensor.data_ptr()
    capsule = tensor.__dlpack__()
    from_capsule = torch.from_dlpack(capsule)
    assert from_capsule.data_ptr() == tensor.data_ptr()
    assert from_capsule.tolist() == [0, 1, 2, 3]


def test_views_and_slices_keep_sharing() -> None:
    base = np.arange(12.0).reshape(3, 4)
    part = torch.from_numpy(base[1:, ::2])
    part.add_(100)
    assert base.tolist() == [[0, 1, 2, 3], [104, 5, 106, 7], [108, 9, 110, 11]]
    assert memoryview(part.numpy()).strides == (32, 16)


def test_tensors_with_gradients_are_not_exported() -> None:
    tensor = torch.ones(1, requires_grad=True)
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        tensor.__dlpack__()
    with pytest.raises(RuntimeError, match=r"Use tensor.detach\(\).numpy\(\) instead"):
        np.asarray(tensor)


@pytest.mark.parametrize("value", [3, "x", [1.0]])
def test_what_is_no_array_is_refused(value: Any) -> None:
    with pytest.raises(RuntimeError, match="received an invalid capsule"):
        torch.from_dlpack(value)


@pytest.mark.parametrize("name", ["bfloat16", "complex32", "float8_e4m3fn", "float8_e5m2"])
def test_dtypes_that_numpy_does_not_know_cross_as_capsules(name: str) -> None:
    dtype = getattr(torch, name)
    tensor = torch.arange(6).reshape(2, 3).to(dtype).t()

    class Other:
        def __dlpack__(self, **options: Any) -> object:
            return tensor.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    capsules = (torch.utils.dlpack.to_dlpack(tensor), tensor.__dlpack__(max_version=(1, 0)))
    for source in (*capsules, Other()):
        back = torch.from_dlpack(source)
        assert back.dtype is dtype
        assert back.stride() == (1, 3)
        assert back.data_ptr() == tensor.data_ptr()
        assert back.tolist() == tensor.tolist()
    with pytest.raises(RuntimeError, match="received an invalid capsule"):
        torch.from_dlpack(capsules[0])
    code = bytes((ctypes.c_uint8 * 2).from_address(_dlpack_address(tensor.__dlpack__()) + 20))
    codes = {"bfloat16": 4, "complex32": 5, "float8_e4m3fn": 10, "float8_e5m2": 12}
    assert code == bytes([codes[name], 8 * dtype.itemsize])  # as the protocol numbers them


def _dlpack_address(capsule: object) -> int:
    function = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    found: int = function(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, b"dltensor")
    return found


class OfAnotherLibrary:
    """Shows memory by the protocol alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_objects_of_the_protocol_are_data() -> None:
    array = np.arange(3.0)
    shown = OfAnotherLibrary(array)
    assert torch.as_tensor(shown).data_ptr() == array.ctypes.data
    for made in (torch.tensor(shown), torch.zeros(1, dtype=torch.float64).new_tensor(shown)):
        assert made.data_ptr() != array.ctypes.data
        assert torch.equal(made, torch.from_numpy(array))
    assert torch.tensor(shown, dtype=torch.int32).tolist() == [0, 1, 2]
    assert torch.as_tensor(shown, dtype=torch.float32).dtype == torch.float32


def test_storages_are_data_of_their_dtype() -> None:
    storage: Any = torch.arange(3).storage()
    assert torch.tensor(storage, dtype=torch.int64).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="Expected a Storage of type Float or an UntypedStorage"):
        torch.tensor(storage, dtype=torch.float32)


def test_the_cpu_has_no_streams() -> None:
    assert torch.ones(1).__dlpack__(stream=-1) is not None
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        torch.ones(1).__dlpack__(stream=1)
    with pytest.raises(TypeError, match="stream must be ``int`` or ``none``"):
        torch.ones(1).__dlpack__(stream=object())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: torch.ones(2).to_sparse(), "with layout other than torch.strided$"),
        (lambda: torch.ones(2, device="meta"), "^Cannot pack tensors on meta$"),
    ],
)
def test_what_has_no_memory_is_not_exported(made: Any, said: str) -> None:
    with pytest.raises(BufferError, match=said):
        made().__dlpack__()


def test_a_capsule_is_opened_once() -> None:
    capsule = torch.ones(2).__dlpack__()
    torch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match=r"^from_dlpack received an invalid capsule"):
        torch.from_dlpack(capsule)
