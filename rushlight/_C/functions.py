"""Functions and modules as `torch._C` has them."""

from __future__ import annotations

from collections.abc import Sequence

from ..frontend.diagnostics.torch_text import highlight
from ..frontend.sources.source import Source, Span
from ..interpreter.values.objects import ScriptObject
from ..interpreter.values.values import CastError, to_machine
from ..ir.functions.graph_functions import function_of_graph
from ..ir.graphs.graph import Graph as InnerGraph
from ..ir.text import parser
from ..jit.function import ScriptFunction, ScriptMethod, last_run
from ..jit.unit import CompilationUnit
from ..ops.table.table import TABLE
from ..serialization.mobile.info import flatbuffer_extra_files
from .handles import Graph
from .schemas import FunctionSchema, all_schemas, schemas_of
from .types import Type

__all__ = [
    "CompilationUnit",
    "ScriptFunction",
    "ScriptMethod",
    "ScriptModule",
    "ScriptObject",
    "function_of_graph",
    "parse_ir",
]

ScriptModule = ScriptObject


def parse_ir(input: str, parse_tensor_constants: bool = False) -> Graph:
    """The graph that a text describes, its values numbered anew.

    Tensors are read only with `parse_tensor_constants`; those too large to be printed become zeros.

    Raises:
        RuntimeError: the text is not a graph.
    """
    try:
        inner = parser.parse_ir(
            input, table=TABLE, renumber=True, placeholders=parse_tensor_constants
        )
    except parser.GraphSyntaxError as error:
        raise RuntimeError(f"{error.args[0]} here:\n{_marked(input, error)}") from None
    if not parse_tensor_constants:
        _refuse_tensors(inner)
    return Graph(inner)


def _marked(text: str, error: parser.GraphSyntaxError) -> str:
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: error.line - 1]) + error.column - 1
    marked = highlight(Span(Source(text, None), start, min(start + 1, len(text))))
    return marked.partition("\n")[2]


def _refuse_tensors(graph: InnerGraph) -> None:
    for node in graph.all_nodes:
        for value in node.attributes.values():
            if hasattr(value, "dtype"):
                raise RuntimeError(
                    "Tensor constant encountered but `parse_tensor_constants` set to false"
                )


def _create_function_from_graph(qualname: str, graph: Graph) -> ScriptFunction:
    """A function that runs a graph."""
    return ScriptFunction(function_of_graph(qualname, graph._inner))


def _jit_interpret_graph(graph: Graph, inputs: Sequence[object]) -> object:
    """Run a graph on values."""
    return _create_function_from_graph("graph", graph)(*inputs)


def _jit_get_all_schemas() -> list[FunctionSchema]:
    """The schemas of all operators."""
    return all_schemas()


def _jit_get_schemas_for_operator(name: str) -> list[FunctionSchema]:
    """The schemas of an operator's overloads."""
    return schemas_of(name)


def _jit_assert_is_instance(obj: object, type: Type) -> None:
    """Refuse a Python value that is not of a type.

    Raises:
        RuntimeError: it is not.
    """
    try:
        to_machine(obj, type._type)
    except CastError as error:
        raise RuntimeError(str(error)) from None


def _last_executed_optimized_graph() -> Graph:
    """The graph of what was last called from Python."""
    return last_run()


def _ivalue_debug_python_object(arg0: object) -> object:
    """What Python gets back of an object that it gave: that object."""
    return arg0


def _get_model_extra_files_from_buffer(
    buffer: bytes, extra_files: dict[str, bytes]
) -> dict[str, bytes]:
    """Put the extra files of a flatbuffer into a dictionary, and give it back; other files have
    none here.

    Raises:
        ArchiveError: the flatbuffer is damaged.
    """
    extra_files.update(flatbuffer_extra_files(buffer))
    return extra_files
