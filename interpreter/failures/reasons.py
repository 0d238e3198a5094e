"""Why a run-time failure came about: where its values were made, its layer, what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from string import Formatter

import numpy as np

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.sources.source import UNKNOWN, Span
from ...ir.graphs.graph import Node, Value
from ...ops.memory.errors import OperatorError
from ...typecheck.definitions.functions import Function
from ..code.code import Code
from ..code.instructions import read_numbers, row
from .describe import MOST, Operand

__all__ = [
    *("advice", "declared_optional", "layer_path", "made_labels", "origin_of", "still_known"),
]

LONGEST = 60
"""Longer expressions are not repeated."""

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
_ABOUT_WHOLE_TENSORS = frozenset({"shape-mismatch", "dtype-mismatch"})


def still_known(code: Code, node: Node, read: Callable[[int], object]) -> dict[Value, object]:
    """The values of variables that a failing node's operands were computed from, as far as their
    registers were not written since."""
    known: dict[Value, object] = {}
    places = {each: index for index, each in enumerate(code.nodes)}
    end = places.get(node, -1)
    for operand in node.inputs:
        begin = places.get(operand.node, end)
        numbers = read_numbers(code.instructions[begin]) if begin < end else []
        if len(numbers) != len(operand.node.inputs):
            continue
        for value, number in zip(operand.node.inputs, numbers, strict=True):
            if number < 0 or not _is_written(code, number, range(begin, end)):
                known[value] = read(number)
    return known


def _is_written(code: Code, register: int, places: range) -> bool:
    for index in places:
        instruction = code.instructions[index]
        for kind, operand in zip(row(instruction).kinds, instruction[1:], strict=True):
            if kind == "R" and operand == register:
                return True
            if kind == "R*" and isinstance(operand, tuple) and register in operand:
                return True
    return False


# ----------------------------------------------------------------------------- where from


def origin_of(operand: Operand, node: Node, code: str) -> str:
    """Where the value of an operand was made: `from `h = self.first(x)` (line 22)`."""
    if code not in _ABOUT_WHOLE_TENSORS or not isinstance(operand.found, np.ndarray):
        return ""
    value = operand.value
    if value.node.kind == "prim::Param" and operand.found.size > MOST:
        return _argument(value) if node.call_stack else ""
    if value.node.kind == "prim::Param":
        return ""
    span = _common_span(value.node, node)
    text = span.text if span is not None else ""
    if span is None or value.base_name is None or "\n" in text or len(text) > LONGEST:
        return ""
    return f"from `{value.base_name} = {text}` (line {span.line})"


def _argument(value: Value) -> str:
    """`the first argument of the call`, for an input of the whole graph."""
    inputs = [v for v in value.node.outputs if not v.type.is_class]
    place = inputs.index(value) if value in inputs else len(_PLACES)
    return f"the {_PLACES[place]} argument of the call" if place < len(_PLACES) else ""


def _common_span(made: Node, used: Node) -> Span | None:
    """The place of a node, or of the call it was inlined from, in the innermost function that
    also leads to another node."""
    shared = 0
    for one, other in zip(made.call_stack, used.call_stack, strict=False):
        if one != other:
            break
        shared += 1
    span = made.call_stack[shared].span if shared < len(made.call_stack) else made.span
    span = span.original or span
    return None if span.source is UNKNOWN.source else span


def made_labels(operands: Sequence[Operand], node: Node, cause: Exception) -> tuple[Label, ...]:
    """The places that explain a failure: where an index was computed, a layer built."""
    code = cause.code if isinstance(cause, OperatorError) else ""
    labels: list[Label] = []
    if code == "index-out-of-range":
        labels.extend(_index_label(operand, node) for operand in operands[1:2])
    if isinstance(cause, OperatorError) and cause.layer:
        labels.extend(_built_label(operand, node) for operand in operands)
    return tuple(label for label in labels if label.span is not UNKNOWN)


_NOTHING = Label(UNKNOWN, "")


def _index_label(operand: Operand, node: Node) -> Label:
    made = operand.value.node
    is_plain = isinstance(operand.found, int) and operand.text.isidentifier()
    if not is_plain or made.span.source is not node.span.source or made.blocks or made.is_constant:
        return _NOTHING
    return Label(made.span.whole, f"`{operand.text}` is {operand.found}")


def _built_label(operand: Operand, node: Node) -> Label:
    """Where the module that holds a weight was made, if a class says so."""
    if operand.parameter != "weight" or operand.value.node.kind != "prim::GetAttr":
        return _NOTHING
    module = operand.value.node.inputs[0].node
    if module.kind != "prim::GetAttr":
        return _NOTHING
    owner = module.inputs[0].type
    name = str(module.attributes["name"])
    place = owner.place(name)
    if place is None or place.value is None:
        return _NOTHING
    return Label(place.value, f"`{layer_path(operand, node) or name}` was built here")


def layer_path(operand: Operand, node: Node) -> str:
    """The path of the module that holds a weight, below the module that was called."""
    if operand.parameter != "weight" or operand.value.node.kind != "prim::GetAttr":
        return ""
    sites = [site.module for site in node.call_stack if site.module]
    return ".".join(sites)


# --------------------------------------------------------------------------------- advice


def advice(cause: Exception, operands: Sequence[Operand]) -> tuple[Help, ...]:
    """What an operator's error advises, in the program's own expressions."""
    if not isinstance(cause, OperatorError):
        return ()
    texts = {o.parameter: o.text for o in operands if o.parameter and o.text}
    wanted = [help for help in cause.helps if texts.keys() >= _parameters(help)]
    return tuple(Help(_NEEDLESS.sub(r"\1.", help.format_map(texts))) for help in wanted)


def _parameters(help: str) -> set[str]:
    """The parameters whose texts stand in an advice."""
    return {name for _, name, _, _ in Formatter().parse(help) if name}


def declared_optional(function: object, operands: Sequence[Operand]) -> tuple[Help, ...]:
    """`x=None` -> `x: torch.Tensor | None = None`, of a parameter that was None and is no
    Optional: tests for None in the function were settled when it was compiled."""
    written = function.written if isinstance(function, Function) else None
    missing = {o.text for o in operands if o.found is None}
    for parameter in () if written is None else written.parameters:
        default = parameter.default
        if parameter.name not in missing or parameter.annotation is not None or default is None:
            continue
        start = parameter.span.whole.start + len(parameter.name)
        between = Span(parameter.span.source, start, default.span.whole.start)
        if between.text.strip() == "=":
            edit = Edit(between, ": torch.Tensor | None = ")
            text = f"say that `{parameter.name}` may be None: without annotation it is a `Tensor`"
            return (Help(text, (edit,)),)
    return ()


_NEEDLESS = re.compile(r"\((\w+)\)\.")
"""Parentheses around a name of which an attribute is read."""
