"""Writing mobile modules as one flatbuffer: what a mobile archive holds, in another form.

The fields are those of PyTorch's schema `mobile_bytecode.fbs`, by their numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from ...interpreter.values.objects import ScriptObject
from ...ops.memory.dtype import DTYPES
from ..files.atomic_file import atomic_file, is_path, write_all
from ..files.container import ArchiveReader
from ..files.errors import ArchiveError, archive_error, within_limits
from ..files.limits import DEFAULT_LIMITS
from ..loading.builtin_methods import packed_class
from ..pickles.nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    ListNode,
    Node,
    ObjectNode,
    StorageNode,
    TensorNode,
    TupleNode,
)
from ..pickles.reader import read_record
from ..saving.save import ExtraFiles, Target
from .contents import MobileArgument, MobileContents, MobileFunction
from .flatbuffer import IDENTIFIER, OPCODES
from .flatbuffer_writer import Number, Packed, Part, Struct, TableOf, Text, VectorOf
from .flatbuffer_writer import write_flatbuffer as written
from .pickle import read_mobile_pickle
from .save import save_mobile_to_buffer

__all__ = ["FLATBUFFER_VERSION", "save_mobile_flatbuffer", "save_mobile_flatbuffer_to_buffer"]

FLATBUFFER_VERSION: Final = 9
"""The version of the bytecode in flatbuffers."""

_SCALAR_TYPES: Final = {dtype.scalar_name: dtype.number for dtype in DTYPES.values()}
_SCHEMES: Final = {"per_tensor_affine": 0, "per_channel_affine": 1}
_FLOAT_SCHEME: Final = 4


def save_mobile_flatbuffer(
    target: ScriptObject, file: Target, extra_files: ExtraFiles | None = None
) -> None:
    """Write a module for the lite interpreter, and its code, as a flatbuffer.

    Raises:
        ArchiveError: something has no form in such a file.
        OSError: the file cannot be written.
    """
    made = save_mobile_flatbuffer_to_buffer(target, extra_files)
    if not is_path(file):
        write_all(file, made)
        return
    with atomic_file(file) as opened:
        opened.write(made)


@within_limits("the module")
def save_mobile_flatbuffer_to_buffer(
    target: ScriptObject, extra_files: ExtraFiles | None = None
) -> bytes:
    """The bytes of the flatbuffer; raises as `save_mobile_flatbuffer`."""
    archive = ArchiveReader(save_mobile_to_buffer(target, extra_files))
    return _Writer(archive, read_mobile_pickle(archive, DEFAULT_LIMITS)).bytes()


class _Writer:
    def __init__(self, archive: ArchiveReader, contents: MobileContents) -> None:
        self.archive = archive
        self.contents = contents
        self.values: list[Part] = [TableOf({})]  # the first is None
        self.types: list[Part] = []
        self.storages: list[Part] = []
        self._folder = ""
        self._known: dict[object, int] = {}
        self._storage_places: dict[str, int] = {}
        self._type_places: dict[str, int] = {}
        self._functions: dict[str, int] = {}

    def bytes(self) -> bytes:
        archive, contents = self.archive, self.contents
        self._folder = "constants/"
        methods = [self._function(function) for function in contents.functions]
        self._folder = "data/"
        root = self._place(contents.root())
        mobile = len(self.values)
        self._folder = "constants/"
        constants = read_record(archive, "constants.pkl", DEFAULT_LIMITS)
        assert isinstance(constants, TupleNode)
        named = [self._place(node) for node in constants.items]
        extra = {name: read() for name, read in contents.extra.items()}
        code = {
            record.removeprefix("code/").removesuffix(".py").replace("/", "."): archive.read(record)
            for record in archive.records("code/")
            if record.endswith(".py")
        }
        module = TableOf(
            {
                0: Number("I", FLATBUFFER_VERSION),
                1: _files(extra),
                2: _numbers("I", methods),
                3: Number("I", root),
                4: VectorOf(self.values),
                5: Number("i", len(self.storages)),
                6: VectorOf(self.storages),
                7: VectorOf(self.types),
                8: _files(code),
                9: _numbers("I", named),
                # 3 is the least that archives say, 1 the least that flatbuffers do
                10: Number("I", contents.operator_version if contents.operator_version > 3 else 1),
                11: Number("I", mobile),
            }
        )
        return written(module, IDENTIFIER)

    # -- values

    def _add(self, kind: int, part: Part) -> int:
        self.values.append(TableOf({0: Number("B", kind), 1: part}))
        return len(self.values) - 1

    def _place(self, node: Node) -> int:
        """The number of a value in the list, where it is put if it is not there."""
        if node is None:
            return 0
        plain = isinstance(node, bool | int | float | str)
        key: object = (type(node), repr(node)) if plain else id(node)
        if key not in self._known:
            self._known[key] = self._plain(node) if plain else self._made(node)
        return self._known[key]

    def _plain(self, node: Node) -> int:
        match node:
            case bool():
                return self._add(2, Struct("<?", (node,)))
            case int():
                return self._add(1, Struct("<q", (node,)))
            case float():
                return self._add(3, Struct("<d", (node,)))
        return self._add(6, TableOf({0: Text(str(node))}))

    def _made(self, node: Node) -> int:
        match node:
            case ComplexNode(value):
                return self._add(4, Struct("<dd", (value.real, value.imag)))
            case TensorNode():
                return self._add(5, self._tensor(node))
            case ListNode():
                return self._list(node)
            case TupleNode(items):
                return self._add(8, TableOf({0: self._places(items)}))
            case DictNode(items, tag):
                keys = self._places([key for key, _ in items])
                values = self._places([value for _, value in items])
                return self._add(9, TableOf({0: keys, 1: values, 2: Text(tag)}))
            case DeviceNode(name):
                return self._add(14, TableOf({0: Text(name)}))
            case ObjectNode():
                return self._object(node)
        raise self._refused(f"a {type(node).__name__}")

    def _refused(self, what: str) -> ArchiveError:
        return archive_error("unsupported-value", f"this has no form in a flatbuffer: {what}")

    def _places(self, nodes: Sequence[Node]) -> Part:
        return _numbers("I", [self._place(node) for node in nodes])

    def _list(self, node: ListNode) -> int:
        native = _NATIVE_LISTS.get(node.tag)
        if native is not None:
            kind, form = native
            return self._add(kind, TableOf({0: _numbers(form, node.items)}))  # type: ignore[arg-type]
        return self._add(7, TableOf({0: self._places(node.items), 1: Text(node.tag)}))

    def _object(self, node: ObjectNode) -> int:
        name = node.cls.qualified_name
        setstate = self._functions.get(f"{name}.__setstate__")
        if setstate is not None or packed_class(name) is not None:
            state = self._place(node.state)
            place = self._type(name, 2 if setstate is None else 3, ())
            fields = {0: Number("I", place), 1: Number("I", state), 3: Number("I", setstate or 0)}
            return self._add(10, TableOf(fields))
        assert isinstance(node.state, DictNode)
        state_by_name = node.state.by_name()
        attributes = self._places(list(state_by_name.values()))
        place = self._type(name, 1, tuple(state_by_name))
        return self._add(10, TableOf({0: Number("I", place), 2: attributes}))

    def _type(self, name: str, kind: int, names: Sequence[str]) -> int:
        if name not in self._type_places:
            self._type_places[name] = len(self.types)
            attributes = VectorOf([Text(attribute) for attribute in names])
            self.types.append(TableOf({0: Text(name), 1: Number("B", kind), 2: attributes}))
        return self._type_places[name]

    # -- tensors

    def _tensor(self, node: TensorNode) -> Part:
        sizes = (*node.size, *node.stride, node.offset)
        if any(size >= 1 << 31 for size in sizes):
            raise self._refused(f"a tensor of shape {list(node.size)}")
        if node.math:
            raise self._refused("a view of conjugated or negated elements")
        quantizer = node.quantizer
        scheme: Part | None = None
        if quantizer is not None and isinstance(quantizer.scale, float):
            zero_point = quantizer.zero_point
            assert isinstance(zero_point, int)
            scheme = TableOf({1: Number("d", quantizer.scale), 2: Number("i", zero_point)})
        elif quantizer is not None:
            scale, zero_point = quantizer.scale, quantizer.zero_point
            assert isinstance(scale, TensorNode)
            assert isinstance(zero_point, TensorNode)
            scheme = TableOf(
                {
                    0: Number("b", _SCHEMES.get(quantizer.scheme, _FLOAT_SCHEME)),
                    3: self._tensor(scale),
                    4: self._tensor(zero_point),
                    5: Number("i", quantizer.axis),
                }
            )
        return TableOf(
            {
                0: Number("I", self._storage(node.storage)),
                1: Number("b", _SCALAR_TYPES[node.storage.kind]),
                2: Number("i", node.offset),
                3: _numbers("i", node.size),
                4: _numbers("i", node.stride),
                5: Number("?", node.requires_grad),
                6: scheme,
            }
        )

    def _storage(self, node: StorageNode) -> int:
        record = f"{self._folder}{node.key}"
        if record not in self._storage_places:
            self._storage_places[record] = len(self.storages)
            content = self.archive.read(record) if node.numel else b""
            self.storages.append(TableOf({0: Packed(content, len(content), 16)}))
        return self._storage_places[record]

    # -- functions

    def _function(self, function: MobileFunction) -> int:
        constants = self._places(function.constants)
        arguments, returns = map(self._arguments, (function.arguments, function.returns))
        owner, _, method = function.name.rpartition(".")
        place = self._type(owner, 3, ()) if method == "__setstate__" else self._own_type(owner)
        instructions = [
            struct.pack("<BxHi", OPCODES.index(name), n, x) for name, x, n in function.instructions
        ]
        operators = [
            TableOf({0: Text(name), 1: Text(overload), 2: Number("i", count)})
            for name, overload, count in function.operators
        ]
        table = TableOf(
            {
                0: Text(function.name),
                1: Packed(b"".join(instructions), len(instructions), 4),
                2: VectorOf(operators),
                3: constants,
                4: VectorOf([Text(text) for text in function.types]),
                5: Number("i", function.register_size),
                6: TableOf({0: arguments, 1: returns}),
                7: TableOf({0: _numbers("q", [-1] * len(instructions))}),
                8: Number("I", place),
            }
        )
        self._functions[function.name] = self._add(16, table)
        return self._functions[function.name]

    def _own_type(self, owner: str) -> int:
        """The type of a module, which is entered before its attributes are."""
        has_setstate = any(f.name == f"{owner}.__setstate__" for f in self.contents.functions)
        return self._type(owner, 3 if has_setstate else 1, self._names.get(owner, ()))

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        """The names of attributes by module class."""
        found: dict[str, tuple[str, ...]] = {}
        waiting: list[Node] = [self.contents.root()]
        for node in waiting:
            if isinstance(node, ObjectNode) and isinstance(node.state, DictNode):
                state = node.state.by_name()
                found.setdefault(node.cls.qualified_name, tuple(state))
                waiting.extend(state.values())
        return found

    def _arguments(self, arguments: Sequence[MobileArgument]) -> Part:
        return VectorOf(
            [
                TableOf({0: Text(a.name), 1: Text(a.type), 2: Number("I", self._place(a.default))})
                for a in arguments
            ]
        )


_NATIVE_LISTS: Final = {"List[int]": (11, "q"), "List[float]": (12, "d"), "List[bool]": (13, "?")}


def _numbers(form: str, values: Sequence[float]) -> Part:
    content = struct.pack(f"<{len(values)}{form}", *values)
    return Packed(content, len(values), struct.calcsize(f"<{form}"))


def _files(files: Mapping[str, bytes]) -> Part:
    def text(content: bytes) -> Text:
        return Text(content.decode("utf-8", "surrogateescape"))

    return VectorOf([TableOf({0: Text(n), 1: text(content)}) for n, content in files.items()])
