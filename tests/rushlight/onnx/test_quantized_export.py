"""Quantized models as ONNX: operators of floats between quantizers."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.ao import quantization as lib

onnx = pytest.importorskip("onnx")
pytestmark = pytest.mark.filterwarnings("ignore")

X = torch.linspace(-1, 1, 200).reshape(2, 4, 5, 5)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.relu = (
            nn.Conv2d(4, 6, 3, padding=1),
            nn.BatchNorm2d(6),
            nn.ReLU(),
        )
        self.deep, self.head = nn.Conv2d(6, 6, 3, groups=6), nn.Linear(6, 3)

    def forward(self, x):  # type: ignore[no-untyped-def]
        x = self.relu(self.norm(self.conv(x)))
        x = self.deep(x).mean([2, 3])
        return self.head(x)


def exported(model: Any, *given: Any) -> tuple[Any, Counter[str]]:
    file = io.BytesIO()
    torch.onnx.export(model, given, file, dynamo=False)
    made = onnx.load_from_string(file.getvalue())
    onnx.checker.check_model(made, full_check=True)
    return made, Counter(node.op_type for node in made.graph.node)


def agrees(made: Any, model: Any, *given: Any, step: float) -> None:
    """Whether onnxruntime, where it is installed, gives the same to a step or two."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(made.SerializeToString())
    names = [each.name for each in session.get_inputs()]
    (found,) = session.run(None, dict(zip(names, (each.numpy() for each in given), strict=True)))
    assert np.abs(found - model(*given).numpy()).max() < step


def net() -> Any:
    torch.manual_seed(0)
    return Net().eval()


def eager() -> Any:
    model = lib.fuse_modules(lib.QuantWrapper(net()), ["module.conv", "module.norm", "module.relu"])
    model.qconfig = lib.get_default_qconfig("fbgemm")
    prepared = lib.prepare(model)
    prepared(X)
    return lib.convert(prepared)


def traced() -> Any:
    from rushlight.ao.quantization.quantize_fx import convert_fx, prepare_fx

    prepared = prepare_fx(net(), lib.get_default_qconfig_mapping("fbgemm"), (X,))
    prepared(X)
    return convert_fx(prepared)


def scripted() -> Any:
    config = {"": lib.get_default_qconfig("fbgemm")}
    return lib.quantize_jit(torch.jit.script(net()), config, lambda model, x: model(x), [X])


@pytest.mark.parametrize("make", [eager, traced, scripted])
def test_layers_lie_between_quantizers(make: Any) -> None:
    model = torch.jit.script(make())
    made, kinds = exported(model, X)
    assert kinds["Conv"] == 2
    assert kinds["QuantizeLinear"] >= 4
    assert kinds["DequantizeLinear"] >= kinds["QuantizeLinear"] + 3  # weights besides
    weights = {each.data_type for each in made.graph.initializer}
    assert onnx.TensorProto.INT8 in weights
    agrees(made, model, X, step=0.05)


def test_dynamic_layers_quantize_by_the_range_of_each_call() -> None:
    model = lib.quantize_dynamic(nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)).eval())
    x = torch.linspace(-2, 3, 15).reshape(3, 5)
    made, kinds = exported(torch.jit.script(model), x)
    assert kinds["DynamicQuantizeLinear"] == 2
    agrees(made, model, x, step=0.05)


def test_sums_joins_and_activations() -> None:
    class Sums(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(4, 4, 1)

        def forward(self, x):  # type: ignore[no-untyped-def]
            y = self.conv(x)
            z = torch.relu(y + x) * y
            return torch.cat([nn.functional.hardswish(z), torch.sigmoid(y)], 1)

    config = {"": lib.default_qconfig}
    model = lib.quantize_jit(torch.jit.script(Sums().eval()), config, lambda m, x: m(x), [X])
    made, kinds = exported(model, X)
    assert kinds["Concat"] == 1
    agrees(made, model, X, step=0.1)


class Tables(nn.Module):
    def __init__(self, table: nn.Module) -> None:
        super().__init__()
        self.table = table

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.table(x)


def test_tables_keep_their_bytes() -> None:
    model = lib.quantize_dynamic(Tables(nn.Embedding(5, 4)).eval(), dtype=torch.quint8)
    x = torch.tensor([[1, 2], [4, 0]])
    made, _ = exported(torch.jit.script(model), x)
    assert onnx.TensorProto.UINT8 in {each.data_type for each in made.graph.initializer}
    again = torch.onnx.load(io.BytesIO(made.SerializeToString()))
    torch.testing.assert_close(again(x), model(x))
    agrees(made, model, x, step=1e-5)


def test_what_has_no_form_is_told() -> None:
    model = lib.quantize_dynamic(Tables(nn.EmbeddingBag(5, 4)).eval(), dtype=torch.quint8)
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="embedding_bag_byte"):
        exported(torch.jit.script(model), torch.tensor([[1, 2]]))
