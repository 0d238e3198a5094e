"""Names the checker itself knows: the table of them, casts, and builtins that are operators."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace
from inspect import isbuiltin
from typing import Final

from ...frontend.diagnostics.diagnostics import Help, Label
from ...frontend.foundations.declared import Declared
from ...frontend.syntax import tree
from ...frontend.syntax.torch_ranges import whole_range
from ..definitions.functions import PythonFunction
from ..definitions.names import SpecialForm
from ..definitions.schema import Argument, Signature
from ..expressions.arguments import check_arguments
from ..expressions.function_calls import call_method
from ..expressions.narrowing import cast_by, has_length, to_bool
from ..expressions.operators import call_operator
from ..relations.matching import Given, match_signature
from ..relations.relations import is_subtype
from ..reports.mismatch_texts import text_of_one
from ..scopes.advice import KEYWORDS
from ..scopes.idioms import by_key, for_builtin, is_about_lambda, taken_back
from ..scopes.scope import Scope
from ..scopes.values import sequenced
from ..trees import typed
from ..trees.sugar import MAGIC, Sugar
from ..types.types import BOOL, COMPLEX, FLOAT, INT, STRING, TENSOR, UNKNOWN, Type

__all__ = [
    "CASTS_BY_NAME",
    "Form",
    "OPERATORS_BY_NAME",
    "SPECIAL",
    "constructed_type",
    "special",
    "special_form",
    "takes",
    "tell_keywords",
]

OPERATORS_BY_NAME = {
    **{name: f"prim::{name}" for name in ("min", "max", "abs", "id", "rangelist")},
    **{
        name: f"aten::{name}"
        for name in (
            *("len", "hex", "oct", "bin", "round", "hash", "all", "any", "divmod", "sum"),
            *("ord", "chr", "pow", "sorted"),
        )
    },
    "wait": "aten::wait",
}
"""Builtins that are operators and nothing more."""

CASTS_BY_NAME: dict[str, tuple[Type, str]] = {
    "int": (INT, "aten::Int"),
    "float": (FLOAT, "aten::Float"),
    "complex": (COMPLEX, "aten::Complex"),
    "bool": (BOOL, "aten::Bool"),
    "str": (STRING, "aten::str"),
}

Form = Callable[[Scope, tree.Call, Type | None], Sugar]

SPECIAL: Final[Declared[str, Form]] = Declared()
"""What a call of each name stands for; `forms` puts them in."""


def special(name: str) -> Callable[[Form], Form]:
    """Put in what a call of a name stands for; the last argument is the type that is wanted."""
    return SPECIAL.of(name)


def special_form(scope: Scope, form: SpecialForm, node: tree.Call, hint: Type | None) -> Sugar:
    """A call of a name the checker itself knows."""
    handler = SPECIAL.get(form.name)
    if handler is not None:
        return handler(scope, node, hint)
    statements: list[typed.Statement] = []
    told = len(scope.collector.found)
    given = check_arguments(scope, node, statements)
    if form.name in OPERATORS_BY_NAME and node.keywords:
        tell_keywords(scope, form.name, OPERATORS_BY_NAME[form.name], node)
    magic = _magic(scope, form.name, given, node)
    if magic is not None:
        return magic
    if form.name in CASTS_BY_NAME:
        return sequenced(statements, _cast(scope, form.name, given, node), node.span)
    if form.name in OPERATORS_BY_NAME:
        result = call_operator(
            scope,
            OPERATORS_BY_NAME[form.name],
            given,
            node.span,
            written=form.name,
            torch_span=node.function.span,
        )
        return sequenced(statements, result, node.span)
    left = _left_to_python(scope, form.name, given, node)
    if left is not None:
        return sequenced(statements, left, node.span)
    inner = taken_back(scope, told, node.span)
    is_unnamed = isbuiltin(getattr(builtins, form.name, None))  # refused where its name stands
    if is_unnamed and inner is not None and not is_about_lambda(inner):
        inner = None
    reported = len(scope.collector.found)
    scope.report(
        "not-scriptable",
        f"`{form.name}` cannot be used in script",
        node.function.span,
        "called here",
        torch=inner.torch_message if inner is not None else _refusal(scope, form.name, given),
        torch_span=inner.torch_span if inner is not None else None,
        exception=inner.exception if inner is not None else "RuntimeError",
        helps=for_builtin(scope, form.name, node),
    )
    if is_unnamed:
        scope.collector.move_up(reported, told)
    return scope.unknown(node.span)


def _left_to_python(scope: Scope, name: str, given: Given, node: tree.Call) -> typed.Expr | None:
    """A call of one of Python's own classes in live code, which gives a tensor as far as anybody
    knows: errors are worded with `type(x)`.  None if that is none over tensors."""
    cls = getattr(builtins, name, None)
    if not isinstance(cls, type) or given.keywords or scope.function.is_text:
        return None
    signature = _over_tensors(name, given)
    found = match_signature(signature, given, scope.table, convert=True)
    if not found:
        return None
    function = PythonFunction(name, cls, signature)
    return typed.PythonCall(node.span, found.result(), function, found.inputs, found.bindings)


def _over_tensors(name: str, given: Given) -> Signature:
    """What torch takes a class of Python's for: a function over tensors."""
    arguments = tuple(Argument(str(i), TENSOR) for i in range(len(given.positional)))
    return Signature(name, "", arguments, (Argument("0", TENSOR),))


