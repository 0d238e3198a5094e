"""Classes, NamedTuples, enumerations, interfaces and functions -> the code files of an archive.

Printing starts at a root class; whatever a printed signature or statement names is printed after
it, each in the file of its namespace, until nothing new turns up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from keyword import kwlist

from ...frontend.sources.source import UNKNOWN
from ...ir.graphs.graph import Graph
from ...typecheck.definitions.class_types import ClassType, InterfaceType
from ...typecheck.definitions.functions import Function
from ...typecheck.types.types import EnumType, TupleType, Type
from .constants import Constants, loose_text, type_of
from .names import is_attribute, quoted
from .printer import FunctionPrinter, PrintError, graph_of
from .text import Record
from .types import Dependencies, Named, TypeNames

__all__ = ["PrintedFile", "PrintedUnit", "print_unit"]

_NATIVE = "__torch__.torch.classes."
"""Where the classes are that a runtime has built in; their files are empty."""


@dataclass(frozen=True)
class PrintedFile:
    """One file: namespace `__torch__.a.b` is the record `code/__torch__/a/b.py`."""

    namespace: str
    text: str
    records: list[Record]


@dataclass(frozen=True)
class PrintedUnit:
    """All code of an archive.

    `constants[i]` is what the code of every file calls `CONSTANTS.ci`, of type `types[i]`; `names`
    tells the names that types have in the code.
    """

    files: list[PrintedFile]
    constants: list[object]
    types: list[Type]
    names: TypeNames


def print_unit(*roots: Named, names: TypeNames | None = None) -> PrintedUnit:
    """Print `roots` and everything they need.

    Args:
        roots: the classes of all objects in the data, in the order in which they are written
            there: an attribute whose type is an interface does not tell the class of its value.
        names: the names given so far, if the data was written first; by default each type keeps
            its own name, and different types of one name are told apart.

    Raises:
        PrintError: something has no form as code.
    """
    names = names or TypeNames(unique=True)
    constants = Constants(names, archived=True)
    dependencies = Dependencies()
    for root in roots:
        dependencies.add(root)
    printers: dict[str, FunctionPrinter] = {}
    for named in dependencies:
        namespace = names.name_of(named).rpartition(".")[0]
        printer = printers.get(namespace)
        if printer is None:
            printer = FunctionPrinter(names, constants, dependencies, importable=True)
            printers[namespace] = printer
        _print_named(printer, named)
    files = [PrintedFile(n, str(p.body), p.body.records) for n, p in printers.items()]
    return PrintedUnit(files, constants.values, constants.types, names)


def _print_named(printer: FunctionPrinter, named: Named) -> None:
    match named:
        case Function():
            _print_function(printer, named)
        case ClassType():
            _print_class(printer, named)
        case TupleType():
            _print_named_tuple(printer, named)
        case EnumType():
            _print_enum(printer, named)
        case InterfaceType():
            _print_interface(printer, named)


def _last(printer: FunctionPrinter, named: Named) -> str:
    *folders, name = printer.names.name_of(named).split(".")
    for folder in folders:
        _check_name(folder, "namespace")
    _check_name(name, "class")
    return name


def _print_function(printer: FunctionPrinter, function: Function) -> None:
    graph: Graph = graph_of(function)
    printer.print_function(graph, function.name, function.signature)


def _print_class(printer: FunctionPrinter, cls: ClassType) -> None:
    if cls.qualified_name.startswith(_NATIVE):
        return
    base = "(Module)" if cls.is_module else ""
    printer.line(f"class {_last(printer, cls)}{base}:")
    with printer.indented():
        if cls.is_module:
            for kind in ("parameter", "buffer"):
                found = [a.name for a in cls.attributes.values() if a.kind == kind]
                _print_names(printer, f"__{kind}s__", found)
            hooks = (("pre_", cls.forward_pre_hooks), ("", cls.forward_hooks))
            for kind, functions in hooks:
                if functions:
                    names = [function.name for function in functions]
                    _print_names(printer, f"__forward_{kind}hooks__", names)
        _print_attributes(printer, cls)
        for name, value in cls.constants.items():
            _print_constant(printer, name, value)
        for method in list(cls.methods.values()):
            _print_function(printer, method)
        hooks_by_name = {h.name: h for h in (*cls.forward_hooks, *cls.forward_pre_hooks)}
        for hook in hooks_by_name.values():  # one that is there twice was compiled twice
            _print_function(printer, hook)


def _print_names(printer: FunctionPrinter, title: str, names: Sequence[str]) -> None:
    items = "".join(f"{quoted(name)}, " for name in names)
    printer.line(f"{title} = [{items}]")


def _print_attributes(printer: FunctionPrinter, cls: ClassType) -> None:
    """The slots, in order; those that cannot stand behind a dot go to `__annotations__`."""
    for i, attribute in enumerate(cls.attributes.values()):
        printer.dependencies.add_type(attribute.type)
        type = printer.names.spell(attribute.type)
        if is_attribute(attribute.name):
            printer.line(f"{attribute.name} : {type}")
            continue
        if i == 0:
            printer.line("__annotations__ = []")
        printer.line(f"__annotations__[{quoted(attribute.name)}] = {type}")


def _print_constant(printer: FunctionPrinter, name: str, value: object) -> None:
    try:
        type: Type = type_of(value)
        text = printer.constants.text(value, type)
    except TypeError as error:
        raise PrintError(f"{name}: {error}", UNKNOWN) from None
    _check_name(name, "constant")
    printer.line(f"{name} : Final[{printer.names.spell(type)}] = {text}")


def _check_name(name: str, what: str) -> None:
    """Refuse a name that code cannot hold, with a PrintError."""
    if not name.isidentifier() or name in kwlist:
        raise PrintError(f"no code can have a {what} called {name!a}", UNKNOWN)


def _print_named_tuple(printer: FunctionPrinter, named: TupleType) -> None:
    printer.line(f"class {_last(printer, named)}(NamedTuple):")
    with printer.indented():
        for name, type in zip(named.fields, named.elements, strict=True):
            printer.dependencies.add_type(type)
            printer.line(f"{name} : {printer.names.spell(type)}")


def _print_enum(printer: FunctionPrinter, enum: EnumType) -> None:
    printer.line(f"class {_last(printer, enum)}(Enum):")
    with printer.indented():
        for name, value in enum.members:
            _check_name(name, "member")
            printer.line(
                f"{name} = {quoted(value) if isinstance(value, str) else loose_text(value)}"
            )


def _print_interface(printer: FunctionPrinter, interface: InterfaceType) -> None:
    base = "ModuleInterface" if interface.is_module else "Interface"
    printer.line(f"class {_last(printer, interface)}({base}):")
    with printer.indented():
        for method in interface.methods.values():
            signature = method.signature
            text = f"def {method.name}(self"
            for argument in signature.arguments[1:]:
                printer.dependencies.add_type(argument.type)
                text += f", {argument.name}: {printer.names.spell(argument.type)}"
            result = signature.returns[0].type
            printer.dependencies.add_type(result)
            printer.line(f"{text}) -> {printer.names.spell(result)}:")
            printer.line("  pass")
