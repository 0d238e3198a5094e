"""Archives as PyTorch 1.0 to 1.2 wrote them, by the description of the format.

Nobody writes them any more, and none is kept here: these functions write the records and the
messages of `model.json` one by one, as JSON made of protocol buffers looks.
"""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import numpy as np

from rushlight.serialization.files.container_writer import ContainerWriter

__all__ = ["Archive", "Attributes", "example", "model_json"]

DATA_TYPES = {
    "float32": "FLOAT",
    "int32": "INT32",
    "uint8": "UINT8",
    "bool": "BOOL",
    "int8": "INT8",
    "int16": "INT16",
    "int64": "INT64",
    "float16": "FLOAT16",
    "float64": "DOUBLE",
}


class Attributes:
    """`attributes.pkl`: opcodes, one value after the other."""

    def __init__(self) -> None:
        self.out = bytearray(b"\x80\x02(")
        self.count = 0

    def add(self, *opcodes: bytes) -> int:
        """Add a value; its index comes back."""
        self.out += b"".join(opcodes)
        self.count += 1
        return self.count - 1

    def finish(self) -> bytes:
        return bytes(self.out) + b"t."


def small(value: int) -> bytes:
    """An integer of one byte; the first writers took it for signed."""
    return b"K" + struct.pack("<b", value)


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def tensor_by_id(index: int) -> bytes:
    return b"ctorch.jit._pickle\nbuild_tensor_from_id\n(" + small(index) + b"tR"


def tensor_as_state(index: int) -> bytes:
    """As the very first writers had it."""
    return b"c__main__\nTensorID\n)\x81" + small(index) + b"b"


def integers(*values: int) -> bytes:
    inside = b"".join(small(v) for v in values)
    return b"ctorch.jit._pickle\nbuild_intlist\n(](" + inside + b"etR"


def integers_as_state(*values: int) -> bytes:
    return b"c__main__\nIntList\n)\x81](" + b"".join(small(v) for v in values) + b"eb"


class Archive:
    """One archive in the making; `tensors` is the table, in messages."""

    def __init__(self, name: str = "net", version: int = 3) -> None:
        self.name = name
        self.version = version
        self.tensors: list[dict[str, Any]] = []
        self.records: dict[str, bytes] = {}

    def tensor(self, array: np.ndarray[Any, Any], grad: bool = False, **more: Any) -> int:
        """Put an array with a storage of its own into the table."""
        key = f"tensors/{len(self.tensors)}"
        self.records[key] = array.tobytes()
        strides = [s // array.itemsize for s in array.strides]
        data_type = DATA_TYPES[array.dtype.name]
        return self.window(key, array.shape, strides, 0, data_type, grad, **more)

    def window(
        self,
        key: str,
        dims: Any,
        strides: Any,
        offset: int,
        data_type: str,
        grad: bool = False,
        **more: Any,
    ) -> int:
        """Put a tensor into the table that lies in a record."""
        self.tensors.append(
            {
                "dims": [str(n) for n in dims],
                "offset": str(offset),
                "strides": [str(n) for n in strides],
                "requiresGrad": grad,
                "dataType": data_type,
                "data": {"key": key},
                "device": "cpu",
                **more,
            }
        )
        return len(self.tensors) - 1

    def code(self, module: str, source: str) -> dict[str, str]:
        """A code file; the reference to it comes back."""
        key = f"code/{module}.py"
        self.records[key] = ("op_version_set = 0\n" + source).encode()
        return {"key": key}

    def model(self, main: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "protoVersion": str(self.version),
            "mainModule": main,
            "producerName": "pytorch",
            "producerVersion": "1.0",
            "tensors": self.tensors,
            **more,
        }

    def write(self, model: Any) -> bytes:
        """The bytes, given what is in `model.json` as a message or as text."""
        sink = io.BytesIO()
        writer = ContainerWriter(sink, self.name)
        writer.add("version", b"1\n")
        for record, content in self.records.items():
            writer.add(record, content)
        writer.add("model.json", model if isinstance(model, bytes) else json.dumps(model).encode())
        writer.finish()
        return sink.getvalue()


def parameter(name: str, tensor: int, is_buffer: bool = False) -> dict[str, Any]:
    return {"isBuffer": is_buffer, "tensorId": str(tensor), "name": name}


def attribute(name: str, type: str, index: int) -> dict[str, Any]:
    return {"type": type, "name": name, "id": str(index)}


def example() -> tuple[Archive, dict[str, Any]]:
    """A module with all there is: submodules, a buffer, attributes, constants, shared weights."""
    made = Archive()
    weight = made.tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), grad=True)
    bias = made.window("tensors/0", [2], [2], 1, "FLOAT")
    made.tensor(np.array(10, np.int64))
    steps = made.tensor(np.array([1, 2], np.int64))
    values = Attributes()
    table = values.add(
        b"}q\x00(", text("a"), tensor_by_id(steps), text("b"), tensor_as_state(bias), b"u"
    )
    sizes = values.add(integers(2, -1))
    older = values.add(integers_as_state(5))
    pair = values.add(b"(", small(-3), text("x"), b"t")
    training = values.add(b"\x88")
    made.records["attributes.pkl"] = values.finish()
    made.records["extra/notes"] = b"kept"
    inner = {
        "torchscriptArena": made.code(
            "net_0",
            "def forward(self,\n    x: Tensor) -> Tensor:\n"
            "  _0 = torch.addmm(self.bias, x, torch.t(self.weight), beta=1, alpha=1)\n"
            "  return _0\n",
        ),
        "parameters": [parameter("weight", weight), parameter("bias", bias, True)],
        "name": "0",
        "optimize": True,
    }
    main = {
        "torchscriptArena": made.code(
            "net",
            "def forward(self,\n    x: Tensor) -> Tensor:\n"
            '  _0 = getattr(self, "0")\n'
            "  y = (_0).forward(x, )\n"
            "  z = torch.add(y, CONSTANTS.c2, alpha=1)\n"
            '  return torch.add_(z, (self.table)["a"], alpha=1)\n'
            "def numbers(self) -> Tuple[List[int], List[int], Tuple[int, str], bool]:\n"
            "  return (self.sizes, self.older, self.pair, self.training)\n"
            "def halves(self,\n    n: Tensor) -> Tensor:\n"
            "  return torch.div(n, CONSTANTS.c2)\n",
        ),
        "submodules": [inner],
        "parameters": [parameter("tied", weight)],
        "attributes": [
            attribute("table", "Dict[str, Tensor]", table),
            attribute("sizes", "List[int]", sizes),
            attribute("older", "List[int]", older),
            attribute("pair", "Tuple[int, str]", pair),
            attribute("training", "bool", training),
        ],
        "name": "net",
        "optimize": True,
    }
    return made, main


def model_json() -> bytes:
    """The example, written."""
    made, main = example()
    return made.write(made.model(main))
