"""How the forms of the typed tree become nodes: one table for expressions, one for statements.

Files about one subject each put their forms in (`@lowers(typed.Fork)`) and reach those of others
through `lowered` and `lower_block`.  `lower` imports all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from ...frontend.foundations.declared import Declared
from ...frontend.limits.clock import checkpoint
from ...typecheck.trees import typed
from ..graphs.graph import Graph, Value
from .emitter import Emitter, is_meaningful

__all__ = [
    "all_lowered",
    "lower_block",
    "lower_function",
    "lowered",
    "lowers",
    "lowers_statement",
]

E = TypeVar("E", bound=typed.Expr)
S = TypeVar("S", bound=typed.Statement)

Lowering = Callable[[Emitter, E], Value]
StatementLowering = Callable[[Emitter, S], None]

_EXPRESSIONS: Final[Declared[type[typed.Expr], Callable[..., Value]]] = Declared()
_STATEMENTS: Final[Declared[type[typed.Statement], Callable[..., None]]] = Declared()


def lowers(kind: type[E]) -> Callable[[Lowering[E]], Lowering[E]]:
    """Put in what emits expressions of a kind and gives their value."""
    return _EXPRESSIONS.of(kind)


def lowers_statement(kind: type[S]) -> Callable[[StatementLowering[S]], StatementLowering[S]]:
    """Put in what emits statements of a kind."""
    return _STATEMENTS.of(kind)


def lowered(emitter: Emitter, expr: typed.Expr) -> Value:
    """Emit an expression and give its value."""
    checkpoint()
    return _EXPRESSIONS[type(expr)](emitter, expr)


def all_lowered(emitter: Emitter, expressions: Sequence[typed.Expr]) -> list[Value]:
    """Emit expressions, in order."""
    return [lowered(emitter, each) for each in expressions]


def lower_block(emitter: Emitter, statements: Sequence[typed.Statement]) -> None:
    """Emit statements; those after a return or raise are never reached and left out."""
    for statement in statements:
        _STATEMENTS[type(statement)](emitter, statement)
        if emitter.frames[-1].block in emitter.leaving:
            return


def lower_function(emitter: Emitter, function: typed.TypedFunction) -> Graph:
    """The graph of a function, which is all that an emitter can lower."""
    graph = emitter.graph
    with emitter.in_block(graph.block):
        for parameter in function.parameters:
            value = graph.add_input(parameter.type)
            if is_meaningful(parameter.name):
                value.name = parameter.name
            emitter.store(parameter.name, value)
        lower_block(emitter, function.body)
        graph.block.add_output(emitter.uninitialized(function.returns))
    return graph
