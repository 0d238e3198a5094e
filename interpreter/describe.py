"""Values as the `values:` of a diagnostic: dtype, shape and the first elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frontend.diagnostics import ValueNote
from ..ir.graph import Node
from .objects import ScriptObject
from .spelling import operand_texts

__all__ = ["Operand", "describe", "explain", "operands_of", "value_notes"]

MOST = 8
"""How many elements of a value are shown."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What a failing instruction read: how the program spells it, its parameter's name in the
    operator's schema, and the machine's value."""

    text: str
    parameter: str
    found: Any


def operands_of(node: Node, found: Sequence[Any]) -> list[Operand]:
    """The operands of a node whose inputs had these values."""
    if len(found) != len(node.inputs):
        return []
    names = [] if node.signature is None else [a.name for a in node.signature.arguments]
    names += [""] * (len(found) - len(names))
    return [
        Operand(text, name, value)
        for text, name, value in zip(operand_texts(node), names, found, strict=False)
    ]


def value_notes(operands: Sequence[Operand]) -> tuple[ValueNote, ...]:
    """The operands that have a spelling in the source, each once."""
    notes: dict[str, ValueNote] = {}
    for operand in operands:
        if operand.text and not isinstance(operand.found, ScriptObject):
            notes.setdefault(operand.text, ValueNote(operand.text, describe(operand.found)))
    return tuple(notes.values())


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
    text = np.array2string(
        array,
        separator=", ",
        precision=4,
        max_line_width=1000,
        formatter={"bool": str},
    )
    return " ".join(text.split()).replace("[ ", "[").replace(" ]", "]").replace(" ,", ",")


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


def explain(operands: Sequence[Operand], code: str, roles: Mapping[str, str]) -> str:
    """A few words for the failing expression: what its operands are like."""
    if code == "index-out-of-range":
        return _explain_index(operands)
    parts = [
        f"`{o.text}` {roles[o.parameter]}" for o in operands if o.parameter in roles and o.text
    ]
    return ", ".join(parts)


def _explain_index(operands: Sequence[Operand]) -> str:
    if not operands or not isinstance(operands[0].found, list | str):
        return ""
    count = len(operands[0].found)
    if not count:
        return f"`{operands[0].text or 'the list'}` is empty"
    return f"valid indices are {-count} to {count - 1}"
