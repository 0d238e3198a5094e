"""Operators computed beforehand, for what the clean-up of graphs finds to be constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.passes.context import PassContext
from ...ops.table.table import TABLE
from ...typecheck.definitions.schema import Signature
from ..bounds.guard import active_guard
from ..code.calls import Calls

__all__ = ["CONTEXT", "evaluate"]


def evaluate(signature: Signature, values: Sequence[object]) -> object:
    """The result of an operator, for what the clean-up of inlined graphs computes beforehand."""
    forward = Calls(guard=active_guard()).forward(TABLE.of(signature))
    with np.errstate(all="ignore"):
        result: object = forward(*values)
    return result


CONTEXT = PassContext(TABLE, evaluate)
"""What inlining is handed."""
