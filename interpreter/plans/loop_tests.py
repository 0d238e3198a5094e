"""Finding the test of a `while` loop, so that a plan can write it where it belongs.

Register code computes a loop's condition before the loop and again at the end of each round:

    c = n > 0                        while n > 0:
    while c:                             ...
        ...                  ->
        c = n > 0
"""

from __future__ import annotations

from collections.abc import Sequence

from ..code.code import Branch, Region, Repeat, Step
from ..code.instructions import row

__all__ = ["loop_test", "test_spans"]


def loop_test(region: Region, position: int) -> tuple[Step, Step] | None:
    """The two steps that compute the condition of the loop at `position`, before it and in it, if
    they are one and the same test at the loop's head."""
    loop = region[position]
    if not isinstance(loop, Repeat) or loop.condition is None or loop.count is not None:
        return None
    before = _last_steps(region[:position])
    inside = _last_steps(loop.body)
    first, first_moves = _find(before, loop.condition)
    last, last_moves = _find(inside, loop.condition)
    if first is None or last is None or any(m[1] in last.instruction[2:] for m in last_moves):
        return None
    held = {move[2]: move[1] for move in first_moves}
    overwritten = {move[1] for move in first_moves}
    operands = zip(first.instruction[2:], last.instruction[2:], strict=True)
    same = first.instruction[0] == last.instruction[0] and all(
        (mine == other and mine not in overwritten) or held.get(mine) == other
        for mine, other in operands
    )
    return (first, last) if same else None


def test_spans(region: Region) -> list[tuple[int, int]]:
    """From where up to where a loop of a region and the step that its test stands for lie: without
    the loop nobody does that step."""
    places = {id(part): place for place, part in enumerate(region)}
    found = ((loop_test(region, place), place + 1) for place in range(len(region)))
    return [(places[id(test[0])], end) for test, end in found if test is not None]


def _last_steps(region: Sequence[Step | Branch | Repeat]) -> list[Step]:
    """The steps at the end of a region, the last one first."""
    steps: list[Step] = []
    for part in reversed(region):
        if not isinstance(part, Step):
            break
        steps.append(part)
    return steps


def _find(steps: list[Step], register: int) -> tuple[Step | None, list[tuple[object, ...]]]:
    """The test that made the condition, and the moves after it."""
    moves: list[tuple[object, ...]] = []
    for step in steps:
        entry = row(step.instruction)
        if entry.name == "move" and step.instruction[1] != register:
            moves.append(step.instruction)
        elif entry.decides and step.instruction[1] == register:
            return (step if len(step.node.output.uses) == 1 else None), moves
        elif entry.name != "free":
            break
    return None, moves
