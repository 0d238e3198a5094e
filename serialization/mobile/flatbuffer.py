"""Mobile modules written as one flatbuffer (`.ff`).

All values lie in one list; a value refers to others by their numbers there, which are smaller than
its own.  The fields are those of PyTorch's schema `mobile_bytecode.fbs`, by their numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from ...ops.memory.dtype import dtype_by_number
from ...ops.memory.errors import OperatorError
from ..files.errors import archive_error
from ..files.file_bytes import OpenedFile
from ..pickles.nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    EnumNode,
    Global,
    ListNode,
    Node,
    ObjectNode,
    QuantizerNode,
    StorageNode,
    TensorNode,
    TupleNode,
)
from ..pickles.tensors import StorageReader
from .contents import MobileArgument, MobileContents, MobileFunction
from .flatbuffers import FlatBuffer, MalformedBuffer, Table

__all__ = ["IDENTIFIER", "OPCODES", "is_flatbuffer", "read_mobile_flatbuffer"]

IDENTIFIER: Final = b"PTMF"
"""The bytes behind the first four."""

OPCODES: Final = tuple(
    """OP OPN LOAD MOVE STOREN STORE DROP DROPR LOADC JF JMP LOOP RET WAIT CALL GUARD TYPECHECK
    FAIL_GUARD PROFILE_OP TAIL_CALL INTERFACE_CALL GET_ATTR SET_ATTR LIST_UNPACK TUPLE_CONSTRUCT
    NAMED_TUPLE_CONSTRUCT LIST_CONSTRUCT DICT_CONSTRUCT CREATE_OBJECT ISINSTANCE TUPLE_SLICE
    TUPLE_INDEX RAISE_EXCEPTION DICT_INDEX UNCHECKED_CAST __IS__ UN_INITIALIZED __ISNOT__ FORMAT
    DEVICE DTYPE DIM __NOT__ TO_LIST NUM_TO_TENSOR IS_CUDA FORK WARN ENTER EXIT
    AWAITABLE""".split()
)
"""The names of instructions, by their numbers."""

_MALFORMED = "Malformed Flatbuffer module"
_SCHEMES: Final = {
    0: "per_tensor_affine",
    1: "per_channel_affine",
    4: "per_channel_affine_float_qparams",
}
_WITH_FIELDS, _CUSTOM, _WITH_SETSTATE = 1, 2, 3

_BYTE, _BOOL = struct.Struct("<b"), struct.Struct("<?")
_INT, _UINT, _LONG = struct.Struct("<i"), struct.Struct("<I"), struct.Struct("<q")
_DOUBLE, _COMPLEX = struct.Struct("<d"), struct.Struct("<dd")
_INSTRUCTION = struct.Struct("<BxHi")


def is_flatbuffer(file: OpenedFile) -> bool:
    """Whether a file begins as a mobile module in a flatbuffer does."""
    return file[4:8] == IDENTIFIER


def read_mobile_flatbuffer(file: OpenedFile) -> MobileContents:
    """What a flatbuffer holds.

    Raises:
        ArchiveError: it is damaged.
    """
    try:
        return _Reader(file.title, memoryview(file[:])).contents()
    except MalformedBuffer:
        what = f"{file.title} is a damaged mobile file: its parts do not lie where they should"
        raise archive_error("damaged-archive", what, torch=_MALFORMED) from None


class _Storages:
    """The storages of a flatbuffer, as if they were the records of an archive."""

    byteorder = "little"

    def __init__(self, title: str, storages: Sequence[memoryview]) -> None:
        self.title = title
        self._storages = storages

    def __contains__(self, record: str) -> bool:
        return int(record) < len(self._storages)

    def size(self, record: str) -> int:
        return len(self._storages[int(record)])

    def read_into(self, record: str, target: memoryview) -> None:
        target[:] = self._storages[int(record)][: len(target)]

    def mapped(self, record: str, alignment: int) -> None:
        return None


class _Reader:
    def __init__(self, title: str, data: memoryview) -> None:
        self.title = title
        self.module = FlatBuffer(data).root()
        self.storages = [storage.bytes(0) for storage in self.module.tables(6)]
        self.types = [(t.string(0), t.number(1, _BYTE), t.strings(2)) for t in self._tables(7)]
        self.nodes: list[Node] = []
        self.functions: list[MobileFunction] = []

    def _tables(self, number: int) -> list[Table]:
        return self.module.tables(number)

    def contents(self) -> MobileContents:
        module = self.module
        for value in module.tables(4):
            self.nodes.append(self._value(value))
        root = self._node(module.number(3, _UINT))
        records = _Storages(self.title, self.storages)
        return MobileContents(
            title=self.title,
            part="its flatbuffer",
            version=module.number(0, _UINT),
            operator_version=max(1, module.number(10, _UINT)),
            functions=tuple(self.functions),
            root=lambda: root,
            storages=StorageReader(records, ""),
            constants=StorageReader(records, ""),
            extra={
                name: partial(text.encode, "utf-8", "surrogateescape")
                for name, text in self._files(1).items()
            },
            code=self._files(8),
            code_constants=self._refer(module.numbers(9, _UINT)),
        )

    def _files(self, number: int) -> Mapping[str, str]:
        return {file.string(0): file.string(1) for file in self._tables(number)}

    # -- values

    def _node(self, place: int) -> Node:
        if place >= len(self.nodes):
            raise MalformedBuffer
        return self.nodes[place]

    def _refer(self, places: Sequence[int]) -> tuple[Node, ...]:
        return tuple([self._node(place) for place in places])

    def _value(self, value: Table) -> Node:
        kind = value.number(0, _BYTE)
        if kind == 0:
            return None
        form = _STRUCTS.get(kind)
        if form is not None:
            (number,) = value.struct(1, form)
            return number  # type: ignore[no-any-return]
        if kind == 4:
            return ComplexNode(complex(*value.struct(1, _COMPLEX)))
        read = _VALUES.get(kind)
        if read is None:
            raise MalformedBuffer
        return read(self, value.table(1))

    def _string(self, table: Table) -> Node:
        return table.string(0)

    def _device(self, table: Table) -> Node:
        return DeviceNode(table.string(0))

    def _list(self, table: Table) -> Node:
        return ListNode(list(self._refer(table.numbers(0, _UINT))), table.string(1))

    def _tuple(self, table: Table) -> Node:
        return TupleNode(self._refer(table.numbers(0, _UINT)))

    def _ints(self, table: Table) -> Node:
        return ListNode(table.numbers(0, _LONG), "List[int]")

    def _doubles(self, table: Table) -> Node:
        return ListNode(table.numbers(0, _DOUBLE), "List[float]")

    def _bools(self, table: Table) -> Node:
        return ListNode(table.numbers(0, _BOOL), "List[bool]")

    def _dict(self, table: Table) -> Node:
        keys, values = table.numbers(0, _UINT), table.numbers(1, _UINT)
        if len(keys) != len(values):
            raise MalformedBuffer
        pairs = zip(self._refer(keys), self._refer(values), strict=True)
        return DictNode(list(pairs), table.string(2))

    def _enum(self, table: Table) -> Node:
        return EnumNode(_global(table.string(0)), self._node(table.number(1, _UINT)))

    def _object(self, table: Table) -> Node:
        index = table.number(0, _UINT)
        if index >= len(self.types):
            raise MalformedBuffer
        name, kind, names = self.types[index]
        if kind in (_CUSTOM, _WITH_SETSTATE):
            return ObjectNode(_global(name), self._node(table.number(1, _UINT)))
        values = self._refer(table.numbers(2, _UINT))
        if kind != _WITH_FIELDS or len(names) != len(values):
            raise MalformedBuffer
        return ObjectNode(_global(name), DictNode(list(zip(names, values, strict=True))))

    def _tensor(self, table: Table, is_scale: bool = False) -> TensorNode:
        try:
            dtype = dtype_by_number(table.number(1, _BYTE))
        except OperatorError:
            raise MalformedBuffer from None
        storage = table.number(0, _UINT)
        if storage >= len(self.storages):
            raise MalformedBuffer
        length = len(self.storages[storage]) // dtype.itemsize
        quantizer = None
        if 6 in table and not is_scale:
            quantizer = self._quantizer(table.table(6))
        return TensorNode(
            StorageNode(dtype.scalar_name, str(storage), "cpu", length),
            table.number(2, _INT),
            tuple(table.numbers(3, _INT)),
            tuple(table.numbers(4, _INT)),
            bool(table.number(5, _BYTE)),
            quantizer=quantizer,
        )

    def _quantizer(self, table: Table) -> QuantizerNode:
        scheme = _SCHEMES.get(table.number(0, _BYTE))
        if scheme is None:
            raise MalformedBuffer
        if scheme == "per_tensor_affine":
            return QuantizerNode(scheme, table.number(1, _DOUBLE, 0.0), table.number(2, _INT))
        scale, zero_point = (self._tensor(table.table(n), is_scale=True) for n in (3, 4))
        return QuantizerNode(scheme, scale, zero_point, table.number(5, _INT))

    # -- functions

    def _function(self, table: Table) -> Node:
        schema = table.table(6) if 6 in table else None
        self.functions.append(
            MobileFunction(
                table.string(0),
                tuple(_instruction(*one) for one in table.structs(1, _INSTRUCTION)),
                tuple(
                    (one.string(0), one.string(1), one.number(2, _INT, -1))
                    for one in table.tables(2)
                ),
                self._refer(table.numbers(3, _UINT)),
                tuple(table.strings(4)),
                table.number(5, _INT),
                self._arguments(schema, 0),
                self._arguments(schema, 1),
                schema is not None,
            )
        )
        return None

    def _arguments(self, schema: Table | None, number: int) -> tuple[MobileArgument, ...]:
        found = schema.tables(number) if schema is not None else []
        return tuple(
            MobileArgument(a.string(0), a.string(1), self._node(a.number(2, _UINT))) for a in found
        )


def _instruction(code: int, n: int, x: int) -> tuple[str, int, int]:
    if code >= len(OPCODES):
        raise MalformedBuffer
    return OPCODES[code], x, n


def _global(name: str) -> Global:
    module, _, last = name.rpartition(".")
    return Global(module, last)


_STRUCTS: Final = {1: _LONG, 2: _BOOL, 3: _DOUBLE}
_VALUES: Final[Mapping[int, Callable[[_Reader, Table], Node]]] = {
    5: _Reader._tensor,
    6: _Reader._string,
    7: _Reader._list,
    8: _Reader._tuple,
    9: _Reader._dict,
    10: _Reader._object,
    11: _Reader._ints,
    12: _Reader._doubles,
    13: _Reader._bools,
    14: _Reader._device,
    15: _Reader._enum,
    16: _Reader._function,
}
