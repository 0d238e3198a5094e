"""A typed function as a graph that still has variables and exits in it.

def f(x: int):          graph(%x : int):
    while x > 3:          prim::Store[name="x"](%x)
        x = x - 1         prim::Loop(9223372036854775807)
    return x                block0(%i : int): ... prim::Store[name="x"](%5) -> ()
                            block1(): ... -> (%cond)
                          %7 : int = prim::Load[name="x"]()
                          prim::ReturnStmt(%7)
                          return (an uninitialized value)
"""

from __future__ import annotations

from ...typecheck.definitions.schema import OperatorTable
from ...typecheck.trees.typed import TypedFunction
from ..graphs.graph import Graph
from . import (  # noqa: F401  (they put their forms in the tables)
    lower_calls,
    lower_expressions,
    lower_loops,
    lower_statements,
)
from .emitter import Emitter, Evaluate
from .lowering import lower_function

__all__ = ["lower"]


def lower(
    function: TypedFunction, table: OperatorTable, evaluate: Evaluate, *, keeps_lines: bool = False
) -> Graph:
    """Emit a function's body; if it `keeps_lines`, with a `prim::Line` for each statement.

    Raises:
        LookupError: `table` lacks an operator that the language itself needs.
    """
    return lower_function(Emitter(table, evaluate, keeps_lines=keeps_lines), function)
