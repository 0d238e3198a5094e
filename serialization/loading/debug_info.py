"""The debug records of an archive: which part of the user's program each stretch of code is.

Beside `code/X.py` may lie `code/X.py.debug_pkl`, a pickle of

    ('FORMAT_WITH_STRING_TABLE', (string, ...), (record, ...))
    record = (offset, (source, start, end), tag)
    source = ([index of a line's string, ...], index of the file name, first line number)

or, in older archives, of the records alone, whose sources are

    (text, file name or None, first line number)

Offsets, starts and ends count bytes of UTF-8.  A record holds from its offset up to the next one.
The records serve messages only: what is wrong with them is passed over, never an error.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from ...frontend.foundations.made_once import made_once
from ...frontend.sources.byte_offsets import ByteOffsets
from ...frontend.sources.source import UNKNOWN, Source, Span
from ..pickles.nodes import ListNode, Node, TupleNode
from ..pickles.writer import write_pickle

__all__ = ["LateOrigins", "Origins", "PlaceTags", "read_debug_records", "write_debug_records"]

MARKER = "FORMAT_WITH_STRING_TABLE"


class Origins:
    """Answers which span of the user's program an offset of a code text was printed for."""

    def __init__(self, offsets: Sequence[int], spans: Sequence[Span]) -> None:
        self._offsets = offsets
        self._spans = spans

    def __call__(self, offset: int) -> Span | None:
        """The span for the character at `offset`, UNKNOWN if there is a record without a source;
        None if there is no record."""
        index = bisect_right(self._offsets, offset) - 1
        return self._spans[index] if index >= 0 else None


class LateOrigins:
    """Origins that are read when first asked for: most programs never ask."""

    def __init__(self, read: Callable[[], Origins | None]) -> None:
        self._read = read

    @made_once
    def _origins(self) -> Origins | None:
        return self._read()

    def __call__(self, offset: int) -> Span | None:
        """The span for the character at `offset`; None if it is not known."""
        return None if self._origins is None else self._origins(offset)


# -- reading


def read_debug_records(root: Node, code: str) -> Origins | None:
    """The records of a pickle for the given code text; None if they cannot be made out."""
    try:
        return _Reader(root, code).origins()
    except (ValueError, IndexError):
        return None


def tagged_spans(root: Node) -> Iterator[tuple[int, Span]]:
    """The places of a pickle of records by the tags that other records know them by.

    Raises:
        ValueError: it is none.
    """
    reader = _Reader(root, "")
    for record in reader.records:
        match record:
            case TupleNode((int(), TupleNode((source, int(start), int(end))), int(tag), *_)):
                span = reader.span(source, start, end)
                if span is not None:
                    yield tag, span


class _Reader:
    def __init__(self, root: Node, code: str) -> None:
        strings: Sequence[Node] = ()
        match root:
            case TupleNode(items=(str(marker), TupleNode(items=strings), TupleNode(items=records))):
                if marker != MARKER:
                    raise ValueError("another format")
            case TupleNode(items=records):
                pass
            case _:
                raise ValueError("no records")
        self.strings = [text for text in strings if isinstance(text, str)]
        if len(self.strings) != len(strings):
            raise ValueError("a string table with other things in it")
        self.records = records
        self.code = ByteOffsets(code)
        self.sources: dict[int, tuple[Source, ByteOffsets] | None] = {}

    def origins(self) -> Origins:
        offsets: list[int] = []
        spans: list[Span] = []
        for record in self.records:
            match record:
                case TupleNode(
                    items=(int(offset), TupleNode(items=(source, int(start), int(end))), *_)
                ):
                    offsets.append(self.code.to_character(offset))
                    spans.append(self.span(source, start, end) or UNKNOWN)
                case _:
                    raise ValueError("a record without its parts")
        if offsets != sorted(offsets):
            raise ValueError("records out of order")
        return Origins(offsets, spans)

    def span(self, node: Node, start: int, end: int) -> Span | None:
        if id(node) not in self.sources:
            self.sources[id(node)] = self.source(node)
        found = self.sources[id(node)]
        if found is None or not 0 <= start <= end:
            return None
        source, offsets = found
        return Span(source, offsets.to_character(start), offsets.to_character(end))

    def source(self, node: Node) -> tuple[Source, ByteOffsets] | None:
        match node:
            case TupleNode(items=(ListNode(items=lines), int(filename), int(first_line))):
                indices = [line for line in lines if isinstance(line, int)]
                if not indices or len(indices) != len(lines) or min(*indices, filename) < 0:
                    return None
                text = "".join(self.strings[index] for index in indices)
                if not text:
                    return None
                source = Source(text, self.strings[filename] or None, first_line)
                return source, source.bytes
            case TupleNode(items=(str(text), (str() | None) as named, int(first_line))):
                source = Source(text, named or None, first_line)
                return (source, source.bytes) if text else None
        raise ValueError("a source without its parts")


