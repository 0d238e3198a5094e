"""Run-time failures: from what an instruction raised to the exception that Python sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..frontend.diagnostics import Diagnostic, Frame, Label
from ..frontend.exceptions import exception_for
from ..frontend.paths import is_own_file
from ..frontend.source import UNKNOWN, Span
from ..frontend.torch_text import runtime_error_text
from ..ir.graph import Node
from ..ops.errors import OperatorError
from ..typecheck.functions import Function
from .actions import ScriptRaise
from .code import Code
from .describe import Operand, explain_index, value_notes
from .instructions import Instruction, row
from .machine import MachineFailure
from .plan import Plan

__all__ = ["Failure", "script_error"]

Read = Callable[[int], Any]
"""The value of an operand: a register's number, or a constant's, which is negative."""


_OF_PYTHON = (LookupError, ZeroDivisionError, TypeError, ValueError, AttributeError)
"""What Python and NumPy raise where a plan writes out an operator."""


class Failure(Exception):
    """Running code failed: `cause` was raised, at each of `nodes` (the outermost first).

    More than one node means that code called a function that was not inlined.  `operands` are
    what the failing instruction read.
    """

    def __init__(self, cause: Exception, nodes: list[Node], operands: list[Operand]) -> None:
        super().__init__(cause)
        self.cause = cause
        self.nodes = nodes
        self.operands = operands

    @classmethod
    def in_machine(cls, failed: MachineFailure, code: Code) -> Failure:
        """The failure of an instruction on the machine."""
        node, instruction = code.nodes[failed.index], code.instructions[failed.index]

        def read(number: int) -> Any:
            return failed.frame[number] if number >= 0 else code.constants[-1 - number]

        return cls._at(failed.cause, node, instruction, code, read)

    @classmethod
    def in_plan(cls, cause: Exception, plan: Plan) -> Failure:
        """The failure of a plan's line.  The error of an operator that was written out in Python
        is the one its forward raises."""
        found = plan.failed_step(cause.__traceback__)
        if found is None:
            return cls(cause, [], [])
        step, registers = found

        def read(number: int) -> Any:
            return registers.get(f"r{number}") if number >= 0 else plan.code.constants[-1 - number]

        failure = cls._at(cause, step.node, step.instruction, plan.code, read)
        if isinstance(cause, _OF_PYTHON) and not isinstance(cause, OperatorError):
            values = [read(number) for number in _read_numbers(step.instruction)]
            failure.cause = _forward_error(cause, step.instruction, plan.code, values)
        return failure

    @classmethod
    def _at(
        cls, cause: Exception, node: Node, instruction: Instruction, code: Code, read: Read
    ) -> Failure:
        if isinstance(cause, Failure):
            return cls(cause.cause, [node, *cause.nodes], cause.operands)
        values = [read(number) for number in _read_numbers(instruction)]
        operands = [
            Operand(value, found) for value, found in zip(node.inputs, values, strict=False)
        ]
        return cls(cause, [node], operands if len(values) == len(node.inputs) else [])


def _read_numbers(instruction: Instruction) -> list[int]:
    """The operands an instruction reads, in order."""
    numbers: list[int] = []
    for kind, operand in zip(row(instruction).kinds, instruction[1:], strict=True):
        if kind[0] == "V":
            numbers.extend(operand if isinstance(operand, tuple) else [operand])  # type: ignore[list-item]
    return numbers


def _forward_error(
    cause: Exception, instruction: Instruction, code: Code, values: Sequence[Any]
) -> Exception:
    """What the operator's own forward raises in place of Python's error."""
    for kind, operand in zip(row(instruction).kinds, instruction[1:], strict=True):
        if kind == "O":
            assert isinstance(operand, int)
            try:
                code.operators[operand].forward(*values)
            except Exception as error:
                return error
    return cause


# -- the exception


def script_error(failure: Failure, function: Function) -> Exception:
    """The exception for a failure of `function`: torch's class and text, and the diagnostic."""
    raised = isinstance(failure.cause, ScriptRaise)
    error, message = _last_line(failure.cause)
    frames = _torch_frames(failure.nodes, function)
    original = [f for f in map(_original, frames) if f is not None]
    text = runtime_error_text(frames, message, error=error, original=original)
    diagnostic = _diagnostic(failure, function, "ScriptError" if raised else "RuntimeError")
    return exception_for([diagnostic], text)


