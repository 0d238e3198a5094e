"""Storages: of bytes and of elements, on `meta`, from buffers; refusals, and the warning."""

from __future__ import annotations

import copy
import warnings

import pytest

import rushlight as torch
from rushlight import storage as storages

TYPED = torch.TypedStorage


def test_bytes_change_their_order_size_and_type() -> None:
    numbers = torch.tensor([1, 256], dtype=torch.int32)
    assert numbers.untyped_storage().byteswap(torch.int32) is None
    assert numbers.tolist() == [1 << 24, 1 << 16]
    parts = torch.UntypedStorage(list(range(8)))
    parts.byteswap(torch.complex64)
    assert parts.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    memory = torch.UntypedStorage([1, 2, 3])
    assert memory.resizable()
    assert memory.resize_(5).nbytes() == 5
    assert memory.tolist()[:3] == [1, 2, 3]
    assert memory.resize_(2).tolist() == [1, 2]
    assert memory.short().tolist() == [1, 2]
    assert memory.new().nbytes() == 0
    assert torch.UntypedStorage([300, -1]).tolist() == [44, 255]
    assert torch.UntypedStorage(b"ab").fill_(257).tolist() == [1, 1]


def test_memory_of_tensors_is_resized_under_them() -> None:
    numbers = torch.arange(3.0)
    memory = numbers.untyped_storage().resize_(20)
    memory.fill_(0)
    assert (numbers.tolist(), numbers.untyped_storage().nbytes()) == ([0.0] * 3, 20)
    assert numbers.untyped_storage().resize_(12).nbytes() == 12


def test_meta_has_sizes_alone() -> None:
    tensor = torch.zeros(3, 4, device="meta")
    memory = tensor[1].untyped_storage()
    assert (memory.nbytes(), memory.data_ptr(), memory.device.type) == (48, 0, "meta")
    assert repr(memory) == "...\n[torch.storage.UntypedStorage(device=meta) of size 48]"
    typed = tensor.storage()
    told = "...\n[torch.storage.TypedStorage(dtype=torch.float32, device=meta) of size 12]"
    assert repr(typed) == told
    assert memory.clone().resize_(60).nbytes() == copy.deepcopy(memory).nbytes() + 12 == 60
    assert TYPED([1, 2, 3], dtype=torch.int64, device="meta").nbytes() == 24
    for read in (lambda: memory[0], memory.tolist, lambda: typed[0], typed.tolist):
        with pytest.raises(NotImplementedError, match="Not available for 'meta' device type"):
            read()
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        memory.cpu()


def test_elements_of_buffers() -> None:
    of_bytes = torch.UntypedStorage.from_buffer
    assert of_bytes(b"abcd", "little", dtype=torch.int16).tolist() == [97, 98, 99, 100]
    assert of_bytes(b"abcd", "big", 1, 2, dtype=torch.int16).tolist() == [100, 99]
    assert of_bytes(b"abc").tolist() == [97, 98, 99]
    assert torch.FloatStorage.from_buffer(bytearray(8), "native").tolist() == [0.0, 0.0]
    assert torch.ShortStorage.from_buffer(b"\0\1", "big").tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ((b"abcd",), RuntimeError, "missing required argument 'byte_order'"),
        ((b"abcd", "upside"), ValueError, "invalid byte_order 'upside'"),
        ((b"abc", "big"), ValueError, r"buffer size \(3\) must be a multiple of element size"),
        ((b"abcd", "big", 3), ValueError, "buffer has only 4 elements after offset 0"),
        ((b"abcd", "big", 1, 9), ValueError, "offset must be non-negative"),
        ((3, "big"), TypeError, "a bytes-like object is required"),
    ],
)
def test_buffers_that_are_refused(arguments, error, told: str) -> None:
    with pytest.raises(error, match=told):
        torch.UntypedStorage.from_buffer(*arguments, dtype=torch.int16)


