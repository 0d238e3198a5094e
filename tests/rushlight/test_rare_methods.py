"""Methods of tensors that few programs call, and storages, as torch has them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import rushlight as torch

X = torch.arange(6.0).reshape(2, 3)


def test_functions_of_python_over_elements() -> None:
    assert X.clone().apply_(lambda v: v * 2).tolist() == (X * 2).tolist()
    assert torch.arange(3).apply_(lambda v: v + 1.5).tolist() == [1, 2, 3]
    assert X.clone().map_(torch.ones(3), lambda a, b: a + b).tolist() == (X + 1).tolist()
    assert X.t().clone().map2_(X.t(), X.t(), lambda *v: sum(v)).tolist() == (X.t() * 3).tolist()
    with pytest.raises(RuntimeError, match=r"Use var\.detach\(\)\.apply_\(\) instead\."):
        torch.ones(1, requires_grad=True).apply_(abs)
    with pytest.raises(TypeError, match=r"expected torch\.FloatTensor for 'other' \(got torch\.D"):
        X.clone().map_(X.double(), min)


def test_types_by_their_old_names() -> None:
    assert X.type(torch.DoubleTensor).dtype is torch.float64
    assert X.type("torch.LongTensor").dtype is torch.int64
    assert X.type(torch.FloatTensor) is X
    for wrong in (int, "foo"):
        with pytest.raises(ValueError, match="invalid type: '"):
            X.type(wrong)


def test_what_is_not_here_is_refused_as_in_torch() -> None:
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        X.cuda()
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        X.pin_memory()
    with pytest.raises(RuntimeError, match=r"deprecated since version 1[.]9 and is now removed"):
        X.symeig()


def test_storages_are_objects_with_sizes() -> None:
    storage = X.untyped_storage()
    assert (len(storage), storage.nbytes(), storage[7], storage.device.type) == (24, 24, 63, "cpu")
    assert storage.data_ptr() == X.data_ptr() == X.storage().data_ptr()
    assert sys.getsizeof(storage) > 24
    copied = X.storage().clone()
    copied[0] = 5.0
    assert [copied.tolist()[0], X[0, 0].item()] == [5.0, 0.0]
    assert torch.UntypedStorage([1, 2]).tolist() == [1, 2]
    assert torch.FloatStorage([1, 2]).tolist() == [1.0, 2.0]
    assert torch.FloatStorage(np.int16(3)).size() == 3
    assert isinstance(X.storage(), torch.FloatStorage)
    assert not isinstance(X.storage(), torch.LongStorage)
    assert isinstance(X.storage(), torch.TypedStorage)
    memory = torch.UntypedStorage([0, 0, 128, 63])
    bytes_of_one = torch.TypedStorage(wrap_storage=memory, dtype=torch.float32)
    assert bytes_of_one.tolist() == [1.0]


def test_storages_become_small_below_tensors_and_large_again() -> None:
    x = torch.arange(6.0)
    tail = x[2:]
    assert x.untyped_storage().resize_(0).nbytes() == 0
    assert [tail.untyped_storage().size(), len(x.storage()), x.untyped_storage().tolist()] == [
        0,
        0,
        [],
    ]
    assert (x.shape, tail.storage_offset()) == ((6,), 2)
    x.untyped_storage().resize_(24)
    x.copy_(torch.ones(6))
    assert (tail.tolist(), x.storage().size()) == ([1.0] * 4, 6)
    x.storage().resize_(2)
    assert torch.empty(0).set_(x.untyped_storage(), 0, (2,)).tolist() == [1.0, 1.0]
    x.set_(torch.zeros(3))
    assert x.untyped_storage().size() == 12
    part = x[1:]
    assert x.untyped_storage().resize_(13).nbytes() == part.untyped_storage().nbytes() == 13
    x[1] = 5.0
    assert part.tolist() == [5.0, 0.0]


def test_memory_of_somebody_else_keeps_its_size() -> None:
    theirs = torch.from_numpy(np.ones(3)).untyped_storage()
    assert not theirs.resizable()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        theirs.resize_(0)


def test_inference_mode_is_known() -> None:
    assert not torch.is_inference_mode_enabled()
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled()


def test_tensors_of_bytes() -> None:
    values = torch.arange(6.0)
    memory = values.untyped_storage()
    assert torch.tensor(memory, dtype=torch.float32).tolist() == values.tolist()
    assert torch.tensor(memory, dtype=torch.int16)[3].item() == 16256
    assert torch.tensor(memory).dtype is torch.int64
    assert torch.tensor(memory).numel() == 3
    with pytest.raises(RuntimeError, match="Expected a Storage of type int or an UntypedStorage"):
        torch.tensor([], dtype=torch.int32).set_(values.storage())


def test_other_sizes_of_nothing_keep_their_steps() -> None:
    nothing = torch.empty(0, 5, 64, dtype=torch.int16)
    assert nothing.view(torch.int32).stride() == (160, 32, 1)
    assert nothing.view(torch.int8).stride() == (640, 128, 1)


def test_orders_of_dimensions_that_are_not_clear() -> None:
    both = [torch.contiguous_format, torch.channels_last]
    assert torch.empty(2, 3, 4).dim_order(ambiguity_check=True) == (0, 1, 2)
    assert torch.empty(2, 1, 5).dim_order(ambiguity_check=both) == (0, 1, 2)
    pixels = torch.empty(2, 2, 1, 2).to(memory_format=torch.channels_last)
    assert pixels.dim_order(ambiguity_check=both) == (0, 2, 3, 1)
    for sizes, check in (((2, 1, 5), True), ((1, 1, 1, 1), both)):
        with pytest.raises(RuntimeError, match="does not have unique dim order"):
            torch.empty(sizes).dim_order(ambiguity_check=check)
    with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
        torch.empty(2).dim_order(ambiguity_check="x")


def test_counts_of_threads_that_are_too_large() -> None:
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.set_num_threads(2**65)


def test_whole_numbers_made_without_gradients() -> None:
    sentence = "Only Tensors of floating point and complex dtype can require gradients"
    with pytest.raises(RuntimeError, match=sentence):
        torch.ones(2, dtype=torch.int32, requires_grad=True)
    with pytest.raises(RuntimeError, match=sentence):
        torch.ones(2).new_ones((2,), dtype=torch.int32, requires_grad=True)


def test_the_storage_of_some_memory_is_one_object_with_attributes_of_its_own() -> None:
    x = torch.ones(3)
    storage = x.untyped_storage()
    storage.mark = "seen"
    assert x[1:].untyped_storage() is storage
    assert x.view(torch.int32).untyped_storage().mark == "seen"
    assert torch.ones(3).untyped_storage() is not storage
    x.set_(torch.zeros(2))
    assert x.untyped_storage() is not storage


def test_data_is_a_tensor_and_stays() -> None:
    x = torch.ones(2)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got NoneType"):
        x.data = None  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="have incompatible tensor type"):
        x.data = x.to_sparse()
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        del x.requires_grad


def test_places_are_not_written_through_themselves() -> None:
    places = torch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        places[places] = places.clone()
