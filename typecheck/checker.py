"""Checking a function: tree -> typed tree.

Checks are functions over a `Scope`, a file a subject, the lower first:

    scope          frame, tables, reports          iteration      what `for` runs over
    values         from meaning to value           subscripts     value[index]
    dispatch       the checks by kind of node      conversions    implicit conversion
    mismatches     arguments that do not fit       assignments    names, attributes, elements,
    operators      calls of operators              targets          whatever is assigned to
    function_calls calls of functions, methods     calls          whatever can be called
    attributes     value.name                      displays       lists, dicts, comprehensions
    narrowing      conditions, refinements         forms          range, isinstance, annotate, ...
    containers     members of live modules         expressions, statements: the rest

A file reaches lower ones by import and the others through the table.
"""

from __future__ import annotations

from ..frontend.diagnostics.diagnostics import Collector
from . import (  # noqa: F401  (they put their checks in the tables)
    comprehensions,
    displays,
    elements,
    expressions,
    forms,
    statements,
    targets,
    typed,
    with_statements,
)
from .bodies import function_body
from .functions import Function
from .names import Resolver
from .schema import OperatorTable
from .scope import Scope
from .types import NamedType

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
