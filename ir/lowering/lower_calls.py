"""Calls of functions, of methods and of Python, and tasks, which are calls."""

from __future__ import annotations

from collections.abc import Sequence

from ...frontend.sources.source import Span
from ...typecheck.definitions.class_types import FunctionType
from ...typecheck.trees import typed
from ...typecheck.types.types import NONE, Type
from ..graphs.clone import insert_graph
from ..graphs.graph import Graph, Value
from .emitter import Emitter
from .lowering import all_lowered, lower_function, lowered, lowers


@lowers(typed.FunctionCall)
def _function_call(emitter: Emitter, expr: typed.FunctionCall) -> Value:
    inputs = all_lowered(emitter, expr.inputs)
    return _call_function(emitter, expr, emitter.arguments(inputs, expr.bindings, expr.span))


def _callee(emitter: Emitter, expr: typed.FunctionCall) -> Value | None:
    """The function that is called, as a value; none of one that is inlined here."""
    if expr.function.is_inlined and isinstance(expr.function.graph, Graph):
        return None
    return emitter.constant(expr.function, FunctionType(expr.function))


def _call_function(
    emitter: Emitter,
    expr: typed.FunctionCall,
    arguments: Sequence[Value],
    callee: Value | None = None,
) -> Value:
    body = expr.function.graph
    if expr.function.is_inlined and isinstance(body, Graph):
        return insert_graph(emitter.graph, body, arguments)[0]
    inputs = [callee or emitter.constant(expr.function, FunctionType(expr.function)), *arguments]
    return emitter.emit("prim::CallFunction", inputs, (expr.type,), expr.span).output


@lowers(typed.PythonCall)
def _call_python(emitter: Emitter, expr: typed.PythonCall) -> Value:
    inputs = all_lowered(emitter, expr.inputs)
    arguments = emitter.arguments(inputs, expr.bindings, expr.span)
    node = emitter.emit("prim::PythonOp", arguments, (expr.type,), expr.span)
    node.attributes["function"] = expr.function
    return node.output


@lowers(typed.MethodCall)
def _method_call(emitter: Emitter, expr: typed.MethodCall) -> Value:
    object = lowered(emitter, expr.object)
    inputs = all_lowered(emitter, expr.inputs)
    arguments = emitter.arguments(inputs, expr.bindings, expr.span)
    return _call_method(emitter, object, expr.name, arguments, expr.type, expr.span)


def _call_method(
    emitter: Emitter, object: Value, name: str, arguments: Sequence[Value], type: Type, span: Span
) -> Value:
    node = emitter.emit("prim::CallMethod", [object, *arguments], (type,), span)
    node.attributes["name"] = name
    return node.output


@lowers(typed.NewObject)
def _new_object(emitter: Emitter, expr: typed.NewObject) -> Value:
    inputs = all_lowered(emitter, expr.inputs)
    object = emitter.emit("prim::CreateObject", (), (expr.cls,), expr.span).output
    if expr.init is not None:
        arguments = emitter.arguments(inputs, expr.bindings, expr.span)
        _call_method(emitter, object, "__init__", arguments, NONE, expr.span)
    return object


@lowers(typed.Fork)
def _fork(emitter: Emitter, expr: typed.Fork) -> Value:
    """A task: its graph holds the call, with what the call is given as inputs."""
    call = expr.call
    object = all_lowered(emitter, [call.object]) if isinstance(call, typed.MethodCall) else []
    given = [*object, *all_lowered(emitter, call.inputs)]
    outer, emitter.graph = emitter.graph, Graph()
    try:
        inner = []
        for value in given:
            inner.append(emitter.graph.add_input(value.type))
            inner[-1].copy_name(value)
        callee = _callee(emitter, call) if isinstance(call, typed.FunctionCall) else None
        arguments = emitter.arguments(inner[len(object) :], call.bindings, call.span)
        if isinstance(call, typed.MethodCall):
            result = _call_method(emitter, inner[0], call.name, arguments, call.type, call.span)
        elif isinstance(call, typed.OperatorCall):
            result = emitter.operator(call.signature, arguments, call.type, call.span)
        else:
            result = _call_function(emitter, call, arguments, callee)
        emitter.graph.block.add_output(result)
    finally:
        task, emitter.graph = emitter.graph, outer
    emitter.drop(1 + sum(len(node.outputs) for node in task.nodes))  # which torch makes here first
    task.number_as_task()
    return _task(emitter, expr, given, task)


@lowers(typed.ForkedBody)
def _forked_body(emitter: Emitter, expr: typed.ForkedBody) -> Value:
    """A task: its graph is a function's, which is still to be cleaned up."""
    inputs = all_lowered(emitter, expr.inputs)
    task = lower_function(Emitter(emitter.table, emitter.evaluate), expr.function)
    made = (node for node in task.all_nodes if node.kind != "prim::Load")
    emitter.drop(1 + sum(len(node.outputs) for node in made))
    return _task(emitter, expr, inputs, task)


def _task(
    emitter: Emitter, expr: typed.Fork | typed.ForkedBody, given: Sequence[Value], task: Graph
) -> Value:
    kind = "prim::awaitable" if expr.awaited else "prim::fork"
    node = emitter.emit(kind, given, (expr.type,), expr.span)
    node.attributes["Subgraph"] = task
    return node.output
