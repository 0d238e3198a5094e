"""`value[index]`: reading elements and slices of tensors, lists, dicts, strings and tuples."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...frontend.diagnostics.diagnostics import Help
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.schema import Argument, Signature
from ..relations.literals import integer_of
from ..relations.matching import Given
from ..relations.relations import is_subtype, join_all
from ..reports.other_types import whole_division
from ..reports.reasons import origin
from ..scopes.dispatch import checks, expression, sugared
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import MemberSequence, SliceValue, Sugar
from ..types.types import (
    ANY,
    INT,
    NONE,
    STRING,
    TENSOR,
    UNKNOWN,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from .containers import container_item, member_item
from .function_calls import call_method
from .narrowing import is_repeatable
from .operators import call_operator

__all__ = ["index_list", "locate", "tensor_item"]

LONG = 4
"""The number of `torch.int64`."""

_TUPLE_INDEX = Signature(
    "prim::TupleIndex", "", (Argument("tup", ANY), Argument("i", INT)), (Argument("", ANY),)
)

Index = typed.Expr | SliceValue | None
"""One evaluated index of a tensor; None is the ellipsis."""


@dataclass
class Located:
    """A tensor after its ints, slices and Nones are applied, and the tensor indices that remain,
    by dimension (None where there is none)."""

    value: typed.Expr
    tensors: list[typed.Expr | None]


@checks(tree.Subscript)
def check_subscript(scope: Scope, node: tree.Subscript, hint: Type | None) -> Sugar:
    """The typed form of `value[indices]`."""
    owner = sugared(scope, node.value)
    if isinstance(owner, MemberSequence):
        return member_item(scope, owner, node)
    value = value_of(scope, owner, node.value.span)
    if value.type is UNKNOWN:
        for index in node.indices:
            _index_value(scope, index)
        return scope.unknown(node.span)
    if len(node.indices) > 1 or value.type == TENSOR:
        return tensor_item(scope, value, node)
    by_number = value.type.is_class and value.type.is_module
    if value.type.container or (by_number and hint is not None and hint.is_interface):
        return container_item(scope, value, node, hint)
    found = _index_value(scope, node.indices[0])
    if isinstance(found, SliceValue):
        return _slice(scope, value, found, node.span)
    return _item(scope, value, found, node)


def _item(scope: Scope, value: typed.Expr, index: typed.Expr, node: tree.Subscript) -> typed.Expr:
    """`value[index]` for what is not a tensor."""
    span = node.span
    if UNKNOWN in (value.type, index.type):
        return scope.unknown(span)
    if value.type.tuple_of is not None:
        return _tuple_item(scope, value, value.type.tuple_of, index, node)
    if value.type.is_collection or value.type == STRING:
        given = Given([value, index])
        return call_operator(scope, "aten::__getitem__", given, span, written="[]")
    if value.type.is_class:
        return call_method(scope, value, "__getitem__", [index], span)
    scope.report(
        "argument-type",
        f"`{value.type.python}` cannot be indexed",
        node.value.span,
        f"this is `{value.type.python}`",
        torch=f"'{scope.torch_type(value)}' object is not subscriptable",
        torch_span=span,
        secondary=tuple(origin(scope, value)),
        helps=(Help("say what it holds: `list[int]`"),) if value.type.python == "list" else (),
    )
    return scope.unknown(span)


# ------------------------------------------------------------------------------- tuples


def _tuple_item(
    scope: Scope,
    value: typed.Expr,
    elements: tuple[Type, ...],
    index: typed.Expr,
    node: tree.Subscript,
) -> typed.Expr:
    span = node.span
    number = integer_of(index)
    if number is None:
        return _tuple_item_at_run_time(scope, value, elements, index, node)
    place = number + len(elements) if number < 0 else number
    if not 0 <= place < len(elements):
        scope.report(
            "index-out-of-range",
            f"index {number} is outside a tuple of {len(elements)}",
            node.indices[0].span,
            f"the tuple has {len(elements)} elements",
            torch=f"Tuple index out of range. Tuple is length {len(elements)} and index is "
            f"{number}",
            torch_span=span,
            secondary=tuple(origin(scope, value)),
        )
        return scope.unknown(span)
    return typed.TupleIndex(span, elements[place], value, place, index)


def _tuple_item_at_run_time(
    scope: Scope,
    value: typed.Expr,
    elements: tuple[Type, ...],
    index: typed.Expr,
    node: tree.Subscript,
) -> typed.Expr:
    joined = join_all(elements) if elements else None
    if index.type != INT or joined is None:
        torch_text = (
            "tuple index must be an integer"
            if index.type != INT
            else f"Cannot index into a {value.type.annotation_str} with a non-integer "
            "literal because we cannot resolve the output type"
        )
        scope.report(
            "argument-type",
            f"a `{value.type.python}` can be indexed only by a literal integer",
            node.indices[0].span,
            "which element this is cannot be known here",
            torch=torch_text,
            torch_span=node.span,
            secondary=tuple(origin(scope, value)),
        )
        return scope.unknown(node.span)
    bindings = (typed.Given(0), typed.Given(1))
    return typed.OperatorCall(NOWHERE, joined, _TUPLE_INDEX, (value, index), bindings)


def _tuple_slice(
    scope: Scope, value: typed.Expr, elements: tuple[Type, ...], cut: SliceValue, span: Span
) -> typed.Expr:
    parts: list[int | None] = []
    for part in (cut.lower, cut.upper, cut.step):
        if part is None or (isinstance(part, typed.Literal) and part.value is None):
            parts.append(None)
        elif (number := integer_of(part)) is not None:
            parts.append(number)
        else:
            scope.report(
                "argument-type",
                "a tuple can be sliced only by literal integers",
                part.span,
                "not known here",
                torch="tuple slice indices must be integer constants",
                torch_span=span,
            )
            return scope.unknown(span)
    start, stop, step = slice(*parts).indices(len(elements))
    taken = tuple(elements[i] for i in range(start, stop, step))
    statements: list[typed.Statement] = []
    value = scope.let(value, statements)
    bounds = [part for part in (cut.lower, cut.upper, cut.step) if part is not None]
    statements += [typed.Evaluate(part.span, part) for part in bounds]
    result = typed.TupleSlice(span, TupleType(taken), value, start, stop, step)
    return typed.Sequenced(span, result.type, tuple(statements), result)


# ------------------------------------------------------------------------------- slices


@checks(tree.Slice)
def check_slice(scope: Scope, node: tree.Slice, hint: Type | None) -> SliceValue:
    """Check the parts of a slice."""
    lower, upper, step = (
        expression(scope, part) if part is not None else None
        for part in (node.lower, node.upper, node.step)
    )
    return SliceValue(node.span, lower, upper, step)


def _slice(scope: Scope, value: typed.Expr, cut: SliceValue, span: Span) -> typed.Expr:
    if value.type.tuple_of is not None:
        return _tuple_slice(scope, value, value.type.tuple_of, cut, span)
    return _slice_call(scope, [value], cut, span)


def _slice_call(scope: Scope, leading: list[typed.Expr], cut: SliceValue, span: Span) -> typed.Expr:
    """`aten::slice`; a bound that is not written is left to its default, a step is 1."""
    named: dict[str, typed.Expr] = {}
    if cut.lower is not None:
        named["start"] = cut.lower
    if cut.upper is not None:
        named["end"] = cut.upper
    named["step"] = cut.step if cut.step is not None else typed.Literal(span, INT, 1)
    given = Given(leading, named)
    return call_operator(scope, "aten::slice", given, span, written="[:]")


# ------------------------------------------------------------------------------ tensors


def tensor_item(scope: Scope, value: typed.Expr, node: tree.Subscript) -> typed.Expr:
    """`value[indices]` of a tensor; of anything else, that several indices are too many."""
    if value.type != TENSOR:
        scope.report(
            "argument-type",
            f"`{value.type.python}` takes one index, not {len(node.indices)}",
            node.span,
            f"`{node.value.span.text}` is `{value.type.python}`",
            torch="Unsupported operation: attempted to use multidimensional indexing on a "
            "non-tensor type",
            secondary=tuple(origin(scope, value)),
        )
        return scope.unknown(node.span)
    statements: list[typed.Statement] = []
    located = locate(scope, value, node.indices, node.span, statements, is_read=True)
    result = located.value
    if located.tensors and result.type is not UNKNOWN:
        indices = index_list(scope, located.tensors)
        given = Given([result, indices])
        result = call_operator(scope, "aten::index", given, node.span, written="[]")
    if not statements:
        return result
    return typed.Sequenced(node.span, result.type, tuple(statements), result)


def index_list(scope: Scope, tensors: list[typed.Expr | None]) -> typed.Expr:
    """The `Tensor?[]` of an advanced index."""
    elements = tuple(t if t is not None else scope.none(NOWHERE) for t in tensors)
    return typed.ListLiteral(NOWHERE, ListType(OptionalType(TENSOR)), elements)


def locate(
    scope: Scope,
    value: typed.Expr,
    nodes: tuple[tree.Expr, ...],
    span: Span,
    into: list[typed.Statement],
    *,
    is_read: bool = False,
) -> Located:
    """Apply ints, slices and Nones, from the left up to an ellipsis and from the right down
    to it; tensor indices are left over.  Evaluates, like torch, all plain indices first: each
    twice, a single one that `is_read` three times, unless that would show."""
    dims: list[int] = [0] * len(nodes)
    indices: list[Index] = [None] * len(nodes)
    plain = sum(not isinstance(n, tree.Slice) and not _is_ellipsis(n) for n in nodes)
    if plain:
        value = scope.let(value, into)
    again = 2 if is_read and len(nodes) == 1 else 1
    dots = next((i for i, n in enumerate(nodes) if _is_ellipsis(n)), len(nodes))
    dim = 0
    for i in range(dots):
        dims[i] = dim
        indices[i], dim = _step(scope, nodes[i], dim, False, again, span, into)
    dim = -1
    for i in range(len(nodes) - 1, dots, -1):
        if _is_ellipsis(nodes[i]):
            _report_ellipses(scope, nodes[i], span)
            return Located(scope.unknown(span), [])
        dims[i] = dim
        indices[i], dim = _step(scope, nodes[i], dim, True, again, span, into)
    return _apply(scope, value, nodes, indices, dims, span)


def _step(
    scope: Scope,
    node: tree.Expr,
    dim: int,
    reverse: bool,
    again: int,
    span: Span,
    into: list[typed.Statement],
) -> tuple[Index, int]:
    """Evaluate one index, and that often again, and say which dimension the next one is about."""
    after = dim - 1 if reverse else dim + 1
    if isinstance(node, tree.Slice):
        return None, after
    written = _index_value(scope, node)
    if isinstance(written, SliceValue):
        return written, after
    if is_repeatable(scope, written):
        into.extend([typed.Evaluate(written.span, written)] * again)
    index = found = _with_lists_as_tensors(scope, written)
    if not isinstance(index, typed.Uninitialized):
        index = scope.let(index, into)
    if index.type is UNKNOWN:
        return index, after
    if index.type is NONE:
        return index, dim if reverse else dim + 1
    if index.type == INT:
        return index, dim - 1 if reverse else dim
    if not reverse and is_subtype(index.type, OptionalType(TENSOR)):
        return index, dim + 1
    _report_index(scope, found, reverse, span)
    return scope.unknown(found.span), after


def _index_value(scope: Scope, node: tree.Expr) -> typed.Expr | SliceValue:
    """One index between brackets."""
    if isinstance(node, tree.Slice):
        return check_slice(scope, node, None)
    sugar = sugared(scope, node)
    if isinstance(sugar, SliceValue):
        return sugar
    return value_of(scope, sugar, node.span)


def _with_lists_as_tensors(scope: Scope, index: typed.Expr) -> typed.Expr:
    """An index, for which a list of numbers becomes a tensor of int64."""
    if index.type.list_of is None:
        return index
    dtype = typed.Literal(NOWHERE, INT, LONG)
    return call_operator(scope, "aten::tensor", Given([index], {"dtype": dtype}), NOWHERE)


def _apply(
    scope: Scope,
    value: typed.Expr,
    nodes: tuple[tree.Expr, ...],
    indices: list[Index],
    dims: list[int],
    span: Span,
) -> Located:
    tensors: list[typed.Expr | None] = []
    for node, index, dim in zip(nodes, indices, dims, strict=True):
        at = typed.Literal(span, INT, dim)
        if isinstance(node, tree.Slice):
            value = _slice_call(scope, [value, at], check_slice(scope, node, None), span)
        elif isinstance(index, SliceValue):
            value = _slice_call(scope, [value, at], index, span)
        elif index is None:
            continue
        elif index.type is UNKNOWN:
            return Located(scope.unknown(span), [])
        elif index.type is NONE:
            value = call_operator(scope, "aten::unsqueeze", Given([value, at]), span)
        elif index.type == INT:
            value = _select(scope, value, at, index, span)
        else:
            tensors.extend([None] * (dim + 1 - len(tensors)))
            tensors[dim] = index
    return Located(value, tensors)


def _select(
    scope: Scope, value: typed.Expr, dim: typed.Expr, index: typed.Expr, span: Span
) -> typed.Expr:
    """`aten::select`, whose index is evaluated before the constant of the dimension."""
    call = call_operator(scope, "aten::select", Given([value, dim, index]), span, written="[]")
    if not isinstance(call, typed.OperatorCall):
        return call
    order = {0: 0, 1: 2, 2: 1}
    bindings: list[typed.Binding] = []
    for binding in call.bindings:
        assert isinstance(binding, typed.Given)
        bindings.append(typed.Given(order[binding.index], binding.conversions))
    inputs = (value, index, dim)
    return replace(call, inputs=inputs, bindings=tuple(bindings))


# ------------------------------------------------------------------------------- errors


def _report_index(scope: Scope, index: typed.Expr, reverse: bool, span: Span) -> None:
    if reverse and is_subtype(index.type, OptionalType(TENSOR)):
        message = "a tensor index cannot follow `...`"
        torch = "Ellipses followed by tensor indexing is currently not supported"
    else:
        message = f"a tensor cannot be indexed by `{index.type.python}`"
        torch = (
            "Unsupported operation: indexing tensor with unsupported index type "
            f"'{index.type.annotation_str}'. Only ints, slices, lists and tensors are "
            "supported"
        )
    scope.report(
        "argument-type",
        message,
        index.span,
        f"this is `{index.type.python}`",
        torch=torch,
        torch_span=span,
        secondary=tuple(origin(scope, index)),
        helps=whole_division(scope.frame, index),
    )


def _report_ellipses(scope: Scope, node: tree.Expr, span: Span) -> None:
    scope.report(
        "argument-type",
        "an index can have only one `...`",
        node.span,
        "a second one",
        torch="An index can only have a single ellipsis ('...')",
        torch_span=span,
    )


def _is_ellipsis(node: tree.Expr) -> bool:
    return isinstance(node, tree.Literal) and node.value is ...
