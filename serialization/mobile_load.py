"""Opening the archives of the lite interpreter (`.ptl`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..interpreter.mobile import MobileCode, MobileOperator, check_code, execute_mobile
from ..interpreter.objects import ScriptObject
from ..interpreter.run import invoke
from ..ops.table import TABLE, Operator
from ..typecheck.functions import Function
from ..typecheck.schema import NO_DEFAULT, Signature
from ..typecheck.types import ANY, TENSOR, ClassType, Type
from .builtin_methods import packed_class
from .container import ArchiveReader, Readable
from .errors import ArchiveError, archive_error
from .limits import DEFAULT_LIMITS, Limits
from .load import archive_version, old_meanings
from .mobile_types import mobile_type
from .pickle_nodes import DictNode, Node, ObjectNode, TensorNode, TupleNode
from .pickle_reader import read_pickle
from .read_values import ValueReader
from .tensors import StorageReader
from .value_types import machine_type

__all__ = ["MobileModule", "load_mobile", "mobile_version"]

OLDEST, NEWEST = 3, 9
"""The versions of bytecode that are read."""


class MobileModule:
    """What a mobile archive holds: an object and the functions of its classes, by full name."""

    def __init__(self, codes: Mapping[str, MobileCode]) -> None:
        self.codes = codes
        self.root = ScriptObject(ClassType("__torch__.Module", is_module=True))
        self.check: Callable[[int], None] | None = None

    def method(self, name: str, owner: ScriptObject | None = None) -> MobileCode | None:
        """The method of the root, or of another object."""
        cls = (owner or self.root).cls.qualified_name
        return self.codes.get(f"{cls}.{name}")

    def run(self, code: MobileCode, arguments: Sequence[Any]) -> Any:
        """The result of a method on machine values."""
        return execute_mobile(code, arguments, self._call, self.check)

    def _call(self, name: str, arguments: Sequence[Any]) -> Any:
        owner = arguments[0]
        code = self.method(name, owner) if isinstance(owner, ScriptObject) else None
        if code is None:
            raise AttributeError(f"there is no method '{name}'")
        return self.run(code, arguments)


def load_mobile(
    source: Readable, extra_files: dict[str, Any] | None = None, limits: Limits = DEFAULT_LIMITS
) -> MobileModule:
    """The module of a mobile archive.

    Raises:
        ArchiveError: the file is no such archive, is damaged, or uses what does not exist here.
        OSError: the file cannot be opened.
    """
    with ArchiveReader(source, limits) as archive:
        return _Loader(archive, limits).load(extra_files)


def mobile_version(source: Readable, limits: Limits = DEFAULT_LIMITS) -> int:
    """The version of the bytecode in an archive.

    Raises:
        ArchiveError: there is none.
    """
    with ArchiveReader(source, limits) as archive:
        return _Loader(archive, limits).version


class _Loader:
    def __init__(self, archive: ArchiveReader, limits: Limits) -> None:
        self.archive = archive
        self.limits = limits
        self.classes: dict[str, ClassType] = {}
        if "bytecode.pkl" not in archive or "data.pkl" not in archive:
            kind = archive.kind()
            raise self.error(
                "not-an-archive",
                f"is no archive of the lite interpreter: it is {kind.description}",
                "PytorchStreamReader failed locating file bytecode.pkl: file not found",
            )
        root = read_pickle(archive.read("bytecode.pkl"), "`bytecode.pkl`", limits)
        match root:
            case TupleNode((int() as version, *functions)) if not isinstance(version, bool):
                self.version, self.functions = version, functions
            case _:
                raise self.damaged("begins with no version")
        if not OLDEST <= self.version <= NEWEST:
            raise self.error(
                "version-too-new" if self.version > NEWEST else "unsupported-value",
                f"has bytecode of version {self.version}; versions {OLDEST} to {NEWEST} are read",
                "Lite Interpreter version number does not match. The model version must be "
                f"between {OLDEST} and {NEWEST} but the model version is {self.version}",
            )
        self.upgrade = old_meanings(archive_version(archive))

    def load(self, extra_files: dict[str, Any] | None) -> MobileModule:
        unknown: dict[str, None] = {}
        codes = [self.code(node, unknown) for node in self.functions]
        if unknown:
            names = ", ".join(f"`{name}`" for name in unknown)
            raise self.error(
                "unknown-op",
                f"uses operators that do not exist here: {names}",
                f"Following ops cannot be found: {', '.join(unknown)}",
            )
        module = MobileModule({code.name: code for code in codes})
        for code in codes:
            wrong = check_code(code)
            if wrong:
                raise self.damaged(f"`{code.name}` {wrong}")
        reader = _Objects(module, StorageReader(self.archive, "data/"), self)
        root = reader.value(read_pickle(self.archive.read("data.pkl"), "`data.pkl`", self.limits))
        if not isinstance(root, ScriptObject):
            raise self.error("damaged-archive", "holds no module in `data.pkl`")
        module.root = root
        for name in extra_files or ():
            if f"extra/{name}" in self.archive:
                assert extra_files is not None
                extra_files[name] = self.archive.read(f"extra/{name}")
        return module

    def error(self, code: str, what: str, torch: str = "") -> ArchiveError:
        return archive_error(code, f"{self.archive.title} {what}", torch=torch)

    def damaged(self, what: str) -> ArchiveError:
        return self.error("damaged-archive", f"is damaged: in `bytecode.pkl`, {what}")

    def class_named(self, name: str) -> Type | None:
        """The class of that name; classes are known by their names alone."""
        builtin = packed_class(name)
        if builtin is not None or not name.startswith("__torch__"):
            return builtin
        return self.classes.setdefault(name, ClassType(name, is_module=True))

    # -- functions

    def code(self, node: Node, unknown: dict[str, None]) -> MobileCode:
        match node:
            case TupleNode((str(name), TupleNode() as body, *schema)):
                parts = self.table(body)
            case _:
                raise self.damaged("a function has no name or no code")
        constants_folder = "bytecode/" if any(self.archive.records("bytecode/")) else "constants/"
        reader = ValueReader(
            StorageReader(self.archive, constants_folder),
            self.class_named,
            _no_call,
            "`bytecode.pkl`",
            self.limits,
        )
        arguments, result = self.signature(schema, reader)
        size = parts.get("register_size")
        if not isinstance(size, int) or not 0 <= size <= 1 << 20:
            raise self.damaged(f"`{name}` has no number of registers")
        return MobileCode(
            name,
            tuple(self.instruction(n) for n in self.items(parts, "instructions")),
            tuple(self.operator(n, unknown) for n in self.items(parts, "operators")),
            tuple(reader.value(n) for n in self.items(parts, "constants")),
            tuple(self.type(n) for n in self.items(parts, "types")),
            size,
            arguments,
            result,
        )

    def table(self, node: TupleNode) -> dict[str, Node]:
        """A tuple of named values."""
        found: dict[str, Node] = {}
        for item in node.items:
            match item:
                case TupleNode((str(name), value)):
                    found[name] = value
                case _:
                    raise self.damaged("a table has an entry without a name")
        return found

    def items(self, table: dict[str, Node], name: str) -> tuple[Node, ...]:
        found = table.get(name)
        if not isinstance(found, TupleNode):
            raise self.damaged(f"a function has no {name}")
        return found.items

    def instruction(self, node: Node) -> tuple[str, int, int]:
        match node:
            case TupleNode((str(name), int(x), int(n))):
                return name, x, n
        raise self.damaged("an instruction is none")

    def type(self, node: Node) -> Type:
        if not isinstance(node, str):
            raise self.damaged("a type is no text")
        return mobile_type(node, self.class_named)

    def operator(self, node: Node, unknown: dict[str, None]) -> MobileOperator:
        match node:
            case TupleNode((str(name), str(overload), *rest)):
                full_name = f"{name}.{overload}" if overload else name
                count = rest[0] if rest and isinstance(rest[0], int) else -1
            case _:
                raise self.damaged("an operator has no name")
        made = _special_operator(full_name)
        if made is not None:
            return made
        entry = TABLE.operator(full_name)
        if entry is None:
            unknown[full_name] = None
            return MobileOperator(_identity(), 0)
        run = self.upgrade(full_name)
        forward = partial(_run_function, run) if run is not None else None
        return _completed(entry.signature, MobileOperator(entry, count, run=forward), self.damaged)

    def signature(
        self, schema: Sequence[Node], reader: ValueReader
    ) -> tuple[tuple[tuple[str, Type, object], ...], Type | None]:
        """The arguments (name, type, default) and the type of the result."""
        if not schema or not isinstance(schema[0], TupleNode):
            return (), None
        parts = self.table(schema[0])
        arguments = [self.argument(n, reader) for n in self.items(parts, "arguments")]
        returns = [self.argument(n, reader) for n in self.items(parts, "returns")]
        return tuple(arguments), returns[0][1] if len(returns) == 1 else None

    def argument(self, node: Node, reader: ValueReader) -> tuple[str, Type, object]:
        if not isinstance(node, TupleNode):
            raise self.damaged("an argument is none")
        table = self.table(node)
        name = table.get("name")
        type = self.type(table.get("type"))
        if isinstance(type, ClassType):  # named tuples are sometimes written by name alone
            type = ANY
        return str(name), type, reader.value(table.get("default_value"))


class _Objects(ValueReader):
    """The objects of `data.pkl`, whose classes are made of what they hold."""

    def __init__(self, module: MobileModule, storages: StorageReader, loader: _Loader) -> None:
        super().__init__(storages, loader.class_named, _no_call, "`data.pkl`", loader.limits)
        self._module = module
        self._loader = loader

    def _object(self, node: ObjectNode) -> Any:
        if packed_class(node.cls.qualified_name) is not None:
            return super()._object(node)
        cls = self._loader.class_named(node.cls.qualified_name)
        if not isinstance(cls, ClassType):
            raise self._unknown(node.cls)
        made = ScriptObject(cls)
        made.slots.clear()
        restore = self._module.method("__setstate__", made)
        if restore is not None:
            self._module.run(restore, (made, self.value(node.state)))
            return made
        if not isinstance(node.state, DictNode):
            raise self._damaged(f"has a `{cls.qualified_name}` without attributes")
        for name, value in node.state.by_name().items():
            is_tensor = isinstance(value, TensorNode)
            if name not in cls.attributes:
                grad = is_tensor and value.requires_grad  # type: ignore[union-attr]
                kind = "parameter" if grad else "buffer" if is_tensor else "attribute"
                cls.add_attribute(name, TENSOR if is_tensor else ANY, kind)  # type: ignore[arg-type]
            attribute = cls.attributes[name]
            made.slots.append(self._slot(value, attribute))
            if attribute.type == ANY and not is_tensor:
                cls.add_attribute(name, _type_of(made.slots[-1]), attribute.kind)
        return made


def _type_of(value: object) -> Type:
    return value.cls if isinstance(value, ScriptObject) else machine_type(value)


def _no_call(function: Function, values: Sequence[object]) -> object:
    raise archive_error("damaged-archive", f"`{function.name}` cannot be run here")


def _run_function(function: Function, *values: object) -> object:
    return invoke(function, values)


def _identity() -> Any:
    found = TABLE.operator("aten::detach")
    assert found is not None
    return found


def _completed(
    signature: Signature, operator: MobileOperator, damaged: Callable[[str], ArchiveError]
) -> MobileOperator:
    """The operator with the defaults of the arguments that the code does not push."""
    arguments = signature.arguments
    if operator.pushed < 0 or signature.vararg:
        return MobileOperator(operator.entry, len(arguments), run=operator.run)
    last = 0
    while last < len(arguments) - 1 and _is_out(arguments[-1 - last]):
        last += 1
    left = arguments[operator.pushed - last : len(arguments) - last]
    defaults = tuple(argument.default for argument in left)
    if operator.pushed < last or NO_DEFAULT in defaults or operator.pushed > len(arguments):
        raise damaged(f"`{signature.full_name}` is called with {operator.pushed} arguments")
    return MobileOperator(operator.entry, operator.pushed, defaults, last, operator.run)


def _is_out(argument: Any) -> bool:
    alias = argument.alias
    return bool(argument.keyword_only and alias is not None and alias.is_write)


# -- operators that are nodes of a kind of their own in graphs


def _same(value: Any) -> Any:
    return value


def _enum_name(value: Any) -> Any:
    return value.name


def _enum_value(value: Any) -> Any:
    return value.value


_SPECIAL: dict[str, tuple[str, Callable[..., Any]]] = {
    "prim::unchecked_cast": ("prim::unchecked_cast(Any x) -> Any", _same),
    "prim::TupleUnpack": ("prim::TupleUnpack(Any tup) -> Any", _same),
    "prim::EnumName": ("prim::EnumName(Any enum) -> Any", _enum_name),
    "prim::EnumValue": ("prim::EnumValue(Any enum) -> Any", _enum_value),
}


def _special_operator(full_name: str) -> MobileOperator | None:
    found = _SPECIAL.get(full_name)
    if found is None:
        return None
    entry = Operator(*found)
    return MobileOperator(entry, 1, spread=full_name == "prim::TupleUnpack")
