"""Statements of the typed tree as nodes.

`return`, `break`, `continue` become nodes of their own; `exits` takes them out later.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..typecheck import typed
from ..typecheck.relations import join
from ..typecheck.types import NONE, STRING, TENSOR, ListType, TupleType, Type
from .emitter import Frame, is_meaningful
from .graph import Block, Graph, Node, Value
from .lower_loops import LoopLowering

__all__ = ["StatementLowering"]


class StatementLowering(LoopLowering):
    """One method a form; `statements` chooses it."""

    def function(self, function: typed.TypedFunction) -> Graph:
        """The graph of a function, which is all that this object can lower."""
        graph = self.graph
        with self.in_block(graph.block):
            for parameter in function.parameters:
                value = graph.add_input(parameter.type)
                if is_meaningful(parameter.name):
                    value.name = parameter.name
                self.store(parameter.name, value)
            self.statements(function.body)
            graph.block.add_output(self.uninitialized(function.returns))
        for value in self.nameless:
            value.name = None
        return graph

    def statements(self, statements: Sequence[typed.Statement]) -> None:
        """Emit statements; those after a return or raise are never reached and left out."""
        for statement in statements:
            self._statement(statement)
            if self.frames[-1].block in self.leaving:
                return

    def _statement(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Assign():
                self.store(statement.name, self.expression(statement.value), statement.type)
            case typed.Let():
                self.temporaries[statement.index] = self.expression(statement.value)
            case typed.Unpack():
                self._unpack(statement)
            case typed.SetAttribute():
                self._set_attribute(statement)
            case typed.Evaluate():
                self.expression(statement.value)
            case typed.If():
                self._if(statement)
            case typed.While():
                self.while_loop(statement)
            case typed.For():
                self.for_loop(statement)
            case typed.With():
                self._with(statement)
            case _:
                self._exit(statement)

    def _exit(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Return():
                self.emit("prim::ReturnStmt", (self.expression(statement.value),))
                self.leaving.add(self.frames[-1].block)
            case typed.Raise():
                self._raise(statement)
                self.leaving.add(self.frames[-1].block)
            case typed.Break():
                self.emit("prim::BreakStmt", span=statement.span)
            case typed.Continue():
                self.emit("prim::ContinueStmt", span=statement.span)
            case _:
                raise NotImplementedError(
                    f"no lowering for {type(statement).__name__} at {statement.span}"
                )

    def _unpack(self, statement: typed.Unpack) -> None:
        value = self.expression(statement.value)
        parts: Sequence[Value]
        if isinstance(value.type, TupleType):
            parts = self.unpack(value)
        elif isinstance(value.type, ListType):
            parts = self.emit("prim::ListUnpack", (value,), statement.types).outputs
        else:
            raise TypeError(f"cannot unpack {value.type} at {statement.span}")
        self.temporaries.update(zip(statement.temporaries, parts, strict=True))

    def _set_attribute(self, statement: typed.SetAttribute) -> None:
        object, value = self.expression(statement.object), self.expression(statement.value)
        node = self.emit("prim::SetAttr", (object, value))
        node.attributes["name"] = statement.name

    def _raise(self, statement: typed.Raise) -> None:
        message = self.expression(statement.message)
        exception = (
            self.constant(None, NONE)
            if statement.exception is None
            else self.constant(
                statement.exception, STRING, statement.exception_span or statement.span
            )
        )
        self.emit("prim::RaiseException", (message, exception), (), statement.span)

    def _with(self, statement: typed.With) -> None:
        entered = []
        for context in statement.contexts:
            value = self.expression(context.value)
            result = context.enter.returns[0].type
            node = self.emit("prim::Enter", (value,), (result,))
            entered.append(value)
            if context.target is not None:
                self.store(context.target, node.output)
        self.statements(statement.body)
        for value in reversed(entered):
            self.emit("prim::Exit", (value,), (TENSOR,))

    # -- if

    def _if(self, statement: typed.If) -> None:
        node = self.branch(self.expression(statement.test), statement.span)
        bodies = (statement.body, statement.orelse)
        frames = []
        for block, body in zip(node.blocks, bodies, strict=True):
            with self.in_block(block) as frame:
                self.statements(body)
            frames.append(frame)
        self._join(node, frames[0], frames[1])

    def _join(self, node: Node, one: Frame, other: Frame) -> None:
        """Note what the branches assigned; one that leaves need not assign what the other does."""
        leaving = [frame.block in self.leaving for frame in (one, other)]
        here = self.frames[-1]
        if all(leaving):
            self.leaving.add(here.block)
            return
        for written, frame in ((one.written, other), (other.written, one)):
            for name in sorted(written):
                if name in frame.written or self.is_defined(name):
                    # torch looks whether the other branch knows it: see `_look`
                    self.load(name, self._type_in(frame, name))
        for name in sorted({*one.written, *other.written}):
            if not self._is_joined(name, (one, other), leaving):
                continue
            if True in leaving:
                left, stays = (one, other) if leaving[0] else (other, one)
                type = self._look(stays, name)
                self._undefined(left.block, name, type)
            else:
                types = [self._look(frame, name) for frame in (one, other)]
                type = join(*types, or_union=True) or types[0]
            if self.is_defined(name):
                self.load(name, self.type_of_variable(name))
            here.written[name] = type

    def _type_in(self, frame: Frame, name: str) -> Type:
        """The type of a variable in a branch: what the branch wrote, else what it found."""
        return frame.written.get(name) or self.type_of_variable(name)

    def _look(self, frame: Frame, name: str) -> Type:
        """The type of a variable at the end of a branch.

        torch reads the variable to learn it: nothing uses the read, but it moves the names on.
        """
        type = self._type_in(frame, name)
        with self.graph.inserting_before(frame.block.ret):
            self.load(name, type)
        return type

    def _is_joined(self, name: str, frames: tuple[Frame, Frame], leaving: list[bool]) -> bool:
        """Whether the variable has a value after both branches."""
        outside = self.is_defined(name)
        has = [outside or name in f.written or out for f, out in zip(frames, leaving, strict=True)]
        return (name in frames[0].written and has[1]) or (name in frames[1].written and has[0])

    def _undefined(self, block: Block, name: str, type: Type) -> None:
        """Give the variable a value that is never looked at, at the end of a block."""
        with self.graph.inserting_before(block.ret):
            self.emit("prim::Store", (self.uninitialized(type),)).attributes["name"] = name
