"""What is made of quantized tensors element by element is what the way through floats makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.quantized_tensors import arrays, by_number, pointwise
from rushlight.ops.quantized_tensors.arrays import per_tensor

quantized = torch.ops.quantized
DTYPES = (torch.quint8, torch.qint8)
TWO = ("add", "add_relu", "mul", "mul_relu")
ONE: list[Any] = [
    lambda x: quantized.hardswish(x, 0.05, 3),
    lambda x: quantized.sigmoid(x, 1 / 256, 0),
    lambda x: quantized.leaky_relu(x, 0.2, False, 0.04, 5),
    lambda x: quantized.elu(x, 0.04, 5, 1.3, 1, 1),
    lambda x: quantized.celu(x, 0.04, 5, 1.3),
    lambda x: quantized.cat([x, x], 0, 0.07, 9),
    lambda x: quantized.cat_relu([x, x], 0, 0.07, 9),
    lambda x: x.sigmoid(),
    lambda x: x.tanh(),
    lambda x: torch.nn.functional.leaky_relu(x, 0.3),
    lambda x: torch.nn.functional.threshold(x, 0.1, 0.2),
]


def _tensor(seed: int, *sizes: int, dtype: torch.dtype, scale: float = 0.03) -> torch.Tensor:
    torch.manual_seed(seed)
    zero_point = 120 if dtype == torch.quint8 else -9
    return torch.quantize_per_tensor(torch.randn(*sizes) * 100 * scale, scale, zero_point, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", range(len(ONE)))
def test_of_one(number: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    x = _tensor(number, 3, 8, 20, dtype=dtype).transpose(0, 2)
    found = ONE[number](x)
    again = ONE[number](_tensor(1, 700, dtype=dtype, scale=0.011))
    monkeypatch.setattr(by_number, "_is_of_bytes", lambda array: False)
    wanted = ONE[number](x)
    assert torch.equal(found.int_repr(), wanted.int_repr())
    assert found.q_scale() == wanted.q_scale()
    assert found.stride() == wanted.stride()
    assert torch.equal(again, ONE[number](_tensor(1, 700, dtype=dtype, scale=0.011)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("sizes", [(4, 8, 10, 9), (4, 8, 1, 1), (10, 1)])
def test_of_two(
    name: str, sizes: tuple[int, ...], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = _tensor(3, 4, 8, 10, 9, dtype=dtype)
    y = _tensor(4, *sizes, dtype=dtype, scale=0.07)
    call = getattr(quantized, name)
    turned = x.transpose(1, 3)
    pairs = [(x, y), (y, x), (turned, turned)]
    found = [call(*pair, 0.11, 4) for pair in pairs]
    monkeypatch.setattr(pointwise, "of_two", lambda *given, **named: None)
    wanted = [call(*pair, 0.11, 4) for pair in pairs]
    for one, other in zip(found, wanted, strict=True):
        assert torch.equal(one.int_repr(), other.int_repr())
        assert one.stride() == other.stride()


def test_what_no_kernel_takes() -> None:
    x, y = (_tensor(seed, 2000, dtype=torch.quint8) for seed in (1, 2))
    pair = x._array, y._array
    assert by_number.of_two("add", *pair, per_tensor(0.1, 3), relu=False) is not None
    small = 1e-40  # one over it is no number
    assert by_number.of_two("add", *pair, per_tensor(small, 3), relu=False) is None
    other = _tensor(1, 2000, dtype=torch.qint32)._array
    assert by_number.of_two("add", other, other, per_tensor(0.1, 3), relu=False) is None
    values = np.asarray(quantized.add(x, y, small, 3).int_repr().numpy())
    assert set(values.tolist()) <= {0, 3, 255}


def _last(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("dtype", DTYPES)
def test_channels_stay_last(dtype: torch.dtype) -> None:
    x, y = (_tensor(seed, 2, 24, 7, 5, dtype=dtype) for seed in (1, 2))
    calls: list[Any] = [
        lambda x, y: quantized.add(x, y, 0.1, 3),
        lambda x, y: quantized.mul_relu(x, y[:, :, :1, :1], 0.1, 3),
        lambda x, y: quantized.hardswish(x, 0.05, 3),
        lambda x, y: quantized.cat([x, y], 1, 0.07, 9),
        lambda x, y: torch.relu(x),
        lambda x, y: torch.nn.functional.max_pool2d(x, 3, 2, 1),
        lambda x, y: torch.nn.functional.avg_pool2d(x, 2),
    ]
    for call in calls:
        found, wanted = call(_last(x), _last(y)), call(x, y)
        assert torch.equal(found.int_repr(), wanted.int_repr())
        assert found.is_contiguous(memory_format=torch.channels_last)
        assert wanted.is_contiguous()
    assert _last(x).dequantize().is_contiguous(memory_format=torch.channels_last)
    again = torch.quantize_per_tensor(_last(x).dequantize(), x.q_scale(), x.q_zero_point(), dtype)
    assert torch.equal(again.int_repr(), x.int_repr())
    assert again.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 15, 64, 1000])
def test_numbers_by_kernel_are_those_of_numpy(
    size: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    values[: size // 2] = np.round(values[: size // 2] * 40) * 0.125  # halves of numbers
    ends = np.array([np.nan, np.inf, -np.inf, -0.0, 1e30, 3e-39], np.float32)
    x = torch.from_numpy(np.concatenate([values, ends]))
    found = torch.quantize_per_tensor(x, 0.25, 7, dtype)
    back = found.dequantize()
    monkeypatch.setattr(arrays, "numbers_by_kernel", lambda *given: None)
    monkeypatch.setattr(arrays, "values_by_kernel", lambda *given: None)
    assert torch.equal(found.int_repr(), torch.quantize_per_tensor(x, 0.25, 7, dtype).int_repr())
    assert back.numpy().tobytes() == found.dequantize().numpy().tobytes()


def test_tables_look_up_every_number() -> None:
    tables = family("quantized.tables")
    if tables is None:
        pytest.skip("there is no native code here")
    table = np.random.default_rng(1).permutation(256).astype(np.uint8)
    for size in (1, 63, 64, 256, 1000):
        given = np.arange(size).astype(np.uint8)
        out = np.zeros_like(given)
        tables.looked_up(table, given, out)
        assert np.array_equal(out, table[given])


@pytest.mark.parametrize("columns", [70, 40, 9])
def test_rows_do_not_depend_on_how_many_there_are(columns: int) -> None:
    weight = _tensor(5, columns, 24, dtype=torch.qint8, scale=0.002)
    weight = torch.quantize_per_tensor(weight.dequantize(), 0.01, 0, torch.qint8)
    packed = quantized.linear_prepack(weight, torch.randn(columns))
    x = _tensor(6, 15, 24, dtype=torch.quint8)
    whole = quantized.linear(x, packed, 0.5, 100).int_repr()
    exact = x.dequantize() @ weight.dequantize().t()
    assert len(set(whole.flatten().tolist())) > 20
    assert abs((whole.float() - 100) * 0.5 - exact).max() < 5
    for count in range(1, 15):
        part = quantized.linear(x[:count], packed, 0.5, 100).int_repr()
        assert torch.equal(part, whole[:count])


def test_a_row_of_a_turned_tensor_keeps_its_scale() -> None:
    x = torch.quantize_per_tensor(torch.arange(6.0).view(2, 3), 0.5, 1, torch.quint8)
    row = x.t().ravel()
    assert (row.qscheme(), row.q_scale()) == (torch.per_tensor_affine, 0.5)
    assert row.dequantize().tolist() == [0, 3, 1, 4, 2, 5]
