"""The machine: it walks the tree of register code, over bare arrays and Python scalars.

This is the reference: a plan gives the same results faster.  A step is a small function of the
frame, made of the line in its row of the instruction table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from ...frontend.syntax.deep_stack import SHALLOW, with_room
from ...ir.graphs.graph import Node
from ...typecheck.definitions.functions import Function, PythonFunction
from ..values.actions import ACTIONS
from ..values.tasks import Task
from .calls import PLAIN, Calls
from .code import Branch, Code, Region, Repeat, Step, place_of
from .instructions import ROWS, Row, opcode, row

__all__ = ["Invoke", "Machine", "MachineFailure", "Target"]

Target = Function | PythonFunction | Task | str
"""What is called: a name is that of a method of the first argument."""
Invoke = Callable[[Target, Sequence[object]], object]
"""Runs what is called on machine values."""

Frame = list[Any]
Act = Callable[[Frame], None]
"""A step, a branch or a loop, made ready to run on a frame."""

_BRANCH, _RETURN = map(opcode, ("branch", "return"))


class MachineFailure(Exception):
    """Something raised `cause` in a step; `frame` is what the registers held."""

    def __init__(self, cause: Exception, step: Step, frame: Frame) -> None:
        super().__init__(cause)
        self.cause = cause
        self.step = step
        self.frame = frame


class Machine:
    """A code made ready to run, with its operators called in one way.

    Constants are registers behind the others.  Where operators are counted, so is each run of the
    code, each round of a loop and each way of a branch: nothing runs for long without one.
    """

    def __init__(self, code: Code, invoke: Invoke, calls: Calls = PLAIN) -> None:
        self._code = code
        self._guard = calls.guard
        self._handles = calls.handles
        self._invoke = invoke
        self._forwards = [calls.forward(entry) for entry in code.operators]
        empty = [None] * (code.register_count - code.argument_count)
        self._rest: Frame = [*empty, *code.constants]
        self._steps: dict[Act, Step] = {}
        self._level = self._levels = 0
        *body, end = code.body
        assert isinstance(end, Step)
        assert end.instruction[0] == _RETURN
        self._result = self._place(end.instruction[1])
        self._acts = self._region(body, end.node)

    def run(self, arguments: Sequence[object]) -> object:
        """The result on machine values.

        Raises:
            MachineFailure: a step failed.
        """
        frame = self.empty(arguments)
        if self._levels > SHALLOW:
            with with_room(self._levels):
                self._walk(self._acts, frame)
        else:
            self._walk(self._acts, frame)
        return frame[self._result]

    def empty(self, arguments: Sequence[object]) -> Frame:
        """A frame that holds arguments."""
        return [*arguments, *self._rest]

    def do(self, number: int, frame: Frame) -> None:
        """Do one part of the body, by its number, on a frame.

        Raises:
            MachineFailure: it failed.
        """
        self._walk(self._acts[number : number + 1], frame)

    def _walk(self, acts: Sequence[Act], frame: Frame) -> None:
        act: Act | None = None
        try:
            for act in acts:
                act(frame)
        except MachineFailure:
            raise
        except Exception as cause:
            assert act is not None
            raise MachineFailure(cause, self._steps[act], frame) from None

    # -- making ready

    def _region(self, region: Region, node: Node) -> list[Act]:
        acts = [] if self._guard is None else [self._counting(self._guard.count, node)]
        self._level += 1
        self._levels = max(self._levels, self._level)
        for part in region:
            if isinstance(part, Step):
                act, step = self._step(part), part
            elif isinstance(part, Branch):
                act, step = self._branch(part), Step((_BRANCH, part.condition, 0), part.node)
            else:
                act, step = self._repeat(part), place_of(part.node)
            self._steps[act] = step
            acts.append(act)
        self._level -= 1
        return acts

    def _counting(self, count: Callable[[], None], node: Node) -> Act:
        def act(frame: Frame) -> None:
            count()

        self._steps[act] = place_of(node)
        return act

    def _branch(self, part: Branch) -> Act:
        walk, condition = self._walk, self._place(part.condition)
        then = self._region(part.then, part.node)
        otherwise = self._region(part.otherwise, part.node)

        def act(frame: Frame) -> None:
            walk(then if frame[condition] else otherwise, frame)

        return act

    def _repeat(self, part: Repeat) -> Act:
        walk, body, index = self._walk, self._region(part.body, part.node), part.index
        test = None if part.condition is None else self._place(part.condition)
        if part.count is None:

            def act(frame: Frame) -> None:
                while test is None or frame[test]:
                    walk(body, frame)
        else:
            count = self._place(part.count)

            def act(frame: Frame) -> None:
                for frame[index] in range(frame[count]):  # noqa: B020
                    if test is not None and not frame[test]:
                        break
                    walk(body, frame)

        return act

    def _step(self, step: Step) -> Act:
        entry, operands = row(step.instruction), step.instruction[1:]
        kinds = zip(entry.kinds, operands, strict=True)
        found = (self._resolve(kind, operand, step) for kind, operand in kinds)
        number = step.instruction[0]
        assert isinstance(number, int)
        return _maker(number, operands[0] != (), self._handles)(self._invoke, *found)

    def _place(self, number: Any) -> int:
        place: int = number if number >= 0 else self._code.register_count - 1 - number
        return place

    def forward(self, number: int, step: Step) -> Callable[..., object]:
        """What is called in the place of an operator, by its number, in a step."""
        return self._forwards[number]

    def _resolve(self, kind: str, operand: Any, step: Step) -> object:
        """What an operand stands for: constants are places, too, and numbers of tables entries."""
        match kind:
            case "V":
                return self._place(operand)
            case "V*":
                return _reader([self._place(number) for number in operand])
            case "O":
                return self.forward(operand, step)
            case "T":
                return self._code.types[operand]
            case "T*":
                return [self._code.types[number] for number in operand]
            case "F":
                return self._code.names[operand]
        return operand


def _reader(places: list[int]) -> Callable[[Frame], tuple[object, ...]]:
    """A function that reads these places of a frame."""
    if len(places) > 1:
        return itemgetter(*places)
    if places:
        (place,) = places
        return lambda frame: (frame[place],)
    return lambda frame: ()


_SHOWN = {"R": "r[{0}]", "V": "r[{0}]", "V*": "*{0}(r), ", "T*": "*{0}, "}
"""How the operands of a step are written; other kinds by their letter alone."""

_SPACE = {"__builtins__": {}, "__name__": __name__, **ACTIONS, "zip": zip}


@cache
def _maker(number: int, has_results: bool, handles: bool) -> Callable[..., Act]:
    """What makes the function of a step from its operands.  The text is all our own."""
    entry = ROWS[number]
    letters = ", ".join(letter for letter, _ in entry.operands)
    lines = "\n  ".join(_lines(entry, has_results, handles))
    text = f"def make(invoke, {letters}):\n def act(r):\n  {lines}\n return act\n"
    space = dict(_SPACE)
    exec(compile(text, "<step>", "exec"), space)
    made: Callable[..., Act] = space["make"]  # type: ignore[assignment]
    return made


def _lines(entry: Row, has_results: bool, handles: bool) -> list[str]:
    shown = {letter: _SHOWN.get(kind, "{0}").format(letter) for letter, kind in entry.operands}
    line = (entry.plain if handles and entry.plain else entry.line).format(**shown)
    target, _, value = line.partition(" = ")
    if entry.name == "free":
        return ["for x in a: r[x] = None"]
    if "R*" in entry.kinds:
        return [f"for x, y in zip(a, {value}, strict=True): r[x] = y" if has_results else value]
    if entry.wraps:
        inside = f"{-(2**63)} <= x <= {2**63 - 1}"
        return [f"x = {value}", f"{target} = x if {inside} else wrap(x)"]
    return [line]
