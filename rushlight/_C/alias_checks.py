"""Whether an operator writes and shares no more memory than its schema says."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.aliases.alias_db import AliasDb
from ..ir.functions.graph_functions import function_of_graph
from ..ir.graphs.clone import clone_graph
from ..jit.function import ScriptFunction
from ..ops.eager.calls import tensors_in
from ..ops.memory.overlap import may_share
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor
from ..utils._pytree import tree_map_only
from .handles import Graph, inner_graph

__all__ = ["_jit_check_alias_annotation"]


def _jit_check_alias_annotation(
    graph: Graph, args: Sequence[object], unqualified_op_name: str
) -> None:
    """Run a graph that calls an operator on copies of values, and compare what it changed, and what
    of its results shares memory with what it was given, with what schemas say.

    Raises:
        RuntimeError: it does what no schema says.
    """
    inner = inner_graph(graph)
    name = f"aten::{unqualified_op_name}"
    aliases = AliasDb(inner)
    given = [tree_map_only(Tensor, _copy, value) for value in args]
    before = [[_copy(tensor) for tensor in tensors_in(value)] for value in given]
    with no_grad():
        result = ScriptFunction(function_of_graph("checked", clone_graph(inner)))(*given)
    for value, now, former in zip(inner.inputs, given, before, strict=True):
        if not aliases.has_writers(value) and not all(map(_same, tensors_in(now), former)):
            raise RuntimeError(f"{name} changed an argument that its schema does not say it writes")
        if not aliases.may_contain_alias(inner.outputs, [value]) and _share(result, now):
            raise RuntimeError(
                f"{name} gave memory of an argument that its schema does not say it shares"
            )


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().clone()


def _same(one: Tensor, other: Tensor) -> bool:
    """Whether they are the same bit for bit, so that what is no number is itself."""
    a, b = one._array, other._array
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _share(result: object, given: object) -> bool:
    """Whether two tensors with elements, one of each, share memory."""
    results, operands = ([t._array for t in tensors_in(v) if t.numel()] for v in (result, given))
    return any(may_share(one, other) for one in results for other in operands)
