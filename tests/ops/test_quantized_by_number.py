"""What is made of quantized tensors element by element is what the way through floats makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.quantized_tensors import by_number, pointwise
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
    arrays = x._array, y._array
    assert by_number.of_two("add", *arrays, per_tensor(0.1, 3), relu=False) is not None
    small = 1e-40  # one over it is no number
    assert by_number.of_two("add", *arrays, per_tensor(small, 3), relu=False) is None
    few = x[:10]._array, y[:10]._array
    assert by_number.of_two("add", *few, per_tensor(0.1, 3), relu=False) is None
    other = _tensor(1, 2000, dtype=torch.qint32)._array
    assert by_number.of_two("add", other, other, per_tensor(0.1, 3), relu=False) is None
    values = np.asarray(quantized.add(x, y, small, 3).int_repr().numpy())
    assert set(values.tolist()) <= {0, 3, 255}
