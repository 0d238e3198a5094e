"""The calls that lead to a node: as torch shows them, and as diagnostics do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...frontend.diagnostics.diagnostics import Frame
from ...frontend.sources.source import UNKNOWN, Span
from ...ir.graphs.graph import Node
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.types.types import Type
from ..values.tasks import Task

__all__ = ["named_frames", "original", "torch_frames", "where"]


def torch_frames(nodes: Sequence[Node], function: Function | Task) -> list[Frame]:
    """The frames that torch shows, outermost first.

    `nodes` are where running code called code that was not inlined, and the failing node at last.
    A node without results forgets, in torch, the calls it came through.
    """
    frames: list[Frame] = []
    for number, node in enumerate(nodes):
        name = function.name if number == 0 else _function_of(node.span)
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
        callers = _callers(node, function.name if number == 0 else _function_of(node.span))
        for site, caller in zip(node.call_stack, callers, strict=False):
            frames.append(Frame(_full_name(caller, owner), site.span))
            owner = _below(owner, site.module)
        if node.span is not UNKNOWN:
            frames.append(Frame(_full_name(callers[-1], owner), node.span))
    return frames


def _callers(node: Node, outermost: str) -> list[str]:
    """The names of the functions on the way to a node: one more than it has calls."""
    inner = [site.function for site in node.call_stack[1:]]
    last = [_function_of(node.span) or outermost] if node.call_stack else []
    return [outermost, *inner, *last]


def _function_of(span: Span) -> str:
    """The function whose text holds a place; a file of an archive holds several."""
    if span.source.function:
        return span.source.function
    defined = _DEFINED.findall(span.source.text, 0, max(span.whole.start, 0))
    return defined[-1] if defined else ""


_DEFINED: Final = re.compile(r"^ *def (\w+)\(", re.MULTILINE)


def _below(owner: Type | None, path: str) -> Type | None:
    """The class of the submodule at a path; without a path the class itself."""
    for name in path.split(".") if path else ():
        attribute = owner.attributes.get(name) if isinstance(owner, ClassType) else None
        owner = None if attribute is None else attribute.type
    return owner


def _full_name(name: str, owner: Type | None) -> str:
    short = name.rpartition(".")[2]
    is_method = isinstance(owner, ClassType) and short in owner.methods
    return f"{owner.name}.{short}" if is_method and isinstance(owner, ClassType) else short


def original(frame: Frame) -> Frame | None:
    """The frame in the source that an archive's code was printed from, as far as that is known."""
    span = frame.span.original
    if span is None:
        return None
    return Frame(frame.function, span)


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