MEMORY = torch.UntypedStorage([1, 2, 3, 4])


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: torch.UntypedStorage(-1), RuntimeError, "negative number: 18446744073709551615"),
        (lambda: torch.UntypedStorage("a"), RuntimeError, "of type str instead of int"),
        (lambda: torch.UntypedStorage([1.5]), RuntimeError, "of type float instead of int"),
        (lambda: torch.UntypedStorage(2.5), RuntimeError, "Expected a sequence type, but got floa"),
        (lambda: torch.UntypedStorage(1, 2), TypeError, r"got \(int, int\), but expected one of"),
        (lambda: MEMORY["a"], TypeError, "can't index a torch.UntypedStorage with str"),
        (lambda: MEMORY[4], IndexError, "index 4 out of range for storage of size 4"),
        (lambda: MEMORY[::2], RuntimeError, "with a step of 2"),
        (lambda: MEMORY.copy_(MEMORY[:2]), RuntimeError, "self was 4 bytes but src was 2 bytes"),
        (lambda: MEMORY.to(device="meta"), AssertionError, "META device module is not loaded"),
        (MEMORY.pin_memory, RuntimeError, "Cannot access accelerator device"),
        (MEMORY.cuda, AssertionError, "Torch not compiled with CUDA enabled"),
        (lambda: TYPED(1, 2), RuntimeError, "Too many positional arguments"),
        (lambda: TYPED(torch.ones(2)), TypeError, "Argument type not recognized"),
        (lambda: TYPED(wrap_storage=MEMORY), RuntimeError, "Argument 'dtype' must be specified"),
        (lambda: TYPED(wrap_storage=3, dtype=torch.int8), TypeError, "must be UntypedStorage"),
        (lambda: TYPED(1, wrap_storage=MEMORY, dtype=torch.int8), RuntimeError, "No positional"),
        (lambda: TYPED([1.0])[0:1], RuntimeError, "only supported in UntypedStorage.__getitem__"),
        (lambda: TYPED([1.0])["a"], RuntimeError, "can't index a"),
        (lambda: TYPED([1.0])[1], IndexError, "index 1 out of range for storage of size 1"),
        (lambda: torch.FloatStorage(1, 2), RuntimeError, "Too many positional arguments"),
        (lambda: torch.FloatStorage(dtype=torch.half), RuntimeError, "'dtype' cannot be specified"),
        (
            lambda: torch.FloatStorage.from_buffer(b"", dtype=torch.half),
            RuntimeError,
            "'dtype' can only be specified in UntypedStorage.from_buffer",
        ),
    ],
)
def test_what_is_refused(make, error, told: str) -> None:
    with pytest.raises(error, match=told):
        make()


def test_classes_of_storages() -> None:
    assert torch.zeros(1).storage_type() is torch.FloatStorage
    assert torch.zeros(1, dtype=torch.int64).storage_type() is torch.LongStorage
    assert torch.QUInt8Storage([1, 2]).tolist() == [1, 2]
    assert torch.UntypedStorage.__name__ == "UntypedStorage"
    assert repr(torch.FloatStorage()).startswith(" \n[torch.storage.TypedStorage(dtype=torch.float")


def test_every_use_warns_if_that_is_wanted() -> None:
    assert storages._get_always_warn_typed_storage_removal() is False
    with pytest.raises(AssertionError, match="must be a bool"):
        storages._set_always_warn_typed_storage_removal(1)
    storages._set_always_warn_typed_storage_removal(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            typed = torch.ones(1).storage()
            torch.FloatStorage([1])
            assert (typed.size(), typed.dtype) == (1, torch.float32)
            torch.ones(1).untyped_storage().nbytes()
        assert [str(each.message)[:26] for each in caught] == ["TypedStorage is deprecated"] * 3
        assert {each.filename for each in caught} == {__file__}
    finally:
        storages._set_always_warn_typed_storage_removal(False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.ones(1).storage()  # of which somebody has been told
    assert caught == []


def test_bytes_become_storages_without_a_warning() -> None:
    made = torch.ByteStorage._from_buffer(b"abc")
    assert torch.ByteTensor(made).tolist() == [97, 98, 99]
    with pytest.raises(RuntimeError, match="'dtype' can only be specified in"):
        torch.ByteStorage._from_buffer(b"abc", dtype=torch.float32)
    with pytest.raises(RuntimeError, match="missing required argument 'byte_order'"):
        torch.FloatStorage._from_buffer(b"abcd")
