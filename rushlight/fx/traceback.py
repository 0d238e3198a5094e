"""`torch.fx.traceback`: what is noted with the nodes that are made within a block."""

from __future__ import annotations

import copy
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from ..module_names import names_of

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

__all__ = [
    *("NodeSource", "NodeSourceAction", "annotate", "annotate_fn", "format_stack"),
    *("get_current_meta", "get_graph_provenance_json", "has_preserved_node_meta"),
    *("preserve_node_meta", "reset_grad_fn_seq_nr", "set_current_meta"),
    *("set_grad_fn_seq_nr", "set_stack_trace"),
]

P = ParamSpec("P")
R = TypeVar("R")


class _Notes(threading.local):
    """What new nodes of a thread are told, if that is preserved."""

    def __init__(self) -> None:
        self.current: dict[str, Any] = {}
        self.preserved = False


_NOTES: Final = _Notes()


class NodeSourceAction(Enum):
    """What a pass did with a node."""

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """Which node another one was made from, by which pass and how."""

    def __init__(
        self,
        node: Node | None,
        pass_name: str = "",
        action: NodeSourceAction | list[NodeSourceAction] | None = None,
    ) -> None:
        self.pass_name = pass_name
        if action is None:
            action = []
        self.action = action if isinstance(action, list) else [action]
        self.from_node = copy.deepcopy(node.meta.get("from_node", [])) if node else []
        self._name = node.name if node else ""
        self._target = str(node.target) if node else ""
        self._graph_id = id(node.graph) if node else -1

    @property
    def name(self) -> str:
        """The node's name."""
        return self._name

    @property
    def target(self) -> str:
        """What it called or read."""
        return self._target

    @property
    def graph_id(self) -> int:
        """A number of its graph."""
        return self._graph_id

    def __repr__(self) -> str:
        return self.print_readable()

    def _actions(self) -> str:
        return "+".join(each.name.lower() for each in self.action)

    def print_readable(self, indent: int = 0) -> str:
        """A text of this and what that was made from, each further in."""
        if indent > 9:
            return ""
        line = (
            f"{'    ' * indent}(name={self.name}, pass_name={self.pass_name}, "
            f"action={self._actions()}, graph_id={self.graph_id})\n"
        )
        return line + "".join(each.print_readable(indent + 1) for each in self.from_node)

    def to_dict(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "name": self.name,
            "target": self.target,
            "graph_id": self.graph_id,
            "pass_name": self.pass_name,
            "action": self._actions(),
            "from_node": [each.to_dict() for each in self.from_node],
        }


@contextmanager
def _with(changes: Mapping[str, object], preserve: bool | None = None) -> Iterator[None]:
    """A block in which nodes get these notes, too."""
    before = _NOTES.current, _NOTES.preserved
    _NOTES.current = {**_NOTES.current, **changes}
    if preserve is not None:
        _NOTES.preserved = preserve
    try:
        yield
    finally:
        _NOTES.current, _NOTES.preserved = before


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """A block in which new nodes get the notes that are current."""
    with _with({}, enable):
        yield


def has_preserved_node_meta() -> bool:
    """Whether they do."""
    return _NOTES.preserved


@contextmanager
def annotate(annotation_dict: dict[str, object]) -> Iterator[None]:
    """A block whose nodes get entries in `meta["custom"]`, while notes are preserved."""
    with _with({"custom": {**_NOTES.current.get("custom", {}), **annotation_dict}}):
        yield


def annotate_fn(
    annotation_dict: dict[str, object],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: the function's calls are such blocks."""

    def decorate(func: Callable[P, R]) -> Callable[P, R]:
        @wraps(func)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            with annotate(annotation_dict):
                return func(*args, **kwargs)

        return wrapped

    return decorate


def set_stack_trace(stack: list[str]) -> None:
    """Note where new nodes come from; an empty stack is that it is not known."""
    if not _NOTES.preserved:
        return
    if stack:
        _NOTES.current["stack_trace"] = "".join(stack)
    else:  # what comes next is not from where the last came
        _NOTES.current.pop("stack_trace", None)


def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Note the number of the function whose gradient is computed."""
    if _NOTES.preserved:
        _NOTES.current["grad_fn_seq_nr"] = [*_NOTES.current.get("grad_fn_seq_nr", []), seq_nr]
        _NOTES.current["in_grad_fn"] = _NOTES.current.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr() -> None:
    """Forget the last such number.

    Raises:
        AssertionError: there is none.
    """
    if not _NOTES.preserved:
        return
    level = _NOTES.current.get("in_grad_fn", 0)
    if level <= 0:
        raise AssertionError(f"Expected current_level > 0, got {level}")
    _NOTES.current["in_grad_fn"] = level - 1
    _NOTES.current["grad_fn_seq_nr"] = _NOTES.current["grad_fn_seq_nr"][:-1]
    if not _NOTES.current["in_grad_fn"]:
        del _NOTES.current["in_grad_fn"], _NOTES.current["grad_fn_seq_nr"]


def format_stack() -> list[str]:
    """The noted stack, or that of the caller."""
    if _NOTES.preserved:
        return [_NOTES.current.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """A block whose nodes get the notes of a node, while notes are preserved."""
    if not (_NOTES.preserved and node.meta):
        yield
        return
    source = NodeSource(node, pass_name, NodeSourceAction.CREATE)
    with _with({**node.meta, "from_node": [source]}):
        yield


def get_current_meta() -> dict[str, Any]:
    """The notes that are current."""
    return _NOTES.current


def get_graph_provenance_json(graph: Graph) -> dict[str, Any]:
    """For each call in a graph, what it was made from."""
    return {
        node.name: [each.to_dict() for each in node.meta.get("from_node", [])]
        for node in graph.nodes
        if node.op == "call_function"
    }


__getattr__ = names_of(__name__)