# -- writing


class PlaceTags:
    """The numbers by which records of an archive speak of places in the source; 0 is for none."""

    def __init__(self) -> None:
        self._tags: dict[tuple[object, ...], int] = {}

    def of(self, span: Span) -> int:
        """The number of a place, which gets one now if it has none."""
        key = _key(span)
        return 0 if key is None else self._tags.setdefault(key, len(self._tags) + 1)

    def known(self, span: Span) -> int:
        """The number of a place, if it has one."""
        return self._tags.get(_key(span) or (), 0)


def _original(span: Span) -> Span | None:
    """The place that code was made from, where it was read from an archive itself; None if there
    is none."""
    found = span.original if span.source.origin is not None else span
    return None if found is None or found is UNKNOWN or not found.source.text else found


def _key(span: Span) -> tuple[object, ...] | None:
    found = _original(span)
    if found is None:
        return None
    source = found.source
    return (source.text, source.filename, source.first_line, found.start, found.torch_end)


def write_debug_records(
    code: str, records: Sequence[tuple[int, Span]], tags: PlaceTags | None = None
) -> bytes:
    """The pickle for a code text; a record holds from its character on up to the next record.

    All files of an archive have their `tags` in common.

    A span in code that was itself read from an archive is written as what that code was printed
    from, so that records survive loading and saving.
    """
    return write_pickle(_Writer(code, tags or PlaceTags()).root(records))


class _Writer:
    def __init__(self, code: str, tags: PlaceTags) -> None:
        self.code = ByteOffsets(code)
        self.strings: dict[str, int] = {"": 0}
        self.sources: dict[tuple[str, str | None, int], tuple[int, ByteOffsets]] = {}
        self.nodes: list[TupleNode] = []
        self.tags = tags
        self.nothing = TupleNode((TupleNode((ListNode([], "List[int]"), 0, 0)), 0, 0))

    def root(self, records: Sequence[tuple[int, Span]]) -> TupleNode:
        written: list[Node] = []
        before: tuple[int, int, int] | None = (-1, 0, 0)
        for offset, span in records:
            place = self.place(span)
            if place != before:  # different stretches of loaded code may have one origin
                written.append(self.record(offset, place, span))
            before = place
        return TupleNode((MARKER, TupleNode(tuple(self.strings)), TupleNode(tuple(written))))

    def place(self, span: Span) -> tuple[int, int, int] | None:
        """The number of the span's source, and its start and end there; None if unknown."""
        original = _original(span)
        if original is None:
            return None
        number, offsets = self.source(original.source)
        return number, offsets.to_byte(original.start), offsets.to_byte(original.torch_end)

    def record(self, offset: int, place: tuple[int, int, int] | None, span: Span) -> TupleNode:
        at = self.code.to_byte(offset)
        if place is None:
            return TupleNode((at, self.nothing, 0))
        number, start, end = place
        tag = self.tags.of(span)
        return TupleNode((at, TupleNode((self.nodes[number], start, end)), tag))

    def source(self, source: Source) -> tuple[int, ByteOffsets]:
        """The number of a source, equal ones having one number, and its offsets."""
        key = (source.text, source.filename, source.first_line)
        found = self.sources.get(key)
        if found is None:
            *whole, rest = source.text.split("\n")
            lines: list[Node] = [self.string(line + "\n") for line in whole]
            lines.append(self.string(rest))
            filename = self.string(source.filename or "")
            self.nodes.append(
                TupleNode((ListNode(lines, "List[int]"), filename, source.first_line))
            )
            found = self.sources[key] = (len(self.nodes) - 1, source.bytes)
        return found

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))
