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

from ..typecheck.schema import OperatorTable
from ..typecheck.typed import TypedFunction
from .emitter import Evaluate
from .graph import Graph
from .lower_statements import StatementLowering

__all__ = ["lower"]


def lower(function: TypedFunction, table: OperatorTable, evaluate: Evaluate) -> Graph:
    """Emit a function's body.

    Raises:
        LookupError: `table` lacks an operator that the language itself needs.
        NotImplementedError: there is no lowering for a form of the typed tree.
    """
    return StatementLowering(table, evaluate).function(function)
