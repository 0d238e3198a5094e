"""Live modules that hold modules: their members are known now, so loops over them are unrolled."""

from __future__ import annotations

from collections.abc import Iterator

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ..definitions.class_types import ClassType
from ..trees import typed
from ..trees.sugar import ContainerMethod, Item, MemberSequence, Sugar
from ..types.types import STRING
from .scope import Scope

__all__ = [
    "container_method",
    "first_look",
    "key_of",
    "members_of",
    "rows_in",
    "rows_of",
    "slots_of",
]

KEYED = frozenset({"ModuleDict", "ParameterDict"})

_DICT_METHODS = frozenset({"items", "keys", "values"})

_TREE_METHODS = frozenset(
    f"{named}{what}"
    for named in ("", "named_")
    for what in ("children", "modules", "parameters", "buffers")
)

Row = tuple[str, typed.Expr]


def members_of(value: typed.Expr, span: Span) -> MemberSequence:
    """What a loop over a container goes over: the keys of a dict, the members of the rest."""
    if value.type.container in KEYED:
        return MemberSequence(span, value, "keys")
    return MemberSequence(span, value, "values")


def container_method(value: typed.Expr, name: str, span: Span) -> Sugar | None:
    """`self.layers.items`, `self.named_children` and the like."""
    cls = value.type
    if not cls.is_live:
        return None
    if name in _TREE_METHODS or (name in _DICT_METHODS and cls.container in KEYED):
        return ContainerMethod(value, name, span)
    return None


def rows_of(scope: Scope, sequence: MemberSequence, into: list[typed.Statement]) -> list[Item]:
    """The members, read in order."""
    receiver = scope.let(sequence.receiver, into)
    keys, values = list[typed.Expr](), list[typed.Expr]()
    for key, value in rows_in(scope, receiver, sequence.form, sequence.span):
        keys.append(scope.let(key_of(key), into))
        into.extend(first_look(receiver, value))
        values.append(scope.let(value, into))
    keys, values = keys[sequence.cut], values[sequence.cut]
    if sequence.form == "keys":
        return list(keys)
    if sequence.cut != slice(None):
        scope.sliced.update(v.index for v in values if isinstance(v, typed.Temporary))
    if sequence.form == "items" or sequence.form.startswith("named_"):
        return list(zip(keys, values, strict=True))
    return list(values)


def key_of(name: str) -> typed.Expr:
    """A member's name, of which torch makes a constant wherever it looks at the members."""
    return typed.Literal(NOWHERE, STRING, name)


def first_look(container: typed.Expr, member: typed.Expr) -> list[typed.Statement]:
    """Where torch reads a member twice, which are those of lists and dicts of parameters."""
    is_twice = container.type.container.startswith("Parameter")
    return [typed.Evaluate(NOWHERE, member)] if is_twice else []


def rows_in(scope: Scope, value: typed.Expr, form: str, span: Span) -> Iterator[Row]:
    """What a method such as `named_children` of a module gives, with its names."""
    what = form.removeprefix("named_")
    if what in ("items", "keys", "values", "children"):
        kind = value.type.container
        parameters = kind.startswith("Parameter") and what != "children"
        yield from slots_of(value, span, "parameter" if parameters else "module")
    elif what == "modules":
        yield "", value
        yield from _descendants(scope, value, form, span)
    else:
        kind = what.removesuffix("s")
        yield from slots_of(value, span, kind)
        for key, module in _descendants(scope, value, form, span):
            yield from ((f"{key}.{name}", slot) for name, slot in slots_of(module, span, kind))


def _descendants(scope: Scope, value: typed.Expr, form: str, span: Span) -> Iterator[Row]:
    for name, module in slots_of(value, span, "module"):
        if module.type.is_interface:
            scope.report(
                "argument-type",
                f"`{form}()` cannot look into `{name}`, of which only the interface "
                f"`{module.type.python}` is known",
                span,
                "used here",
                torch=f"Could not compile {form}() because module is an interface type. "
                "Please file issue.",
            )
            return
        yield name, module
        for key, inner in _descendants(scope, module, form, span):
            yield f"{name}.{key}", inner


def slots_of(value: typed.Expr, span: Span, kind: str) -> Iterator[Row]:
    """The modules, parameters or buffers that a module itself holds."""
    cls = value.type
    if not isinstance(cls, ClassType):
        return
    for name, attribute in cls.attributes.items():
        if attribute.type.is_module if kind == "module" else attribute.kind == kind:
            yield name, typed.GetAttribute(span, attribute.type, value, name)
