"""Opening the archives (`.ptl`) and flatbuffers (`.ff`) of the lite interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from ...interpreter.bounds.guard import Guard
from ...interpreter.failures.errors import Failure
from ...interpreter.values.objects import ScriptObject
from ...ops.table.table import TABLE
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import NO_DEFAULT, Argument
from ...typecheck.relations.relations import join
from ...typecheck.types.types import ANY, TENSOR, ListType, Type
from ..files.container import ArchiveReader
from ..files.errors import ArchiveError, archive_error, within_limits
from ..files.file_bytes import OpenedFile, Readable
from ..files.limits import DEFAULT_LIMITS, Limits
from ..loading.archive_table import statement
from ..loading.builtin_methods import packed_class
from ..loading.loader import old_meanings, run
from ..loading.operator_kinds import REFUSED, kind_of
from ..pickles.nodes import DictNode, ListNode, ObjectNode, TensorNode
from ..pickles.nodes import Node as PickleNode
from ..pickles.read_values import ValueReader
from ..pickles.tensors import StorageReader
from ..pickles.value_types import machine_type
from .arguments import written_to
from .code import MobileCode, MobileOperator
from .contents import MobileArgument, MobileContents, MobileFunction
from .debug import MobileDebug
from .decode import NODES
from .flatbuffer import is_flatbuffer, read_mobile_flatbuffer
from .methods import Methods, instruction_of
from .pickle import read_mobile_pickle
from .types import mobile_type

__all__ = ["FileTypes", "MobileModule", "load_mobile", "mobile_version", "opened_mobile"]


class MobileModule:
    """What a mobile archive holds: an object whose classes have methods, and the codes that those
    were made of, by full name."""

    def __init__(
        self,
        root: ScriptObject,
        codes: Mapping[str, MobileCode],
        methods: Methods,
        debug: Callable[[], MobileDebug | None] | None = None,
    ) -> None:
        self.root = root
        self.codes = codes
        self.methods = methods
        self.debug = debug

    def failure_place(self, failure: Failure) -> str:
        """Torch's text for where a failure was; empty if the archive does not say."""
        debug = None if self.debug is None else self.debug()
        place = None if debug is None else instruction_of(failure.nodes)
        return "" if debug is None or place is None else debug.text(*place, self.root.cls.name)


