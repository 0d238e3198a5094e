"""Quantized models in scripts, traces, files and copies."""

from __future__ import annotations

import copy
import io
import pickle
import zipfile
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.ao import quantization as lib


def through_file(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


@pytest.fixture
def model() -> Any:
    """A convolution and a linear layer, quantized by channels."""
    torch.manual_seed(0)
    layers = nn.Sequential(lib.QuantStub(), nn.Conv2d(2, 3, 1), nn.Linear(4, 2), lib.DeQuantStub())
    layers.eval().qconfig = lib.get_default_qconfig("fbgemm")
    prepared = lib.prepare(layers)
    prepared(torch.randn(2, 2, 4, 4))
    return lib.convert(prepared)


@pytest.mark.filterwarnings("ignore")
def test_models_go_through_files_copies_and_traces(model: Any) -> None:
    x = torch.randn(1, 2, 4, 4)
    wanted = model(x)
    loaded = copy.deepcopy(model)
    loaded.load_state_dict(through_file(model.state_dict(), weights_only=True))
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(model), file)
    file.seek(0)
    for made in (
        *(loaded, through_file(model, weights_only=False), pickle.loads(pickle.dumps(model))),
        *(torch.jit.load(file), torch.jit.trace(model, x), torch.jit.script(model)),
    ):
        assert torch.equal(made(x), wanted)


@pytest.mark.filterwarnings("ignore")
def test_packed_weights_are_saved_as_torch_saves_them() -> None:
    layer = lib.quantize_dynamic(nn.Sequential(nn.LSTM(2, 3)))
    assert "LinearPackedParamsBase" in repr(layer[0]._all_weight_values[0].param.packed[0])
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    text = zipfile.ZipFile(file).read("archive/data.pkl")
    assert b"ctorch\nScriptObject\n" in text
    assert b"packed_weights" not in text
    other = lib.quantize_dynamic(nn.Sequential(nn.LSTM(2, 3)))
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=False))
    assert torch.equal(other(torch.ones(2, 1, 2))[0], layer(torch.ones(2, 1, 2))[0])


def test_scripts_know_what_is_quantized() -> None:
    @torch.jit.script
    def asked(x: torch.Tensor) -> bool:
        return x.is_quantized

    assert asked(torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8))
    assert not asked(torch.ones(2))


@pytest.mark.filterwarnings("ignore")
def test_walking_back_observes_nothing() -> None:
    fake = lib.default_fused_act_fake_quant()
    fake(torch.tensor([-1.0, 1.0], requires_grad=True)).sum()
    made = fake(torch.tensor([-2.0, 2.0], requires_grad=True))
    before = fake.activation_post_process.max_val.clone()
    made.sum().backward()
    assert torch.equal(fake.activation_post_process.max_val, before)


@pytest.mark.filterwarnings("ignore")
def test_a_mask_is_that_of_its_own_call() -> None:
    fake = lib.FakeQuantize(quant_min=0, quant_max=15)
    fake(torch.tensor([0.0, 1.0]))
    fake.disable_observer()
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    made = fake(x)
    fake.scale.fill_(1.0)
    made.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("name", ["quantization", "ao.quantization"])
def test_the_old_names_are_the_new_ones(name: str) -> None:
    module: Any = torch
    for part in name.split("."):
        module = getattr(module, part)
    assert module.quantize_dynamic is lib.quantize_dynamic
    assert torch.nn.quantized.Linear is torch.ao.nn.quantized.Linear
    assert torch.nn.quantized.dynamic.LSTM is torch.ao.nn.quantized.dynamic.LSTM
    assert torch.nn.intrinsic.qat.ConvBn2d is torch.ao.nn.intrinsic.qat.ConvBn2d
    assert torch.nn.qat.Linear is torch.ao.nn.qat.Linear


def test_the_engine_that_is_chosen_is_kept() -> None:
    assert torch.backends.quantized.engine == "x86"
    assert "fbgemm" in torch.backends.quantized.supported_engines
    with pytest.raises(RuntimeError, match="not a valid value for quantized engine"):
        torch.backends.quantized.engine = "nil"


def test_layers_with_norms_draw_their_bias_as_torch_does() -> None:
    torch.manual_seed(0)
    config = torch.ao.quantization.get_default_qat_qconfig("fbgemm")
    layer = torch.ao.nn.intrinsic.qat.ConvBn2d(6, 4, 3, bias=True, qconfig=config)
    drawn = torch.tensor([-0.0097715855, 0.1346183419, 0.0491581373, 0.0038529169])
    assert torch.equal(layer.bias, drawn)
    assert layer.bias.requires_grad
