"""The smallest possible interpreter of graphs, to see that graphs mean what programs mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ir_support import evaluate

from rushlight.ir.graphs.graph import Block, Graph, Node, Value


class Raised(Exception):
    """The graph reached a `prim::RaiseException`."""


UNSET = object()
Environment = dict[Value, Any]


def run(graph: Graph, arguments: Sequence[object], log: list[str] | None = None) -> object:
    """The graph's only output; contexts entered and left are noted in `log`."""
    (result,) = _block(graph.block, arguments, {}, [] if log is None else log)
    return result


def _block(
    block: Block, arguments: Sequence[object], known: Environment, log: list[str]
) -> list[Any]:
    known.update(zip(block.inputs, arguments, strict=True))
    for node in block.nodes:
        known.update(zip(node.outputs, _node(node, known, log), strict=True))
    return [known[value] for value in block.outputs]


def _node(node: Node, known: Environment, log: list[str]) -> Sequence[object]:
    values = [known[value] for value in node.inputs]
    match node.kind:
        case "prim::Constant":
            return [node.value]
        case "prim::Uninitialized":
            return [UNSET]
        case "prim::If":
            assert values[0] in (True, False)
            return _block(node.blocks[0 if values[0] else 1], (), known, log)
        case "prim::Loop":
            return _loop(node, values, known, log)
        case "prim::RaiseException":
            raise Raised
        case "prim::TupleConstruct":
            return [tuple(values)]
        case "prim::TupleUnpack":
            return list(values[0])
        case "prim::TupleIndex":
            return [values[0][values[1]]]
        case "prim::ListConstruct":
            return [values]
        case "prim::Enter" | "prim::Exit":
            log.append(node.kind)
            return [None]
        case "aten::append":
            values[0].append(values[1])
            return [values[0]]
    assert node.signature is not None
    result = evaluate(node.signature, values)
    return [result] if node.outputs else []


def _loop(node: Node, values: list[Any], known: Environment, log: list[str]) -> Sequence[object]:
    trips, goes_on, *carried = values
    index = 0
    while goes_on and index < trips:
        goes_on, *carried = _block(node.blocks[0], (index, *carried), known, log)
        index += 1
    return carried
