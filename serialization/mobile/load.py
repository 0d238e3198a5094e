"""Opening the archives (`.ptl`) and flatbuffers (`.ff`) of the lite interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import Any

from ...interpreter.bounds.guard import Guard
from ...interpreter.running.invoking import invoke
from ...interpreter.running.mobile import MobileCode, MobileOperator, check_code, execute_mobile
from ...interpreter.values.actions import ScriptRaise
from ...interpreter.values.objects import ScriptObject
from ...ops.table.table import TABLE, Operator
from ...typecheck.functions import Function
from ...typecheck.schema import NO_DEFAULT, Argument
from ...typecheck.types import ANY, TENSOR, ClassType, Type
from ..files.container import ArchiveReader
from ..files.errors import ArchiveError, archive_error, within_limits
from ..files.file_bytes import OpenedFile, Readable
from ..files.limits import DEFAULT_LIMITS, Limits
from ..loading.builtin_methods import packed_class
from ..loading.loader import old_meanings
from ..loading.operator_kinds import REFUSED, kind_of
from ..pickles.nodes import DictNode, ObjectNode, TensorNode
from ..pickles.read_values import ValueReader
from ..pickles.tensors import StorageReader
from ..pickles.value_types import machine_type
from .arguments import written_to
from .contents import MobileArgument, MobileContents, MobileFunction
from .debug import MobileDebug
from .flatbuffer import is_flatbuffer, read_mobile_flatbuffer
from .pickle import read_mobile_pickle
from .types import mobile_type

__all__ = ["FileTypes", "MobileModule", "load_mobile", "mobile_version", "opened_mobile"]


class MobileModule:
    """What a mobile archive holds: an object and the functions of its classes, by full name."""

    def __init__(self, codes: Mapping[str, MobileCode], guard: Guard | None = None) -> None:
        self.codes = codes
        self.guard = guard
        self.root = ScriptObject(ClassType("__torch__.Module", is_module=True))
        self.debug: Callable[[], MobileDebug | None] | None = None
        self._failed: tuple[str, int] | None = None

    def method(self, name: str, owner: ScriptObject | None = None) -> MobileCode | None:
        """The method of the root, or of another object."""
        cls = (owner or self.root).cls.qualified_name
        return self.codes.get(f"{cls}.{name}")

    def run(self, code: MobileCode, arguments: Sequence[Any]) -> Any:
        """The result of a method on machine values."""
        self._failed = None
        return self._execute(code, arguments)

    def failure_place(self) -> str:
        """Torch's text for where the last failure was; empty if the archive does not say."""
        debug = self.debug() if self.debug is not None and self._failed is not None else None
        if debug is None or self._failed is None:
            return ""
        return debug.text(*self._failed, self.root.cls.name)

    def _execute(self, code: MobileCode, arguments: Sequence[Any]) -> Any:
        return execute_mobile(code, arguments, self._call, self.guard, self._note)

    def _note(self, code: MobileCode, index: int) -> None:
        """An instruction failed; that of the innermost call is told first."""
        self._failed = self._failed or (code.name, index)

    def _call(self, name: str, arguments: Sequence[Any]) -> Any:
        owner = arguments[0]
        code = self.method(name, owner) if isinstance(owner, ScriptObject) else None
        if code is None:
            raise AttributeError(f"there is no method '{name}'")
        return self._execute(code, arguments)


