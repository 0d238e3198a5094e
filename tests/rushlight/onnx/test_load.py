"""ONNX files as graph modules: what is exported comes back, and what is no model is refused."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn

onnx = pytest.importorskip("onnx")

PROGRAMS = [
    ("return x.relu().sum(1) + x.mean(1, keepdim=True).exp()[:, 0]", 1),
    ("return x[:, 1:].transpose(0, 1).reshape(-1).sort()[0]", 1),
    ("return torch.softmax(x, 1), x.argmax(1), torch.topk(x, 2)[1]", 3),
    ("return x.clamp(-1, 1).unsqueeze(0).repeat(2, 1, 1).cumsum(2)", 1),
    ("return torch.where(x > 0, x, -x).var(1), x.std()", 2),
    ("return torch.nn.functional.pad(x, [1, 2], mode='reflect'), x.masked_fill(x > 0, 2.0)", 2),
    ("return torch.cat([x, x * 2], 1).gather(1, (x > 0).long()), x[x > 0]", 2),
    (
        """
    for i in range(int(x.sum() > 0) + 2):
        x = x * 2 - i
    if bool(x.mean() > 1):
        x = x - 1
    else:
        x = x + y
    return x""",
        1,
    ),
    (
        """
    rows: List[Tensor] = []
    n = 0
    while n < x.size(0) and bool(x[n].sum() < 100):
        rows.append(x[n] * n)
        n += 1
    return torch.stack(rows), torch.cat(rows)""",
        2,
    ),
]
X = torch.linspace(-2, 3, 15).reshape(3, 5)
Y = torch.linspace(1, 2, 15).reshape(3, 5)


def back(program: Any, *given: Any, **options: Any) -> Any:
    """What comes back of an exported program."""
    file = io.BytesIO()
    torch.onnx.export(program, given, file, dynamo=False, **options)
    file.seek(0)
    return torch.onnx.load(file)


def results(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize(("body", "count"), PROGRAMS)
def test_programs_come_back(body: str, count: int) -> None:
    text = f"def f(x, y):\n    z = y.sum()\n    {body.strip()}\n"
    text = text.replace("    return", "    return")
    program = torch.jit.CompilationUnit(text).f
    options = {"input_names": ["x", "y"], "dynamic_axes": {"x": {0: "rows"}, "y": {0: "rows"}}}
    made = back(program, X, Y, **options)
    assert isinstance(made, torch.fx.GraphModule)
    for x, y in ((X, Y), (X[:2] + 1, Y[:2])):
        found, wanted = results(made(x, y)), results(program(x, y))
        assert len(found) == count
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.up, self.lstm = nn.Upsample(scale_factor=2.0), nn.LSTM(4, 3, 1, bidirectional=True)
        self.last = nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 2), nn.GELU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.max_pool2d(self.up(self.norm(self.conv(x)).relu()), 2)
        steps, _ = self.lstm(y.mean(3).permute(2, 0, 1))
        return self.last(steps)


def test_layers_come_back_with_their_weights() -> None:
    torch.manual_seed(0)
    model = torch.jit.script(Net().eval())
    x = torch.linspace(-1, 1, 100).reshape(2, 2, 5, 5)
    made = back(model, x)
    torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-5)
    assert "conv_weight" in made.state_dict()
    assert "layers.conv(" in made.code
    made(x.requires_grad_()).sum().backward()
    assert x.grad is not None


def test_quantized_models_come_back() -> None:
    from rushlight.ao import quantization as lib

    config = {"": lib.default_qconfig}
    layers = torch.jit.script(nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)).eval())
    model = lib.quantize_jit(layers, config, lambda model, x: model(x), [X])
    assert (back(model, X)(X) - model(X)).abs().max() < 0.05
    dynamic = lib.quantize_dynamic_jit(layers, {"": lib.default_dynamic_qconfig})
    assert (back(dynamic, X)(X) - dynamic(X)).abs().max() < 0.05


def test_weights_in_a_file_of_their_own_are_read(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(40, 30)).eval()
    program = torch.onnx.export(model, (torch.ones(1, 40),), dynamo=True)
    program.save(tmp_path / "m.onnx", external_data=True)
    assert (tmp_path / "m.onnx.data").exists()
    made = torch.onnx.load(tmp_path / "m.onnx")
    torch.testing.assert_close(made(torch.ones(1, 40)), model(torch.ones(1, 40)))
    (tmp_path / "m.onnx.data").unlink()
    with pytest.raises((torch.onnx.errors.OnnxLoadError, OSError)):
        torch.onnx.load(tmp_path / "m.onnx")


def _model(nodes: list[Any], sizes: list[int], **more: Any) -> io.BytesIO:
    """A model of nodes from x to y."""
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    infos = [
        [helper.make_tensor_value_info(n, number, sizes) for n in names] for names in (["x"], ["y"])
    ]
    graph = helper.make_graph(nodes, "g", *infos)
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    made = helper.make_model(graph, opset_imports=imports, **more)
    return io.BytesIO(made.SerializeToString())


def test_functions_of_a_file_are_written_out() -> None:
    helper = onnx.helper
    nodes = [
        helper.make_node("Mul", ["a", "a"], ["b"]),
        helper.make_node("Add", ["b", "a"], ["c"]),
    ]
    function = helper.make_function(
        "own", "Twice", ["a"], ["c"], nodes, [helper.make_opsetid("", 18)]
    )
    call = helper.make_node("Twice", ["x"], ["y"], domain="own")
    made = torch.onnx.load(_model([call], [], functions=[function]))
    assert made(torch.tensor(3.0)).item() == 12


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([("LRN", ["x"], {"size": 3})], r"`the-node` \(LRN\) has no meaning here"),
        ([("Own", ["x"], {"domain": "own"})], r"`the-node` \(Own\).* domain own"),
    ],
)
def test_unknown_operators_are_named(nodes: list[Any], said: str) -> None:
    made = [
        onnx.helper.make_node(kind, inputs, ["y"], name="the-node", **options)
        for kind, inputs, options in nodes
    ]
    with pytest.raises(torch.onnx.errors.OnnxLoadError, match=said):
        torch.onnx.load(_model(made, [1, 2, 3, 4]))


@pytest.mark.parametrize("data", [b"", b"no model", b"PK\x03\x04" * 20, bytes(range(256))])
def test_what_is_no_model_is_refused(data: bytes) -> None:
    with pytest.raises(torch.onnx.errors.OnnxLoadError, match="no ONNX model"):
        torch.onnx.load(io.BytesIO(data))


def test_files_that_are_cut_are_refused() -> None:
    file = io.BytesIO()
    torch.onnx.export(nn.Linear(3, 2).eval(), (torch.ones(1, 3),), file, dynamo=False)
    whole = file.getvalue()
    for end in range(1, len(whole), 17):
        try:
            torch.onnx.load(io.BytesIO(whole[:end]))
        except torch.onnx.errors.OnnxLoadError:
            continue


def test_a_missing_file_or_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="nowhere"):
        torch.onnx.load("nowhere.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(torch.onnx.errors.OnnxLoadError, match=r"pip install rushlight\[onnx\]"):
        torch.onnx.load("nowhere.onnx")


def _message(nodes: list[Any], inputs: list[str], **weights: Any) -> Any:
    """A model of nodes from inputs to y, all of two numbers, with weights in it."""
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    infos = [
        [helper.make_tensor_value_info(n, number, [2]) for n in names] for names in (inputs, ["y"])
    ]
    held = [
        helper.make_tensor(name, number, [2], values) if isinstance(values, list) else values
        for name, values in weights.items()
    ]
    graph = helper.make_graph(nodes, "g", *infos, initializer=held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _loaded(message: Any) -> Any:
    return torch.onnx.load(io.BytesIO(message.SerializeToString()))


IMAGE = np.sin(np.arange(72.0)).reshape(2, 4, 3, 3).astype(np.float32)
STEPS = np.sin(np.arange(30.0)).reshape(5, 2, 3).astype(np.float32)
PLACES = np.array([[0, 2, -1], [1, 0, -2], [2, 1, 0]])
UPDATES = np.cos(PLACES).astype(np.float32)
NODES: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
    *(("GatherElements", each, (IMAGE[0, 0], PLACES)) for each in ({}, {"axis": 1}, {"axis": -1})),
    *(("Gather", each, (IMAGE[0, 0], PLACES)) for each in ({}, {"axis": 1})),
    *(("ScatterElements", each, (IMAGE[0, 0], PLACES, UPDATES)) for each in ({}, {"axis": 1})),
    ("ScatterElements", {"reduction": "add"}, (IMAGE[0, 0], PLACES, UPDATES)),
    ("GatherND", {}, (IMAGE, np.array([[1, 2], [0, -1]]))),
    ("GatherND", {"batch_dims": 1}, (IMAGE, np.array([[1, 2], [0, -1]]))),
    *(("Concat", {"axis": axis}, (IMAGE, IMAGE[:, :, :, :])) for axis in (0, 1, -1)),
    *(("Flatten", each, (IMAGE,)) for each in ({}, {"axis": 0}, {"axis": 2}, {"axis": -1})),
    *(("Softmax", each, (IMAGE,)) for each in ({}, {"axis": 1})),
    *(("LogSoftmax", each, (IMAGE,)) for each in ({}, {"axis": 0})),
    *(("Hardmax", each, (IMAGE[0, 0],)) for each in ({}, {"axis": 0})),
    *(("CumSum", each, (IMAGE[0, 0], np.array(1))) for each in ({}, {"exclusive": 1})),
    ("CumSum", {"exclusive": 1, "reverse": 1}, (IMAGE[0, 0], np.array(0))),
    *(("ArgMax", each, (IMAGE,)) for each in ({}, {"axis": 2}, {"axis": 1, "keepdims": 0})),
    ("ArgMin", {"axis": -1, "select_last_index": 1}, (np.ones((2, 3), np.float32),)),
    *(("Trilu", each, (IMAGE,)) for each in ({}, {"upper": 0})),
    ("Trilu", {"upper": 0}, (IMAGE, np.array(-1))),
    *(("DepthToSpace", {"blocksize": 2, "mode": mode}, (IMAGE,)) for mode in ("DCR", "CRD")),
    *(("Transpose", each, (IMAGE,)) for each in ({}, {"perm": [1, 0, 3, 2]})),
    *(("Gemm", each, (IMAGE[0, 0], IMAGE[1, 1])) for each in ({}, {"transA": 1}, {"alpha": 0.5})),
    ("Gemm", {"transB": 1, "beta": 0.25}, (IMAGE[0, 0], IMAGE[1, 1], IMAGE[0, 0, 0])),
    *(
        ("AveragePool", {"kernel_shape": [2, 2], "pads": [1, 0, 1, 0], **each}, (IMAGE,))
        for each in ({}, {"count_include_pad": 1}, {"strides": [2, 1]})
    ),
    ("MaxPool", {"kernel_shape": [2, 2], "dilations": [2, 1]}, (IMAGE,)),
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}, (IMAGE,)),
    *(
        (kind, each, (IMAGE,))
        for kind in ("ReduceSum", "ReduceMean")
        for each in ({}, {"keepdims": 0})
    ),
    ("ReduceSum", {"noop_with_empty_axes": 1}, (IMAGE,)),
    ("ReduceLogSumExp", {"keepdims": 0}, (IMAGE, np.array([1, -1]))),
    *((kind, {}, (IMAGE,)) for kind in ("LeakyRelu", "Elu", "Celu", "HardSigmoid", "Shrink")),
    *((kind, {"alpha": 0.3}, (IMAGE,)) for kind in ("LeakyRelu", "Elu", "Celu", "HardSigmoid")),
    ("Shrink", {"lambd": 0.2, "bias": 0.1}, (IMAGE,)),
    *(
        ("Mod", {"fmod": 1}, pair)
        for pair in ((IMAGE, IMAGE[:, ::-1] + 2), (PLACES, PLACES * 2 + 7))
    ),
    ("Mod", {}, (PLACES, PLACES * 2 + 7)),
    ("IsInf", {"detect_negative": 0}, (np.array([np.inf, -np.inf, 1.0], np.float32),)),
    ("IsInf", {"detect_positive": 0}, (np.array([np.inf, -np.inf, 1.0], np.float32),)),
    ("OneHot", {"axis": 0}, (PLACES, np.array(4), np.array([2.0, 5.0], np.float32))),
    ("OneHot", {}, (PLACES, np.array(4), np.array([2.0, 5.0], np.float32))),
    ("EyeLike", {"k": 1}, (IMAGE[0, 0],)),
    ("LayerNormalization", {"axis": 2}, (IMAGE, IMAGE[0, 0], IMAGE[1, 1])),
    ("LayerNormalization", {}, (IMAGE, IMAGE[0, 0, 0])),
    (
        "Slice",
        {},
        (IMAGE, np.array([2, -1]), np.array([0, -9]), np.array([1, 2]), np.array([-1, -2])),
    ),
    ("DFT", {"axis": 1}, (IMAGE[:, 0, :, :2],)),
    ("DFT", {"axis": 1, "inverse": 1}, (IMAGE[:, :, :2, 0][..., None] * np.ones(2, np.float32),)),
    ("DFT", {"axis": -2, "onesided": 1}, (IMAGE[..., :1], np.array(5))),
    ("Pad", {"mode": "reflect"}, (IMAGE[0, 0], np.array([1, 2, 0, 1]))),
    ("Pad", {}, (IMAGE[0, 0], np.array([1, 2, 0, 1]), np.array(3.0, np.float32))),
    *(
        (
            "GRU",
            {"hidden_size": 3, **each},
            (
                STEPS,
                *(
                    np.sin(np.arange(n)).reshape(1, *shape).astype(np.float32)
                    for n, shape in ((27, (9, 3)), (27, (9, 3)), (18, (18,)))
                ),
            ),
        )
        for each in ({}, {"linear_before_reset": 1})
    ),
    *(
        (
            kind,
            {"hidden_size": 3},
            (
                STEPS,
                *(
                    np.cos(np.arange(n)).reshape(1, *shape).astype(np.float32)
                    for n, shape in ((gates * 9, (gates * 3, 3)), (gates * 9, (gates * 3, 3)))
                ),
            ),
        )
        for kind, gates in (("LSTM", 4), ("RNN", 1))
    ),
]


@pytest.mark.parametrize(
    "number", range(len(NODES)), ids=lambda number: f"{NODES[number][0]}-{NODES[number][1]}"
)
def test_nodes_mean_what_onnx_says(number: int) -> None:
    helper, (kind, options, given) = onnx.helper, NODES[number]
    arrays = {f"x{place}": array for place, array in enumerate(given)}

    def info(name: str, array: Any) -> Any:
        number = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, number, array.shape)

    node = helper.make_node(kind, [*arrays], ["y"], **options)
    inputs = [info(name, array) for name, array in arrays.items()]
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    reference = pytest.importorskip("onnx.reference")
    (wanted,) = reference.ReferenceEvaluator(model).run(None, arrays)
    model.graph.output[0].CopyFrom(info("y", wanted))
    made = _loaded(model)(*map(torch.from_numpy, given))
    np.testing.assert_allclose(made.numpy(), wanted, 1e-5, 1e-6)


@pytest.mark.parametrize(
    "inputs",
    [
        ("class", "None"),
        ("a.b", "a_b"),
        ("\ufb01", "fi"),
        ("a", "a_1"),
        ("self", "torch"),
        ("1", "_1"),
    ],
)
def test_names_that_mean_the_same_in_python_stay_apart(inputs: tuple[str, str]) -> None:
    made = _loaded(_message([onnx.helper.make_node("Sub", [*inputs], ["y"])], [*inputs]))
    assert made(torch.tensor([5.0, 6.0]), torch.tensor([1.0, 1.0])).tolist() == [4, 5]


@pytest.mark.parametrize("names", [("\ufb01", "fi"), ("a.b", "a_b"), ("forward", "training")])
def test_weights_whose_names_mean_the_same_stay_apart(names: tuple[str, str]) -> None:
    nodes = [
        onnx.helper.make_node("Add", ["x", names[0]], ["z"]),
        onnx.helper.make_node("Sub", ["z", names[1]], ["y"]),
    ]
    made = _loaded(_message(nodes, ["x"], **{names[0]: [1.0, 2.0], names[1]: [10.0, 20.0]}))
    assert made(torch.zeros(2)).tolist() == [-9, -18]


def _doubling(levels: int) -> Any:
    """A model with functions that call what is below them twice."""
    helper = onnx.helper
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    functions = [
        helper.make_function(
            "own", "F0", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], imports
        )
    ]
    for level in range(1, levels):
        calls = [
            helper.make_node(f"F{level - 1}", [one], [other], domain="own")
            for one, other in (("a", "t"), ("t", "b"))
        ]
        functions.append(helper.make_function("own", f"F{level}", ["a"], ["b"], calls, imports))
    message = _message([helper.make_node(f"F{levels - 1}", ["x"], ["y"], domain="own")], ["x"])
    message.functions.extend(functions)
    message.opset_import.append(imports[1])
    return message


def test_functions_that_double_are_refused_before_they_are_written_out() -> None:
    assert _loaded(_doubling(5))(torch.ones(2)).tolist() == [1, 1]
    with pytest.raises(torch.onnx.errors.OnnxLoadError, match="more than 1000000 nodes"):
        _loaded(_doubling(40))


def test_a_stream_has_no_folder_for_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside").write_bytes(bytes(8))
    outside = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location=1)
    outside.external_data.add(key="location", value="beside")
    message = _message([onnx.helper.make_node("Add", ["x", "w"], ["y"])], ["x"], w=outside)
    with pytest.raises(torch.onnx.errors.OnnxLoadError, match="`w` lies in `beside`"):
        _loaded(message)
    (tmp_path / "m.onnx").write_bytes(message.SerializeToString())
    assert torch.onnx.load(tmp_path / "m.onnx")(torch.ones(2)).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("node", "options", "said"),
    [
        ("Cast", {"to": 10**6}, "1000000"),
        ("Cast", {"to": 8}, "STRING"),
        ("Constant", {}, "Constant"),
        ("Constant", {"value_string": b"a\x1b"}, "Constant"),
    ],
)
def test_what_no_tensor_can_be_is_named(node: str, options: Any, said: str) -> None:
    inputs = ["x"] if node == "Cast" else []
    made = _message([onnx.helper.make_node(node, inputs, ["y"], **options)], ["x"])
    with pytest.raises(torch.onnx.errors.OnnxLoadError, match=said):
        _loaded(made)


def test_weights_that_are_texts_are_refused() -> None:
    texts = onnx.TensorProto(name="w", data_type=8, dims=[2], string_data=[b"a", b"b"])
    made = _message([onnx.helper.make_node("Add", ["x", "w"], ["y"])], ["x"], w=texts)
    with pytest.raises(torch.onnx.errors.OnnxLoadError, match=r"`w`"):
        _loaded(made)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "layer",
    [
        nn.BatchNorm2d(4, track_running_stats=False),
        nn.BatchNorm2d(4, track_running_stats=False, affine=False),
        nn.BatchNorm2d(4),
        nn.InstanceNorm2d(4, affine=True),
        nn.GroupNorm(2, 4),
        nn.LayerNorm((4, 3, 5)),
        nn.LayerNorm(5, bias=False),
        nn.LocalResponseNorm(3),
    ],
    ids=str,
)
def test_norms_come_back(layer: nn.Module) -> None:
    torch.manual_seed(0)
    for parameter in layer.parameters():
        nn.init.uniform_(parameter)
    x = torch.randn(2, 4, 3, 5)
    layer = layer.eval()
    again = back(layer, x)
    found, wanted = (results(call(x))[0].detach() for call in (again, layer))
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-5)
