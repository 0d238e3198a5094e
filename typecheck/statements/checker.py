"""Checking a function: tree -> typed tree.

Checks are functions over a `Scope`, a file a subject, in rooms that are named after what they
check.  A file reaches lower ones by import and the others through the table of
`scopes/dispatch.py`.
"""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Collector
from ..binding import comprehensions, elements, targets  # noqa: F401  (they fill the tables)
from ..calls import forms  # noqa: F401
from ..definitions.functions import Function
from ..definitions.names import Resolver
from ..definitions.schema import OperatorTable
from ..expressions import displays, expressions  # noqa: F401
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import NamedType
from . import statements, with_statements  # noqa: F401
from .bodies import function_body

__all__ = ["check_function"]


def check_function(
    function: Function,
    resolver: Resolver,
    table: OperatorTable,
    collector: Collector,
    *,
    self_type: NamedType | None = None,
) -> typed.TypedFunction | None:
    """Check a function's tree; diagnostics go to the collector.

    `function.declared` is set before the body is looked at if the return type is annotated, else
    after; with an error in the body it is set all the same, so that callers can be checked.
    `self_type` is a method's class.

    Returns:
        The typed tree, or None if there was an error.
    """
    before = len(collector.errors)
    result = function_body(Scope(function, resolver, table, collector, self_type))
    return result if len(collector.errors) == before else None
