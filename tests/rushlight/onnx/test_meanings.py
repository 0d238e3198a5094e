"""What single nodes of ONNX files compute is what ONNX's own reference computes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import rushlight as torch

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


def _wave(*sizes: int) -> Any:
    return np.sin(np.arange(float(np.prod(sizes)))).reshape(sizes).astype(np.float32)


def _row(*numbers: float, dtype: Any = np.int64) -> Any:
    return np.array(numbers, dtype)


IMAGE, MATRIX, LINE = _wave(2, 4, 3, 3), _wave(3, 4), _wave(4)
SQUARE = _row(2, 2)
NODES: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
    *(
        ("Col2Im", each, (_wave(2, 4, 12), _row(4, 5), SQUARE))
        for each in ({}, {"pads": [0, 0, 0, 0]})
    ),
    ("Col2Im", {"pads": [1, 0, 1, 0]}, (_wave(1, 4, 12), _row(2, 5), SQUARE)),
    ("Col2Im", {"strides": [2, 1]}, (_wave(1, 8, 8), _row(4, 5), SQUARE)),
    ("Col2Im", {"dilations": [1, 2]}, (_wave(1, 4, 9), _row(4, 5), SQUARE)),
    ("BatchNormalization", {}, (IMAGE, LINE, LINE + 1, LINE, np.abs(LINE) + 1)),
    ("BatchNormalization", {"epsilon": 0.5}, (IMAGE, LINE, LINE + 1, LINE, np.abs(LINE))),
    ("InstanceNormalization", {"epsilon": 0.1}, (IMAGE, LINE, LINE + 1)),
    ("Clip", {}, (MATRIX, np.float32(-0.5), np.float32(0.5))),
    ("Clip", {}, (MATRIX, np.float32(-0.5))),
    ("Clip", {}, (MATRIX,)),
    ("Compress", {}, (MATRIX, _row(1, 0, 1, dtype=bool))),
    ("Compress", {"axis": 0}, (MATRIX, _row(0, 1, 1, dtype=bool))),
    ("Compress", {"axis": 1}, (MATRIX, _row(0, 1, dtype=bool))),
    ("ConvTranspose", {}, (IMAGE, _wave(4, 2, 2, 2))),
    ("ConvTranspose", {"strides": [2, 2], "pads": [1, 0, 1, 0]}, (IMAGE, _wave(4, 2, 2, 2))),
    ("ConvTranspose", {"strides": [2, 2], "output_padding": [1, 0]}, (IMAGE, _wave(4, 2, 3, 3))),
    ("ConvTranspose", {}, (IMAGE, _wave(4, 2, 2, 2), _row(0.5, 1.5, dtype=np.float32))),
    ("Conv", {"group": 2, "pads": [1, 1, 1, 1]}, (IMAGE, _wave(2, 2, 2, 2))),
    ("Conv", {"dilations": [2, 1]}, (IMAGE, _wave(2, 4, 2, 2), _row(1, 2, dtype=np.float32))),
    *(("Div", {}, pair) for pair in ((MATRIX, LINE + 2), (_row(7, -7, 6), _row(2, 2, -4)))),
    *(("Einsum", {"equation": text}, (MATRIX, MATRIX)) for text in ("ij,kj->ik", "ij,ij->")),
    ("Expand", {}, (MATRIX, _row(2, 1, 4))),
    ("Expand", {}, (LINE, _row(3, 1))),
    *(("Gelu", each, (MATRIX * 3,)) for each in ({}, {"approximate": "tanh"})),
    *((kind, {}, (IMAGE,)) for kind in ("GlobalAveragePool", "GlobalMaxPool", "Size", "Shape")),
    *((kind, {}, (MATRIX * 4,)) for kind in ("HardSwish", "Softplus", "Softsign", "Identity")),
    *(("Shape", each, (IMAGE,)) for each in ({"start": 1}, {"start": -2, "end": -1}, {"end": 1})),
    *((kind, {}, each) for kind in ("Max", "Min") for each in ((MATRIX,), (MATRIX, LINE))),
    ("Max", {}, (MATRIX, LINE, -MATRIX)),
    *(("NonZero", {}, (each,)) for each in (MATRIX > 0, _row(0, 3, 0))),
    ("PRelu", {}, (IMAGE, _wave(4, 1, 1))),
    ("PRelu", {}, (MATRIX, _row(0.25, dtype=np.float32))),
    *(("Pow", {}, (np.abs(MATRIX), each)) for each in (np.float32(2), LINE, np.int64(3))),
    ("Range", {}, (np.int64(1), np.int64(9), np.int64(3))),
    ("Range", {}, (np.float32(1), np.float32(-1), np.float32(-0.5))),
    ("Reshape", {}, (IMAGE, _row(0, -1, 3))),
    ("Reshape", {}, (IMAGE, _row(8, 9))),
    ("Reshape", {"allowzero": 1}, (_wave(0, 3), _row(3, 0))),
    ("Squeeze", {}, (_wave(1, 3, 1),)),
    ("Squeeze", {}, (_wave(1, 3, 1), _row(-1))),
    ("Unsqueeze", {}, (MATRIX, _row(0, -1))),
    ("Unsqueeze", {}, (MATRIX, _row(1, 3))),
    ("Tile", {}, (MATRIX, _row(2, 3))),
    ("ScatterND", {}, (MATRIX, _row(0, 2).reshape(2, 1), MATRIX[:2] * 3)),
    ("ScatterND", {"reduction": "add"}, (LINE, _row(1, 1, -1).reshape(3, 1), LINE[:3])),
    ("ScatterND", {"reduction": "mul"}, (LINE, _row(1, 2).reshape(2, 1), LINE[:2])),
    ("GridSample", {"align_corners": 1}, (IMAGE, _wave(2, 2, 3, 2))),
    ("GridSample", {"padding_mode": "border"}, (IMAGE, _wave(2, 2, 3, 2) * 2)),
    ("GridSample", {"mode": "nearest", "padding_mode": "reflection"}, (IMAGE, _wave(2, 2, 3, 2))),
    ("ConstantOfShape", {}, (_row(2, 3),)),
    ("Dropout", {}, (MATRIX,)),
    *(
        ("Resize", {"mode": "linear", "coordinate_transformation_mode": by}, (IMAGE, *sizes))
        for by, sizes in (
            ("half_pixel", (_row(dtype=np.float32), _row(1, 1, 2, 1.5, dtype=np.float32))),
            ("half_pixel", (_row(dtype=np.float32), _row(dtype=np.float32), _row(2, 4, 5, 6))),
            ("align_corners", (_row(dtype=np.float32), _row(dtype=np.float32), _row(2, 4, 5, 6))),
        )
    ),
    (
        "Resize",
        {
            "mode": "nearest",
            "nearest_mode": "floor",
            "coordinate_transformation_mode": "asymmetric",
        },
        (IMAGE, _row(dtype=np.float32), _row(1, 1, 2, 2, dtype=np.float32)),
    ),
    *(
        ("NegativeLogLikelihoodLoss", each, (MATRIX, _row(1, 0, 3), *weights))
        for each in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"ignore_index": 0})
        for weights in ((), (np.abs(LINE),))
    ),
    ("Split", {}, (MATRIX, _row(1, 2))),
    ("Split", {"axis": 1, "num_outputs": 2}, (MATRIX,)),
    ("Split", {"axis": -1}, (MATRIX, _row(3, 1))),
    *(("TopK", each, (MATRIX, _row(2))) for each in ({}, {"axis": 0}, {"largest": 0})),
    *(("Unique", each, (_row(2, 1, 2, 5),)) for each in ({}, {"sorted": 1})),
]
OUTPUTS = {"Split": 2, "TopK": 2, "Unique": 4}


def _model(kind: str, options: dict[str, Any], arrays: dict[str, Any], count: int) -> Any:
    helper = onnx.helper

    def info(name: str, array: Any) -> Any:
        number = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, number, array.shape)

    outputs = [f"y{place}" for place in range(count)]
    names = [name if array.size or kind != "Resize" else "" for name, array in arrays.items()]
    node = helper.make_node(kind, names, outputs, **options)
    inputs = [info(name, array) for name, array in arrays.items()]
    told = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph([node], "g", inputs, told)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@pytest.mark.parametrize(
    "number", range(len(NODES)), ids=lambda number: f"{NODES[number][0]}-{NODES[number][1]}"
)
def test_nodes_compute_what_the_reference_does(number: int) -> None:
    kind, options, given = NODES[number]
    arrays = {f"x{place}": np.asarray(array) for place, array in enumerate(given)}
    model = _model(kind, options, arrays, OUTPUTS.get(kind, 1))
    wanted = reference.ReferenceEvaluator(model).run(None, arrays)
    for place, each in enumerate(wanted):
        sizes = onnx.helper.np_dtype_to_tensor_dtype(np.asarray(each).dtype)
        made = onnx.helper.make_tensor_value_info(f"y{place}", sizes, np.shape(each))
        model.graph.output[place].CopyFrom(made)
    program = torch.onnx.load(io.BytesIO(model.SerializeToString()))
    found = program(*(torch.from_numpy(array.copy()) for array in arrays.values()))
    found = found if isinstance(found, (list, tuple)) else (found,)
    for one, other in zip(found, wanted, strict=True):
        assert one.numpy().dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one.numpy(), other, 1e-4, 1e-5)