def _refusal(scope: Scope, name: str, given: Given) -> str:
    """torch's sentence."""
    if isinstance(getattr(builtins, name, None), type) and not given.keywords:
        found = match_signature(_over_tensors(name, given), given, scope.table, convert=True)
        if not found:
            return text_of_one(scope, found, None)
    return f"Python builtin <built-in function {name}> is currently not supported in Torchscript"


def tell_keywords(scope: Scope, name: str, operator: str, node: tree.Call) -> None:
    """Put in the place of errors in a keyword's value that there is no such keyword; of a `lambda`
    what to do without."""
    known = {
        argument.name
        for signature in scope.table.overloads(operator)
        for argument in signature.arguments
    }
    found = scope.collector.found
    for keyword in node.keywords:
        if keyword.name in known:
            continue
        place = keyword.span.whole
        for at, error in enumerate(found):
            if error.primary is not None and not error.primary.span.whole.is_within(place):
                continue
            if is_about_lambda(error):
                found[at] = replace(error, helps=by_key(node, keyword, name) or error.helps)
                continue
            found[at] = replace(
                error,
                code="unknown-keyword",
                message=f"`{name}` has no parameter `{keyword.name}`",
                primary=Label(place, "no such parameter"),
                helps=tuple(Help(text) for text in (KEYWORDS.get(keyword.name or ""),) if text),
            )


def _magic(scope: Scope, name: str, given: Given, node: tree.Call) -> Sugar | None:
    """`len(obj)` and the like, for an object of a script class."""
    method = MAGIC.get(name)
    if method is None or len(given.positional) != 1:
        return None
    value = given.positional[0]
    if not value.type.is_class:
        return None
    return call_method(scope, value, method, [], node.span)


def _cast(scope: Scope, name: str, given: Given, node: tree.Call) -> typed.Expr:
    type, operator = CASTS_BY_NAME[name]
    if len(given.positional) == 1 and not given.keywords:
        value = given.positional[0]
        if value.type is UNKNOWN:
            return typed.Uninitialized(node.span, type)
        if is_subtype(value.type, type):
            return typed.Numbered(node.span, value.type, value)
        if name == "bool" and has_length(value):
            return to_bool(scope, value, node.span)
    call = call_operator(
        scope, operator, given, node.span, written=name, torch_span=node.function.span
    )
    return cast_by(call) if len(given.all) == 1 else call


def takes(scope: Scope, node: tree.Call, least: int, most: int) -> bool:
    """Report a form called with a wrong number of arguments, or with keywords."""
    name, count = node.function.span.text, len(node.arguments)
    if least <= count <= most and not node.keywords:
        return True
    wanted = str(least) if least == most else f"{least} to {most}"
    code = "too-many-arguments" if count > most else "missing-argument"
    if node.keywords:
        code = "unknown-keyword"
    scope.report(
        code,
        f"`{name}` takes {wanted} arguments, and none by name"
        if node.keywords
        else f"`{name}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}",
        node.keywords[0].span if node.keywords else node.function.span,
        "given by name" if node.keywords else "called here",
        torch=_wrong_count(name, least, most, node),
        torch_span=whole_range(node) if most else node.function.span,
    )
    return False


def constructed_type(hint: Type | None, cls: type[Type]) -> Type | None:
    """A hint, if it is of the wanted kind, without its optional."""
    return hint.inner if hint is not None and isinstance(hint.inner, cls) else None


def _wrong_count(name: str, least: int, most: int, node: tree.Call) -> str:
    """torch's words for too few or too many arguments of a form, or for keywords."""
    count = len(node.arguments)
    if name in ("range", "enumerate", "zip"):
        word, bound = ("least", least) if count < least else ("most", most)
        return f"{name} expected at {word} {bound} arguments, got {count}"
    if name == "slice":
        if node.keywords:
            return "Slice does not accept any keyword arguments"
        return f"slice accepts exactly 1, 2 or 3 arguments, got: {count}"
    if node.keywords and least <= count <= most:
        return f"{name} takes no keyword arguments"
    if 0 < least < most:
        wanted = f"to have number of arguments between {least} and {most}"
        return f"{name} expected {wanted} but found {count}"
    return f"{name} expected exactly {most} arguments but found {count}"
