"""Quantized layers, and those that are trained for that, take the dtype they are made for."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

quantized = torch.ao.nn.quantized
qat = torch.ao.nn.qat
DOUBLE = {"dtype": torch.float64, "device": "cpu"}


def _dtypes(layer: Any) -> dict[str, torch.dtype]:
    held = [*layer.named_parameters(), *layer.named_buffers()]
    return {name: each.dtype for name, each in held}


@pytest.mark.parametrize("name", ["Hardswish", "LeakyReLU"])
def test_scales_of_activations(name: str) -> None:
    layer = getattr(quantized, name)(1.0, 0, **DOUBLE)
    assert _dtypes(layer) == {"scale": torch.float64, "zero_point": torch.float64}
    plain = getattr(quantized, name)(1.0, 0)
    assert _dtypes(plain) == {"scale": torch.float32, "zero_point": torch.int64}


@pytest.mark.parametrize("name", ["BatchNorm2d", "BatchNorm3d"])
def test_norms(name: str) -> None:
    found = _dtypes(getattr(quantized, name)(4, **DOUBLE))
    assert found.pop("num_batches_tracked") == torch.int64
    assert set(found.values()) == {torch.float64}


@pytest.mark.parametrize(
    ("name", "sizes"), [("Linear", (3, 4)), ("Conv2d", (2, 3, 3)), ("Embedding", (4, 5))]
)
def test_what_observes_a_weight(name: str, sizes: tuple[int, ...]) -> None:
    quantization = torch.ao.quantization
    config = quantization.get_default_qat_qconfig("fbgemm")
    if name == "Embedding":
        weight = quantization.default_embedding_fake_quant
        config = quantization.QConfig(activation=torch.nn.Identity, weight=weight)
    found = _dtypes(getattr(qat, name)(*sizes, qconfig=config, **DOUBLE))
    observer = "weight_fake_quant.activation_post_process."
    assert {found[observer + each] for each in ("eps", "min_val")} == {torch.float64}
    found = _dtypes(getattr(qat, name)(*sizes, qconfig=config))
    assert {found[observer + each] for each in ("eps", "min_val")} == {torch.float32}


def test_a_normalisation_of_all_processes_keeps_what_quantization_asks() -> None:
    nn = torch.nn
    model: Any = nn.Sequential(nn.BatchNorm2d(2), nn.BatchNorm2d(2))
    model[0].qconfig = asked = object()
    made = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert made[0].qconfig is asked
    assert not hasattr(made[1], "qconfig")
