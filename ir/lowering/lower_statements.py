"""Statements of the typed tree as nodes.

`return`, `break`, `continue` become nodes of their own; `exits` takes them out later.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...typecheck.relations.relations import join
from ...typecheck.trees import typed
from ...typecheck.types.types import NONE, STRING, TENSOR, Type
from ..graphs.graph import Block, Value
from .emitter import Emitter, Frame
from .lowering import lower_block, lowered, lowers_statement


@lowers_statement(typed.Line)
def _line(emitter: Emitter, statement: typed.Line) -> None:
    if emitter.keeps_lines:
        emitter.emit("prim::Line", span=statement.span)


@lowers_statement(typed.Assign)
def _assign(emitter: Emitter, statement: typed.Assign) -> None:
    emitter.store(statement.name, lowered(emitter, statement.value), statement.type)


@lowers_statement(typed.Let)
def _let(emitter: Emitter, statement: typed.Let) -> None:
    emitter.temporaries[statement.index] = lowered(emitter, statement.value)


@lowers_statement(typed.Unpack)
def _unpack(emitter: Emitter, statement: typed.Unpack) -> None:
    value = lowered(emitter, statement.value)
    parts: Sequence[Value]
    if value.type.tuple_of is not None:
        parts = emitter.unpack(value)
    elif value.type.list_of is not None:
        parts = emitter.emit("prim::ListUnpack", (value,), statement.types).outputs
    else:
        raise TypeError(f"cannot unpack {value.type} at {statement.span}")
    emitter.temporaries.update(zip(statement.temporaries, parts, strict=True))


@lowers_statement(typed.SetAttribute)
def _set_attribute(emitter: Emitter, statement: typed.SetAttribute) -> None:
    object, value = lowered(emitter, statement.object), lowered(emitter, statement.value)
    node = emitter.emit("prim::SetAttr", (object, value))
    node.attributes["name"] = statement.name


@lowers_statement(typed.With)
def _with(emitter: Emitter, statement: typed.With) -> None:
    entered = []
    for context in statement.contexts:
        value = lowered(emitter, context.value)
        result = context.enter.returns[0].type
        node = emitter.emit("prim::Enter", (value,), (result,))
        entered.append(value)
        if context.target is not None:
            emitter.store(context.target, node.output)
    lower_block(emitter, statement.body)
    for value in reversed(entered):
        emitter.emit("prim::Exit", (value,), (TENSOR,))


# -- exits


@lowers_statement(typed.Return)
def _return(emitter: Emitter, statement: typed.Return) -> None:
    emitter.emit("prim::ReturnStmt", (lowered(emitter, statement.value),))
    emitter.leaving.add(emitter.frames[-1].block)


@lowers_statement(typed.Break)
def _break(emitter: Emitter, statement: typed.Break) -> None:
    emitter.emit("prim::BreakStmt", span=statement.span)


@lowers_statement(typed.Continue)
def _continue(emitter: Emitter, statement: typed.Continue) -> None:
    emitter.emit("prim::ContinueStmt", span=statement.span)


@lowers_statement(typed.Raise)
def _raise(emitter: Emitter, statement: typed.Raise) -> None:
    message = lowered(emitter, statement.message)
    exception = (
        emitter.constant(None, NONE)
        if statement.exception is None
        else emitter.constant(
            statement.exception, STRING, statement.exception_span or statement.span
        )
    )
    if message.type != STRING:
        message = emitter.builtin("aten::str", "", (message,), STRING)
    emitter.emit("prim::RaiseException", (message, exception), (), statement.span)
    emitter.drop(1)  # torch makes an empty tuple of what it gives
    emitter.leaving.add(emitter.frames[-1].block)


# -- if


@lowers_statement(typed.If)
def _if(emitter: Emitter, statement: typed.If) -> None:
    node = emitter.branch(lowered(emitter, statement.test), statement.span)
    bodies = (statement.body, statement.orelse)
    frames = []
    for block, body in zip(node.blocks, bodies, strict=True):
        with emitter.in_block(block) as frame:
            lower_block(emitter, body)
        frames.append(frame)
    _join(emitter, frames[0], frames[1])


def _join(emitter: Emitter, one: Frame, other: Frame) -> None:
    """Note what the branches assigned; one that leaves need not assign what the other does."""
    leaving = [frame.block in emitter.leaving for frame in (one, other)]
    here = emitter.frames[-1]
    for written, frame in ((one.written, other), (other.written, one)):
        for name in sorted(written):
            if name in frame.written or emitter.is_defined(name):
                # torch looks whether the other branch knows it: see `_look`
                emitter.load(name, _type_in(emitter, frame, name))
    if all(leaving):
        emitter.leaving.add(here.block)
        return
    for name in sorted({*one.written, *other.written}):
        if not _is_joined(emitter, name, (one, other), leaving):
            continue
        if True in leaving:
            left, stays = (one, other) if leaving[0] else (other, one)
            type = _look(emitter, stays, name)
            _undefined(emitter, left.block, name, type)
        else:
            types = [_look(emitter, frame, name) for frame in (one, other)]
            type = join(*types, or_union=True) or types[0]
        if emitter.is_defined(name):
            emitter.load(name, emitter.type_of_variable(name))
        here.written[name] = type


def _type_in(emitter: Emitter, frame: Frame, name: str) -> Type:
    """The type of a variable in a branch: what the branch wrote, else what it found."""
    return frame.written.get(name) or emitter.type_of_variable(name)


def _look(emitter: Emitter, frame: Frame, name: str) -> Type:
    """The type of a variable at the end of a branch.

    torch reads the variable to learn it: nothing uses the read, but it moves the names on.
    """
    type = _type_in(emitter, frame, name)
    with emitter.graph.inserting_before(frame.block.ret):
        emitter.load(name, type)
    return type


def _is_joined(
    emitter: Emitter, name: str, frames: tuple[Frame, Frame], leaving: list[bool]
) -> bool:
    """Whether the variable has a value after both branches."""
    outside = emitter.is_defined(name)
    has = [outside or name in f.written or out for f, out in zip(frames, leaving, strict=True)]
    return (name in frames[0].written and has[1]) or (name in frames[1].written and has[0])


def _undefined(emitter: Emitter, block: Block, name: str, type: Type) -> None:
    """Give the variable a value that is never looked at, at the end of a block."""
    with emitter.graph.inserting_before(block.ret):
        emitter.emit("prim::Store", (emitter.uninitialized(type),)).attributes["name"] = name
