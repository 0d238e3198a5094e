"""List, dict and tuple displays, and strings with values in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...frontend.diagnostics.diagnostics import Diagnostic, Help, Label
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..relations.matching import Given
from ..relations.relations import is_subtype, join_all
from ..relations.variables import has_variables
from ..reports.corrections import as_tuple
from ..reports.reasons import article
from ..scopes.dispatch import checks, expression
from ..scopes.idioms import elements_of_list
from ..scopes.scope import Scope
from ..trees import typed
from ..types.dict_keys import DICT_KEYS, key_refusal
from ..types.types import (
    ANY,
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    ListType,
    TupleType,
    Type,
)
from .arguments import unpacked_argument
from .operators import call_operator

__all__ = ["check_key", "check_list", "hinted_container", "percent_format", "refuses_hint"]


# -------------------------------------------------------------------------------- tuples


@checks(tree.TupleDisplay)
def check_tuple(scope: Scope, node: tree.TupleDisplay, hint: Type | None) -> typed.Expr:
    """`a, b`; parts of a hinted tuple get their own hints."""
    statements: list[typed.Statement] = []
    elements = _elements(scope, node.elements, [None] * len(node.elements), statements)
    type = TupleType(tuple(e.type for e in elements))
    result = typed.TupleLiteral(node.span, type, tuple(elements))
    if not statements:
        return result
    return typed.Sequenced(node.span, type, tuple(statements), result)


def _elements(
    scope: Scope,
    nodes: tuple[tree.Expr, ...],
    hints: list[Type | None],
    into: list[typed.Statement],
    helps: tuple[Help, ...] = (),
) -> list[typed.Expr]:
    found: list[typed.Expr] = []
    for node, hint in zip(nodes, hints, strict=True):
        if isinstance(node, tree.Starred):
            found.extend(unpacked_argument(scope, node, into, helps) or [scope.unknown(node.span)])
        else:
            found.append(expression(scope, node, hint))
    return found


# --------------------------------------------------------------------------------- lists


@checks(tree.ListDisplay)
def check_list(scope: Scope, node: tree.ListDisplay, hint: Type | None) -> typed.Expr:
    """`[a, b]`; an empty one takes the hinted type, or whatever it is passed for."""
    if refuses_hint(scope, node.span, hint, ListType, is_empty=not node.elements):
        return scope.unknown(node.span)
    statements: list[typed.Statement] = []
    nodes = node.elements
    elements = _elements(scope, nodes, [None] * len(nodes), statements, elements_of_list(node))
    wanted = hinted_container(hint, ListType)
    type = _list_type(scope, node, elements, wanted)
    if wanted is None and elements:
        held = held_as(scope, node.span, hint, type)
        if held is None:
            return scope.unknown(node.span)
        type = held
    hinted = bool(elements) or wanted is not None
    type = type.with_contained(type.contained)  # a type object of its own, as in torch
    result: typed.Expr = typed.ListLiteral(node.span, type, tuple(elements), hinted)
    if wanted is not None and hint is not None and hint != wanted:
        result = typed.UncheckedCast(NOWHERE, hint, result)
    if not statements:
        return result
    return typed.Sequenced(node.span, result.type, tuple(statements), result)


def _list_type(
    scope: Scope, node: tree.ListDisplay, elements: list[typed.Expr], wanted: ListType | None
) -> Type:
    if not elements:
        return wanted or ListType(TENSOR)
    joined = join_all([e.type for e in elements], or_union=True) or UNKNOWN
    if wanted is None:
        if joined.is_union:
            _warn_mixed(scope, node, elements, joined, joined)
        return ListType(joined)
    if not is_subtype(joined, wanted.element):
        odd = next(e for e in elements if not is_subtype(e.type, wanted.element))
        scope.report(
            "annotation-conflict",
            f"a `{wanted.python}` cannot hold `{odd.type.python}`",
            odd.span,
            f"this is `{odd.type.python}`",
            torch=f"List type annotation `{wanted.annotation_str}` did not match the types of "
            f"the given list elements, which were unified to {joined.annotation_str}",
            torch_span=node.span,
        )
    return wanted


def _warn_mixed(
    scope: Scope,
    node: tree.ListDisplay | tree.DictDisplay,
    parts: Sequence[typed.Expr],
    type: Type,
    torch_type: Type,
) -> None:
    """Say that elements of a list, or values of a dict, have several types."""
    is_list = isinstance(node, tree.ListDisplay)
    kind, part = ("list", "element") if is_list else ("dict", "value")
    what = "List" if is_list else "Dict values"
    verb, whole = ("consists", "it") if is_list else ("consist", "the dict")
    first = parts[0]
    odd = next(e for e in parts if e.type != first.type)
    scope.collector.add(
        Diagnostic(
            f"mixed-{kind}",
            f"this {kind} mixes types, so its {part}s are `{type.python}`",
            Label(odd.span.whole, f"this is `{odd.type.python}`"),
            scope.where,
            secondary=(Label(first.span.whole, f"this is `{first.type.python}`"),),
            notes=(f"each {part} must pass an `isinstance` test before it can be used",),
            helps=as_tuple(node) if isinstance(node, tree.ListDisplay) else (),
            torch_message=f"{what} {verb} of heterogeneous types, which means that {whole} has "
            f"been typed as containing {torch_type.annotation_str}. To use any of the values in "
            f"this {kind.capitalize()}, it will be necessary to add an `assert isinstance` "
            "statement before first use to trigger type refinement.",
            torch_span=node.span,
            severity="warning",
        )
    )


# --------------------------------------------------------------------------------- dicts


@checks(tree.DictDisplay)
def check_dict(scope: Scope, node: tree.DictDisplay, hint: Type | None) -> typed.Expr:
    """`{k: v}`; an empty one without hint is a `Dict[str, Tensor]`, as in torch."""
    if refuses_hint(scope, node.span, hint, DictType, is_empty=not node.keys):
        return scope.unknown(node.span)
    wanted = hinted_container(hint, DictType)
    keys = tuple(expression(scope, k) for k in node.keys)
    values = tuple(expression(scope, v) for v in node.values)
    type = _dict_type(scope, node, keys, values, wanted)
    if wanted is None and keys:
        held = held_as(scope, node.span, hint, type)
        if held is None:
            return scope.unknown(node.span)
        type = held
    type = type.with_contained(type.contained)  # a type object of its own, as in torch
    result: typed.Expr = typed.DictLiteral(node.span, type, keys, values)
    if wanted is not None and hint is not None and hint != wanted:
        result = typed.UncheckedCast(NOWHERE, hint, result)
    return result


def _dict_type(
    scope: Scope,
    node: tree.DictDisplay,
    keys: tuple[typed.Expr, ...],
    values: tuple[typed.Expr, ...],
    wanted: DictType | None,
) -> Type:
    if not keys:
        return wanted or DictType(STRING, TENSOR)
    key_type = keys[0].type
    for key in keys[1:]:
        if UNKNOWN not in (key.type, key_type) and key.type != key_type:
            scope.report(
                "no-matching-overload",
                "the keys of a dict must have one type",
                key.span,
                f"this is `{key.type.python}`",
                torch="Dict keys must contain only a single type. Expected: "
                f"{key_type.annotation_str} but found {key.type.annotation_str} instead",
                secondary=(Label(keys[0].span.whole, f"this is `{key_type.python}`"),),
            )
    joined = join_all([v.type for v in values], or_union=True) or UNKNOWN
    if wanted is None:
        check_key(scope, key_type, keys[0].span)
        found = DictType(key_type, joined)
        if joined.is_union:
            _warn_mixed(scope, node, values, joined, found)
        return found
    for what, type, want, parts in (
        ("keys", key_type, wanted.key, keys),
        ("values", joined, wanted.value, values),
    ):
        if not is_subtype(type, want):
            _report_dict(scope, node, wanted, what, type, want, parts)
            break
    return wanted


def check_key(scope: Scope, key: Type, span: Span) -> None:
    """See that a dict can have keys of a type."""
    if key not in DICT_KEYS and key is not UNKNOWN:
        scope.report(
            "unsupported-syntax",
            f"a dict cannot have `{key.python}` keys",
            span,
            "only int, float, complex, bool, str, Tensor and torch.device keys are possible",
            torch=key_refusal(key),
        )


def _report_dict(
    scope: Scope,
    node: tree.DictDisplay,
    wanted: DictType,
    what: str,
    type: Type,
    want: Type,
    parts: tuple[typed.Expr, ...],
) -> None:
    odd = next((p for p in parts if not is_subtype(p.type, want)), parts[0])
    scope.report(
        "annotation-conflict",
        f"the {what} of a `{wanted.python}` cannot be `{odd.type.python}`",
        odd.span,
        f"this is `{odd.type.python}`",
        torch=f"Type annotation was inferred to be `{wanted.annotation_str}`, but the type of "
        f"{what} given by the dict literal is {type.annotation_str}",
        torch_span=node.span,
    )


# ------------------------------------------------------------------------------- strings


@checks(tree.FormattedString)
def check_formatted_string(
    scope: Scope, node: tree.FormattedString, hint: Type | None
) -> typed.Expr:
    """An f-string, which is `"...{}...".format(...)`."""
    text, values = "", []
    for part in node.parts:
        if part.string is not None:
            text += part.string
        else:
            text += "{}"
            values.append(part)
    template = typed.Literal(node.span, STRING, text)
    given = Given([expression(scope, v) for v in values], {}, template)
    return call_operator(scope, "aten::format", given, node.span, written="format")


def percent_format(scope: Scope, node: tree.Binary, left: typed.Expr) -> typed.Expr:
    """`"..." % values`."""
    right = expression(scope, node.right)
    given = Given([left, right])
    return call_operator(scope, "aten::percentFormat", given, node.span, written="%")


C = TypeVar("C", bound=Type)


def refuses_hint(
    scope: Scope, span: Span, hint: Type | None, cls: type[C], *, is_empty: bool = False
) -> bool:
    """Whether a hint asks for no list (or dict), or for one of several; a report if so."""
    if hint is None or hint is UNKNOWN or ANY in hint.alternatives or has_variables(hint):
        return False
    count = sum(isinstance(t, cls) for t in hint.alternatives)
    word = cls.__name__.removesuffix("Type")
    if not count and hint.is_union:
        said = f"Expected an Union type annotation with an inner {word} type, but got {{}}"
    elif not count:
        said = f"Expected an annotation of type {word} but got {{}}"
    elif is_empty and count > 1:
        said = (
            f"Cannot assign an empty {word.lower()} to a variable annotated to be type {{}} "
            f"because there are multiple possible {word} type candidates in the Union annotation"
        )
    else:
        return False
    scope.report(
        "annotation-conflict",
        f"{article(hint)} is wanted where this {word.lower()} stands"
        if not count
        else f"an empty {word.lower()} can be several of `{hint.python}`",
        span,
        f"wanted is `{hint.python}`",
        torch=said.format(hint.annotation_str),
    )
    return True


def held_as(scope: Scope, span: Span, hint: Type | None, type: Type) -> Type | None:
    """The one of the lists (or dicts) a hint names that holds what this type does, the widest of
    several; the type itself where the hint names fewer than two, None after a report."""
    if hint is None or UNKNOWN in type.contained:
        return type
    wanted = [t for t in hint.alternatives if t.__class__ is type.__class__]
    if len(wanted) < 2:
        return type
    chosen: Type | None = None
    for one in wanted:
        if fits(type, one) and (chosen is None or fits(chosen, one)):
            chosen = one
    if chosen is not None:
        return chosen
    if type.dict_of is None:
        why = "types match the types of the given list elements"
        found = type.contained[0].annotation_str
    else:
        why = "dict types can hold the types of the given keys and values"
        found = f"Dict[{', '.join(part.annotation_str for part in type.contained)}"
    scope.report(
        "annotation-conflict",
        f"none of the types of `{hint.python}` can hold this",
        span,
        f"this is a `{type.python}`",
        torch=f"Union type annotation `{hint.annotation_str}` can hold "
        f"{' or '.join(one.annotation_str for one in wanted)}, but none of those {why}, which were "
        f"unified to {found}",
    )
    return None


def fits(type: Type, into: Type) -> bool:
    """Whether a new list (or dict) can hold what one of the other type does."""
    return all(map(is_subtype, type.contained, into.contained))


def hinted_container(hint: Type | None, cls: type[C]) -> C | None:
    """The list or dict type a hint asks for, looking into optionals and unions."""
    if hint is None:
        return None
    found = [t for t in hint.alternatives if isinstance(t, cls)]
    return found[0] if len(found) == 1 else None
