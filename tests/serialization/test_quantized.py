"""Quantized tensors and packed weights; the numbers are torch's."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest

import rushlight as torch

VALUES = torch.tensor([[-1.0, 0.0, 1.0], [0.3, 20.0, 5.0]])


def test_per_tensor() -> None:
    q = torch.quantize_per_tensor(VALUES, 0.1, 10, torch.quint8)
    assert q.int_repr().tolist() == [[0, 10, 20], [13, 210, 60]]
    assert (q.q_scale(), q.q_zero_point(), q.is_quantized) == (0.1, 10, True)
    assert repr(q) == (
        "tensor([[-1.0000,  0.0000,  1.0000],\n"
        "        [ 0.3000, 20.0000,  5.0000]], size=(2, 3), dtype=torch.quint8,\n"
        "       quantization_scheme=torch.per_tensor_affine, scale=0.1, zero_point=10)"
    )
    assert torch.relu(q).int_repr().tolist() == [[10, 10, 20], [13, 210, 60]]
    assert torch.sigmoid(q).int_repr().tolist() == [[69, 128, 187], [147, 255, 254]]
    assert q.t()[1].int_repr().tolist() == [10, 210]
    assert torch.cat([q, q]).shape == (4, 3)


def test_per_channel() -> None:
    scales, zeros = torch.tensor([0.1, 0.2]), torch.tensor([3, -1])
    q = torch.quantize_per_channel(VALUES, scales, zeros, 0, torch.qint8)
    assert q.int_repr().tolist() == [[-7, 3, 13], [0, 99, 24]]
    assert q.q_per_channel_axis() == 0
    assert q.q_per_channel_scales().dtype == torch.float64
    with pytest.raises(RuntimeError, match="kPerTensorAffine"):
        q.q_scale()


def test_copies_keep_the_scale_of_every_channel() -> None:
    q = torch.quantize_per_channel(
        VALUES[:, :2], torch.tensor([0.1, 0.5]), torch.tensor([1, 2]), 0, torch.qint8
    )
    copied = copy.deepcopy(q)
    assert torch.equal(copied.dequantize(), q.dequantize())
    assert copied.q_per_channel_scales().tolist() == q.q_per_channel_scales().tolist()


def test_plain_operators_refuse() -> None:
    q = torch.quantize_per_tensor(VALUES, 0.1, 10, torch.quint8)
    with pytest.raises(NotImplementedError, match="QuantizedCPU"):
        q + q
    with pytest.raises(RuntimeError, match="quantized"):
        torch.exp(q)
    with pytest.raises(RuntimeError, match="zero_point 1000 is above upper bound"):
        torch.quantize_per_tensor(VALUES, 0.1, 1000, torch.quint8)
    with pytest.raises(NotImplementedError):
        VALUES.int_repr()


class Quantized(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        weight = torch.quantize_per_tensor(VALUES, 0.25, 0, torch.qint8)
        self.register_buffer("weight", weight)
        rows = torch.quantize_per_channel(
            VALUES, torch.tensor([0.1, 0.2]), torch.tensor([3, -1]), 0, torch.qint8
        )
        self.register_buffer("rows", rows)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, float]:
        q = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
        return torch.dequantize(self.rows), torch.int_repr(q), self.weight.q_scale()


def test_archives() -> None:
    scripted = torch.jit.script(Quantized())
    data = scripted.save_to_buffer()
    loaded = torch.jit.load(io.BytesIO(data))
    for mine, wanted in zip(loaded(VALUES), scripted(VALUES), strict=True):
        assert np.array_equal(np.asarray(mine), np.asarray(wanted))
    assert loaded.save_to_buffer() == data


def test_linear() -> None:
    from rushlight.ops.table.table import TABLE

    def call(name: str, *args: Any) -> Any:
        entry = TABLE.operator(name)
        assert entry is not None
        return entry.forward(*args)

    weight = torch.quantize_per_tensor(VALUES, 0.2, 0, torch.qint8)._array
    made = call("quantized::linear_prepack", weight, np.array([1.0, -1.0], np.float32))
    x = np.array([[1.0, 2.0, 3.0]], np.float32)
    got = call("quantized::linear_dynamic", x, made, False)
    assert np.allclose(got, [[3.0, 54.4]], atol=0.2)
    static = torch.quantize_per_tensor(torch.tensor(x), 0.02, 0, torch.quint8)._array
    out = call("quantized::linear_relu", static, made, 0.5, 3)
    assert call("aten::dequantize.self", out).tolist() == [[3.0, 54.5]]
    unpacked = call("quantized::linear_unpack", made)[0]
    assert np.array_equal(unpacked.view(np.int8), weight.view(np.int8))


def test_the_number_of_one_element_is_what_it_means() -> None:
    x = torch.quantize_per_tensor(torch.tensor(3.04), 0.1, 0, torch.quint8)
    assert x.item() == 3.0
    assert float(x) == 3.0
    assert int(x) == 3
    assert bool(x)
    assert torch.ops.aten.FloatImplicit(x) == 3.0
