"""Models quantized through traced graphs: scripts, files, what is kept, and refusals."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.ao import quantization as lib
from rushlight.ao.quantization import quantize_fx as fx
from rushlight.ao.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    get_native_backend_config,
)
from rushlight.ao.quantization.fx.custom_config import ConvertCustomConfig, PrepareCustomConfig

pytestmark = pytest.mark.filterwarnings("ignore")
MAPPING = lib.get_default_qconfig_mapping("fbgemm")


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 3)
        self.version = 7

    def forward(self, x):  # type: ignore[no-untyped-def]  # traced code would name `_torch_Tensor_`
        y = torch.relu(self.norm(self.conv(x))).mean([2, 3])
        return self.head(y) + self.head(y * 2)


@pytest.fixture
def prepared() -> Any:
    torch.manual_seed(0)
    made = fx.prepare_fx(Model().eval(), MAPPING, (X,))
    made(X)
    return made


X = torch.linspace(-1, 1, 100).reshape(2, 2, 5, 5)


def test_models_go_through_scripts_files_and_copies(prepared: Any) -> None:
    made = fx.convert_fx(copy.deepcopy(prepared))
    wanted = made(X)
    assert torch.equal(fx.convert_fx(prepared)(X), wanted)
    assert torch.equal(copy.deepcopy(made)(X), wanted)
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(made), file)
    file.seek(0)
    assert torch.equal(torch.jit.load(file)(X), wanted)
    other = fx.convert_fx(fx.prepare_fx(Model().eval(), MAPPING, (X,)))
    other.load_state_dict(made.state_dict())
    assert torch.equal(other(X), wanted)


def test_the_model_itself_stays(prepared: Any) -> None:
    model = Model().eval()
    wanted = model(X)
    fx.prepare_fx(model, MAPPING, (X,))(X)
    assert torch.equal(model(X), wanted)
    seen = prepared(X)
    fx.convert_fx(prepared)
    assert torch.equal(prepared(X), seen)


def test_a_layer_called_twice_gets_a_layer_for_each_range(prepared: Any) -> None:
    made = fx.convert_fx(prepared)
    heads = [m for m in made.modules() if isinstance(m, torch.ao.nn.quantized.Linear)]
    assert len(heads) == 2
    assert heads[0].scale != heads[1].scale
    reference = fx.convert_to_reference_fx(prepared)
    assert (made(X) - reference(X)).abs().max() < 0.02


def test_attributes_are_kept_that_are_asked_for() -> None:
    keeping = PrepareCustomConfig().set_preserved_attributes(["version"])
    prepared = fx.prepare_fx(Model().eval(), MAPPING, (X,), prepare_custom_config=keeping)
    assert prepared.version == 7
    made = fx.convert_fx(prepared, ConvertCustomConfig().set_preserved_attributes(["version"]))
    assert made.version == 7
    assert not hasattr(fx.prepare_fx(Model().eval(), MAPPING, (X,)), "version")


def test_arguments_and_results_may_be_quantized() -> None:
    config = (
        PrepareCustomConfig().set_input_quantized_indexes([0]).set_output_quantized_indexes([0])
    )
    prepared = fx.prepare_fx(nn.Sequential(nn.Conv2d(2, 2, 1)).eval(), MAPPING, (X,), config)
    prepared(X)
    made = fx.convert_fx(prepared)
    assert made(X).is_quantized
    assert "quantize_per_tensor" in made.code


def test_modules_that_are_not_to_be_traced_stay() -> None:
    class Branches(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    model = nn.Sequential(nn.Conv2d(2, 2, 1), Branches()).eval()
    with pytest.raises(Exception, match="control flow"):
        fx.prepare_fx(model, MAPPING, (X,))
    config = PrepareCustomConfig().set_non_traceable_module_classes([Branches])
    prepared = fx.prepare_fx(model, MAPPING, (X,), config)
    prepared(X)
    assert isinstance(fx.convert_fx(prepared).get_submodule("1"), Branches)


def test_a_backend_says_what_is_quantized() -> None:
    only = DTypeConfig(torch.quint8, torch.quint8, torch.qint8, torch.float32)
    entry = BackendPatternConfig(nn.Linear).add_dtype_config(only).set_root_module(nn.Linear)
    entry.set_reference_quantized_module(torch.ao.nn.quantized.reference.Linear)
    backend = BackendConfig("own").set_backend_pattern_config(entry)
    again = BackendConfig.from_dict(backend.to_dict())
    for given in (backend, again, backend.to_dict()):
        model = nn.Sequential(nn.Conv2d(2, 2, 1), nn.Linear(5, 2)).eval()
        prepared = fx.prepare_fx(model, MAPPING, (X,), backend_config=given)
        prepared(X)
        made = fx.convert_fx(prepared, backend_config=given)
        assert type(made.get_submodule("0")) is nn.Conv2d
        assert type(made.get_submodule("1")) is torch.ao.nn.quantized.Linear
    assert len(get_native_backend_config().configs) > 150


def test_what_does_not_go_is_refused(prepared: Any) -> None:
    with pytest.raises(ValueError, match="prepare_fx"):
        fx.convert_fx(torch.fx.symbolic_trace(Model().eval()))
    with pytest.raises(NotImplementedError, match="original weights"):
        fx.convert_fx(prepared, keep_original_weights=True)
    with pytest.raises(NotImplementedError, match="equalized"):
        fx.prepare_fx(Model().eval(), MAPPING, (X,), _equalization_config={})
    with pytest.raises(ValueError, match="no entry 'standalone'"):
        fx.prepare_fx(Model().eval(), MAPPING, (X,), {"standalone": 1})
    with pytest.raises(ValueError, match="has no pattern"):
        BackendConfig().set_backend_pattern_config(BackendPatternConfig())
    mapping = lib.QConfigMapping().set_global(lib.default_dynamic_qconfig)
    recurrent = fx.prepare_fx(nn.Sequential(nn.LSTM(2, 2)).eval(), mapping, (X,))
    with pytest.raises(NotImplementedError, match=r"LSTM.*no reference form"):
        fx.convert_to_reference_fx(recurrent)
