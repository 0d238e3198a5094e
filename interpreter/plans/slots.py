"""Slots of objects that a plan reads and writes without asking."""

from __future__ import annotations

from ...typecheck.types.types import BOOL, FLOAT, INT, STRING, Type
from ..code.code import Code, Step
from ..code.instructions import row

__all__ = ["created_once", "is_plain_slot"]


_PLAIN = frozenset({INT, FLOAT, BOOL, STRING})


def is_plain_slot(step: Step) -> bool:
    """Whether the slot that a step reads or writes holds plain values or objects, never tensors."""
    node = step.node
    value = node.output if node.outputs else node.inputs[-1]
    owner = node.inputs[0].type if node.inputs else None
    name = node.attributes.get("name")
    held = None if owner is None else owner.slot_type(str(name))
    return held is not None and _holds_no_tensor(value.type) and _holds_no_tensor(held)


def _holds_no_tensor(type: Type) -> bool:
    """Whether values of a type are numbers, texts or objects."""
    return type in _PLAIN or type.is_class


def created_once(code: Code) -> frozenset[int]:
    """The registers that hold nothing but the objects which one instruction creates.

    Their slots are kept in a variable: a list that is the same as long as the object lives.
    """
    if not any(row(each).name == "create" for each in code.instructions):
        return frozenset()
    writers: dict[int, list[str]] = {}
    for instruction in code.instructions:
        entry = row(instruction)
        for kind, operand in zip(entry.kinds, instruction[1:], strict=True):
            if kind[0] == "R" and entry.name != "free":
                written = operand if isinstance(operand, tuple) else (operand,)
                for register in written:
                    assert isinstance(register, int)
                    writers.setdefault(register, []).append(entry.name)
    return frozenset(
        register
        for register, names in writers.items()
        if names == ["create"] and register >= code.argument_count
    )
