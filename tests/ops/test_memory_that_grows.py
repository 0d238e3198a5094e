"""`resize_`, `set_` and storages that become larger: all that lies in the memory moves along."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch


def test_views_follow_a_tensor_that_is_resized() -> None:
    x = torch.arange(4.0)
    part, bits, same = x[1:3], x.view(torch.int32), x.detach()
    x.resize_(3, 2)
    x[1:] = 7.0
    x[0, 1] = 9.0
    assert (part.tolist(), same.tolist()) == ([9.0, 7.0], [0.0, 9.0, 7.0, 7.0])
    assert bits.tolist() == torch.tensor([0.0, 9.0, 7.0, 7.0]).view(torch.int32).tolist()
    assert part.untyped_storage().nbytes() == 24
    assert part.data_ptr() - x.data_ptr() == 4
    assert part._base is x


def test_a_tensor_follows_a_view_that_is_resized() -> None:
    x = torch.arange(4.0)
    last = x[2:]
    last.resize_(5).fill_(5.0)
    assert x.tolist() == [0.0, 1.0, 5.0, 5.0]
    assert x.untyped_storage().data_ptr() == last.untyped_storage().data_ptr()
    last.resize_(100).zero_()
    assert x.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_storages_grow_with_tensors_and_tensors_with_storages() -> None:
    x = torch.arange(4.0)
    storage = x[:2].untyped_storage()
    x.resize_(8)
    assert (storage.nbytes(), storage.data_ptr()) == (32, x.data_ptr())
    storage.resize_(40)
    torch.empty(0).set_(storage, 0, (10,), (1,)).fill_(1.0)
    assert (x.tolist(), x.untyped_storage().nbytes()) == ([1.0] * 8, 40)
    assert x.untyped_storage() is storage


def test_sizes_that_a_tensor_is_set_to_make_its_memory_larger() -> None:
    x = torch.arange(3.0)
    y = torch.empty(0).set_(x.untyped_storage(), 0, (5,), (1,))
    y.fill_(2.0)
    assert (x.tolist(), x.untyped_storage().nbytes()) == ([2.0] * 3, 20)


def test_parameters_follow_their_data() -> None:
    p = torch.nn.Parameter(torch.arange(4.0))
    data = p.data
    data.resize_(8)
    data.fill_(3.0)
    assert (p.tolist(), p.untyped_storage().nbytes()) == ([3.0] * 4, 32)


def test_what_gradients_keep_is_known_to_be_written() -> None:
    w = torch.ones(2, requires_grad=True)
    x = torch.arange(2.0)
    x.add_(1)
    y = w * x
    x.resize_(4)
    x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_memory_of_others_does_not_grow() -> None:
    borrowed = torch.frombuffer(bytearray(8), dtype=torch.float32)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        borrowed.resize_(4)


@pytest.mark.parametrize(
    "seen", [torch.Tensor.detach, lambda x: x[1:], torch.Tensor.untyped_storage]
)
def test_who_lies_in_the_memory_is_looked_for_only_if_somebody_may(
    monkeypatch: pytest.MonkeyPatch, seen: Callable[[torch.Tensor], Any]
) -> None:
    x = torch.arange(3.0).resize_(5)
    looks, look = list[int](), gc.get_objects

    def looked() -> list[Any]:
        looks.append(1)
        return look()

    monkeypatch.setattr(gc, "get_objects", looked)
    for size in range(6, 9):
        x.resize_(size)
    assert not looks
    other = seen(x)
    x.resize_(20)
    assert looks
    assert other.data_ptr() - x.data_ptr() in (0, 4)


def test_tensors_without_an_array_do_not_matter() -> None:
    x = torch.arange(4.0)
    others = [torch.eye(2).to_sparse(), torch.empty(2, device="meta"), torch.ones(2, 2).mH]
    part = x[2:]
    x.resize_(8).fill_(4.0)
    assert part.tolist() == [4.0, 4.0]
    assert len(others) == 3


def test_what_has_its_sizes_already_is_not_written() -> None:
    x, like = torch.rand(1), torch.rand(3)
    x.resize_(1, 2)
    x.resize_as_(like)
    assert x._version == 2
    x.resize_(3).resize_as_(like)
    x.resize_as_(like, memory_format=torch.preserve_format)
    assert x._version == 2
    a = torch.rand(3, requires_grad=True)
    b = a.exp()
    with torch.no_grad():
        b.resize_(3)
    b.sum().backward()
    assert torch.equal(a.grad, b.detach())
