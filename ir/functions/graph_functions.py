"""Functions whose bodies are graphs that somebody made."""

from __future__ import annotations

from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.tensor_facts import without_facts
from ..graphs.clone import clone_graph
from ..graphs.graph import Graph

__all__ = ["function_of_graph"]


def function_of_graph(name: str, graph: Graph) -> Function:
    """A function with a copy of a graph as its body."""
    body = clone_graph(graph)
    arguments = [
        Argument(_plain(value.name or "", i), without_facts(value.type))
        for i, value in enumerate(body.inputs)
    ]
    returns = tuple(Argument("", without_facts(value.type)) for value in body.outputs)
    signature = Signature(name.rpartition(".")[2], "", tuple(arguments), returns)
    return Function(name, declared=signature, graph=body)


def _plain(name: str, place: int) -> str:
    base, _, suffix = name.rpartition(".")
    plain = base if base and suffix.isdigit() else name
    return plain if plain.isidentifier() else f"argument_{place}"
