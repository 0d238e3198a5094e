"""Values as the `values:` of a diagnostic: dtype, shape and the first elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...frontend.diagnostics.diagnostics import ValueNote
from ...ir.graphs.graph import Node, Value
from ...ops.memory.dtype import Array
from ...ops.tensors.tensor import Tensor
from ..values.objects import ScriptObject
from .spelling import expression_of, operand_texts

__all__ = ["Operand", "describe", "explain", "operands_of", "value_notes"]

MOST = 8
"""How many elements of a value are shown."""

LOOKED = 100
"""How many elements are looked at for their types."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What a failing instruction read: how the program spells it, its parameter's name in the
    operator's schema, and the machine's value.

    `parts` are the variables in it, as far as their values are still there; `value` is the graph's.
    """

    text: str
    parameter: str
    found: object
    value: Value
    parts: tuple[tuple[str, object], ...] = ()


def operands_of(
    node: Node, found: Sequence[object], known: Mapping[Value, object] | None = None
) -> list[Operand]:
    """The operands of a node whose inputs had these values; `known` are those of other values."""
    if len(found) != len(node.inputs):
        return []
    names = [] if node.signature is None else [a.name for a in node.signature.arguments]
    names += [""] * (len(found) - len(names))
    known = known or {}
    return [
        Operand(text, name, each, value, _parts(value, known))
        for text, name, each, value in zip(
            operand_texts(node), names, found, node.inputs, strict=False
        )
    ]


def _parts(value: Value, known: Mapping[Value, object]) -> tuple[tuple[str, object], ...]:
    """The variables in the expression of a value."""
    if value.base_name is not None:
        return ()
    inputs = [i for i in value.node.inputs if i.base_name is not None and i in known]
    return tuple((expression_of(i), known[i]) for i in inputs)


def value_notes(
    operands: Sequence[Operand], roles: Mapping[str, str], origin: Callable[[Operand], str]
) -> tuple[ValueNote, ...]:
    """The operands that have a spelling in the source, each once, after the variables in them.

    Where `roles` tell what the fault is about, others are left out.  `origin` says where a value
    comes from.
    """
    notes: dict[str, ValueNote] = {}
    for operand in operands:
        if roles and operand.parameter and operand.parameter not in roles:
            continue
        for text, found in operand.parts:
            notes.setdefault(text, ValueNote(text, describe(found)))
        if operand.text and not isinstance(operand.found, ScriptObject):
            said = [describe(operand.found)]
            role = roles.get(operand.parameter, "")
            said += [role] if _is_demand(role) else [origin(operand)]
            text = ", ".join(part for part in said if part)
            notes.setdefault(operand.text, ValueNote(operand.text, text))
    return tuple(notes.values())


def _is_demand(role: str) -> bool:
    """Whether a role says what is wanted, not what there is."""
    return role.startswith(("needs ", "must "))


def describe(value: object) -> str:
    """`float32[2] = [1., -1.]`, `list[int] = [1, 2, 3]`, `int = 3`."""
    if isinstance(value, np.ndarray):
        head = _head(value)
        return f"{head} = {_elements(value)}" if value.size <= MOST else head
    if isinstance(value, Tensor):
        return _head(value)
    if isinstance(value, list | tuple | dict):
        return _describe_container(value)
    if value is None:
        return "None"
    if isinstance(value, ScriptObject):
        return value.cls.python
    return f"{type(value).__name__} = {_short(_start(value, 61))}"


def _head(value: Array | Tensor) -> str:
    """`float32[2, 3]`."""
    return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"


def _elements(array: Array) -> str:
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
        shown = list(islice(value.items(), MOST))
        text = ", ".join(f"{_item(k)}: {_item(v)}" for k, v in shown)
        left, right = "{", "}"
        names = {f"{_type_name(k)}, {_type_name(v)}" for k, v in islice(value.items(), LOOKED)}
    else:
        text = ", ".join(_item(v) for v in value[:MOST])
        left, right = ("[", "]") if isinstance(value, list) else ("(", ")")
        names = {_type_name(v) for v in value[:LOOKED]}
    if isinstance(value, tuple):
        types = [*map(_type_name, value[:LOOKED]), *(["…"] if len(value) > LOOKED else [])]
        head = f"tuple[{', '.join(types)}]"
    else:
        head = type(value).__name__ + (f"[{names.pop()}]" if len(names) == 1 else "")
    more = f", … ({len(value)} in all)" if len(value) > MOST else ""
    return f"{head} = {left}{text}{more}{right}"


def _type_name(value: object) -> str:
    return "Tensor" if isinstance(value, np.ndarray) else type(value).__name__


def _item(value: object) -> str:
    if isinstance(value, np.ndarray | Tensor):
        return _head(value)
    return describe(value) if isinstance(value, ScriptObject) else _short(_start(value, 61))


def _start(value: Any, room: int) -> str:
    """The first characters of what Python writes for a value, at least `room` if there are as many:
    values may be large, and hold the same parts many times."""
    if isinstance(value, str):
        return repr(value[:room])
    if type(value) not in (list, tuple, dict):
        return repr(value)
    left, right = ("[", "]") if type(value) is list else ("(", ")")
    if type(value) is dict:
        left, right = "{", "}"
    text = left
    for each in value:
        if len(text) >= room:
            return text
        text += ", " if len(text) > 1 else ""
        text += _start(each, room - len(text))
        if left == "{" and len(text) < room:
            text += f": {_start(value[each], room - len(text))}"
    return text + (",)" if left == "(" and len(value) == 1 else right)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def explain(operands: Sequence[Operand], code: str, roles: Mapping[str, str]) -> str:
    """A few words for the failing expression: what its operands are like."""
    if code == "index-out-of-range":
        return _explain_index(operands)
    said = [o for o in operands if o.parameter in roles and o.text]
    facts = [o for o in said if not _is_demand(roles[o.parameter])]
    return ", ".join(f"`{o.text}` {roles[o.parameter]}" for o in facts or said)


def _explain_index(operands: Sequence[Operand]) -> str:
    if not operands or not isinstance(operands[0].found, list | str):
        return ""
    count = len(operands[0].found)
    if not count:
        return f"`{operands[0].text or 'the list'}` is empty"
    return f"valid indices are {-count} to {count - 1}"
