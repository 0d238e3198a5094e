"""Values as the `values:` of a diagnostic: dtype, shape and the first elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frontend.diagnostics import ValueNote
from ..frontend.source import UNKNOWN
from ..ir.graph import Value
from .objects import ScriptObject

__all__ = ["Operand", "describe", "explain_index", "value_notes"]

MOST = 8
"""How many elements of a value are shown."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What a failing instruction read: the value of the graph and the machine's value of it."""

    value: Value
    found: Any


def value_notes(operands: Sequence[Operand]) -> tuple[ValueNote, ...]:
    """The operands that have a name or expression in the source, each once."""
    notes: dict[str, ValueNote] = {}
    for operand in operands:
        text = expression_of(operand.value)
        if text and text not in notes and not isinstance(operand.found, ScriptObject):
            notes[text] = ValueNote(text, describe(operand.found))
    return tuple(notes.values())


def expression_of(value: Value) -> str:
    """How the program spells a value: its variable's name, or its expression if that is short."""
    node = value.node
    if node.kind == "prim::Constant":
        return ""
    if node.kind == "prim::GetAttr":
        owner = expression_of(node.inputs[0])
        return f"{owner}.{node.attributes['name']}" if owner else ""
    if value.base_name is not None:
        return value.base_name
    text = node.span.text if node.span is not UNKNOWN else ""
    return text if len(text) <= 40 and "\n" not in text else ""


def describe(value: Any) -> str:
    """`float32[2] = [1., -1.]`, `list[int] = [1, 2, 3]`, `int = 3`."""
    if isinstance(value, np.ndarray):
        head = f"{value.dtype}[{', '.join(map(str, value.shape))}]"
        return f"{head} = {_elements(value)}" if value.size <= MOST else head
    if isinstance(value, list | tuple | dict):
        return _describe_container(value)
    if value is None:
        return "None"
    if isinstance(value, ScriptObject):
        return value.cls.python
    return f"{type(value).__name__} = {_short(repr(value))}"


def _elements(array: np.ndarray[Any, Any]) -> str:
    text = np.array2string(array, separator=", ", precision=4, max_line_width=1000)
    return " ".join(text.split())


def _describe_container(value: Any) -> str:
    if isinstance(value, dict):
        shown = dict(list(value.items())[:MOST])
        text = ", ".join(f"{_item(k)}: {_item(v)}" for k, v in shown.items())
        left, right = "{", "}"
        names = {f"{_type_name(k)}, {_type_name(v)}" for k, v in value.items()}
    else:
        text = ", ".join(_item(v) for v in list(value)[:MOST])
        left, right = ("[", "]") if isinstance(value, list) else ("(", ")")
        names = {_type_name(v) for v in value}
    if isinstance(value, tuple):
        head = f"tuple[{', '.join(map(_type_name, value))}]"
    else:
        head = type(value).__name__ + (f"[{names.pop()}]" if len(names) == 1 else "")
    more = f", … ({len(value)} in all)" if len(value) > MOST else ""
    return f"{head} = {left}{text}{more}{right}"


def _type_name(value: Any) -> str:
    return "Tensor" if isinstance(value, np.ndarray) else type(value).__name__


def _item(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    return describe(value) if isinstance(value, ScriptObject) else _short(repr(value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def explain_index(operands: Sequence[Operand]) -> str:
    """What indices would be valid, if the first operand is a list."""
    if not operands or not isinstance(operands[0].found, list | str):
        return ""
    count = len(operands[0].found)
    if not count:
        return f"`{expression_of(operands[0].value) or 'the list'}` is empty"
    return f"valid indices are {-count} to {count - 1}"