@within_limits("the archive")
def load_mobile(
    source: Readable,
    extra_files: dict[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    *,
    trusted: bool = True,
    restores: bool = True,
) -> MobileModule:
    """The module of a mobile archive or flatbuffer.

    Code that is not trusted is refused if it reaches outside of the program, and bounded by
    `limits.running`.  Without `restores` nothing is executed: objects that restore themselves by a
    method of their own stay without attributes.

    Raises:
        ArchiveError: the file is no such archive, is damaged, or uses what does not exist here.
        LimitExceeded: code that is not trusted goes beyond its bounds while it restores objects.
        OSError: the file cannot be opened.
    """
    guard = None if trusted else Guard(limits.running)
    bounds = nullcontext() if guard is None else guard.entered(room=limits.inflated)
    with bounds, opened_mobile(source, limits) as contents:
        return _Loader(contents, limits, guard, restores).load(extra_files)


@contextmanager
def opened_mobile(source: Readable, limits: Limits = DEFAULT_LIMITS) -> Iterator[MobileContents]:
    """What a mobile archive or flatbuffer holds, as it is written, while the file is open.

    Raises:
        ArchiveError: the file is neither, or is damaged.
        OSError: the file cannot be opened.
    """
    with closing(OpenedFile(source)) as file:
        if is_flatbuffer(file):
            yield read_mobile_flatbuffer(file, limits)
            return
        with ArchiveReader(file, limits) as archive:
            yield read_mobile_pickle(archive, limits)


def mobile_version(source: Readable, limits: Limits = DEFAULT_LIMITS) -> int:
    """The version of the bytecode in an archive; raises as `opened_mobile`."""
    with opened_mobile(source, limits) as contents:
        return contents.version


class _Loader:
    def __init__(
        self, contents: MobileContents, limits: Limits, guard: Guard | None, restores: bool
    ) -> None:
        self.contents = contents
        self.limits = limits
        self.guard = guard
        self.restores = restores
        self.classes: dict[str, ClassType] = {}
        self.upgrade = old_meanings(contents.operator_version)
        self.named = FileTypes(contents, self.class_named)
        self.values = ValueReader(
            contents.constants, self.class_named, _no_call, contents.part, limits
        )

    def load(self, extra_files: dict[str, Any] | None) -> MobileModule:
        contents = self.contents
        unknown: dict[str, None] = {}
        codes = [self.code(function, unknown) for function in contents.functions]
        if unknown:
            names = ", ".join(f"`{name}`" for name in unknown)
            raise contents.error(
                "unknown-op",
                f"uses operators that do not exist here: {names}",
                f"Following ops cannot be found: {', '.join(unknown)}",
            )
        if self.guard is not None:
            self.refuse(codes)
        module = MobileModule({code.name: code for code in codes}, self.guard)
        for code in codes:
            wrong = check_code(code)
            if wrong:
                raise contents.damaged(f"`{code.name}` {wrong}")
        root = _Objects(module, contents.storages, self).value(contents.root())
        if not isinstance(root, ScriptObject):
            raise contents.error("damaged-archive", "holds no module in `data.pkl`")
        module.root = root
        module.debug = contents.debug
        for name in extra_files or ():
            if name in contents.extra:
                assert extra_files is not None
                extra_files[name] = contents.extra[name]()
        return module

    def refuse(self, codes: Sequence[MobileCode]) -> None:
        """Refuse operators that reach outside of the program."""
        for name in (operator.entry.name for code in codes for operator in code.operators):
            kind = kind_of(name)
            if kind in REFUSED:
                raise self.contents.error(
                    "unsafe-op", f"uses `{name}`, which {REFUSED[kind]}; it is not trusted"
                )

    def class_named(self, name: str) -> Type | None:
        """The class of that name; classes are known by their names alone."""
        builtin = packed_class(name)
        if builtin is not None or not name.startswith("__torch__"):
            return builtin
        return self.classes.setdefault(name, ClassType(name, is_module=True))

    # -- functions

    def code(self, function: MobileFunction, unknown: dict[str, None]) -> MobileCode:
        if not 0 <= function.register_size <= 1 << 20:
            raise self.contents.damaged(f"`{function.name}` has no number of registers")
        returns = function.returns
        return MobileCode(
            function.name,
            function.instructions,
            tuple(self.operator(*operator, unknown) for operator in function.operators),
            tuple(self.values.value(node) for node in function.constants),
            tuple(self.named.type(text) for text in function.types),
            function.register_size,
            tuple(self.argument(argument) for argument in function.arguments),
            self.named.type(returns[0].type) if len(returns) == 1 else None,
        )

    def operator(
        self, name: str, overload: str, count: int, unknown: dict[str, None]
    ) -> MobileOperator:
        full_name = f"{name}.{overload}" if overload else name
        made = _special_operator(full_name, count)
        if made is not None:
            return made
        entry = TABLE.operator(full_name)
        if entry is None:
            unknown[full_name] = None
            return MobileOperator(_identity(), 0)
        run = self.upgrade(full_name)
        forward = partial(_run_function, run) if run is not None else None
        made = MobileOperator(entry, count, run=forward)
        defaults = entry.signature if run is None else run.signature
        return _completed(defaults.arguments, made, self.contents.damaged)

    def argument(self, argument: MobileArgument) -> tuple[str, Type, object]:
        """Name, type and default."""
        type = self.named.type(argument.type)
        if isinstance(type, ClassType):  # named tuples are sometimes written by name alone
            type = ANY
        return argument.name, type, self.values.value(argument.default)


class FileTypes:
    """The types of a file's texts; named tuples may be written out in another function than the
    one that names them."""

    def __init__(self, contents: MobileContents, class_named: Callable[[str], Type | None]) -> None:
        self._class_named = class_named
        self._written: dict[str, str] = {}
        self._made: dict[str, Type] = {}
        for function in contents.functions:
            schema = (a.type for a in (*function.arguments, *function.returns))
            for text in (*function.types, *schema):
                name, _, rest = text.partition("[")
                if rest.lstrip().startswith("NamedTuple"):
                    self._written[name.strip()] = text

    def type(self, text: str) -> Type:
        """The type of a text."""
        made = self._made.get(text)
        if made is None:
            made = self._made[text] = mobile_type(text, self.named)
        return made

    def named(self, name: str) -> Type | None:
        """The type of that name."""
        text = self._written.pop(name, None)  # it cannot contain itself
        if text is None:
            return self._made.get(name) or self._class_named(name)
        self._made[name] = self.type(text)
        return self._made[name]


class _Objects(ValueReader):
    """The objects of `data.pkl`, whose classes are made of what they hold."""

    def __init__(self, module: MobileModule, storages: StorageReader, loader: _Loader) -> None:
        super().__init__(storages, loader.class_named, _no_call, "its data", loader.limits)
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
            state = self.value(node.state)
            if self._loader.restores:
                self._module.run(restore, (made, state))
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
    arguments: Sequence[Argument],
    operator: MobileOperator,
    damaged: Callable[[str], ArchiveError],
) -> MobileOperator:
    """The operator with the defaults of the arguments that the code does not push.

    `arguments` are those it had when the code was written.
    """
    signature = operator.entry.signature
    if operator.pushed < 0 or signature.vararg:
        return MobileOperator(operator.entry, len(arguments), run=operator.run)
    last = written_to(signature)
    left = arguments[operator.pushed - last : len(arguments) - last]
    defaults = tuple(argument.default for argument in left)
    if operator.pushed < last or NO_DEFAULT in defaults or operator.pushed > len(arguments):
        raise damaged(f"`{signature.full_name}` is called with {operator.pushed} arguments")
    return MobileOperator(operator.entry, operator.pushed, defaults, last, operator.run)


