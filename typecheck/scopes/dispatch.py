"""The checks by kind of syntax node: one table for expressions, one for statements.

Files about one subject each put their checks in (`@checks(tree.Call)`) and reach those of others
through `expression`, `sugared` and `block`, so that no file needs to know all forms.  `checker`
imports all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from ...frontend.foundations.declared import Declared
from ...frontend.limits.clock import checkpoint
from ...frontend.syntax import tree
from ..trees import typed
from ..trees.sugar import Sugar
from ..types.types import Type
from .lint import warn_unreachable
from .scope import Scope
from .values import as_any, value_of

__all__ = ["block", "checks", "checks_statement", "expression", "is_text", "sugared"]

E = TypeVar("E", bound=tree.Expr)
S = TypeVar("S", bound=tree.Statement)
R = TypeVar("R", bound=Sugar)

Check = Callable[[Scope, E, Type | None], R]
StatementCheck = Callable[[Scope, S, list[typed.Statement]], None]

_EXPRESSIONS: Final[Declared[type[tree.Expr], Callable[..., Sugar]]] = Declared()
_STATEMENTS: Final[Declared[type[tree.Statement], Callable[..., None]]] = Declared()


def checks(kind: type[E]) -> Callable[[Check[E, R]], Check[E, R]]:
    """Put in what says what expressions of a kind stand for.

    It is given the type that is wanted, for what has none of its own (`[]`, `x.tolist()`).
    """

    def put_in(check: Check[E, R]) -> Check[E, R]:
        _EXPRESSIONS.put([kind], check)
        return check

    return put_in


def checks_statement(kind: type[S]) -> Callable[[StatementCheck[S]], StatementCheck[S]]:
    """Put in what appends the typed form of statements of a kind to a list."""
    return _STATEMENTS.of(kind)


def sugared(scope: Scope, node: tree.Expr, hint: Type | None = None) -> Sugar:
    """What an expression stands for, a value or not."""
    checkpoint()
    return _EXPRESSIONS.get(type(node), _misplaced)(scope, node, hint)


def expression(scope: Scope, node: tree.Expr, hint: Type | None = None) -> typed.Expr:
    """The typed form of an expression that must be a value."""
    return as_any(value_of(scope, sugared(scope, node, hint), node.span), hint)


def block(scope: Scope, statements: tuple[tree.Statement, ...]) -> tuple[typed.Statement, ...]:
    """Check statements in the current frame; what follows an exit is not looked at."""
    into: list[typed.Statement] = []
    for number, statement in enumerate(statements):
        if scope.frame.exits:
            if number and not isinstance(statement, tree.Pass):
                warn_unreachable(scope, statement, statements[number - 1])
            break
        checkpoint()
        scope.collector.at = statement.span
        if not is_text(statement):
            into.append(typed.Line(statement.span))
        _STATEMENTS[type(statement)](scope, statement, into)
    return tuple(into)


def is_text(statement: tree.Statement) -> bool:
    """Whether a statement is a docstring or the like, which Python does not run."""
    return isinstance(statement, tree.ExpressionStatement) and isinstance(
        statement.value, tree.Literal
    )


def _misplaced(scope: Scope, node: tree.Expr, hint: Type | None) -> Sugar:
    """A form that only some places allow (`*a`)."""
    scope.report(
        "unsupported-syntax",
        "this cannot stand here",
        node.span,
        "not expected here",
        torch="Unsupported expression",
    )
    return scope.unknown(node.span)
