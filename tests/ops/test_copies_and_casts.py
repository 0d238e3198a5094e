"""Copies that share memory, casts to eight bits, storages as arguments, factors of losses."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16"])
def test_numbers_without_dimensions_stay_tensors(name: str) -> None:
    dtype = getattr(torch, name)
    four = torch.tensor(4.0, dtype=dtype)
    made = [four, torch.tensor(4.0).to(dtype), torch.tensor(4).type(dtype), four.clone()]
    for each in (
        *made,
        four.float(),
        four.to(torch.float64),
        four[None].index_select(0, four.long()[None] * 0),
    ):
        assert type(each) is Tensor
        assert type(each._array) is np.ndarray
        assert each.item() == 4.0


def test_what_lies_in_one_memory_does_so_in_a_copy() -> None:
    tensor = torch.arange(6.0)
    kept = [tensor, [tensor.untyped_storage(), tensor.view(2, 3).T]]
    made = copy.deepcopy([kept, torch.arange(6.0)[2:]])
    copied, (memory, turned) = made[0]
    copied.fill_(1.0)
    assert turned.tolist() == [[1.0, 1.0]] * 3
    assert list(memory)[:4] == [0, 0, 128, 63]
    assert tensor.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_a_storage_with_a_type_is_copied_with_its_tensor() -> None:
    tensor = torch.arange(6.0)
    storage, copied = copy.deepcopy((tensor[2:].storage(), tensor))
    copied.add_(1)
    assert list(storage) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_tensors_are_made_of_storages_of_their_type() -> None:
    storage = torch.FloatStorage([1.0, 2.0])
    made = torch.FloatTensor(storage)
    made[0] = 7.0
    assert list(storage) == [7.0, 2.0]
    with pytest.raises(RuntimeError, match="Expected a Storage of type Bool or an UntypedStorage"):
        torch.tensor([True]).new(storage)


def test_mapped_tensors_require_no_gradients() -> None:
    wanting = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Can't call map2_"):
        torch.ones(2).map2_(torch.ones(2), wanting, lambda a, b, c: a)


def test_a_factor_does_not_grow_beyond_float32() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=1e38, growth_factor=2.0**4, growth_interval=1)
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    optimizer.param_groups[0]["params"][0].grad = torch.ones(1)
    scaler.scale(torch.ones(1))
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == pytest.approx(1e38, rel=1e-6)


_TURNED = {
    "turned": lambda x: x.transpose(0, 1),
    "turned around": lambda x: x.permute(2, 0, 1),
    "every second": lambda x: x[:, ::2],
    "every third": lambda x: x[..., ::3],
    "expanded": lambda x: x[:, None].expand(-1, 4, -1, -1),
}


@pytest.mark.parametrize("name", _TURNED)
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "bfloat16", "float16", "int64", "int8", "bool", "complex64"]
)
def test_other_sizes_of_what_does_not_lie_in_one_piece(name: str, dtype: str) -> None:
    x = (torch.randn(40, 30, 50) * 5).to(getattr(torch, dtype))
    given = _TURNED[name](x)
    wanted = np.ascontiguousarray(given._array)
    for sizes in ([-1], [given.numel() // 10, 10], [2, -1, 1]):
        made = given.reshape(sizes)
        assert made.is_contiguous()
        assert made.dtype == x.dtype
        assert made._array.tobytes() == wanted.tobytes()
    assert given.flatten()._array.tobytes() == given.ravel()._array.tobytes() == wanted.tobytes()
    with pytest.raises(RuntimeError, match="is invalid for input of size"):
        given.reshape(7, 11)


def test_bits_of_halves_that_are_no_numbers_are_kept_in_copies() -> None:
    words = torch.arange(1 << 16).to(torch.int32).to(torch.int16).reshape(256, 256)
    for dtype in (torch.float16, torch.bfloat16):
        made = words.view(dtype).t().reshape(-1)
        assert torch.equal(made.view(torch.int16), words.t().contiguous().reshape(-1))


def test_what_can_be_a_view_is_one_however_large() -> None:
    x = torch.zeros(200, 200).t()
    x.reshape(10, 20, 200).add_(1)
    assert x.min() == 1
    x.reshape(-1).add_(1)
    assert x.max() == 1


def test_ravel_copies_what_does_not_lie_in_order_also_where_a_view_would_do() -> None:
    column = torch.arange(12.0).view(3, 4)[:, 0]
    assert column.reshape(-1).data_ptr() == column.data_ptr()
    assert column.ravel().data_ptr() != column.data_ptr()
    assert column.ravel().stride() == (1,)
    row = torch.arange(12.0).view(3, 4)[0]
    assert row.ravel().data_ptr() == row.data_ptr()
