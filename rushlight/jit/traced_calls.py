"""Calls of compiled functions and methods while a tracer listens: they stay calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..interpreter.running.calling import call
from ..interpreter.values.objects import ScriptObject
from ..ir.tracing.tracing import GraphTracer
from ..ops.tensors.tracing import current_tracer
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.schema import Argument

__all__ = ["call_traced"]


def call_traced(
    function: Function,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    owner: ScriptObject | None = None,
) -> object:
    """Run a function; a tracer notes one call of it.

    Raises:
        RuntimeError: it fails, or belongs to a module that is no part of the traced one.
    """
    tracer = current_tracer()
    if not isinstance(tracer, GraphTracer):
        return call(function, args, kwargs, owner)
    target = None
    if owner is not None:
        target = tracer.known.get(id(owner))
        if target is None:
            raise RuntimeError(
                f"Tried to trace <{owner.cls.qualified_name} object at {id(owner):#x}> but it is "
                "not part of the active trace. Modules that are called during a trace must be "
                "registered as submodules of the thing being traced."
            )
    signature = function.signature
    given = [
        (_argument(place, argument, args, kwargs), argument.type)
        for place, argument in enumerate(signature.arguments[owner is not None :])
    ]
    returns = signature.returns[0].type
    output = tracer.call(function, target, given, returns)
    with tracer.pause():
        result = call(function, args, kwargs, owner)
    tracer.spread(result, output)
    return result


def _argument(
    place: int, argument: Argument, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    if place < len(args):
        return args[place]
    if argument.name in kwargs:
        return kwargs[argument.name]
    return argument.default if argument.has_default else None
