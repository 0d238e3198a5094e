"""Scripted modules quantized in their graphs: files, copies, what is kept, and refusals."""

from __future__ import annotations

import io
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.ao import quantization as lib
from rushlight.ao.quantization.qconfig import QConfig

CONFIG = {"": lib.default_qconfig}


class Model(nn.Module):
    """A layer between two attributes, and a method beside `forward`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.version, self.scale, self.factor = 7, 2.0, 2.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * self.scale

    @torch.jit.export
    def doubled(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


@pytest.fixture
def model() -> Any:
    torch.manual_seed(0)
    return torch.jit.script(Model().eval())


def through_file(module: Any) -> Any:
    file = io.BytesIO()
    module.save(file)
    file.seek(0)
    return torch.jit.load(file)


def test_prepared_and_converted_modules_go_through_files(model: Any) -> None:
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    prepared = through_file(lib.prepare_jit(model, CONFIG))
    assert [name for name, _ in prepared.named_modules() if "_observer_" in name]
    prepared(x)
    again = through_file(prepared)
    made = lib.convert_jit(again)
    assert "quantized::linear" in str(made.graph)
    assert torch.equal(through_file(made)(x), made(x))
    assert torch.equal(lib.convert_jit(prepared)(x), made(x))
    assert (made(x) - model(x)).abs().max() < 0.1


def test_the_module_itself_stays_or_is_changed(model: Any) -> None:
    x = torch.ones(1, 4)
    wanted = model(x)
    lib.quantize_dynamic_jit(model, {"": lib.default_dynamic_qconfig})
    assert torch.equal(model(x), wanted)
    assert "aten::linear" in str(model.inlined_graph)
    made = lib.prepare_jit(model, CONFIG, inplace=True)
    assert made is model
    assert "_observer_0" in str(model.graph)
    model(x)
    assert lib.convert_jit(model, inplace=True) is model
    assert "quantized::linear" in str(model.graph)


def test_what_is_asked_for_is_kept(model: Any) -> None:
    prepared = lib.prepare_jit(model, CONFIG)
    prepared(torch.ones(1, 4))
    made = lib.convert_jit(prepared)
    assert not hasattr(made, "version")
    assert not hasattr(made, "doubled")
    kept = lib.convert_jit(prepared, preserved_attrs=["version", "doubled"])
    assert kept.version == 7
    assert torch.equal(kept.doubled(torch.ones(1)), torch.tensor([2.0]))
    with pytest.raises(RuntimeError, match="Unknown name: nothing"):
        lib.convert_jit(prepared, preserved_attrs=["nothing"])


def test_scripted_configurations_have_observers_as_objects() -> None:
    from rushlight.ao.quantization.quantize_jit import script_qconfig, script_qconfig_dict

    made = script_qconfig(lib.default_qconfig)
    assert isinstance(made, QConfig)
    assert "MinMaxObserver" in made.activation.cls.qualified_name
    assert script_qconfig_dict({"a": None}) == {"a": None}


def test_batch_norms_go_into_convolutions() -> None:
    layers = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.ReLU()).eval()
    layers[1].running_mean.fill_(0.5)
    scripted = torch.jit.script(layers)
    made = lib.fuse_conv_bn_jit(scripted)
    assert "batch_norm" not in str(made.graph)
    x = torch.linspace(-1, 1, 8).reshape(1, 2, 2, 2)
    torch.testing.assert_close(made(x), layers(x))
    with pytest.raises(ValueError, match="input must be a script module"):
        lib.fuse_conv_bn_jit(layers)


def test_modules_in_training_are_refused_where_that_makes_a_difference(model: Any) -> None:
    dropping = torch.jit.script(nn.Sequential(nn.Linear(4, 3), nn.Dropout()))
    with pytest.raises(RuntimeError, match=r"call \.eval\(\)"):
        lib.prepare_jit(dropping, CONFIG)
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    made = lib.quantize_jit(model.train(), CONFIG, lambda m, given: m(given), [x])
    of_eval = lib.quantize_jit(model.eval(), CONFIG, lambda m, given: m(given), [x])
    assert "quantized::linear" in str(made.graph)
    assert torch.equal(made(x), of_eval(x))


class Layers(nn.Module):
    def __init__(self, layer: nn.Module, after: str) -> None:
        super().__init__()
        self.layer = layer
        self.after = after

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        if self.after == "add":
            return torch.relu(y + 2)
        if self.after == "multiply":
            return y * 0.5
        if self.after == "both":
            return torch.relu(y) + y
        return y


LAYERS: dict[str, tuple[Any, tuple[int, ...], str, str]] = {
    "conv1d": (lambda: nn.Conv1d(2, 3, 2), (1, 2, 5), "", "conv1d"),
    "conv2d": (lambda: nn.Conv2d(2, 3, 2, padding=1), (1, 2, 5, 5), "", "conv2d"),
    "conv3d": (lambda: nn.Conv3d(2, 3, 2, dilation=2), (1, 2, 4, 4, 4), "", "conv3d"),
    "turned": (lambda: nn.ConvTranspose1d(2, 3, 2), (1, 2, 5), "", "conv_transpose1d"),
    "turned2": (lambda: nn.ConvTranspose2d(2, 3, 2), (1, 2, 5, 5), "", "conv_transpose2d"),
    "number": (lambda: nn.Conv2d(2, 3, 2), (1, 2, 5, 5), "add", "add_scalar_relu"),
    "factor": (lambda: nn.Conv2d(2, 3, 2), (1, 2, 5, 5), "multiply", "mul_scalar"),
    "sum": (lambda: nn.Conv2d(2, 3, 2), (1, 2, 5, 5), "both", "add"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_traces_are_quantized_as_scripts_are(name: str) -> None:
    make, shape, after, wanted = LAYERS[name]
    torch.manual_seed(0)
    layers = Layers(make(), after).eval()
    x = torch.randn(shape)
    made = [
        lib.quantize_jit(given, CONFIG, lambda m, x: m(x), [x])
        for given in (torch.jit.script(layers), torch.jit.trace(layers, x))
    ]
    for each in made:
        assert f"quantized::{wanted}(" in str(each.graph)
        assert "aten::_convolution" not in str(each.graph)
    assert torch.equal(made[0](x), made[1](x))
    assert (made[1](x) - layers(x)).abs().max() < 0.2


@pytest.mark.parametrize("make", [nn.ELU, nn.Hardswish])
@pytest.mark.parametrize("traced", [False, True])
def test_layers_that_write_over_what_is_given(make: Any, traced: bool) -> None:
    layer = make(inplace=True)
    x = torch.linspace(-1, 1, 8)
    given = torch.jit.trace(layer, x.clone()) if traced else torch.jit.script(layer)
    made = lib.quantize_jit(given, CONFIG, lambda m, x: m(x), [x.clone()])
    assert f"quantized::{make.__name__.lower()}(" in str(made.graph)
    assert (made(x) - make()(x)).abs().max() < 0.1


def test_what_is_read_behind_a_write_stays_written_to() -> None:
    class Twice(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch.nn.functional.elu_(x)
            return x + 1

    made = lib.quantize_jit(
        torch.jit.script(Twice().eval()), CONFIG, lambda m, x: m(x), [torch.ones(4)]
    )
    x = torch.linspace(-1, 1, 8)
    assert torch.equal(made(x.clone()), torch.nn.functional.elu(x) + 1)


def test_batch_norms_go_into_the_convolutions_of_traces() -> None:
    layers = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.ReLU()).eval()
    layers[1].running_mean.fill_(0.5)
    x = torch.linspace(-1, 1, 8).reshape(1, 2, 2, 2)
    made = lib.fuse_conv_bn_jit(torch.jit.trace(layers, x))
    assert "batch_norm" not in str(made.graph)
    assert "aten::conv2d" in str(made.graph)
    torch.testing.assert_close(made(x), layers(x))


def test_observers_in_parts_are_refused(model: Any) -> None:
    outer = torch.jit.script(nn.Sequential(lib.prepare_jit(model, CONFIG)).eval())
    with pytest.raises(RuntimeError, match=r"0\._observer_0.*prepare the module here"):
        lib.convert_jit(outer)


def test_a_weight_that_is_no_constant_is_left() -> None:
    @torch.jit.script
    def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, w)

    class Given(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return product(x, x)

    prepared = lib.prepare_jit(torch.jit.script(Given().eval()), CONFIG)
    x = torch.ones(2, 2)
    assert torch.equal(lib.convert_jit(prepared)(x), prepared(x))


def test_observers_of_graphs_go_from_module_to_module(model: Any) -> None:
    config = {"": QConfig(activation=lib.default_observer, weight=lib.MinMaxObserver)}
    seen, fresh = lib.prepare_jit(model, config), lib.prepare_jit(model, config)
    seen(torch.linspace(-1, 3, 8).reshape(2, 4))
    states = lib.get_observer_state_dict(seen)
    assert "_observer_0.min_val" in states
    lib.load_observer_state_dict(fresh, states)
    found, wanted = fresh.state_dict(), seen.state_dict()
    assert all(torch.equal(found[key], wanted[key]) for key in states)
