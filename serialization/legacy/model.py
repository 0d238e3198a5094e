"""`model.json` of archives before PyTorch 1.3: what a module holds, and where its parts lie.

The record is a protocol buffer message written as JSON: names in camelCase or with underscores,
64-bit integers as strings, members that have their default left out.

    ModelDef      protoVersion, mainModule, tensors
    ModuleDef     name, submodules, parameters, attributes, torchscriptArena (its code),
                  torchscriptDebugArena, getStateAttributeId
    ParameterDef  name, tensorId, isBuffer
    AttributeDef  name, type, id (into `attributes.pkl`; -1: `__setstate__` gives it)
    TensorDef     dims, strides, offset, dataType, data (its record), requiresGrad,
                  isQuantized, scale, zeroPoint
    RecordRef     key
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..files.errors import ArchiveError, archive_error
from ..files.limits import Limits

__all__ = ["AttributeDef", "ModelDef", "ModuleDef", "ParameterDef", "TensorDef", "read_model"]

NEWEST: Final = 5
"""The newest version of the format; the next one holds `data.pkl` instead."""

_DATA_TYPES: Final[Mapping[str, tuple[int, str]]] = {
    "FLOAT": (1, "Float"),
    "INT32": (2, "Int"),
    "BYTE": (3, "Byte"),
    "BOOL": (5, "Bool"),
    "UINT8": (6, "Byte"),
    "INT8": (7, "Char"),
    "INT16": (9, "Short"),
    "INT64": (10, "Long"),
    "FLOAT16": (12, "Half"),
    "DOUBLE": (13, "Double"),
}
"""Name and number of an element type, and the kind of storage it is here."""

_QUANTIZED: Final = {"Byte": "QUInt8", "Char": "QInt8", "Int": "QInt32"}


@dataclass(frozen=True, slots=True)
class TensorDef:
    """A window on the elements in a record; `scale` and `zero_point` if it is quantized."""

    kind: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    record: str
    requires_grad: bool
    quantizer: tuple[float, int] | None = None


@dataclass(frozen=True, slots=True)
class ParameterDef:
    """A parameter or buffer; `tensor` is -1 if `__setstate__` gives it."""

    name: str
    tensor: int
    is_buffer: bool


@dataclass(frozen=True, slots=True)
class AttributeDef:
    """An attribute; `value` is -1 if `__setstate__` gives it."""

    name: str
    type: str
    value: int


@dataclass(frozen=True, slots=True)
class ModuleDef:
    """A module; `code` and `debug` are records, `state` is the value for `__setstate__`."""

    name: str
    submodules: tuple[ModuleDef, ...]
    parameters: tuple[ParameterDef, ...]
    attributes: tuple[AttributeDef, ...]
    code: str | None
    debug: str | None
    state: int | None


@dataclass(frozen=True, slots=True)
class ModelDef:
    """All of `model.json`; `libraries` is the record of classes, in the first form they had."""

    version: int
    main: ModuleDef
    tensors: tuple[TensorDef, ...]
    libraries: str | None


def read_model(data: bytes, limits: Limits) -> ModelDef:
    """The message in `model.json`.

    Raises:
        ArchiveError: it is none, is of a later version, or lies too deep.
    """
    if len(data) > limits.pickle:
        raise archive_error("limit-exceeded", f"`model.json` has {len(data)} bytes")
    try:
        model = json.loads(data)
    except RecursionError:
        raise archive_error("limit-exceeded", "`model.json` is nested too deeply") from None
    except ValueError as error:
        raise _damaged(f"is no JSON: {error}") from None
    reader = _Reader(limits.depth)
    message = _Message(model, "the model")
    version = message.integer("protoVersion", 1)
    if version > NEWEST:
        raise archive_error(
            "version-too-new",
            f"`model.json` is of version {version}; versions 1 to {NEWEST} are read here",
        )
    return ModelDef(
        version,
        reader.module(message.message("mainModule"), 0),
        tuple(_tensor(part) for part in message.messages("tensors")),
        message.record("libs.torchscriptArena"),
    )


def _damaged(what: str) -> ArchiveError:
    return archive_error("damaged-archive", f"`model.json` {what}")


class _Message:
    """One message; members that are not asked for are no matter, as in protocol buffers."""

    def __init__(self, members: object, what: str) -> None:
        if not isinstance(members, dict):
            raise _damaged(f"holds no message for {what}")
        self._members = members
        self._what = what

    def _member(self, name: str) -> Any:
        spelled = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
        found = self._members.get(name)
        return self._members.get(spelled) if found is None else found

    def _wrong(self, name: str) -> ArchiveError:
        return _damaged(f"has a wrong `{name}` in {self._what}")

    def integer(self, name: str, default: int) -> int:
        """A 64-bit integer, written as a number or as a string."""
        value = self._member(name)
        return default if value is None else self._whole(name, value)

    def integers(self, name: str) -> tuple[int, ...]:
        """Some 64-bit integers."""
        return tuple(self._whole(name, value) for value in self._items(name))

    def _whole(self, name: str, value: object) -> int:
        if isinstance(value, str) and len(value) <= 20 and value.lstrip("-").isdecimal():
            value = int(value)
        if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
            raise self._wrong(name)
        return value

    def number(self, name: str) -> float:
        """A floating-point number, 0 if it is not there."""
        value = self._member(name)
        if value is None:
            return 0.0
        if type(value) not in (int, float):
            raise self._wrong(name)
        return float(value)

    def flag(self, name: str) -> bool:
        """Whether; no, if it is not there."""
        value = self._member(name)
        if value is not None and type(value) is not bool:
            raise self._wrong(name)
        return bool(value)

    def text(self, name: str) -> str:
        """A text, empty if it is not there."""
        value = self._member(name)
        if value is not None and type(value) is not str:
            raise self._wrong(name)
        return value or ""

    def _items(self, name: str) -> list[object]:
        value = self._member(name)
        if value is not None and type(value) is not list:
            raise self._wrong(name)
        return value or []

    def messages(self, name: str) -> list[_Message]:
        """Some messages."""
        return [_Message(item, f"`{name}` of {self._what}") for item in self._items(name)]

    def message(self, name: str) -> _Message:
        """A message that has to be there."""
        return _Message(self._member(name), f"`{name}`")

    def record(self, path: str) -> str | None:
        """The key of a RecordRef, which may lie in a message in this one; None for none."""
        first, _, rest = path.partition(".")
        value = self._member(first)
        if value is None:
            return None
        inner = _Message(value, f"`{first}` of {self._what}")
        return inner.record(rest) if rest else inner.text("key") or None

    def element_type(self) -> str:
        """The kind of storage that `dataType` means, by name or number."""
        value = self._member("dataType")
        for name, (number, kind) in _DATA_TYPES.items():
            if type(value) in (int, str) and value in (name, number):
                return kind
        raise self._wrong("dataType")


class _Reader:
    def __init__(self, deepest: int) -> None:
        self._deepest = deepest

    def module(self, message: _Message, depth: int) -> ModuleDef:
        if depth >= self._deepest:
            raise archive_error(
                "limit-exceeded", f"modules lie more than {self._deepest} deep in each other"
            )
        state = message.integer("getStateAttributeId", -1)
        return ModuleDef(
            message.text("name"),
            tuple(self.module(part, depth + 1) for part in message.messages("submodules")),
            tuple(_parameter(part) for part in message.messages("parameters")),
            tuple(_attribute(part) for part in message.messages("attributes")),
            message.record("torchscriptArena"),
            message.record("torchscriptDebugArena"),
            None if state < 0 else state,
        )


def _parameter(message: _Message) -> ParameterDef:
    name, tensor = message.text("name"), message.integer("tensorId", 0)
    return ParameterDef(name, tensor, message.flag("isBuffer"))


def _attribute(message: _Message) -> AttributeDef:
    name, type, value = message.text("name"), message.text("type"), message.integer("id", 0)
    return AttributeDef(name, type, value)


def _tensor(message: _Message) -> TensorDef:
    kind, quantizer = message.element_type(), None
    if message.flag("isQuantized"):
        if kind not in _QUANTIZED:
            raise _damaged(f"has a quantized tensor of {kind} elements")
        kind = _QUANTIZED[kind]
        quantizer = message.number("scale"), message.integer("zeroPoint", 0)
    record = message.record("data")
    if record is None:
        raise _damaged("has a tensor without a record")
    return TensorDef(
        kind,
        message.integers("dims"),
        message.integers("strides"),
        message.integer("offset", 0),
        record,
        message.flag("requiresGrad"),
        quantizer,
    )
