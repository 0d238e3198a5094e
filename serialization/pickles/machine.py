"""The stack machine of pickles: it calls nothing, and makes nothing by itself.

A reader says what its opcodes do, and fills in what values are: nodes for archives, tensors and
plain values for weights.  Most opcodes mean the same to all of them (`SHARED`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol

from ...frontend.limits.clock import checkpoint
from ..files.errors import ArchiveError, archive_error
from ..files.limits import DEFAULT_LIMITS, Limits

__all__ = ["SHARED", "Action", "PickleMachine"]


class _Mark:
    """The place on the stack where a group of items begins."""


_MARK: Final = _Mark()

_STOP: Final = ord(".")
_GROUPS: Final = 64
"""Groups that may be open for each level of values: far more than any writer needs."""


class Action(Protocol):
    """What an opcode does to a machine."""

    def __call__(self, machine: Any, /) -> object: ...


class PickleMachine:
    """Reads pickles that follow each other in `data`, from `at` on.

    `title` is what messages call the file.  A subclass says in `actions` what opcodes do: a text
    is the name of the method that does it.
    """

    actions: ClassVar[Mapping[bytes, Action | str]] = {}
    steps: ClassVar[Sequence[Action | None]] = ()
    undecodable_name = "surrogateescape"
    undecodable_text = "surrogateescape"

    def __init_subclass__(cls) -> None:
        steps: list[Action | None] = [None] * 256
        for opcode, action in cls.actions.items():
            steps[opcode[0]] = getattr(cls, action) if isinstance(action, str) else action
        cls.steps = steps

    def __init__(
        self, data: bytes, title: str, at: int = 0, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.data = data
        self.title = title
        self.limits = limits
        self.at = at
        self.opcode_at = at
        self.stack: list[Any] = []
        self.open_groups = 0
        self.memo: dict[int, object] = {}

    def read(self) -> Any:
        """The next value.

        Raises:
            ArchiveError: the pickle is damaged, has too many opcodes, or uses one that it may not.
        """
        self.stack, self.memo, self.open_groups = [], {}, 0
        steps, data = self.steps, self.data
        for count in range(self.limits.opcodes):
            if not count & 1023:
                checkpoint()
            at = self.opcode_at = self.at
            if at >= len(data):
                raise self.damaged("ends in the middle")
            opcode = data[at]
            self.at = at + 1
            if opcode == _STOP:
                return self.pop()
            step = steps[opcode]
            if step is None:
                raise self.unknown(bytes((opcode,)))
            step(self)
        raise self.error("limit-exceeded", f"has more than {self.limits.opcodes} opcodes")

    # -- errors

    def error(self, code: str, what: str) -> ArchiveError:
        return archive_error(code, f"{self.title} {what}")

    def damaged(self, what: str) -> ArchiveError:
        return self.error("damaged-archive", what)

    def unknown(self, opcode: bytes) -> ArchiveError:
        """The error of an opcode without an action."""
        return self.error("unsafe-pickle", f"uses opcode 0x{opcode.hex()}")

    # -- bytes

    def take(self, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        if len(taken) < count:
            raise self.damaged("ends in the middle")
        self.at += count
        return taken

    def line(self) -> str:
        end = self.data.find(b"\n", self.at)
        if end < 0 or end - self.at > 4096:
            raise self.damaged("has a name without an end")
        text = self.data[self.at : end].decode("utf-8", self.undecodable_name)
        self.at = end + 1
        return text

    def unsigned(self, size: int) -> int:
        at = self.at
        end = self.at = at + size
        if end > len(self.data):
            raise self.damaged("ends in the middle")
        return int.from_bytes(self.data[at:end], "little")

    def signed(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little", signed=True)

    def text(self, size: int) -> str:
        """A text, behind its length in `size` bytes."""
        data, begin = self.data, self.at + size
        end = begin + int.from_bytes(data[self.at : begin], "little")
        if end > len(data):
            raise self.damaged("ends in the middle")
        self.at = end
        return data[begin:end].decode("utf-8", self.undecodable_text)

    # -- the stack

    def push(self, value: object) -> None:
        self.stack.append(value)

    def push_made(self, value: object) -> None:
        """Push what takes memory of its own."""
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise self.damaged("takes a value where there is none")
        return self.stack.pop()

    def top(self) -> object:
        if not self.stack or self.stack[-1] is _MARK:
            raise self.damaged("takes a value where there is none")
        return self.stack[-1]

    def mark(self) -> None:
        """Begin a group: what it holds lies in something, and so no deeper than values may."""
        self.open_groups += 1
        if self.open_groups > _GROUPS * self.limits.depth:
            raise self.error("limit-exceeded", "has values that are nested too deeply")
        self.stack.append(_MARK)

    def pop_to_mark(self) -> list[Any]:
        stack = self.stack
        for place in range(len(stack) - 1, -1, -1):
            if stack[place] is _MARK:
                items = stack[place + 1 :]
                del stack[place:]
                self.open_groups -= 1
                return items
        raise self.damaged("ends a group that never began")

    def recall(self, size: int) -> None:
        index = self.unsigned(size)
        if index not in self.memo:
            raise self.damaged(f"refers to memo {index}, which is not set")
        self.stack.append(self.memo[index])

    def remember(self, index: int) -> None:
        stack = self.stack
        self.memo[index] = stack[-1] if stack and stack[-1] is not _MARK else self.top()

    # -- what values are

    def new_tuple(self, items: list[Any]) -> object:
        return tuple(items)

    def new_list(self, items: list[Any]) -> object:
        return items

    def new_dict(self) -> object:
        return {}

    def extend(self, items: list[Any]) -> None:
        """Append items to the list on top."""
        raise NotImplementedError

    def set_items(self, items: list[Any]) -> None:
        """Set keys and values, in turn, of the dict on top."""
        raise NotImplementedError

    def named(self, module: str, name: str) -> object:
        """What stands for a class or function."""
        raise NotImplementedError

    # -- opcodes over them

    def tuple_of(self, count: int) -> None:
        items = [self.pop() for _ in range(count)]
        items.reverse()
        self.push_made(self.new_tuple(items))

    def name(self) -> None:
        module = self.line()
        self.push_made(self.named(module, self.line()))

    def one_item(self) -> None:
        item = self.pop()
        self.extend([item])

    def one_pair(self) -> None:
        value, key = self.pop(), self.pop()
        self.set_items([key, value])


def _pushing(value: object) -> Callable[[PickleMachine], None]:
    return lambda m: m.stack.append(value)


SHARED: Final[Mapping[bytes, Action | str]] = {
    b"c": "name",
    b"q": lambda m: m.remember(m.unsigned(1)),
    b"r": lambda m: m.remember(m.unsigned(4)),
    b"h": lambda m: m.recall(1),
    b"j": lambda m: m.recall(4),
    b"(": "mark",
    b")": lambda m: m.tuple_of(0),
    b"\x85": lambda m: m.tuple_of(1),
    b"\x86": lambda m: m.tuple_of(2),
    b"\x87": lambda m: m.tuple_of(3),
    b"t": lambda m: m.push_made(m.new_tuple(m.pop_to_mark())),
    b"]": lambda m: m.push_made(m.new_list([])),
    b"l": lambda m: m.push_made(m.new_list(m.pop_to_mark())),
    b"a": "one_item",
    b"e": lambda m: m.extend(m.pop_to_mark()),
    b"}": lambda m: m.push_made(m.new_dict()),
    b"s": "one_pair",
    b"u": lambda m: m.set_items(m.pop_to_mark()),
    b"R": "call",
    b"\x81": "new",
    b"b": "set_state",
    b"Q": "persistent",
    b"N": _pushing(None),
    b"\x88": _pushing(True),
    b"\x89": _pushing(False),
    b"K": lambda m: m.stack.append(m.unsigned(1)),
    b"M": lambda m: m.stack.append(m.unsigned(2)),
    b"J": lambda m: m.push(m.signed(4)),
    b"G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    b"X": lambda m: m.stack.append(m.text(4)),
}
"""What opcodes do in every pickle; `call`, `new`, `set_state` and `persistent` are the reader's."""
