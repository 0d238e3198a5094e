"""The calls that lead to a node: as torch shows them, and as diagnostics do."""

from __future__ import annotations

from collections.abc import Sequence

from ...frontend.diagnostics.diagnostics import Frame
from ...frontend.sources.source import UNKNOWN
from ...ir.graphs.callee import callee
from ...ir.graphs.graph import Node
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.types.types import Type
from ..values.tasks import Task

__all__ = ["below", "named_frames", "original", "torch_frames", "where"]


def torch_frames(nodes: Sequence[Node], function: Function | Task) -> list[Frame]:
    """The frames that torch shows, outermost first.

    `nodes` are where running code called code that was not inlined, and the failing node at last.
    A node without results forgets, in torch, the calls it came through.
    """
    frames: list[Frame] = []
    for number, node in enumerate(nodes):
        name = function.name if number == 0 else _called(nodes[number - 1])
        if node.outputs:
            for site, caller in zip(node.call_stack, _callers(node, name), strict=False):
                frames.append(Frame(caller, site.span))
            name = _callers(node, name)[-1]
        if node.span is not UNKNOWN:
            frames.append(Frame(name, node.span))
    return frames


def named_frames(nodes: Sequence[Node], function: Function | Task) -> list[Frame]:
    """All frames, outermost first, with methods by their classes' names: `Net.forward`."""
    frames: list[Frame] = []
    for number, node in enumerate(nodes):
        owner: Type | None = function.owner if number == 0 else None
        callers = _callers(node, function.name if number == 0 else _called(nodes[number - 1]))
        for site, caller in zip(node.call_stack, callers, strict=False):
            frames.append(Frame(_full_name(caller, owner), site.span))
            owner = below(owner, site.module)
        if node.span is not UNKNOWN:
            frames.append(Frame(_full_name(callers[-1], owner), node.span))
    return frames


def _callers(node: Node, outermost: str) -> list[str]:
    """The names of the functions on the way to a node: one more than it has calls."""
    return [outermost, *(site.callee for site in node.call_stack)]


def _called(node: Node) -> str:
    """The name of the function that a node calls."""
    function = callee(node)
    return str(node.attributes.get("name", "")) if function is None else function.name


def below(owner: Type | None, path: str) -> Type | None:
    """The class of the submodule at a path; without a path the class itself."""
    for name in path.split(".") if path else ():
        owner = None if owner is None else owner.slot_type(name)
    return owner


def _full_name(name: str, owner: Type | None) -> str:
    short = name.rpartition(".")[2]
    is_method = isinstance(owner, ClassType) and short in owner.methods
    return f"{owner.name}.{short}" if is_method and isinstance(owner, ClassType) else short


def original(frame: Frame) -> Frame | None:
    """The frame in the source that an archive's code was printed from, as torch finds it; None if
    it finds none."""
    span = frame.span.torch_original
    return None if span is None or span is UNKNOWN else Frame(frame.function, span)


def where(nodes: Sequence[Node], frames: Sequence[Frame], number: int) -> str:
    """`in method `Block.forward` of `second`, at run time`, for one of the frames."""
    if number < 0:
        return "at run time"
    name = frames[number].function
    sites = [site for node in nodes for site in node.call_stack]
    module = ".".join(site.module for site in sites[:number] if site.module)
    if "." not in name:
        return f"in function `{name}`, at run time"
    return f"in method `{name}`{f' of `{module}`' if module else ''}, at run time"
