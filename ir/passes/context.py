"""What passes are handed: they know no operators of their own and compute nothing themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...typecheck.definitions.schema import OperatorTable
from ..graphs.graph import Graph
from ..lowering.emitter import Evaluate

__all__ = ["Pass", "PassContext"]


@dataclass(frozen=True, slots=True)
class PassContext:
    """The operator table, and a function that computes an operator over constants."""

    table: OperatorTable
    evaluate: Evaluate


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass: `run` changes a graph and says whether it did; `why` says why it stands where."""

    name: str
    run: Callable[[Graph, PassContext], bool]
    why: str