def _last_line(cause: Exception) -> tuple[str, str]:
    """The class and message that torch's text ends with."""
    if isinstance(cause, ScriptRaise):
        return cause.exception or "RuntimeError", cause.message
    if isinstance(cause, KeyError) and cause.args:
        return "RuntimeError", f"KeyError: {cause.args[0]}"
    return "RuntimeError", str(cause)


def _torch_frames(nodes: Sequence[Node], function: Function) -> list[Frame]:
    """The frames that torch shows: a node without results forgets the calls it came through."""
    frames: list[Frame] = []
    for number, node in enumerate(nodes):
        outer = function.name if number == 0 else _function_of(node.span, function.name)
        if node.outputs:
            frames.extend(_frames(node, outer))
        elif node.span is not UNKNOWN:
            frames.append(Frame(outer, node.span))
    return frames


def _frames(node: Node, outermost: str) -> list[Frame]:
    """The calls that lead to a node and the node itself, outermost first."""
    frames = [Frame(site.function, site.span) for site in node.call_stack]
    if node.span is not UNKNOWN:
        name = _function_of(node.span, outermost) if node.call_stack else outermost
        frames.append(Frame(name, node.span))
    return frames


def _function_of(span: Span, otherwise: str) -> str:
    return span.source.function or otherwise


def _original(frame: Frame) -> Frame | None:
    span = frame.span.original
    return None if span is None else Frame(frame.function, span)


def _diagnostic(failure: Failure, function: Function, exception: str) -> Diagnostic:
    cause = failure.cause
    frames: list[Frame] = []
    for number, node in enumerate(failure.nodes):
        outer = function.qualified_name if number == 0 else ""
        frames.extend(_frames(node, outer or _function_of(node.span, "")))
    shown = [_original(f) or f for f in frames]
    place = _users_frame(shown)
    code, headline = _headline(cause)
    label = None
    if place is not None:
        label = Label(place.span, explain_index(failure.operands) if "index" in code else "")
    return Diagnostic(
        code=code,
        message=headline,
        primary=label,
        where=_where(failure, function, place),
        values=value_notes(failure.operands),
        stack=tuple(shown) if len(shown) > 1 else (),
        torch_message=_last_line(cause)[1],
        exception=exception,
    )


def _users_frame(frames: Sequence[Frame]) -> Frame | None:
    """The innermost frame in the user's own source; failing that the innermost."""
    for frame in reversed(frames):
        if not is_own_file(frame.span.filename or ""):
            return frame
    return frames[-1] if frames else None


def _headline(cause: Exception) -> tuple[str, str]:
    """The code and the message of a diagnostic."""
    if isinstance(cause, ScriptRaise):
        if cause.exception is None and cause.message.startswith("AssertionError: "):
            text = cause.message.removeprefix("AssertionError: ")
            return "assertion-failed", f"assertion failed{': ' + text if text else ''}"
        name = (cause.exception or "RuntimeError").rpartition(".")[2]
        return "raised", f"`{name}` was raised{': ' + cause.message if cause.message else ''}"
    text = _last_line(cause)[1].partition("\n")[0].rstrip(".")
    if isinstance(cause, OperatorError):
        return cause.code, cause.headline or _lowered(text)
    return "operator-failed", _lowered(text) or type(cause).__name__


def _lowered(text: str) -> str:
    """A sentence without its capital, unless that belongs to a name."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _where(failure: Failure, function: Function, place: Frame | None) -> str:
    """`in method `Block.forward` of `second`, at run time`"""
    module = ""
    for node in failure.nodes:
        for site in node.call_stack:
            if place is None or site.span is place.span:
                break
            module = site.module or module
    owner = function.owner
    name = place.function if place is not None and place.function else function.name
    short = name.rpartition(".")[2]
    if owner is not None and not module and short == function.name:
        return f"in method `{owner.name}.{short}`, at run time"
    if module:
        return f"in method `{short}` of `{module}`, at run time"
    return f"in function `{short}`, at run time"
