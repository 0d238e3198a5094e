"""Expressions of the typed tree as nodes, in order of evaluation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ..frontend.clock import checkpoint
from ..frontend.source import Span
from ..typecheck import typed
from ..typecheck.schema import OperatorTable
from ..typecheck.types import BOOL, NONE, FunctionType, TupleType, Type
from .clone import insert_graph
from .constants import MISSING, constant_value, type_of
from .emitter import Emitter, Evaluate
from .graph import Block, Graph, Node, Value

__all__ = ["ExpressionLowering"]

_SIGNS = frozenset({"aten::neg", "aten::bitwise_not"})


class ExpressionLowering(Emitter):
    """One method a form; `expression` chooses it."""

    def __init__(self, table: OperatorTable, evaluate: Evaluate) -> None:
        super().__init__(table)
        self.evaluate = evaluate

    @abstractmethod
    def statements(self, statements: Sequence[typed.Statement]) -> None:
        """Emit statements (refinements, targets of comprehensions)."""

    @abstractmethod
    def function(self, function: typed.TypedFunction) -> Graph:
        """Make the graph of a whole function."""

    @abstractmethod
    def comprehension(self, expr: typed.ListComprehension | typed.DictComprehension) -> Value:
        """Emit a comprehension."""

    def expression(self, expr: typed.Expr) -> Value:
        """Emit an expression and give its value.

        Raises:
            NotImplementedError: there is no lowering for the form.
        """
        checkpoint()
        match expr:
            case typed.Local(name=name):
                return self.load(name, expr.type)
            case typed.Temporary(index=index):
                return self.temporaries[index]
            case typed.Literal():
                return self._literal(expr)
            case typed.PlaceNumber():
                return self.number(expr.number, expr.type, expr.span)
            case typed.OperatorCall():
                return self._operator_call(expr)
            case typed.GetAttribute():
                return self.attribute(self.expression(expr.object), expr.name, expr.type)
            case typed.FunctionCall() | typed.MethodCall() | typed.NewObject():
                return self._call(expr)
            case typed.PythonCall():
                return self._call_python(expr)
            case typed.ListComprehension() | typed.DictComprehension():
                return self.comprehension(expr)
            case _:
                return self._construction(expr)

    def _construction(self, expr: typed.Expr) -> Value:
        match expr:
            case typed.TupleLiteral():
                made = self.make_tuple(self._all(expr.elements), expr.type)
                if isinstance(expr.type, TupleType) and expr.type.name is not None:
                    made.node.span = expr.span
                return made
            case typed.ListLiteral():
                inputs = self._all(expr.elements)
                value = self.emit("prim::ListConstruct", inputs, (expr.type,)).output
                if not expr.hinted:
                    self.nameless.append(value)
                return value
            case typed.DictLiteral():
                pairs = zip(expr.keys, expr.values, strict=True)
                inputs = [self.expression(part) for pair in pairs for part in pair]
                return self.emit("prim::DictConstruct", inputs, (expr.type,)).output
            case typed.TupleIndex():
                return self._tuple_index(expr)
            case typed.TupleSlice():
                return self._tuple_slice(expr)
            case typed.Conditional():
                return self._conditional(expr)
            case typed.ShortCircuit():
                return self._short_circuit(expr)
            case typed.UncheckedCast():
                value = self.expression(expr.value)
                return self.emit("prim::unchecked_cast", (value,), (expr.type,)).output
            case typed.IsInstance():
                node = self.emit("prim::isinstance", (self.expression(expr.value),), (BOOL,))
                node.attributes["types"] = list(expr.types)
                return node.output
            case typed.Sequenced():
                self.statements(expr.statements)
                return self.expression(expr.value)
            case typed.Fork():
                return self._fork(expr)
            case typed.ForkedBody():
                return self._forked_body(expr)
            case typed.Uninitialized():
                return self.uninitialized(expr.type)
        raise NotImplementedError(f"no lowering for {type(expr).__name__} at {expr.span}")

    def _all(self, expressions: Sequence[typed.Expr]) -> list[Value]:
        return [self.expression(e) for e in expressions]

    # -- literals and operators

    def _literal(self, expr: typed.Literal) -> Value:
        value = expr.value
        numeric = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
        if numeric and expr.span.text[:1] in set("0123456789."):
            return self.number(value, expr.type, expr.span)  # type: ignore[arg-type]
        return self.constant(value, expr.type, expr.span)

    def _operator_call(self, expr: typed.OperatorCall) -> Value:
        inputs = self._all(expr.inputs)
        self.graph.skip_ids(expr.discarded)
        arguments = self.arguments(inputs, expr.bindings, expr.span)
        if expr.signature.name in _SIGNS and expr.span.text[:1] in ("-", "~"):
            folded = self._signed(expr, arguments)
            if folded is not None:
                return folded
        return self.operator(expr.signature, arguments, expr.type, expr.span)

    def _signed(self, expr: typed.OperatorCall, arguments: Sequence[Value]) -> Value | None:
        """`-1` is a constant of the program, with its place."""
        value = constant_value(arguments[0])
        if value is MISSING or not isinstance(value, (int, float, complex)):
            return None
        result = self.evaluate(expr.signature, [value])
        self.graph.skip_ids(1)  # torch makes the operator's result first
        return self.constant(result, type_of(result, expr.type), expr.span)

    # -- calls

    def _call(self, expr: typed.FunctionCall | typed.MethodCall | typed.NewObject) -> Value:
        if isinstance(expr, typed.NewObject):
            return self._new_object(expr)
        if isinstance(expr, typed.MethodCall):
            object = self.expression(expr.object)
            inputs = self._all(expr.inputs)
            arguments = self.arguments(inputs, expr.bindings, expr.span)
            return self.call_method(object, expr.name, arguments, expr.type, expr.span)
        inputs = self._all(expr.inputs)
        arguments = self.arguments(inputs, expr.bindings, expr.span)
        return self._call_function(expr, arguments)

    def _call_function(self, expr: typed.FunctionCall, arguments: Sequence[Value]) -> Value:
        body = expr.function.graph
        if expr.function.is_inlined and isinstance(body, Graph):
            return insert_graph(self.graph, body, arguments)[0]
        callee = self.constant(expr.function, FunctionType(expr.function))
        inputs = [callee, *arguments]
        return self.emit("prim::CallFunction", inputs, (expr.type,), expr.span).output

    def _call_python(self, expr: typed.PythonCall) -> Value:
        inputs = self._all(expr.inputs)
        arguments = self.arguments(inputs, expr.bindings, expr.span)
        node = self.emit("prim::PythonOp", arguments, (expr.type,), expr.span)
        node.attributes["function"] = expr.function
        return node.output

    def call_method(
        self, object: Value, name: str, arguments: Sequence[Value], type: Type, span: Span
    ) -> Value:
        node = self.emit("prim::CallMethod", [object, *arguments], (type,), span)
        node.attributes["name"] = name
        return node.output

    def _new_object(self, expr: typed.NewObject) -> Value:
        inputs = self._all(expr.inputs)
        object = self.emit("prim::CreateObject", (), (expr.cls,), expr.span).output
        if expr.init is not None:
            arguments = self.arguments(inputs, expr.bindings, expr.span)
            self.call_method(object, "__init__", arguments, NONE, expr.span)
        return object

    def _fork(self, expr: typed.Fork) -> Value:
        """A task: its graph holds the call, with what the call is given as inputs."""
        call = expr.call
        object = self._all([call.object]) if isinstance(call, typed.MethodCall) else []
        given = [*object, *self._all(call.inputs)]
        outer, self.graph = self.graph, Graph()
        try:
            inner = []
            for value in given:
                inner.append(self.graph.add_input(value.type))
                inner[-1].copy_name(value)
            arguments = self.arguments(inner[len(object) :], call.bindings, call.span)
            if isinstance(call, typed.MethodCall):
                result = self.call_method(inner[0], call.name, arguments, call.type, call.span)
            elif isinstance(call, typed.OperatorCall):
                result = self.operator(call.signature, arguments, call.type, call.span)
            else:
                result = self._call_function(call, arguments)
            self.graph.block.add_output(result)
        finally:
            task, self.graph = self.graph, outer
        node = self.emit("prim::fork", given, (expr.type,), expr.span)
        node.attributes["Subgraph"] = task
        return node.output

    def _forked_body(self, expr: typed.ForkedBody) -> Value:
        """A task: its graph is a function's, which is still to be cleaned up."""
        inputs = self._all(expr.inputs)
        task = type(self)(self.table, self.evaluate).function(expr.function)
        node = self.emit("prim::fork", inputs, (expr.type,), expr.span)
        node.attributes["Subgraph"] = task
        return node.output

    # -- tuples

    def _tuple_index(self, expr: typed.TupleIndex) -> Value:
        value = self.expression(expr.value)
        if expr.written is None:
            return self.index(value, expr.index, expr.type)
        index = self.expression(expr.written)
        return self.emit("prim::TupleIndex", (value, index), (expr.type,)).output

    def _tuple_slice(self, expr: typed.TupleSlice) -> Value:
        value = self.expression(expr.value)
        if not isinstance(value.type, TupleType):
            raise TypeError(f"{value.type} is not a tuple type")
        chosen = range(expr.start, expr.stop, expr.step)
        elements = [self.index(value, i, value.type.elements[i]) for i in chosen]
        return self.make_tuple(elements, expr.type)

    # -- branches

    def _conditional(self, expr: typed.Conditional) -> Value:
        test = self.expression(expr.test)
        node = self.branch(test, expr.span)
        branches = (expr.body_refinements, expr.body), (expr.orelse_refinements, expr.orelse)
        for (refinements, value), block in zip(branches, node.blocks, strict=True):
            self._branch_value(block, refinements, value)
        return node.add_output(expr.type)

    def _short_circuit(self, expr: typed.ShortCircuit) -> Value:
        left = self.expression(expr.left)
        node = self.branch(left, expr.span)
        is_or = expr.operator == "or"
        known, evaluated = node.blocks if is_or else reversed(node.blocks)
        if is_or:
            self._branch_constant(known, expr)
        self._branch_value(evaluated, expr.refinements, expr.right)
        if not is_or:
            self._branch_constant(known, expr)
        return node.add_output(BOOL)

    def branch(self, test: Value, span: Span) -> Node:
        """A `prim::If` with empty blocks."""
        node = self.emit("prim::If", (test,), (), span)
        node.add_block()
        node.add_block()
        return node

    def _branch_value(
        self, block: Block, refinements: Sequence[typed.Statement], value: typed.Expr
    ) -> None:
        with self.in_block(block):
            self.statements(refinements)
            block.add_output(self.expression(value))

    def _branch_constant(self, block: Block, expr: typed.ShortCircuit) -> None:
        with self.in_block(block):
            self.statements(expr.skipped_refinements)
            block.add_output(self.constant(expr.operator == "or", BOOL, expr.span))
