"""Layers made of parts that are observed one by one: numbers are torch 2.13's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.ao import quantization as aq
from rushlight.ao.nn import quantizable, quantized

pytestmark = [
    pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated"),
    pytest.mark.filterwarnings("ignore:Please use quant_min"),
    pytest.mark.filterwarnings("ignore:must run observer"),  # of products by a number, as in torch
]


class Recurrent(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.q, self.d = aq.QuantStub(), aq.DeQuantStub()
        self.l = nn.LSTM(3, 4, 2, **options)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        y, (h, c) = self.l(self.q(x))
        return self.d(y), self.d(h), self.d(c)


def sums(results: Any) -> list[float]:
    return [round(float(each.detach().double().sum()), 4) for each in results]


@pytest.mark.parametrize(
    ("options", "observed", "wanted"),
    [
        ({}, [-1.2359, 0.0021, 0.6524], [-1.2414, 0.2011, 0.6976]),
        ({"bidirectional": True}, [2.6958, -0.1241, -0.5853], [2.6215, -0.0036, -0.1894]),
        ({"batch_first": True, "bias": False}, [-0.1271, 0.338, 0.8678], [-0.1195, 0.3167, 0.8279]),
    ],
)
def test_recurrent_layers(
    options: dict[str, Any], observed: list[float], wanted: list[float], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    plain = Recurrent(**options).eval()
    plain.qconfig = aq.default_qconfig
    x = torch.randn(5, 2, 3)
    prepared = aq.prepare(plain)
    assert type(prepared.l) is quantizable.LSTM
    np.testing.assert_allclose(sums(prepared(x)), observed, atol=2e-4)
    np.testing.assert_allclose(sums(plain(x)), observed, atol=2e-4)
    made = aq.convert(prepared)
    assert type(made.l) is quantized.LSTM
    assert type(made.l.layers[1].layer_fw.cell.hgates) is quantized.Linear
    np.testing.assert_allclose(sums(made(x)), wanted, atol=2e-2)
    torch.jit.script(made).save(str(tmp_path / "m.pt"))
    assert sums(torch.jit.load(str(tmp_path / "m.pt"))(x)) == sums(made(x))


@pytest.mark.parametrize("split", [False, True])
def test_gates_together_or_apart(split: bool) -> None:
    torch.manual_seed(0)
    plain = nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True).eval()
    plain.qconfig = aq.default_qconfig
    made = quantizable.LSTM.from_float(plain, split_gates=split)
    x, states = torch.randn(2, 5, 3), (torch.randn(4, 2, 4), torch.randn(4, 2, 4))
    y, (h, c) = plain(x, states)
    found, (h2, c2) = made(x, states)
    for a, b in ((y, found), (h, h2), (c, c2)):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-6)
    cell = nn.LSTMCell(3, 4)
    cell.qconfig = aq.default_qconfig
    step = quantizable.LSTMCell.from_float(cell, split_gates=split)
    assert ("igates.forget.bias" in step.state_dict()) is split
    np.testing.assert_allclose(
        step(x[0])[0].detach().numpy(), cell(x[0])[0].detach().numpy(), atol=1e-6
    )


def test_training() -> None:
    torch.manual_seed(1)
    plain = Recurrent()
    plain.qconfig = aq.get_default_qat_qconfig("fbgemm")
    trained = aq.prepare_qat(plain.train())
    trained(torch.randn(4, 2, 3))[0].sum().backward()
    assert any(p.grad is not None for p in trained.l.parameters())
    assert type(aq.convert(trained.eval()).l) is quantized.LSTM


class Attending(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.q, self.d = aq.QuantStub(), aq.DeQuantStub()
        self.l = nn.MultiheadAttention(8, 2, **options)

    def forward(
        self, x: torch.Tensor, m: torch.Tensor | None = None, p: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.q(x)
        y, w = self.l(x, x, x, attn_mask=m, key_padding_mask=p)
        return self.d(y), self.d(w)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [0.161, 2.179, 0.202]),
        ({"add_bias_kv": True}, [4.283, 2.826, 2.982]),
        ({"add_zero_attn": True}, [0.079, 0.933, 0.127]),
        ({"bias": False}, None),
    ],
)
def test_attention(options: dict[str, Any], wanted: list[float] | None) -> None:
    torch.manual_seed(0)
    plain = Attending(**options).eval()
    plain.qconfig = aq.default_qconfig
    x, mask = torch.randn(5, 2, 8), torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[0, -1] = True
    prepared = aq.prepare(plain)
    calls: list[tuple[Any, ...]] = [(x,), (x,), (x, mask), (x, None, padding), (x, mask.float())]
    for given in calls:
        for a, b in zip(prepared(*given), plain(*given), strict=True):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-5)
    made = aq.convert(prepared)
    assert type(made.l) is quantized.MultiheadAttention
    for number, given in enumerate(calls[1:4]):
        result = made(*given)[0]
        np.testing.assert_allclose(result.numpy(), plain(*given)[0].detach().numpy(), atol=0.05)
        if wanted is not None:
            assert abs(float(result.double().sum()) - wanted[number]) < 0.05
    back = prepared.l.dequantize()
    expected = plain.l(x, x, x)[0].detach().numpy()
    np.testing.assert_allclose(back(x, x, x)[0].detach().numpy(), expected, atol=1e-5)
    rough = made.l.dequantize()(x, x, x)[0].detach().numpy()
    np.testing.assert_allclose(rough, expected, atol=0.1)


def test_keys_and_values_of_other_widths() -> None:
    torch.manual_seed(0)
    plain = nn.MultiheadAttention(8, 2, kdim=6, vdim=4).eval()
    plain.qconfig = aq.default_qconfig
    made = quantizable.MultiheadAttention.from_float(plain)
    given = torch.randn(5, 2, 8), torch.randn(3, 2, 6), torch.randn(3, 2, 4)
    for a, b in zip(made(*given), plain(*given), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-5)
    assert made(*given, need_weights=False)[1] is None
    assert made(*given, average_attn_weights=False)[1].shape == (2, 2, 5, 3)
    back = made.dequantize()(*given)[0].detach().numpy()
    np.testing.assert_allclose(back, plain(*given)[0].detach().numpy(), atol=1e-5)


def test_refusals() -> None:
    plain = nn.LSTM(3, 4, proj_size=2)
    with pytest.raises(AssertionError, match="must have qconfig"):
        quantizable.LSTM.from_float(plain)
    plain.qconfig = aq.default_qconfig
    with pytest.raises(NotImplementedError, match="proj_size"):
        quantizable.LSTM.from_float(plain)
    with pytest.raises(AssertionError, match="Expected module type"):
        quantizable.LSTM.from_float(nn.Linear(3, 4))
    with pytest.raises(NotImplementedError, match="non-observed LSTM"):
        quantized.LSTM.from_float(plain)
    with pytest.raises(NotImplementedError, match="non-observed MHA"):
        quantized.MultiheadAttention.from_float(nn.MultiheadAttention(4, 2))
    with pytest.raises(AssertionError, match="must have 'qconfig'"):
        quantizable.MultiheadAttention.from_float(nn.MultiheadAttention(4, 2))
    with pytest.raises(ValueError, match="dropout should be a number"):
        quantizable.LSTM(3, 4, dropout=2.0)
    with pytest.warns(UserWarning, match="dropout option for quantizable LSTM is ignored"):
        quantizable.LSTM(3, 4, 2, dropout=0.5)
    with pytest.raises(ValueError, match="takes batches"):
        quantizable.MultiheadAttention(4, 2)(*[torch.rand(3, 4)] * 3)


@pytest.mark.parametrize("name", ["Linear", "Conv2d", "Embedding", "EmbeddingBag"])
def test_layers_need_a_configuration_to_be_trained_in_quantized_form(name: str) -> None:
    sizes = (2, 3, 1) if name == "Conv2d" else (2, 3)
    layer = getattr(nn, name)(*sizes)
    convert = getattr(torch.ao.nn.qat, name).from_float
    with pytest.raises(AssertionError, match="must have qconfig defined"):
        convert(layer)
    layer.qconfig = None
    with pytest.raises(AssertionError, match="must have a valid qconfig"):
        convert(layer)


def test_fused_layers_have_one_base() -> None:
    made = torch.ao.nn.intrinsic.ConvReLU2d(nn.Conv2d(1, 1, 1), nn.ReLU())
    assert isinstance(made, torch.ao.nn.intrinsic._FusedModule)
