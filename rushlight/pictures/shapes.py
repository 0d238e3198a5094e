"""What values are in a run on tensors without data: the sizes that stand on edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..interpreter.bounds.guard import Guard
from ..interpreter.code.assemble import assemble
from ..interpreter.code.calls import Calls
from ..interpreter.code.code import Branch, Code, Repeat, Step
from ..interpreter.code.instructions import row
from ..interpreter.code.machine import Act, Invoke, Machine, MachineFailure, Target
from ..interpreter.failures.errors import Failure, script_error
from ..interpreter.running.invoking import invoke, tiers_of
from ..interpreter.values.handles import keeping_handles
from ..interpreter.values.objects import ScriptObject
from ..ir.functions.define import graph_of
from ..ir.graphs.graph import Node, Value
from ..ops.memory.quiet import QUIET, enter, leave
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.functions import Function
from .drawing import TIMES, Drawing, Picture

__all__ = ["Contexts", "noted_run"]

Contexts = dict[str, dict[int, str]]
"""What the values of a call are, by their numbers.  A call is named by the boxes that lead to it:
the method that is run is "", a call in its box 3 is "/3", one in that call's box 0 is "/3/0"."""

_SHOWN: Final = 4
"""The elements of a list that are shown."""


def noted_run(
    picture: Picture, function: Function, target: ScriptObject, inputs: Sequence[object]
) -> tuple[Contexts, Exception | None]:
    """Run a method of a module without data, and note what its values are.

    The exception is the one that the run ended with; what was noted before holds.
    """
    notes = _Notes(picture)
    loud = enter(QUIET)
    try:
        with keeping_handles():
            values = tiers_of(function).binding.bind((target, *inputs), None)
            notes.run(function, values, "")
    except Failure as failure:
        return notes.contexts, script_error(failure, function)
    except Exception as error:  # of an input that does not fit
        return notes.contexts, error
    finally:
        leave(loud)
    return notes.contexts, None


class _Notes:
    """The run: functions run on machines that say what they have written."""

    def __init__(self, picture: Picture) -> None:
        self.contexts: Contexts = {}
        self._picture = picture
        self._codes: dict[Function, Code] = {}

    def run(self, function: Function, values: Sequence[object], context: str) -> object:
        """Run a function, and note what its values are under the name of the call."""
        drawing = self._picture.drawings[self._picture.draw(function)]
        graph = graph_of(function)
        if function not in self._codes:
            self._codes[function] = assemble(graph, function.name)
        code, noted = self._codes[function], _Noted(drawing, self.contexts.setdefault(context, {}))
        noted.note(graph.inputs, values)

        def called(target: Target, given: Sequence[object]) -> object:
            found: object = target
            if isinstance(target, str):
                found = given[0].cls.method(target) if isinstance(given[0], ScriptObject) else None
            box = noted.box
            if not isinstance(found, Function) or box is None:
                return invoke(target, given)
            return self.run(found, given, f"{context}/{box}")

        guard = graph.guard or function.guard
        bounds = guard if isinstance(guard, Guard) else None
        machine = _NotingMachine(code, called, bounds, noted)
        try:
            if bounds is None:
                return machine.run(values)
            with bounds.entered():
                return machine.run(values)
        except MachineFailure as failed:
            raise Failure.in_machine(failed, code) from None


class _Noted:
    """What is known of the values of one call; `box` is the one that runs."""

    def __init__(self, drawing: Drawing, known: dict[int, str]) -> None:
        self.box: int | None = None
        self._numbers = drawing.numbers()
        self._boxes = {box.node: box.number for box in drawing.boxes}
        self._known = known

    def at(self, node: Node) -> None:
        """A node begins to run."""
        self.box = self._boxes.get(node)

    def note(self, values: Sequence[Value], found: Sequence[object]) -> None:
        """Note what values are; what a later round of a loop makes of them is marked."""
        for value, each in zip(values, found, strict=False):
            number = self._numbers.get(value)
            if number is None or value.type.is_module:
                continue
            text, before = _told(each), self._known.get(number)
            if before is None:
                self._known[number] = text
            elif before != text and not before.endswith(" …"):
                self._known[number] = f"{before} …"


class _NotingMachine(Machine):
    """A machine whose steps say what they have written."""

    def __init__(self, code: Code, called: Invoke, guard: Guard | None, noted: _Noted) -> None:
        self._noted = noted
        super().__init__(code, called, Calls(None, guard, handles=True))

    def _step(self, step: Step) -> Act:
        act, node, noted = super()._step(step), step.node, self._noted
        kinds = zip(row(step.instruction).kinds, step.instruction[1:], strict=True)
        written = [each for kind, operand in kinds for each in _registers(kind, operand)]
        if len(written) != len(node.outputs) or row(step.instruction).name == "free":
            return act
        return _telling(lambda frame: noted.at(node), act, self._after(node.outputs, written))

    def _branch(self, part: Branch) -> Act:
        after = self._after(part.node.outputs, part.results)
        return _telling(None, super()._branch(part), after)

    def _repeat(self, part: Repeat) -> Act:
        body = part.node.blocks[0].inputs if part.node.blocks else []
        before = self._after(body[1:], part.carried)
        after = self._after(part.node.outputs, part.carried)
        return _telling(before, super()._repeat(part), after)

    def _after(self, values: Sequence[Value], registers: Sequence[int]) -> Act:
        places, noted = [self._place(number) for number in registers], self._noted
        return lambda frame: noted.note(values, [frame[place] for place in places])


def _telling(before: Act | None, act: Act, after: Act) -> Act:
    def told(frame: list[object]) -> None:
        if before is not None:
            before(frame)
        act(frame)
        after(frame)

    return told


def _registers(kind: str, operand: Any) -> Sequence[int]:
    return (operand,) if kind == "R" else operand if kind == "R*" else ()


def _told(value: object) -> str:
    """A value in short: dtype and sizes of a tensor, a number itself."""
    if isinstance(value, Tensor):
        sizes = TIMES.join(map(str, value.shape)) or "scalar"
        return f"{value.dtype.name} {sizes}"
    if isinstance(value, (list, tuple)):
        parts = [_told(each) for each in value[:_SHOWN]]
        more = ["…"] * (len(value) > _SHOWN)
        text = ", ".join([*parts, *more])
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    if isinstance(value, dict):
        return f"dict of {len(value)}"
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    return type(value).__name__
