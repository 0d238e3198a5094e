"""What a loop reads anew in each round although it cannot change."""

from __future__ import annotations

from collections.abc import Iterator

from .code import Branch, Region, Repeat, Step
from .instructions import row

__all__ = ["constant_reads"]

_CHANGING = frozenset({"set_slot", "set_tensor", "method", "function"})
"""Instructions after which a slot may hold something else."""


def constant_reads(loop: Repeat) -> list[Step]:
    """Reads of a module's tensors that give the same array in every round of a loop."""
    steps = list(_steps(loop.body))
    names = {row(step.instruction).name for step in steps}
    if "get_tensor" not in names or not _CHANGING.isdisjoint(names):
        return []
    written = {register for step in steps for register in _written(step)}
    written.update(_indices(loop))
    return [
        step
        for step in steps
        if row(step.instruction).name == "get_tensor"
        and step.instruction[2] not in written
        and _is_of_module(step)
    ]


def _steps(region: Region) -> Iterator[Step]:
    for part in region:
        if isinstance(part, Step):
            yield part
        elif isinstance(part, Branch):
            yield from _steps(part.then)
            yield from _steps(part.otherwise)
        else:
            assert isinstance(part, Repeat)
            yield from _steps(part.body)


def _indices(part: Step | Branch | Repeat) -> Iterator[int]:
    """The registers that loops count in."""
    inner: Region = []
    if isinstance(part, Repeat):
        yield part.index
        inner = part.body
    elif isinstance(part, Branch):
        inner = [*part.then, *part.otherwise]
    for one in inner:
        yield from _indices(one)


def _written(step: Step) -> Iterator[int]:
    for kind, operand in zip(row(step.instruction).kinds, step.instruction[1:], strict=True):
        if kind[0] == "R":
            numbers = operand if isinstance(operand, tuple) else (operand,)
            yield from (number for number in numbers if isinstance(number, int))


def _is_of_module(step: Step) -> bool:
    owner = step.node.inputs[0].type
    return owner.is_class and owner.is_module
