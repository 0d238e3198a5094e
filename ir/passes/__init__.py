"""Passes over graphs, each a file: `Graph, PassContext -> whether anything changed`.

`PASSES` are those that clean up a graph when its function is defined, in order.
"""

from __future__ import annotations

from ..graphs.graph import Graph
from .canonical_loops import canonicalize_loops
from .constant_pooling import pool_constants
from .constant_propagation import propagate_constants
from .context import Pass, PassContext
from .empty_lists import make_empty_lists
from .normalize import normalize
from .outputs import canonicalize_outputs
from .tuples import remove_tuples
from .warnings import number_warnings

__all__ = ["PASSES", "Pass", "PassContext", "clean"]

PASSES: tuple[Pass, ...] = (
    Pass("canonicalize-loops", canonicalize_loops, "first, so that all others see one form"),
    Pass("make-empty-lists", make_empty_lists, "before passes ask how lists were made"),
    Pass("normalize", normalize, "before anything looks at operators by name"),
    Pass("remove-tuples", remove_tuples, "uncovers constants and dead code"),
    Pass("propagate-constants", propagate_constants, "needs elements instead of tuples"),
    Pass("pool-constants", pool_constants, "after propagation, which makes constants"),
    Pass("canonicalize-outputs", canonicalize_outputs, "late: the order of uses is final"),
    Pass("number-warnings", number_warnings, "last: those that stay are known"),
)


def clean(graph: Graph, context: PassContext) -> None:
    """Run them all."""
    for each in PASSES:
        each.run(graph, context)
