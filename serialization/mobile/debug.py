"""Where the instructions of mobile code come from, if an archive says.

`mobile_debug_handles.pkl` gives every instruction of a function a number; `callstack_debug_map.pkl`
tells of a number the node it was made of, the tag of its place, and the calls that were inlined
around it, the outermost first.  The places themselves are in the records beside the code files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...frontend.diagnostics.torch_text import highlight
from ...frontend.sources.source import Span
from ..files.errors import ArchiveError
from ..files.limits import Limits
from ..loading.debug_info import tagged_spans
from ..pickles.nodes import ListNode, Node, TupleNode
from ..pickles.reader import read_pickle

__all__ = ["MobileDebug", "read_mobile_debug"]


@dataclass(frozen=True, slots=True)
class _Call:
    """An inlined call: the function, the name and class of its module, the tag of its place."""

    function: str
    module: str
    tag: int


@dataclass(frozen=True, slots=True)
class _Place:
    """What an instruction was made of."""

    tag: int
    node: str
    calls: tuple[_Call, ...]


@dataclass(frozen=True)
class MobileDebug:
    """The numbers of instructions by function, what they stand for, and the places of tags."""

    handles: Mapping[str, tuple[int, ...]]
    places: Mapping[int, _Place]
    spans: Mapping[int, Span]

    def text(self, function: str, index: int, top: str) -> str:
        """Torch's text for a failure in an instruction of a function; `top` is the class of the
        module.  Empty if nothing is known."""
        handles = self.handles.get(function, ())
        place = self.places.get(handles[index]) if index < len(handles) else None
        if place is None:
            return ""
        names = ["<unknown>", *(call.function for call in place.calls)]
        tags = [*(call.tag for call in place.calls), place.tag]
        modules = [f"top({top})", *(call.module for call in place.calls)]
        path = ".".join(f"{m}::{n}" for m, n in zip(modules, names, strict=True))
        lines = [
            highlight(self.spans[tag], name)
            for tag, name in zip(tags, names, strict=True)
            if tag in self.spans
        ]
        return (
            f"\n  \n  Module hierarchy:{path}.{place.node}\n"
            f"Traceback of TorchScript (most recent call last):\n{''.join(lines)}\n  "
        )


def read_mobile_debug(
    handles: bytes, places: bytes, records: Iterable[bytes], limits: Limits
) -> MobileDebug | None:
    """What the records of an archive say; None if they cannot be made out: they serve messages
    only."""
    try:
        return MobileDebug(
            dict(_handles(read_pickle(handles, "`mobile_debug_handles.pkl`", limits))),
            dict(_places(read_pickle(places, "`callstack_debug_map.pkl`", limits))),
            {
                tag: span
                for record in records
                for tag, span in tagged_spans(read_pickle(record, "`debug_pkl`", limits))
            },
        )
    except (ArchiveError, ValueError):
        return None


def _handles(root: Node) -> Iterator[tuple[str, tuple[int, ...]]]:
    match root:
        case TupleNode((int(), *functions)):
            for function in functions:
                match function:
                    case TupleNode((str(name), TupleNode((TupleNode((str(), numbers)), *_)))):
                        yield name, tuple(_integers(numbers))


def _integers(node: Node) -> Iterator[int]:
    if isinstance(node, int):
        yield node
    elif isinstance(node, TupleNode | ListNode):
        for item in node.items:
            if isinstance(item, int | ListNode):
                yield from _integers(item)


def _places(root: Node) -> Iterator[tuple[int, _Place]]:
    for item in root.items if isinstance(root, TupleNode) else ():
        match item:
            case TupleNode((int(handle), int(tag), str(node), calls)):
                yield handle, _Place(tag, node, tuple(_calls(calls)))


def _calls(node: Node) -> Iterator[_Call]:
    while True:
        match node:
            case TupleNode((module, int(tag), inner, str(function))):
                yield _Call(function, _module(module), tag)
                node = inner
            case _:
                return


def _module(node: Node) -> str:
    match node:
        case TupleNode((str(cls), str(name))):
            return f"{name}({cls.rpartition('.')[2]})"
    return "UNKNOWN_INSTANCE(UNKNOWN_TYPE)"
