"""Methods of tensors that few programs call, and storages, as torch has them."""

from __future__ import annotations

import sys

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
    assert isinstance(X.storage(), torch.FloatStorage)
    assert not isinstance(X.storage(), torch.LongStorage)
    assert isinstance(X.storage(), torch.TypedStorage)
    bytes_of_one = torch.TypedStorage(wrap_storage=torch.UntypedStorage([0, 0, 128, 63]))
    assert bytes_of_one.tolist() == [1.0]


def test_inference_mode_is_known() -> None:
    assert not torch.is_inference_mode_enabled()
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled()
