"""Four bits an element (`quint4x2`): numbers are torch 2.13's."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.ao.nn import quantized as nnq
from rushlight.ao.quantization import convert, float_qparams_weight_only_qconfig_4bit, prepare

quantized = torch.ops.quantized
SCALES, ZEROS = torch.tensor([0.1, 0.05, 0.2]), torch.tensor([3.0, 0.5, -2.0])


def table(columns: int) -> torch.Tensor:
    values = torch.arange(3.0 * columns).reshape(3, columns) / 7 - 0.6
    return torch.quantize_per_channel(values, SCALES, ZEROS, 0, torch.quint4x2)


def test_bytes_hold_two_numbers() -> None:
    q = table(5)
    assert q.int_repr().tolist() == [0, 16, 51, 134, 235, 50, 68, 5]
    wanted = [-0.3, -0.3, -0.3, -0.2, 0, 0.125, 0.275, 0.375, 0.525, 0.675, 0.8, 1, 1.2, 1.2, 1.4]
    np.testing.assert_allclose(q.dequantize().flatten().tolist(), wanted, rtol=1e-6)
    assert "dtype=torch.quint4x2" in repr(q)
    x = torch.tensor([-9.0, 0.26, 9.0])
    assert torch.quantize_per_tensor(x, 0.1, 3, torch.quint4x2).int_repr().tolist() == [96, 15]
    with pytest.raises(NotImplementedError, match="not implemented for 'QUInt4x2'"):
        torch.quantize_per_channel(x, SCALES, torch.tensor([1, 2, 3]), 0, torch.quint4x2)
    with pytest.raises(RuntimeError, match="zero_point 16 is above upper bound"):
        torch.quantize_per_tensor(x, 0.1, 16, torch.quint4x2)


def test_rows_are_looked_up_with_half_scales() -> None:
    packed = quantized.embedding_bag_prepack(table(8))
    rows = quantized.embedding_4bit(packed, torch.tensor([0]))
    wanted = [-3.0005e-01] * 3 + [-2.0007e-01, -1.2207e-04, 9.9854e-02, 2.9980e-01, 3.9978e-01]
    np.testing.assert_allclose(rows[0].numpy(), wanted, rtol=1e-4)
    bags = quantized.embedding_bag_4bit(packed, torch.tensor([0, 2, 1]), torch.tensor([0, 2]))
    wanted = [0.5249, 0.6748] + [0.7248] * 6
    np.testing.assert_allclose(bags[1].numpy(), wanted, rtol=1e-4)
    assert torch.equal(quantized.embedding_bag_unpack(packed), table(8))


def test_rows_of_bytes() -> None:
    weight = torch.arange(24.0).reshape(3, 8) / 7 - 0.6
    packed = quantized.embedding_bag_4bit_prepack(weight)
    assert packed[:2].tolist() == [
        [32, 100, 185, 253, 68, 44, 205, 184],
        [32, 100, 185, 253, 68, 44, 88, 56],
    ]
    back = quantized.embedding_bag_4bit_unpack(packed)
    np.testing.assert_allclose(back.numpy(), weight.numpy(), atol=0.04)
    found = quantized.embedding_bag_4bit_rowwise_offsets(
        packed, torch.tensor([0, 2]), torch.tensor([0])
    )
    np.testing.assert_allclose(found[0].numpy(), (back[0] + back[2]).numpy(), rtol=1e-6)
    same = quantized.embedding_bag_4bit_prepack(torch.zeros(1, 2))
    assert quantized.embedding_bag_4bit_unpack(same).tolist() == [[0, 0]]
    with pytest.raises(RuntimeError, match="even length"):
        quantized.embedding_bag_4bit_prepack(torch.zeros(1, 3))
    with pytest.raises(RuntimeError, match="optimized_qparams is not supported"):
        quantized.embedding_bag_4bit_prepack(weight, True)


class Looking(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nnq.Embedding(10, 7, dtype=torch.quint4x2)
        self.bag = nn.EmbeddingBag(10, 6, mode="sum")
        given = torch.rand(10) + 0.1, torch.rand(10) * 5
        self.one.set_weight(
            torch.quantize_per_channel(torch.randn(10, 7), *given, 0, torch.quint4x2)
        )
        self.bag.qconfig = float_qparams_weight_only_qconfig_4bit

    def forward(self, x: torch.Tensor, ends: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.one(x), self.bag(x, ends)


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
def test_layers_in_scripts_and_files(tmp_path: Path) -> None:
    torch.manual_seed(0)
    plain = Looking()
    made = convert(prepare(plain))
    assert made.bag.weight().dtype == torch.quint4x2
    x, ends = torch.tensor([1, 2, 3, 9]), torch.tensor([0, 2])
    wanted = made(x, ends)
    np.testing.assert_allclose(wanted[1].numpy(), plain.bag(x, ends).detach().numpy(), atol=0.5)
    torch.jit.script(made).save(str(tmp_path / "m.pt"))
    file = io.BytesIO()
    torch.save(made.state_dict(), file)
    file.seek(0)
    other = convert(prepare(Looking()))
    other.load_state_dict(torch.load(file, weights_only=False))
    for each in (torch.jit.load(str(tmp_path / "m.pt"))(x, ends), other(x, ends)):
        assert all(torch.equal(a, b) for a, b in zip(each, wanted, strict=True))


def test_files_hold_two_in_a_byte(tmp_path: Path) -> None:
    class Holding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("q", table(5))

        def forward(self) -> torch.Tensor:
            return self.q.dequantize()

    torch.jit.script(Holding()).save(str(tmp_path / "m.pt"))
    sizes = [i.file_size for i in zipfile.ZipFile(tmp_path / "m.pt").infolist()]
    assert 8 in sizes
    assert 15 not in sizes
    assert torch.equal(torch.jit.load(str(tmp_path / "m.pt"))(), table(5).dequantize())
