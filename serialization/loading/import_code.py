"""Code files of an archive -> types and functions.

A file is parsed when a name in it is first needed, a definition is turned into a type or function
when it is first referred to, and a function's body is compiled when its signature or graph is first
needed.  Every loaded archive has an importer of its own, so two archives may define classes of the
same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Literal

from ...frontend.diagnostics.diagnostics import Collector, Diagnostic, Label
from ...frontend.sources.source import Source, Span
from ...frontend.syntax import tree
from ...frontend.syntax.from_text import Outline, module_of_methods, module_outlines
from ...interpreter.running.defaults import result_of
from ...ops.quantized_tensors.packed_weights import PACKED_CLASSES
from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE, LABEL_CLASS, builtin_class
from ...typecheck.definitions.class_types import ClassAttribute, ClassType, InterfaceType
from ...typecheck.definitions.functions import Bounding, Function
from ...typecheck.definitions.names import Constant
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.scopes.annotations import AnnotationReader
from ...typecheck.types.types import BOOL, COMPLEX, FLOAT, INT, STRING, EnumType, TupleType, Type
from .archive_names import ArchiveResolver, Operators, Upgrade, no_upgrade
from .literals import literal
from .old_slots import declared_before

__all__ = ["CodeFile", "CodeImporter"]

Origin = Callable[[int], Span | None]
Define = Callable[[Function], None]
Kind = Literal["parameter", "buffer", "attribute"]

_SCALARS: Mapping[type, Type] = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, str: STRING}


@dataclass(frozen=True, slots=True)
class CodeFile:
    """The text of `code/a/b.py` and where its stretches came from, if the archive says."""

    text: str
    origin: Origin | None = None


class CodeImporter:
    """The types and functions of one archive; see `archive_names.Definitions`.

    `files` maps a namespace (`__torch__.a.b`) to what reads its text; `constants` are those of
    `constants.pkl`, in order.  `define` becomes `Function.define` of every function; it finds the
    names of the code in `resolver`.  Faults in the code go to `collector`.  `builtin` knows the
    classes that no archive defines.
    """

    digest = ""
    """Of what its functions follow from, as `Program` says."""

    def __init__(
        self,
        files: Mapping[str, Callable[[], CodeFile]],
        constants: Sequence[Constant],
        collector: Collector,
        operators: Operators,
        upgrade: Upgrade = no_upgrade,
        builtin: Callable[[str], Type | None] = builtin_class,
    ) -> None:
        self._files = files
        self._constants = constants
        self._collector = collector
        self._builtin = builtin
        self.resolver = ArchiveResolver(self, operators, upgrade)
        self.define: Define = _undefined
        self.guard: Bounding | None = None
        self._outlines: dict[str, dict[str, Outline]] = {}
        self._sources: dict[str, Source] = {}
        self._members: dict[str, tuple[str, ...]] = {}
        self._bodies: dict[Function, Callable[[], tree.Definition | None]] = {}
        self._more_texts: list[str] = []
        self._types: dict[str, Type | None] = {}
        self._functions: dict[str, Function | None] = {}

    # -- look-up

    def defines(self, qualified: str) -> bool:
        """Whether there is a class or function of that name."""
        return self._outline(qualified) is not None

    def definition(self, qualified: str) -> tree.Definition | None:
        """The tree of a class or function."""
        outline = self._outline(qualified)
        return outline.whole() if outline is not None else None

    def texts(self) -> Iterator[str]:
        """The texts of all code files."""
        return chain((file().text for file in self._files.values()), self._more_texts)

    def read(self, function: Function) -> bool:
        """Give a function of the archive its tree; False, after a report, if it has none."""
        body = self._bodies.get(function)
        if body is not None:
            reported = len(self._collector.found)
            definition = body()
            assert not isinstance(definition, tree.ClassDefinition)
            function.tree = definition
            if len(self._collector.found) == reported:  # else it is to be reported again
                del self._bodies[function]
        return function.tree is not None

    def result_of(self, function: Function) -> Constant | None:
        """See `typecheck.names.TextDefaults`: it is compiled and bounded as the others are."""
        function.define, function.guard = self.define, self.guard
        return result_of(function)

    def _outline(self, qualified: str) -> Outline | None:
        namespace, _, name = qualified.rpartition(".")
        if namespace not in self._outlines:
            self._outlines[namespace] = dict(self._parse(namespace))
        return self._outlines[namespace].get(name)

    def _parse(self, namespace: str) -> Iterator[tuple[str, Outline]]:
        if namespace not in self._files:
            return
        file = self._files[namespace]()
        filename = f"code/{namespace.replace('.', '/')}.py"
        for outline in module_outlines(file.text, filename, self._collector, file.origin):
            self._sources[filename] = outline.converter.source
            yield outline.name, outline

    def source_named(self, filename: str) -> Source | None:
        """The text of a code file."""
        if filename not in self._sources:
            namespace = filename.removeprefix("code/").removesuffix(".py").replace("/", ".")
            self._outline(f"{namespace}.")
        return self._sources.get(filename)

    def type_named(self, qualified: str) -> Type | None:
        """The class, NamedTuple, enumeration or interface of that name; None if there is none."""
        if qualified.startswith(BUILTIN_NAMESPACE):
            return self._builtin(qualified)
        if qualified not in self._types:
            outline = self._outline(qualified)
            definition = outline.head() if outline is not None and outline.is_class else None
            if outline is None or definition is None:
                return None
            self._make_type(qualified, definition, outline)
        return self._types[qualified]

    def function_named(self, qualified: str) -> Function | None:
        """The free function of that name; None if there is none."""
        if qualified not in self._functions:
            outline = self._outline(qualified)
            if outline is None or outline.is_class:
                return None
            function = self._function(qualified)
            self._bodies[function] = outline.whole
            self._functions[qualified] = function
        return self._functions[qualified]

    def _function(self, name: str, owner: ClassType | None = None) -> Function:
        """A function that is compiled when it is needed."""
        made = Function(name, define=self.define, owner=owner, is_text=True, guard=self.guard)
        made.program = self if self.guard is None else None
        return made

    def members_of(self, namespace: str) -> Iterable[str]:
        """The names one level below a namespace."""
        if namespace not in self._members:
            self._outline(f"{namespace}.")
            prefix = f"{namespace}."
            packed = (f"{BUILTIN_NAMESPACE}{name}" for name in PACKED_CLASSES)
            names = (*self._files, *packed, LABEL_CLASS)
            inner = (n[len(prefix) :].partition(".")[0] for n in names if n.startswith(prefix))
            self._members[namespace] = (*dict.fromkeys((*self._outlines[namespace], *inner)),)
        return self._members[namespace]

    def constant(self, name: str) -> Constant | None:
        """`c0` is the first of the constants."""
        digits = name.removeprefix("c")
        if not (digits.isascii() and digits.isdigit()) or int(digits) >= len(self._constants):
            return None
        return self._constants[int(digits)]

    def constant_names(self) -> Iterable[str]:
        """`c0`, `c1` and so on."""
        return (f"c{index}" for index in range(len(self._constants)))

    # -- classes

    def add_module(
        self, qualified: str, file: CodeFile, filename: str, attributes: Iterable[ClassAttribute]
    ) -> None:
        """A module class whose file holds the methods alone; its attributes are told.

        `filename` is what messages call the file.
        """
        namespace, _, name = qualified.rpartition(".")
        self._outline(qualified)  # what the namespace has by itself
        outline = module_of_methods(name, file.text, filename, self._collector, file.origin)
        self._outlines[namespace][name] = outline
        self._members.clear()
        self._more_texts.append(file.text)
        head = outline.head()
        assert head is not None
        self._make_class(qualified, head, outline, is_module=True)
        cls = self._types[qualified]
        assert isinstance(cls, ClassType)
        for attribute in attributes:
            cls.attributes[attribute.name] = attribute

    def type_of_text(self, text: str, title: str) -> Type:
        """The type that a text spells, as annotations do; `title` is what messages call it."""
        written = tree.Literal(Span(Source(text, title), 0, len(text)), text)
        return AnnotationReader(self.resolver, self._collector, f"in {title}").read(written)

    def _make_type(
        self, qualified: str, definition: tree.ClassDefinition, outline: Outline
    ) -> None:
        """Enter the type of a class definition into the table, before its parts are looked at."""
        bases = [base.span.text for base in definition.bases]
        match bases:
            case [] | ["Module"]:
                self._make_class(qualified, definition, outline, bool(bases))
            case ["NamedTuple"]:
                self._types[qualified] = None  # it cannot contain itself
                members = [m for m in definition.members if m.annotation is not None]
                elements = tuple(self._type_of(m, qualified) for m in members)
                fields = tuple(m.name for m in members)
                self._types[qualified] = TupleType(elements, qualified, fields)
            case ["Enum"]:
                self._types[qualified] = self._enum(qualified, definition)
            case ["Interface"] | ["ModuleInterface"]:
                self._make_interface(qualified, outline, bases == ["ModuleInterface"])
            case _:
                self._types[qualified] = None
                self._report(definition.span, f"`{qualified}` has bases no class here can have")

    def _make_class(
        self, qualified: str, definition: tree.ClassDefinition, outline: Outline, is_module: bool
    ) -> None:
        cls = ClassType(qualified, is_module)
        self._types[qualified] = cls
        parameters = self._strings(definition, "__parameters__")
        buffers = self._strings(definition, "__buffers__")
        for member in definition.members:
            if member.annotation is None:
                continue
            if _is_final(member.annotation):
                self._take_constant(cls, member)
                continue
            kind: Kind = "attribute"
            if member.name in parameters:
                kind = "parameter"
            elif member.name in buffers:
                kind = "buffer"
            cls.add_attribute(member.name, self._type_of(member, qualified), kind)
        for name, body in outline.methods().items():
            made = self._function(f"{qualified}.{name}", cls)
            self._bodies[made] = body
            cls.methods[name] = made
        for word, hooks in (("pre_", cls.forward_pre_hooks), ("", cls.forward_hooks)):
            names = self._strings(definition, f"__forward_{word}hooks__")
            hooks.extend(cls.methods[name] for name in names if name in cls.methods)
        for hook in (*cls.forward_pre_hooks, *cls.forward_hooks):
            cls.methods.pop(hook.name, None)
        if qualified in self._files:  # free functions below the class, such as copies of its hooks
            for name in self.members_of(qualified):
                function = self.function_named(f"{qualified}.{name}")
                if function is not None:
                    cls.static_methods[name] = function

    def _make_interface(self, qualified: str, outline: Outline, is_module: bool) -> None:
        interface = InterfaceType(qualified, is_module)
        self._types[qualified] = interface
        for name, body in outline.methods().items():
            made = Function(f"{qualified}.{name}", body(), is_text=True)
            made.define = partial(self._declare, interface=interface)
            interface.methods[name] = made

    def _declare(self, function: Function, interface: InterfaceType) -> None:
        """Give a method of an interface its signature; it has no body."""
        if function.tree is None:
            return  # that has been reported
        where = f"in method `{interface.python}.{function.name}`"
        read = AnnotationReader(self.resolver, self._collector, where).read
        arguments = [
            Argument(p.name, interface if i == 0 else read(p.annotation))
            for i, p in enumerate(function.tree.parameters)
        ]
        result = Argument("", read(function.tree.returns))
        function.declared = Signature(function.name, "", tuple(arguments), (result,))

    def _enum(self, qualified: str, definition: tree.ClassDefinition) -> Type | None:
        try:
            members = tuple((m.name, literal(m.value, self.constant)) for m in definition.members)
        except ValueError:
            members = ()
        kinds = {type(value) for _, value in members}
        value_type = _SCALARS.get(kinds.pop()) if len(kinds) == 1 else None
        if value_type is None:
            self._report(definition.span, f"the members of `{qualified}` are not of one type")
            return None
        return EnumType(qualified, value_type, members)

    def _take_constant(self, cls: ClassType, member: tree.ClassMember) -> None:
        try:
            cls.constants[member.name] = literal(member.value, self.constant)
        except ValueError:
            self._report(member.span, f"`{member.name}` is no constant that code files hold")

    @staticmethod
    def _strings(definition: tree.ClassDefinition, name: str) -> tuple[str, ...]:
        """The strings of `__parameters__ = ["weight", ]`."""
        for member in definition.members:
            if member.name == name and isinstance(member.value, tree.ListDisplay):
                values = (e.value for e in member.value.elements if isinstance(e, tree.Literal))
                return tuple(value for value in values if isinstance(value, str))
        return ()

    def _type_of(self, member: tree.ClassMember, qualified: str) -> Type:
        annotation = member.annotation
        if isinstance(annotation, tree.Name):
            now = declared_before(qualified, member.name, annotation.id)
            held = None if now is None else self.type_named(now)
            if held is not None:
                return held
        where = f"in class `{qualified}`"
        return AnnotationReader(self.resolver, self._collector, where).read(annotation)

    def _report(self, span: Span, message: str) -> None:
        self._collector.add(Diagnostic("damaged-archive", message, Label(span, "here")))


def _undefined(function: Function) -> None:
    raise RuntimeError(f"nothing compiles {function.qualified_name}")


def _is_final(annotation: tree.Expr) -> bool:
    match annotation:
        case tree.Subscript(value=tree.Name(id="Final")) | tree.Name(id="Final"):
            return True
    return False
