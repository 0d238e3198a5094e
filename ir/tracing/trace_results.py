"""What a traced function returns, as outputs of the graph."""

from __future__ import annotations

from typing import Final

from ...ops.python_values.display_aten import format_for_print, format_tensor
from ...ops.tensors.tensor import Tensor
from ...typecheck.types.types import STRING, TENSOR, DictType, ListType, TupleType, Type
from ..graphs.graph import Value
from .trace_writer import Writer

__all__ = ["STRICT", "give"]

STRICT: Final = (
    " might cause the trace to be incorrect, this is only valid if the container structure does "
    "not change based on the module's inputs. Consider using a constant container instead (e.g. "
    "for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely "
    "need this and know the side effects, pass strict=False to trace() to allow this behavior."
)


def give(tracer: Writer, result: object) -> Value:
    """The value of what a traced function returns, or of a part of it.

    Raises:
        RuntimeError: it is nothing that a traced function can return.
    """
    if isinstance(result, Tensor):
        found = tracer.known.get(id(result._array))
        if found is None:
            tracer.refuse_gradients(result)
            told = format_tensor(result._array, recorded=True)
            raise RuntimeError(
                f"output 1 ({told}) of traced region did not have observable data dependence with "
                "trace inputs; this probably indicates your program cannot be understood by the "
                "tracer."
            )
        return found
    if isinstance(result, tuple):
        parts = [give(tracer, each) for each in result]
        made = TupleType(tuple(part.type for part in parts))
        of_tuple = tracer.insert("prim::TupleConstruct", parts, [made])
        return of_tuple.output
    if isinstance(result, list) and result and all(isinstance(e, Tensor) for e in result):
        if tracer.strict:
            tracer.warn("Encountering a list at the output of the tracer" + STRICT)
        parts = [give(tracer, each) for each in result]
        of_list = tracer.insert("prim::ListConstruct", parts, [ListType(TENSOR)])
        return of_list.output
    if isinstance(result, dict):
        return _give_dict(tracer, result)
    raise RuntimeError(
        "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from "
        "traced functions"
    )


def _give_dict(tracer: Writer, result: dict[object, object]) -> Value:
    if tracer.strict:
        raise RuntimeError("Encountering a dict at the output of the tracer" + STRICT)
    kinds = {isinstance(key, Tensor) for key in result}
    simple = all(isinstance(k, str | Tensor) and _is_simple(v) for k, v in result.items())
    if not simple or len(kinds) > 1:
        raise RuntimeError(
            f"output 1 ({format_for_print(result)}) of traced region cannot be understood by the "
            "tracer, only outputs matching dict[Union[str, Tensor], Union[Tensor, Tuple[Tensor, "
            "...]]] can be a dictionary output of a traced function"
        )
    inputs: list[Value] = []
    for key, value in result.items():
        at = give(tracer, key) if isinstance(key, Tensor) else tracer.constant(key, STRING)
        inputs += (at, give(tracer, value))
    first = inputs[1].type if inputs else TENSOR
    element: Type = TENSOR
    if first.tuple_of is not None:
        element = TupleType((TENSOR,) * len(first.tuple_of))
    made = DictType(TENSOR if kinds == {True} else STRING, element)
    return tracer.insert("prim::DictConstruct", inputs, [made]).output


def _is_simple(value: object) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(each, Tensor) for each in value)
    return isinstance(value, Tensor)
