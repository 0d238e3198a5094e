"""Quantized modules and tensors as earlier versions of PyTorch wrote them.

The archives are made here, by the descriptions of the forms; the numbers are torch's.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.errors import OperatorError
from rushlight.ops.quantized_tensors.packed_weights import (
    PACKED_CLASSES,
    PackedConvolution,
    PackedLinear,
)
from rushlight.serialization.files.container_writer import ContainerWriter
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.pickles.nodes import DictNode, Global, ObjectNode, TupleNode
from rushlight.serialization.pickles.tensors import StorageTable
from rushlight.serialization.pickles.writer import write_pickle
from rushlight.serialization.printing.types import TypeNames
from rushlight.serialization.saving.write_values import ValueWriter
from rushlight.serialization.weights.save import ObjectsWriter
from rushlight.typecheck.types.types import TENSOR

LAYER = """class Linear(Module):
  __parameters__ = []
  training : bool
  _packed_params : Tensor
  def forward(self: __torch__.torch.nn.quantized.modules.linear{mangle}.Linear,
    x: Tensor) -> Tensor:
    return torch.dequantize(ops.quantized.linear(x, self._packed_params, 0.5, 3))
  def __getstate__(self: __torch__.torch.nn.quantized.modules.linear{mangle}.Linear
    ) -> Tuple[Tensor, Optional[Tensor], bool]:
    w, b, = ops.quantized.linear_unpack(self._packed_params)
    return (w, b, self.training)
  def __setstate__(self: __torch__.torch.nn.quantized.modules.linear{mangle}.Linear,
    state: Tuple[Tensor, Optional[Tensor], bool]) -> None:
    self._packed_params = ops.quantized.linear_prepack((state)[0], (state)[1])
    self.training = (state)[2]
    return None
