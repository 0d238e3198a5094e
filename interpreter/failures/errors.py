"""Run-time failures: from what an instruction raised to the exception that Python sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, TracebackType

from ...frontend.diagnostics.cells import clean_lines
from ...frontend.diagnostics.diagnostics import Diagnostic, Label
from ...frontend.diagnostics.exceptions import ScriptError, attach, exception_for
from ...frontend.diagnostics.torch_text import runtime_error_text
from ...frontend.sources.source import UNKNOWN
from ...ir.graphs.graph import Node
from ...ops.memory.errors import OperatorError
from ...ops.memory.unforeseen import told
from ...typecheck.definitions.functions import Function
from ...typecheck.types.types import TENSOR, ListType
from ..bounds.guard import active_guard, documented, telling
from ..code.calls import Calls
from ..code.code import Code, Step
from ..code.instructions import Instruction, read_numbers, row
from ..code.machine import MachineFailure
from ..code.outside import comes_from_outside
from ..plans.plan import Plan
from ..values.actions import ScriptRaise
from ..values.tasks import Task
from .call_stack import named_frames, original, torch_frames, where
from .describe import Operand, explain, operands_of, value_notes
from .reasons import advice, declared_optional, layer_path, made_labels, origin_of, still_known
from .spelling import users_span
from .traced import is_trace, traced_at

__all__ = ["Failure", "script_error", "task_error"]

Read = Callable[[int], object]
"""The value of an operand: a register's number, or a constant's, which is negative."""


_SAVED = " (source saved in the archive)"


def _is_of_python(cause: Exception) -> bool:
    """Whether this is what Python or NumPy raises where a plan writes out an operator."""
    builtin = (LookupError, ZeroDivisionError, TypeError, ValueError, AttributeError)
    return isinstance(cause, builtin) and not isinstance(cause, OperatorError)


def is_from_outside(cause: Exception) -> bool:
    """Whether an exception is none of the program's (see `comes_from_outside`)."""
    return not isinstance(cause, Failure) and comes_from_outside(cause)


class Failure(Exception):
    """Running code failed: `cause` was raised, at each of `nodes` (the outermost first).

    More than one node means that code called a function that was not inlined.  `operands` are
    what the failing instruction read.  `lines` are the places in Python that debuggers go to, the
    outermost first, of code that runs line by line.
    """

    lines: tuple[TracebackType, ...] = ()

    def __init__(self, cause: Exception, nodes: list[Node], operands: list[Operand]) -> None:
        super().__init__(cause)
        self.cause = cause
        self.nodes = nodes
        self.operands = operands

    @classmethod
    def in_machine(cls, failed: MachineFailure, code: Code) -> Failure:
        """The failure of an instruction on the machine."""

        def read(number: int) -> object:
            return failed.frame[number] if number >= 0 else code.constants[-1 - number]

        return cls._at(failed.cause, failed.step, code, read)

    def in_lines(self, failed: MachineFailure, lines: CodeType) -> Failure:
        """Keep where the lines of code were that failed, and those of what they called."""
        found, at = [], failed.__traceback__
        while at is not None:
            if at.tb_frame.f_code is lines:
                found.append(at)
            at = at.tb_next
        inner = failed.cause.lines if isinstance(failed.cause, Failure) else ()
        self.lines = (*found, *inner)
        return self

    def put_lines(self, error: Exception) -> Exception:
        """Have an error come from the lines that failed."""
        inner: TracebackType | None = None
        for at in reversed(self.lines):
            inner = TracebackType(inner, at.tb_frame, at.tb_lasti, at.tb_lineno)
        return error.with_traceback(inner)

    @classmethod
    def in_plan(cls, cause: Exception, plan: Plan) -> Failure:
        """The failure of a plan's line.  The error of an operator that was written out in Python
        is the one its forward raises."""
        found = plan.failed_step(cause.__traceback__)
        if found is None:
            return cls(_told(cause), [], [])
        step, registers = found

        def read(number: int) -> object:
            return registers.get(f"r{number}") if number >= 0 else plan.code.constants[-1 - number]

        failure = cls._at(cause, step, plan.code, read)
        if failure.cause is cause and _is_of_python(cause):
            values = [read(number) for number in read_numbers(step.instruction)]
            error = _forward_error(cause, step.instruction, plan.code, values)
            failure.cause = _named(error, step.node)
        return failure

    @classmethod
    def _at(cls, cause: Exception, step: Step, code: Code, read: Read) -> Failure:
        node = step.node
        if isinstance(cause, Failure):
            return cls(cause.cause, [node, *cause.nodes], cause.operands)
        with telling():
            cause = _told(cause)
            values = [read(number) for number in read_numbers(step.instruction)]
            cause = _undefined_tensor(node, values) or _named(cause, node)
            known = still_known(code, node, read)
            return cls(cause, [node], operands_of(node, values, known))


def _told(cause: Exception) -> Exception:
    """A MemoryError as the documented error that it becomes."""
    told = documented(cause)
    assert isinstance(told, Exception)
    return told


def _named(cause: Exception, node: Node) -> Exception:
    """What an operator over tensors stumbled over, by its name; other errors as they are."""
    if node.signature is None:
        return cause
    types = [a.type for a in (*node.signature.arguments, *node.signature.returns)]
    return told(cause, node.kind) if {TENSOR, ListType(TENSOR)}.intersection(types) else cause


