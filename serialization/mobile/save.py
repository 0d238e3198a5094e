"""Writing archives that the lite interpreter opens: the ordinary records and `bytecode.pkl`."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

from ...interpreter.running.evaluating import CONTEXT
from ...interpreter.values.objects import ScriptObject
from ...ir.functions.define import graph_of
from ...ir.functions.inline import inline
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument
from ...typecheck.types.types import Type
from ..files.container_writer import write_container
from ..files.errors import ArchiveError, archive_error, within_limits
from ..loading.debug_info import PlaceTags
from ..loading.loader import run
from ..pickles.nodes import Node, TupleNode
from ..pickles.tensors import StorageTable
from ..pickles.value_types import machine_type
from ..pickles.writer import write_pickle
from ..printing.types import TypeNames
from ..saving.save import Bytecode, ExtraFiles, Records, Target, make_records, write_records
from ..saving.write_values import ValueWriter
from .compile import NEWEST_WRITTEN, CannotCompile, MobileWriter
from .debug_save import Made, debug_records
from .types import mobile_type_text

__all__ = ["save_mobile", "save_mobile_to_buffer", "used_operators"]


def save_mobile(
    target: ScriptObject,
    file: Target,
    extra_files: ExtraFiles | None = None,
    version: int = NEWEST_WRITTEN,
    debug: bool = False,
) -> None:
    """Write a module as an archive for the lite interpreter; it is an ordinary archive as well.

    `version` is that of the bytecode, `OLDEST_WRITTEN` to `NEWEST_WRITTEN`; `debug` has it tell
    where instructions are from, which errors show then.

    Raises:
        ArchiveError: something has no form in such an archive.
        OSError: the file cannot be written.
    """
    records, bytecode = _records(target, extra_files, version, debug)
    write_container(file, lambda sink, name: write_records(records, sink, name, bytecode))


def save_mobile_to_buffer(
    target: ScriptObject,
    extra_files: ExtraFiles | None = None,
    version: int = NEWEST_WRITTEN,
    debug: bool = False,
) -> bytes:
    """The bytes of the archive; raises as `save_mobile`."""
    sink = io.BytesIO()
    records, bytecode = _records(target, extra_files, version, debug)
    write_records(records, sink, "archive", bytecode)
    return sink.getvalue()


@within_limits("the module")
def _records(
    target: ScriptObject, extra_files: ExtraFiles | None, version: int, debug: bool
) -> tuple[Records, Bytecode]:
    records = make_records(target, extra_files)
    folder = "constants/" if version >= 5 else "bytecode/"
    made = _Bytecode(target, records.names, version)
    try:
        return records, Bytecode(*made.pickle(), folder, made.debug if debug else None)
    except CannotCompile as error:
        raise _refused(str(error), error.torch) from None


def used_operators(target: ScriptObject) -> set[str]:
    """The operators that the mobile code of a module and of all it holds uses.

    Raises:
        CannotCompile: there is no mobile code for something that a method does.
    """
    operators = (
        one for _, _, code in _codes(target, str, NEWEST_WRITTEN) for one in code.operators
    )
    return {f"{name}.{overload}" if overload else name for name, overload, _ in operators}


def _codes(
    target: ScriptObject, type_text: Callable[[Type], str], version: int
) -> Iterator[tuple[ClassType, Function, MobileWriter]]:
    """The code of a module's methods, and of all methods that they lead to."""
    classes = list(dict.fromkeys(owner.cls for owner in _objects(target, set())))
    waiting = [(target.cls, name) for name in target.cls.methods]
    for cls in classes:
        if cls.method("__setstate__") is not None and cls.method("__getstate__") is not None:
            waiting.append((cls, "__setstate__"))
    done: set[tuple[ClassType, str]] = set()
    while waiting:
        cls, name = waiting.pop(0)
        method = cls.method(name)
        if (cls, name) in done or method is None:
            continue
        done.add((cls, name))
        graph = inline(graph_of(method), method.name, CONTEXT)
        code = MobileWriter(graph, type_text, version)
        yield cls, method, code
        waiting.extend((other, one) for other in classes for one in sorted(code.called))


def _refused(what: str, torch: str) -> ArchiveError:
    said = f"this cannot be saved for mobile: {what}"
    return archive_error("unsupported-value", said, torch=torch)


class _Bytecode:
    """What goes into `bytecode.pkl`."""

    def __init__(self, target: ScriptObject, names: TypeNames, version: int) -> None:
        self.version = version
        self.target = target
        self.names = names
        self.storages = StorageTable(".storage" if version >= 5 else "")
        self.values = ValueWriter(self.storages, names, run)
        self.made: list[Made] = []

    def pickle(self) -> tuple[bytes, StorageTable]:
        codes = _codes(self.target, self.type_text, self.version)
        functions: list[Node] = [self.version, *(self.function(*each) for each in codes)]
        return write_pickle(TupleNode(tuple(functions))), self.storages

    def function(self, cls: ClassType, method: Function, code: MobileWriter) -> Node:
        constants = [
            self.values.node(value, machine_type(value) if type is None else type)
            for value, type in code.constants
        ]
        written = 2 if self.version <= 5 else 3  # later on, with the number of arguments
        body = _table(
            instructions=_tuple(*(_tuple(*one) for one in code.instructions)),
            operators=_tuple(*(_tuple(*one[:written]) for one in code.operators)),
            constants=_tuple(*constants),
            types=_tuple(*code.types),
            register_size=code.register_size,
        )
        signature = method.signature
        schema = _table(
            arguments=_tuple(*map(self.argument, signature.arguments)),
            returns=_tuple(*map(self.argument, signature.returns)),
        )
        name = f"{self.names.name_of(cls)}.{method.name}"
        self.made.append((name, cls, code.nodes))
        return _tuple(name, body, schema)

    def debug(self, tags: PlaceTags) -> Iterator[tuple[str, bytes]]:
        """The records that tell where the instructions are from."""
        return debug_records(self.version, self.made, self.names, tags)

    def argument(self, argument: Argument) -> Node:
        default = argument.default if argument.has_default else None
        value = self.values.node(default, argument.type)
        return _table(name=argument.name, type=self.type_text(argument.type), default_value=value)

    def type_text(self, type: Type) -> str:
        return mobile_type_text(type, self.names.name_of)


def _objects(owner: ScriptObject, seen: set[int]) -> Iterator[ScriptObject]:
    if id(owner) in seen:
        return
    seen.add(id(owner))
    yield owner
    for slot in owner.slots:
        if isinstance(slot, ScriptObject):
            yield from _objects(slot, seen)


def _tuple(*items: Node) -> TupleNode:
    return TupleNode(items)


def _table(**entries: Node) -> TupleNode:
    return TupleNode(tuple(_tuple(name, value) for name, value in entries.items()))
