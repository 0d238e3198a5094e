"""`torch._C._jit_assert_is_instance`: whether a Python value is of a type of the language."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight import _C


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (3, _C.IntType.get()),
        ([1, 2], _C.ListType(_C.IntType.get())),
        (torch.ones(2), _C.TensorType.get()),
        (None, _C.OptionalType(_C.FloatType.get())),
    ],
)
def test_instances(value: object, type: object) -> None:
    assert _C._jit_assert_is_instance(value, type) is None


@pytest.mark.parametrize(
    ("value", "type"),
    [("3", _C.IntType.get()), ([1.5], _C.ListType(_C.IntType.get())), (3, _C.TensorType.get())],
)
def test_others_are_refused(value: object, type: object) -> None:
    with pytest.raises(RuntimeError):
        _C._jit_assert_is_instance(value, type)