"""
WEIGHT = torch.quantize_per_tensor(
    torch.tensor([[-1.0, 0.0, 1.0], [0.3, 20.0, 5.0]]), 0.2, 0, torch.qint8
)
BIAS = torch.tensor([1.0, -1.0])


def archive(cls: str, code: str, parts: list[Any]) -> bytes:
    """An archive of one object of a class, whose state is a tuple."""
    storages = StorageTable()
    values = ValueWriter(storages, None, None)  # type: ignore[arg-type]
    module, _, name = cls.rpartition(".")
    state = TupleNode(tuple(values.node(part, None) for part in parts))  # type: ignore[arg-type]
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "archive")
    writer.add("data.pkl", write_pickle(ObjectNode(Global(module, name), state)))
    writer.add(f"code/{module.replace('.', '/')}.py", code.encode())
    writer.add("constants.pkl", b"\x80\x02).")
    writer.add("version", b"3\n")
    storages.write(writer, "data/")
    writer.finish()
    return sink.getvalue()


def sample() -> bytes:
    cls = "__torch__.torch.nn.quantized.modules.linear.Linear"
    return archive(cls, LAYER.format(mangle=""), [WEIGHT, BIAS, False])


def test_the_sample_is_what_is_made_here() -> None:
    """The file is there for those who look for archives, such as the fuzzer."""
    assert (Path(__file__).parent / "data" / "quantized.pt").read_bytes() == sample()


@pytest.mark.parametrize("mangle", ["", ".___torch_mangle_7"])
def test_packed_weights_that_were_tensors_to_the_type_system(mangle: str) -> None:
    cls = f"__torch__.torch.nn.quantized.modules.linear{mangle}.Linear"
    data = archive(cls, LAYER.format(mangle=mangle), [WEIGHT, BIAS, False])
    loaded = torch.jit.load(io.BytesIO(data))
    x = torch.quantize_per_tensor(torch.tensor([[1.0, 2.0, 3.0]]), 0.02, 0, torch.quint8)
    assert loaded(x).tolist() == [[3.0, 54.5]]
    again = torch.jit.load(io.BytesIO(loaded.save_to_buffer()))
    assert again(x).tolist() == [[3.0, 54.5]]


def test_other_classes_keep_what_they_declare() -> None:
    code = LAYER.format(mangle="").replace("torch.nn.quantized.modules", "mine")
    data = archive("__torch__.mine.linear.Linear", code, [WEIGHT, BIAS, False])
    with pytest.raises(RuntimeError, match="Expected Tensor but got"):
        torch.jit.load(io.BytesIO(data))


# --------------------------------------------------------------------------- packed convolutions


KERNEL = torch.quantize_per_tensor(torch.ones(2, 1, 3, 3), 0.5, 0, torch.qint8)._array
CONVOLUTION = PACKED_CLASSES["quantized.Conv2dPackedParamsBase"]
NUMBERS = [2, 1, 2, 0, 1, 1, 1, 0, 0, 1, 0]


def one(number: int) -> Any:
    return np.array([number], np.int64)


FIRST = (KERNEL, None, [one(1), one(2)], [one(0), one(1)], [one(1), one(1)], one(1))
SECOND = ("2", [np.array(NUMBERS, np.int16), KERNEL], [None])
THIRD = (3, NUMBERS, [None, KERNEL, None])


@pytest.mark.parametrize("state", [FIRST, SECOND, ("2", SECOND[1], []), THIRD])
def test_the_forms_of_packed_convolutions(state: Any) -> None:
    made = CONVOLUTION(state)
    assert isinstance(made, PackedConvolution)
    assert (made.stride, made.padding, made.dilation) == ([1, 2], [0, 1], [1, 1])
    assert (made.output_padding, made.groups, made.transpose) == ([0, 0], 1, False)
    assert made.weight is not KERNEL  # what somebody resizes must not be what kernels read
    assert made.weight.tolist() == KERNEL.tolist()
    assert made.bias is None


@pytest.mark.parametrize(
    "state",
    [
        (),
        ("3", SECOND[1], [None]),
        (3, NUMBERS[:-1], THIRD[2]),
        (3, [3, *NUMBERS[1:]], THIRD[2]),
        (3, [*NUMBERS[:-1], 2], THIRD[2]),
        (3, [*NUMBERS[:-1], 0.5], THIRD[2]),
        (3, NUMBERS, [KERNEL]),
        (3, NUMBERS, [None, KERNEL, 7]),
        (KERNEL, None, [one(1)], [one(0)], [one(1)], one(1)),
        (KERNEL, None, [np.ones(2)], [one(0)], [one(1)], one(1)),
    ],
)
def test_other_forms_are_damage(state: Any) -> None:
    with pytest.raises((OperatorError, ValueError)):
        CONVOLUTION(state)


def test_the_methods_of_packed_convolutions() -> None:
    cls = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"
    made = CONVOLUTION(("2", SECOND[1], [np.array([1.0, 2.0], np.float32)]))
    code = (
        f"class M(Module):\n  packed : {cls}\n"
        "  def forward(self: __torch__.M) -> Tuple[Tensor, Optional[Tensor], List[int], bool]:\n"
        "    p = self.packed\n"
        "    return ((p).weight(), (p).bias(), (p).stride(), (p).transpose())\n"
    )
    storages = StorageTable()
    values = ValueWriter(storages, TypeNames(unique=True), None)  # type: ignore[arg-type]
    state = DictNode([("packed", values.node(made, TENSOR))])
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "archive")
    writer.add("data.pkl", write_pickle(ObjectNode(Global("__torch__", "M"), state)))
    writer.add("code/__torch__.py", code.encode())
    writer.add("constants.pkl", b"\x80\x02).")
    writer.add("version", b"3\n")
    storages.write(writer, "data/")
    writer.finish()
    weight, bias, stride, transpose = torch.jit.load(io.BytesIO(sink.getvalue()))()
    assert weight.dequantize().shape == (2, 1, 3, 3)
    assert (bias.tolist(), stride, transpose) == ([1.0, 2.0], [1, 2], False)


# --------------------------------------------------------------------------- files of torch.save


def test_quantized_tensors_are_saved_and_loaded() -> None:
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    scales, zeros = torch.tensor([0.5, 0.25]), torch.tensor([1, 2])
    rows = torch.quantize_per_channel(values, scales, zeros, 1, torch.quint8)
    file = io.BytesIO()
    torch.save({"weight": WEIGHT, "turned": WEIGHT.t(), "rows": rows}, file)
    loaded = torch.load(io.BytesIO(file.getvalue()))
    assert loaded["weight"].int_repr().tolist() == WEIGHT.int_repr().tolist()
    assert loaded["turned"].int_repr().tolist() == WEIGHT.int_repr().t().tolist()
    assert (loaded["weight"].q_scale(), loaded["weight"].dtype) == (0.2, torch.qint8)
    assert loaded["rows"].q_per_channel_scales().tolist() == [0.5, 0.25]
    assert loaded["rows"].dequantize().tolist() == values.tolist()


class _Packed:
    """Packed weights, written as `torch._C.ScriptObject`."""

    def __init__(self, name: str, state: Any) -> None:
        self.name = f"__torch__.torch.classes.{name}"
        self.state = state


class _OldWriter(ObjectsWriter):
    def by_name(self, value: Any) -> None:
        if not isinstance(value, _Packed):
            super().by_name(value)
            return
        self.name("torch._C", "ScriptObject")
        self.out += b")\x81"
        self.remember(value)
        if value.state is not None:
            self.write((value.state, value.name))
            self.out += b"b"


def legacy(value: Any) -> bytes:
    """A file as before PyTorch 1.6: the pickles first, the contents of storages behind them."""
    storages = StorageTable()
    pickled = _OldWriter(storages).pickle(value)
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}
    head = [pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, system)]
    keys = [str(index) for index in range(len(storages._arrays))]
    tail = [len(a).to_bytes(8, "little") + a.tobytes() for a in storages._arrays]
    return b"".join([*head, pickled, pickle.dumps(keys, 2), *tail])


def test_files_before_the_zip_format() -> None:
    numbers = torch.tensor(NUMBERS, dtype=torch.int16)
    kernel = torch.quantize_per_tensor(torch.ones(2, 1, 3, 3), 0.5, 0, torch.qint8)
    linear = _Packed("quantized.LinearPackedParamsBase", (WEIGHT, BIAS))
    state = {
        "weight": WEIGHT,
        "packed": [linear, linear],
        "conv": _Packed("quantized.Conv2dPackedParamsBase", ("2", [numbers, kernel], [None])),
    }
    loaded = torch.load(io.BytesIO(legacy(state)))
    assert loaded["weight"].int_repr().tolist() == WEIGHT.int_repr().tolist()
    first, second = loaded["packed"]
    assert isinstance(first, PackedLinear)
    assert first is second
    assert first.bias is not None
    assert first.bias.tolist() == [1.0, -1.0]
    assert loaded["conv"].stride == [1, 2]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (_Packed("quantized.Unknown", (WEIGHT, None)), "class that does not exist here"),
        (_Packed("quantized.LinearPackedParamsBase", (BIAS, None)), "unknown form"),
        ([_Packed("quantized.LinearPackedParamsBase", None)], "object without a state"),
    ],
)
def test_damaged_script_objects(value: Any, message: str) -> None:
    with pytest.raises(ArchiveError, match=message) as info:
        torch.load(io.BytesIO(legacy(value)))
    assert info.value.code == "damaged-archive"


def with_view(view: tuple[Any, ...]) -> bytes:
    """A tensor of two elements on a part of a storage of four."""
    storage = StorageTable()
    storage.tensor(np.arange(4, dtype=np.float32))
    out = _OldWriter(storage)
    out.name("torch._utils", "_rebuild_tensor")
    out.out += b"(("
    out.text("storage")
    out.name("torch", "FloatStorage")
    for part in ("0", "cpu", 4, view):
        out.write(part)
    out.out += b"tQ"
    for part in (1, (2,), (1,)):
        out.write(part)
    out.out += b"tR."
    whole = legacy(torch.arange(4.0))
    begin = whole.index(b"\x80\x02", whole.index(b"little_endian"))
    end = whole.index(b"\x80\x02]", begin)
    return whole[:begin] + bytes(out.out) + whole[end:]


def test_views_of_storages() -> None:
    assert torch.load(io.BytesIO(with_view(("v", 1, 3)))).tolist() == [2.0, 3.0]
    with pytest.raises(ArchiveError, match="outside its storage"):
        torch.load(io.BytesIO(with_view(("v", 1, 2))))
    with pytest.raises(ArchiveError, match="part of a storage"):
        torch.load(io.BytesIO(with_view(("v", 1, 4))))