@within_limits("the archive")
def load_mobile(
    source: Readable,
    extra_files: dict[str, object] | None = None,
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
            yield read_mobile_flatbuffer(file)
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
        self.methods = Methods(contents.title, contents.part, guard)
        self.upgrade = old_meanings(contents.operator_version)
        self.named = FileTypes(contents, self.class_named)
        self.values = ValueReader(
            contents.constants, self.class_named, _no_call, contents.part, limits
        )

    def load(self, extra_files: dict[str, object] | None) -> MobileModule:
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
        for code in codes:
            owner = code.name.rpartition(".")[0]
            cls = self.class_named(owner)
            self.methods.add(code, cls if owner in self.classes else None)
        objects = _Objects(contents.storages, self)
        root = objects.value(contents.root())
        if not isinstance(root, ScriptObject):
            raise contents.error("damaged-archive", "holds no module in `data.pkl`")
        self.methods.classes = frozenset(objects.classes)
        if self.guard is not None:  # what is refused in them is refused now
            self.methods.define_all()
        for name in extra_files or ():
            if name in contents.extra:
                assert extra_files is not None
                extra_files[name] = contents.extra[name]()
        named = {code.name: code for code in codes}
        return MobileModule(root, named, self.methods, contents.debug)

    def refuse(self, codes: Sequence[MobileCode]) -> None:
        """Refuse operators that reach outside of the program."""
        for name in (operator.full_name for code in codes for operator in code.operators):
            name = name.partition(".")[0]
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
        arguments = tuple(self.argument(argument) for argument in function.arguments)
        return MobileCode(
            function.name,
            function.instructions,
            tuple(self.operator(*operator, unknown) for operator in function.operators),
            tuple(self.values.value(node) for node in function.constants),
            tuple(self.named.type(text) for text in function.types),
            function.register_size,
            arguments or None,
            self.named.type(returns[0].type) if len(returns) == 1 else None,
        )

    def operator(
        self, name: str, overload: str, count: int, unknown: dict[str, None]
    ) -> MobileOperator:
        full_name = f"{name}.{overload}" if overload else name
        if full_name in NODES:
            if count >= 0:
                return MobileOperator(full_name, None, count)
            written = statement(full_name)
            arguments = () if written is None else tuple(written.arguments)
            return MobileOperator(full_name, None, NODES[full_name], uncounted=arguments)
        entry = TABLE.operator(full_name)
        if entry is None:
            unknown[full_name] = None
            return MobileOperator(full_name, None, 0)
        meaning = self.upgrade(full_name)
        made = MobileOperator(full_name, entry.signature, count, meaning=meaning)
        arguments = entry.signature.arguments if meaning is None else meaning.signature.arguments
        return _completed(arguments, made, self.contents.damaged)

    def argument(self, argument: MobileArgument) -> Argument:
        type = self.named.type(argument.type)
        if isinstance(type, ClassType):  # named tuples are sometimes written by name alone
            type = ANY
        default = self.values.value(argument.default)
        if default is None and type.optional_of is None:
            default = NO_DEFAULT
        return Argument(argument.name, type, default)


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

    def __init__(self, storages: StorageReader, loader: _Loader) -> None:
        super().__init__(storages, loader.class_named, _no_call, "its data", loader.limits)
        self._loader = loader
        self.classes: set[ClassType] = set()

    def _object(self, node: ObjectNode) -> Any:
        if packed_class(node.cls.qualified_name) is not None:
            return super()._object(node)
        cls = self._loader.class_named(node.cls.qualified_name)
        if not isinstance(cls, ClassType):
            raise self._unknown(node.cls)
        is_first = cls not in self.classes
        self.classes.add(cls)
        restore = cls.methods.get("__setstate__")
        if restore is not None:
            if is_first:
                self._loader.methods.define_restoring(restore)
            made = ScriptObject(cls)
            state = self.value(node.state)
            if self._loader.restores:
                run(restore, (made, state))
            return made
        if not isinstance(node.state, DictNode):
            raise self._damaged(f"has a `{cls.qualified_name}` without attributes")
        state = node.state.by_name()
        if not is_first and list(state) != list(cls.attributes):
            raise self._damaged(f"has objects of `{cls.qualified_name}` with other attributes")
        made = ScriptObject(cls)
        made.slots.clear()
        for name, part in state.items():
            self._attribute(made, name, part)
        return made

    def _attribute(self, made: ScriptObject, name: str, node: PickleNode) -> None:
        """Put the value of an attribute into its slot; its class takes the type from it."""
        cls, known = made.cls, made.cls.attributes.get(name)
        if known is None:
            is_tensor = isinstance(node, TensorNode)
            grad = is_tensor and node.requires_grad  # type: ignore[union-attr]
            kind = "parameter" if grad else "buffer" if is_tensor else "attribute"
            cls.add_attribute(name, TENSOR, kind)  # type: ignore[arg-type]
        attribute = cls.attributes[name]
        slot = self._slot(node, attribute)
        type = self._type_of(slot, node)
        if known is not None:
            type = join(attribute.type, type) or ANY
        made.slots.append(slot)
        if type != attribute.type:
            cls.add_attribute(name, type, attribute.kind)

    def _type_of(self, slot: object, node: PickleNode) -> Type:
        if isinstance(slot, ScriptObject):
            return slot.cls
        if isinstance(node, TensorNode):
            return TENSOR
        if isinstance(node, ListNode | DictNode) and node.tag:
            return self._loader.named.type(node.tag)
        return _of_anything(machine_type(slot)) if slot == [] else machine_type(slot)


def _of_anything(type: Type) -> Type:
    """An empty list's type, which tells nothing of elements."""
    return type if type.list_of is None else ListType(ANY)


def _no_call(function: Function, values: Sequence[object]) -> object:
    raise archive_error("damaged-archive", f"`{function.name}` cannot be run here")


def _completed(
    arguments: Sequence[Argument],
    operator: MobileOperator,
    damaged: Callable[[str], ArchiveError],
) -> MobileOperator:
    """The operator with the arguments that the code does not push.

    `arguments` are those it had when the code was written.
    """
    signature = operator.signature
    assert signature is not None
    if signature.vararg:
        return replace(operator, pushed=len(arguments))
    if operator.pushed < 0:
        return replace(operator, pushed=len(arguments), uncounted=tuple(arguments))
    last = written_to(signature)
    left = tuple(arguments[operator.pushed - last : len(arguments) - last])
    missing = any(not argument.has_default for argument in left)
    if operator.pushed < last or missing or operator.pushed > len(arguments):
        raise damaged(f"`{signature.full_name}` is called with {operator.pushed} arguments")
    return replace(operator, left_out=left, last=last)
