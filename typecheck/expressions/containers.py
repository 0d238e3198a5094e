"""Brackets of live modules that hold modules: `self.layers[1]`, `self.layers[1:]`."""

from __future__ import annotations

from dataclasses import replace

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.class_types import InterfaceType
from ..definitions.schema import Argument, Signature
from ..relations.interfaces import why_unfit
from ..relations.literals import integer_of
from ..relations.relations import is_subtype
from ..reports.member_index import report_unknown_index
from ..scopes.dispatch import sugared
from ..scopes.members import first_look, key_of, rows_in, slots_of
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import MemberSequence, SliceValue, Sugar
from ..types.types import ANY, INT, STRING, Type

__all__ = ["container_item", "member_item"]

NUMBERED = frozenset({"ModuleList", "Sequential", "ParameterList"})


def container_item(
    scope: Scope, value: typed.Expr, node: tree.Subscript, hint: Type | None
) -> Sugar:
    """`self.layers[1]`, `self.layers[1:]`, `self.heads["a"]`; an index that is not known now
    needs an interface that all members have, as the type that is wanted."""
    index = sugared(scope, node.indices[0])
    if isinstance(index, SliceValue):
        return _slice_members(scope, MemberSequence(node.span, value, "values"), index)
    position = value_of(scope, index, node.indices[0].span)
    numbered = value.type.container in NUMBERED
    named = not numbered and isinstance(position, typed.Literal)
    if isinstance(hint, InterfaceType) and not named:
        if not _fitting_members(scope, value, hint, node.span):
            return scope.unknown(node.span)
        return _indexed_at_run_time(value, position, hint)
    rows = list(rows_in(scope, value, "values", node.span))
    if numbered:
        number = integer_of(position)
        if number is not None and -len(rows) <= number < len(rows):
            return _chosen(scope, value, position, number, node.span)
    else:
        key = position.literal
        number = None if not isinstance(key, str) else 0
        for place, (name, _) in enumerate(rows):
            if name == key:
                return _chosen(scope, value, position, place, node.span)
    outside = f"Index {number} out of range of length {len(rows)}"
    _report_index_of_members(scope, value, node, outside if numbered else "", number is not None)
    return scope.unknown(node.span)


def _chosen(
    scope: Scope, container: typed.Expr, index: typed.Expr, place: int, span: Span
) -> typed.Expr:
    """A member of a container; torch reads all of them, with their names, to find it."""
    looks: list[typed.Statement] = []
    owner = scope.let(container, looks)
    looks.append(typed.Evaluate(index.span, index))
    rows = list(rows_in(scope, owner, "values", span))
    found = rows[place][1]
    for name, member in rows:
        looks += [typed.Evaluate(NOWHERE, key_of(name)), *first_look(owner, member)]
        if member is not found:
            looks.append(typed.Evaluate(NOWHERE, member))
    if not isinstance(found, typed.GetAttribute):
        return found
    return replace(found, object=typed.Sequenced(container.span, owner.type, tuple(looks), owner))


def _fitting_members(scope: Scope, value: typed.Expr, wanted: InterfaceType, span: Span) -> bool:
    """Whether all modules of a container fill an interface; what does not is reported."""
    for name, member in slots_of(value, span, "module"):
        if not is_subtype(member.type, wanted):
            reason = why_unfit(member.type, wanted)
            scope.report(
                "argument-type",
                f"`{name}` of the container is no `{wanted.python}`",
                span,
                f"any of its modules may be meant, and each must be a `{wanted.python}`",
                torch=f"Attribute {name} is not of annotated type {wanted.annotation_str}: "
                f"{reason}",
            )
            return False
    return True


def member_item(scope: Scope, sequence: MemberSequence, node: tree.Subscript) -> Sugar:
    """An element or slice of a slice of members."""
    index = sugared(scope, node.indices[0])
    if isinstance(index, SliceValue):
        return _slice_members(scope, sequence, index)
    number = integer_of(value_of(scope, index, node.indices[0].span))
    rows = list(rows_in(scope, sequence.receiver, sequence.form, node.span))
    rows = rows[sequence.cut]
    if number is None or not -len(rows) <= number < len(rows):
        outside = f"Tuple index out of range. Tuple is length {len(rows)} and index is {number}"
        _report_index_of_members(scope, sequence.receiver, node, outside, number is not None)
        return scope.unknown(node.span)
    found = rows[number][1]
    scope.picked.append(found)
    return found


def _slice_members(scope: Scope, sequence: MemberSequence, index: SliceValue) -> Sugar:
    parts: list[int | None] = []
    for part in (index.lower, index.upper, index.step):
        number = integer_of(part) if part is not None else None
        if part is not None and number is None:
            scope.report(
                "argument-type",
                "modules can be sliced only by literal integers",
                part.span,
                "not known here",
                torch="tuple slice indices must be integer constants",
                torch_span=index.span,
            )
            return scope.unknown(index.span)
        parts.append(number)
    places = range(len(list(rows_in(scope, sequence.receiver, sequence.form, sequence.span))))
    chosen = places[sequence.cut][slice(*parts)]
    stop = None if chosen.stop < 0 else chosen.stop
    cut = slice(chosen.start, stop, chosen.step)
    return MemberSequence(sequence.span, sequence.receiver, sequence.form, cut)


def _report_index_of_members(
    scope: Scope, value: typed.Expr, node: tree.Subscript, outside: str, known: bool
) -> None:
    """Report an index; `outside` is torch's sentence on a number that is too large, "" where
    members have names."""
    if not known:
        report_unknown_index(scope, value, node, bool(outside))
        return
    place = node.indices[0].span
    if outside:
        message, torch = "there is no such member", outside
    else:
        message = "there is no such key"
        torch = f"Key Error, {place.text.strip(chr(34) + chr(39))}"
    scope.report("argument-type", message, place, "used here", torch=torch, torch_span=node.span)


def _indexed_at_run_time(value: typed.Expr, index: typed.Expr, type: Type) -> typed.Expr:
    arguments = (Argument("container", ANY), Argument("key", ANY if index.type == INT else STRING))
    signature = Signature("prim::ModuleContainerIndex", "", arguments, (Argument("", type),))
    bindings = (typed.Given(0), typed.Given(1))
    return typed.OperatorCall(NOWHERE, type, signature, (value, index), bindings)