# -- operators that are nodes of a kind of their own in graphs


def _same(value: Any) -> Any:
    return value


def _raise(message: str, cls: str | None = None) -> None:
    raise ScriptRaise(message, cls)


def _index(tup: tuple[Any, ...], i: int) -> Any:
    if not -len(tup) <= i < len(tup):
        raise IndexError("Tuple list index out of range")
    return tup[i]


def _nothing() -> None:
    return None


def _enum_name(value: Any) -> Any:
    return value.name


def _enum_value(value: Any) -> Any:
    return value.value


_SPECIAL: dict[str, tuple[str, Callable[..., Any]]] = {
    "prim::unchecked_cast": ("prim::unchecked_cast(Any x) -> Any", _same),
    "prim::TupleIndex": ("prim::TupleIndex(Any tup, int i) -> Any", _index),
    "prim::Uninitialized": ("prim::Uninitialized() -> Any", _nothing),
    "prim::RaiseException": ("prim::RaiseException(str msg, str? cls=None) -> ()", _raise),
    "prim::TupleUnpack": ("prim::TupleUnpack(Any tup) -> Any", _same),
    "prim::EnumName": ("prim::EnumName(Any enum) -> Any", _enum_name),
    "prim::EnumValue": ("prim::EnumValue(Any enum) -> Any", _enum_value),
}


def _special_operator(full_name: str, count: int) -> MobileOperator | None:
    found = _SPECIAL.get(full_name)
    if found is None:
        return None
    entry = Operator(*found)
    arguments = len(entry.signature.arguments) if count < 0 else count
    return MobileOperator(entry, arguments, spread=full_name == "prim::TupleUnpack")
