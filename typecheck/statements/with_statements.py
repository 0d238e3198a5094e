"""`with`, and what can be entered and left."""

from __future__ import annotations

from ...frontend.syntax import tree
from ...frontend.syntax.torch_ranges import whole_range
from ..binding.assignments import assign_name
from ..definitions.class_types import ClassType
from ..definitions.functions import Function
from ..expressions.function_calls import signature_of
from ..scopes.dispatch import block, checks_statement, expression
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import ANY, UNKNOWN


@checks_statement(tree.With)
def check_with(scope: Scope, node: tree.With, into: list[typed.Statement]) -> None:
    """`with context as name:`; the variables of its body are those of the block around it."""
    contexts = tuple(c for item in node.items if (c := _context(scope, item)) is not None)
    body = block(scope, node.body)
    into.append(typed.With(node.span, contexts, body))


def _context(scope: Scope, item: tree.WithItem) -> typed.WithContext | None:
    value = expression(scope, item.context)
    enter = None if value.type is UNKNOWN else _context_methods(scope, value, item)
    if enter is None:
        if isinstance(item.target, tree.Name):
            assign_name(scope, item.target, scope.unknown(item.span), [])
        return None
    signature = signature_of(scope, enter, item.context, item.context.span)
    if signature is None:
        return None
    if len(signature.arguments) != 1:
        _report_context(
            scope,
            item,
            "`__enter__` takes nothing but the object",
            "__enter__ must have only one argument and one return value",
        )
        return None
    target: str | None = None
    if isinstance(item.target, tree.Name):
        target = item.target.id
        type = signature.returns[0].type
        assign_name(scope, item.target, typed.Uninitialized(item.span, type), [])
    elif item.target is not None:
        scope.report(
            "unsupported-syntax",
            "`as` of a `with` needs one name",
            item.target.span,
            "not a name",
            torch="__init__(): incompatible constructor arguments. The following argument "
            "types are supported: 1. torch._C._jit_tree_views.WithItem",
        )
    return typed.WithContext(item.span, value, signature, target)


def _context_methods(scope: Scope, value: typed.Expr, item: tree.WithItem) -> Function | None:
    """`__enter__` of what a `with` enters, if it can be entered and left."""
    cls = value.type
    if not isinstance(cls, ClassType):
        torch = "With item expression must return an object"
        _report_context(scope, item, f"`{cls.python}` is no context manager", torch)
        return None
    enter, leave = cls.method("__enter__"), cls.method("__exit__")
    if enter is None or leave is None:
        torch = (
            "Object returned by with item expression does not define __enter__ and __exit__ methods"
        )
        _report_context(scope, item, f"`{cls.python}` is no context manager", torch)
        return None
    left = signature_of(scope, leave, item.context, item.context.span)
    if left is None:
        return None
    types = [argument.type for argument in left.arguments]
    odd = next((i for i, type in enumerate(types) if i and type is not ANY), None)
    if len(types) != 4:
        torch = "__exit__ must have four arguments"
        _report_context(scope, item, "`__exit__` takes three arguments besides the object", torch)
    elif odd is not None:
        torch = (
            f"argument {odd} of __exit__ must have Any type; TorchScript does not currently "
            "support passing exception type, value, or traceback to the __exit__ function."
        )
        _report_context(scope, item, "the arguments of `__exit__` must be annotated as Any", torch)
    else:
        return enter
    return None


def _report_context(scope: Scope, item: tree.WithItem, message: str, torch: str) -> None:
    scope.report(
        "argument-type",
        message,
        item.context.span,
        "it needs `__enter__(self)` and `__exit__(self, t: Any, value: Any, traceback: Any)`",
        torch=torch,
        torch_span=whole_range(item.context),
    )