def _undefined_tensor(node: Node, values: Sequence[object]) -> OperatorError | None:
    """The error of an operator that was given None for a tensor, which calls from Python can do."""
    arguments = () if node.signature is None else node.signature.arguments
    for position, (argument, value) in enumerate(zip(arguments, values, strict=False)):
        if value is None and argument.type == TENSOR:
            return OperatorError(
                "Expected a proper Tensor but got None (or an undefined Tensor in C++) for "
                f"argument #{position} '{argument.name}'",
                code="none-value",
                headline="this is None, where a `Tensor` is needed",
            )
    return None


def _forward_error(
    cause: Exception, instruction: Instruction, code: Code, values: Sequence[object]
) -> Exception:
    """What the operator's own forward raises in place of Python's error."""
    for kind, operand in zip(row(instruction).kinds, instruction[1:], strict=True):
        if kind == "O":
            assert isinstance(operand, int)
            try:
                Calls(guard=active_guard()).forward(code.operators[operand])(*values)
            except Exception as error:
                return error
    return cause


# -- the exception


def task_error(failure: Failure, task: Task) -> Exception:
    """The exception that whoever waits for a failed task is told."""
    error = script_error(failure, task)
    return attach(RuntimeError(str(error)), _diagnostics_of(error))


def _diagnostics_of(error: Exception) -> list[Diagnostic]:
    found: list[Diagnostic] = getattr(error, "diagnostics", [])
    return found


def script_error(failure: Failure, function: Function | Task) -> Exception:
    """The exception for a failure of `function`: torch's class and text, and the diagnostic."""
    if isinstance(failure.cause, Warning):  # which a filter has made an exception
        return failure.cause
    raised = isinstance(failure.cause, ScriptRaise)
    error, message = _last_line(failure.cause)
    frames = torch_frames(failure.nodes, function)
    written = [f for f in map(original, frames) if f is not None]
    text = runtime_error_text(frames, message, error=error, original=written)
    of_task = _diagnostics_of(failure.cause)
    if of_task:  # a task's error, told to whoever waits for it
        one = ScriptError if isinstance(failure.cause, ScriptError) else RuntimeError
        return attach(one(text), of_task)
    kind = "RuntimeError"
    if raised or isinstance(failure.cause, NotImplementedError):
        kind = "ScriptError" if raised else "NotImplementedError"
    diagnostic = _diagnostic(failure, function, kind)
    return exception_for([diagnostic], text if function.guard is None else clean_lines(text))


def _last_line(cause: Exception) -> tuple[str, str]:
    """The class and message that torch's text ends with."""
    if isinstance(cause, ScriptRaise):
        return cause.exception or "RuntimeError", cause.message
    if isinstance(cause, KeyError) and cause.args:
        return "RuntimeError", f"KeyError: {cause.args[0]}"
    return "RuntimeError", str(cause)


def _diagnostic(failure: Failure, function: Function | Task, exception: str) -> Diagnostic:
    cause = failure.cause
    frames = named_frames(list(map(_placed, failure.nodes)), function)
    written = list(map(original, frames))
    shown = [f if o is None or is_trace(o) else o for f, o in zip(frames, written, strict=True)]
    number = users_span([f.span for f in frames])
    archived = [f.span for f, s in zip(frames, shown, strict=True) if s is not f]
    code, headline = _headline(cause, failure)
    label = None
    roles = cause.roles if isinstance(cause, OperatorError) else {}
    node = failure.nodes[-1] if failure.nodes else None

    def origin(operand: Operand) -> str:
        return "" if node is None else origin_of(operand, node, code)

    if number >= 0:
        label = Label(shown[number].span, explain(failure.operands, code, roles))
    shown_values = value_notes(failure.operands, roles, origin)
    return Diagnostic(
        code=code,
        message=headline,
        primary=label,
        where=where(failure.nodes, frames, number) + (_SAVED if archived else ""),
        notes=(f"in the archive: {', '.join(f'{s.filename}:{s.line}' for s in archived)}",)
        if archived
        else traced_at(written[-1] if written else None),
        secondary=made_labels(failure.operands, node, cause) if number >= 0 and node else (),
        values=() if isinstance(cause, ScriptRaise) else shown_values,
        helps=advice(cause, failure.operands)
        or (declared_optional(function, failure.operands) if code == "none-value" else ()),
        stack=tuple(shown) if len(shown) > 1 else (),
        torch_message=_last_line(cause)[1],
        exception=exception,
    )


def _placed(node: Node) -> Node:
    """A node, or, if it has no place, what made the value that it takes apart."""
    made = node.inputs[0].node if node.span is UNKNOWN and node.inputs else node
    return node if made.span is UNKNOWN else made


def _headline(cause: Exception, failure: Failure) -> tuple[str, str]:
    """The code and the message of a diagnostic."""
    if isinstance(cause, ScriptRaise):
        if cause.exception is None and cause.message.startswith("AssertionError: "):
            text = cause.message.removeprefix("AssertionError: ")
            return "assertion-failed", f"assertion failed{': ' + text if text else ''}"
        name = (cause.exception or "RuntimeError").rpartition(".")[2]
        return "raised", f"`{name}` was raised{': ' + cause.message if cause.message else ''}"
    text = _last_line(cause)[1].partition("\n")[0].rstrip(".")
    if isinstance(cause, OperatorError):
        layers = [layer_path(o, failure.nodes[-1]) for o in failure.operands if failure.nodes]
        layer = next((path for path in layers if path), "")
        if cause.layer and layer:
            return cause.code, f"`{layer}` {cause.layer}"
        return cause.code, cause.headline or _lowered(text)
    return "operator-failed", _lowered(text) or type(cause).__name__


def _lowered(text: str) -> str:
    """A sentence without its capital, unless that belongs to a name."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
