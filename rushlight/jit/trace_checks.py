"""Whether a trace computes what the program does: it is traced again and compared."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..interpreter.running.evaluating import CONTEXT
from ..ir.functions.define import graph_of
from ..ir.functions.inline import inline
from ..ir.graphs.graph import Graph
from ..ir.graphs.kinds import is_random
from ..ir.passes.canonical import canonical_copy
from ..ir.text.printer import print_graph, print_node
from ..ir.tracing.tracing import TracerWarning
from ..ops.memory.dtype import Array
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.with_memory import with_memory
from ..typecheck.definitions.functions import Function

__all__ = ["TracingCheckError", "check_against_new_traces", "compare_runs"]


class TracingCheckError(Exception):
    """Tracing again gave another graph, or other constants, or what was traced did not run."""

    def __init__(
        self,
        graph_diff_error: str | None,
        tensor_compare_error: str | None,
        extra_msg: str | None = None,
    ) -> None:
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += extra_msg + "\n"
        if graph_diff_error is not None:
            self.message += "ERROR: Graphs differed across invocations!\n"
            self.message += _indented(graph_diff_error) + "\n"
        if tensor_compare_error is not None:
            self.message += (
                "ERROR: Tensor-valued Constant nodes differed in value across invocations. This "
                "often indicates that the tracer has encountered untraceable code.\n"
            )
            self.message += _indented(tensor_compare_error) + "\n"
        super().__init__(self.message)


def _indented(text: str) -> str:
    return "\n".join("\t" + line for line in text.splitlines())


class Compiled(Protocol):
    """A function or a method of a trace."""

    @property
    def _rushlight_function(self) -> Function: ...
    def __call__(self, *args: object, **kwargs: object) -> object: ...


def check_against_new_traces(
    inputs: Sequence[object],
    again: Callable[[object], Compiled],
    traced: Compiled,
    original: Callable[..., object],
    tolerance: float,
) -> None:
    """Trace again with copies of each of some arguments and compare graphs and results.

    Raises:
        TracingCheckError: the graphs differ, or one of the two fails.
    """
    for given in inputs:
        given = (given,) if isinstance(given, Tensor) else given
        with no_grad():
            other = again(_copies(given))
            one = _plain(traced)
            differences = _differences(one, _plain(other))
            nondeterministic = _random_nodes(one)
            found = _tried(traced, given, "trace", differences)
            expected = _tried(original, given, "Python function", differences)
        if nondeterministic:
            _warn(
                "Trace had nondeterministic nodes. Did you forget call .eval() on your model? "
                f"Nodes:\n{nondeterministic}\nThis may cause errors in trace checking. To disable "
                "trace checking, pass check_trace=False to torch.jit.trace()"
            )
        _compare_results(expected, found, tolerance)
        if any(differences):
            raise TracingCheckError(*differences)


def _tried(
    function: Callable[..., object],
    given: object,
    what: str,
    differences: tuple[str | None, str | None],
) -> list[Array]:
    """The results of a run.

    Raises:
        TracingCheckError: it fails.
    """
    try:
        return _run(function, _copies(given))
    except Exception as error:
        text = f"encountered an exception while running the {what} with test inputs.\nException:\n"
        raise TracingCheckError(*differences, text + _indented(str(error))) from error


def compare_runs(
    inputs: Sequence[object],
    traced: Callable[..., object],
    original: Callable[..., object],
    tolerance: float,
) -> None:
    """Compare the results for copies of each of some arguments."""
    for given in inputs:
        given = (given,) if isinstance(given, Tensor) else given
        with no_grad():
            expected = _run(original, _copies(given))
            found = _run(traced, _copies(given))
        _compare_results(expected, found, tolerance)


def _copies(value: object) -> Any:
    if isinstance(value, Tensor):
        return Tensor._of(with_memory(value)._array.copy("K"), value.requires_grad)
    if isinstance(value, dict):
        return {key: _copies(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [_copies(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _plain(compiled: Compiled) -> Graph:
    """The graph of something compiled, calls inlined, values numbered anew."""
    function = compiled._rushlight_function
    return canonical_copy(inline(graph_of(function), function.name, CONTEXT))


def _text(graph: Graph) -> str:
    text = re.sub(r"___torch_mangle_[0-9]+\.", "", print_graph(graph))
    return re.sub(r"(\w+)\([^()]*device=cpu\)", "Tensor", text)


def _differences(one: Graph, other: Graph) -> tuple[str | None, str | None]:
    """What differs between two graphs, and between their constants."""
    a, b = _text(one), _text(other)
    return _difference(one, other, a, b) if a != b else None, _differing_constants(one, other)


def _difference(one: Graph, other: Graph, a: str, b: str) -> str:
    lines = "".join(difflib.ndiff(a.splitlines(True), b.splitlines(True)))
    found = "Graph diff:\n" + _indented(lines) + "\n"
    for first, second in zip(one.nodes, other.nodes, strict=False):
        texts = print_node(first), print_node(second)
        if texts[0] != texts[1]:
            nodes = "".join(difflib.ndiff(texts[0].splitlines(True), texts[1].splitlines(True)))
            found += "First diverging operator:\nNode diff:\n" + _indented(nodes) + "\n"
            for name, node in (("Trace", first), ("Check", second)):
                if node.span.filename is not None:
                    place = _indented(node.span.text)
                    found += f"{name} source location:\n{place}\n"
            break
    return found


def _differing_constants(one: Graph, other: Graph) -> str | None:
    for first, second in zip(one.nodes, other.nodes, strict=False):
        if first.kind != second.kind:
            return None
        a, b = first.attributes.get("value"), second.attributes.get("value")
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            fault = _mismatch(a, b, 1.3e-6)
            if fault is not None:
                return f"Node:\n{_indented(print_node(first))}\n{fault}"
    return None


def _mismatch(a: Array, b: Array, tolerance: float) -> str | None:
    """What differs between two arrays; None if they are alike."""
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
    if a.dtype != b.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    first, second = (np.asarray(x, np.complex128 if x.dtype.kind == "c" else float) for x in (a, b))
    close = np.isclose(first, second, rtol=tolerance, atol=1e-5, equal_nan=True)
    if close.all():
        return None
    kind = "Scalars are not close!" if not a.ndim else "Tensor-likes are not close!"
    if not a.ndim:
        return f"{kind}\n\nExpected {b.item()} but got {a.item()}."
    wrong = int(close.size - close.sum())
    return (
        f"{kind}\n\nMismatched elements: {wrong} / {close.size} ({100 * wrong / close.size:.1f}%)"
    )


def _random_nodes(graph: Graph) -> str:
    found = []
    for node in graph.all_nodes:
        if not is_random(node):
            continue
        if node.kind.endswith("dropout") and node.inputs[-1].node.value in (False, None):
            continue
        found.append(print_node(node).strip("\n"))
    return "\n".join(found[:20])


def _run(function: Callable[..., object], given: Any) -> list[Array]:
    result = function(**given) if isinstance(given, dict) else function(*given)
    return _leaves(result)


def _leaves(value: object) -> list[Array]:
    if isinstance(value, Tensor):
        return [with_memory(value)._array]
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [leaf for each in value for leaf in _leaves(each)]
        if isinstance(value, (list, tuple))
        else []
    )


def _compare_results(expected: Sequence[Array], found: Sequence[Array], tolerance: float) -> None:
    for number, (a, b) in enumerate(zip(expected, found, strict=False), 1):
        fault = _mismatch(b, a, tolerance)
        if fault is not None:
            _warn(
                f"Output nr {number}. of the traced function does not match the corresponding "
                f"output of the Python function. Detailed error:\n{fault}"
            )
            return


def _warn(text: str) -> None:
    warnings.warn(text, TracerWarning, stacklevel=6)
