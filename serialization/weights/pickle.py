"""Reading the pickles of `torch.save`: tensors, and plain Python values around them.

This is no general unpickler.  It knows a closed list of names, none of which is imported or looked
up, calls nothing but the makers of `weights_values.py`, and sets the state of nothing but an
OrderedDict and of packed weights.
Everything else is an error that names what the file holds.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from ...ops.memory.dtype import DTYPES
from ..files.errors import ArchiveError, archive_error
from ..files.limits import DEFAULT_LIMITS
from ..pickles.nodes import StorageNode
from ..pickles.tensors import StorageReader
from .values import MAKERS, Makers, StorageView, Unset

__all__ = ["ACTIONS", "Name", "WeightsReader"]

_SAVE_STATE = (
    "where the program is at hand, save `module.state_dict()` and load that with "
    "`load_state_dict`, or save the scripted module with `torch.jit.save`"
)


class Name:
    """A class or function that a pickle names; `make` is what stands for calling it."""

    def __init__(self, text: str, make: Callable[..., object] | None = None) -> None:
        self.text = text
        self.make = make


class _Mark:
    """The place on the stack where a group of items begins."""


class _StorageKind(Name):
    """`torch.FloatStorage` and so on."""


class WeightsReader:
    """The values of pickles that follow each other in `data`, from `at` on.

    `title` is what messages call the file.  Storages come from `storages`; `is_first` says that
    they have no contents yet (see `Makers`).
    """

    def __init__(
        self,
        data: bytes,
        title: str,
        storages: StorageReader,
        at: int = 0,
        is_first: bool = False,
    ) -> None:
        self.data = data
        self.title = title
        self.at = at
        self.makers = Makers(storages, self.damaged, is_first)
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def read(self) -> Any:
        """The next value.

        Raises:
            ArchiveError: the pickle is damaged, or holds what is no plain value.
        """
        self.stack, self.memo = [], {}
        for _ in range(DEFAULT_LIMITS.opcodes):
            opcode = self.take(1)
            if opcode == b".":
                if self.makers.unset:
                    raise self.damaged("has an object without a state")
                return self.pop()
            action = self.action(opcode)
            if action is None:
                raise self.refused(f"uses opcode 0x{opcode.hex()}, which `torch.save` does not")
            try:
                action(self)
            except ArchiveError:
                raise
            except (
                TypeError,
                ValueError,
                ArithmeticError,
                LookupError,
                RuntimeError,
                AttributeError,
            ) as error:
                raise self.damaged(f"has a value that cannot be made: {error}") from None
        what = f"has more than {DEFAULT_LIMITS.opcodes} opcodes"
        raise archive_error("limit-exceeded", f"{self.title} {what}")

    def action(self, opcode: bytes) -> Callable[[Any], Any] | None:
        """What an opcode does; None if it does not occur."""
        return ACTIONS.get(opcode)

    # -- errors

    def damaged(self, what: str) -> ArchiveError:
        return archive_error("damaged-archive", f"{self.title} {what} (at offset {self.at})")

    def refused(self, what: str) -> ArchiveError:
        return archive_error("unsafe-pickle", f"{self.title} {what}", help=_SAVE_STATE)

    def foreign(self, name: str) -> ArchiveError:
        return self.refused(
            f"holds a Python object: `{name}`. Only tensors and plain values are loaded; nothing "
            "in a file is imported or run unless `weights_only=False` says that it is trusted"
        )

    # -- bytes and the stack

    def take(self, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        if len(taken) < count:
            raise self.damaged("ends in the middle")
        self.at += count
        return taken

    def unsigned(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def line(self) -> str:
        end = self.data.find(b"\n", self.at)
        if end < 0 or end - self.at > 4096:
            raise self.damaged("has a name without an end")
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text

    def pop(self) -> Any:
        if not self.stack or isinstance(self.stack[-1], _Mark):
            raise self.damaged("takes a value where there is none")
        return self.stack.pop()

    def to_mark(self) -> list[object]:
        for place in range(len(self.stack) - 1, -1, -1):
            if isinstance(self.stack[place], _Mark):
                items = self.stack[place + 1 :]
                del self.stack[place:]
                return items
        raise self.damaged("ends a group that never began")

    def push(self, value: object) -> None:
        self.stack.append(value)

    def recall(self, size: int) -> None:
        index = self.unsigned(size)
        if index not in self.memo:
            raise self.damaged(f"refers to memo {index}, which is not set")
        self.push(self.memo[index])

    def remember(self, index: int) -> None:
        value = self.memo[index] = self.stack[-1]
        if isinstance(value, Unset):
            value.places.append(index)

    # -- containers

    def tuple_of(self, count: int) -> None:
        items = [self.pop() for _ in range(count)]
        self.push(tuple(reversed(items)))

    def extend(self, items: list[object]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise self.damaged("appends to what is no list")
        target.extend(items)

    def set_items(self, items: Sequence[object]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict) or len(items) % 2:
            raise self.damaged("sets items of what is no dict")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key] = value

    def one_item(self) -> None:
        item = self.pop()
        self.extend([item])

    def one_pair(self) -> None:
        value, key = self.pop(), self.pop()
        self.set_items([key, value])

    def add_items(self) -> None:
        items = self.to_mark()
        target = self.stack[-1]
        if type(target) is not set:
            raise self.damaged("adds to what is no set")
        target.update(items)

    # -- names, calls and state

    def name(self) -> None:
        module = self.line()
        self.push(self.named(module, self.line()))

    def name_on_stack(self) -> None:
        name, module = self.pop(), self.pop()
        self.push(self.named(str(module), str(name)))

    def named(self, module: str, name: str) -> Any:
        """What a name stands for."""
        known = _known(_RENAMED.get(module, module), name)
        if known is None:
            raise self.foreign(f"{_RENAMED.get(module, module)}.{name}")
        return known

    def is_known(self, module: str, name: str) -> bool:
        """Whether it is the name of a plain value's maker, a storage or a dtype."""
        return _known(_RENAMED.get(module, module), name) is not None

    def call(self) -> None:
        arguments, target = self.pop(), self.pop()
        if not isinstance(target, Name) or target.make is None or type(arguments) is not tuple:
            raise self.refused("calls what is no known maker of values")
        self.push(target.make(self.makers, *arguments))

    def set_state(self) -> None:
        state, target = self.pop(), self.stack[-1]
        if isinstance(target, Unset):
            made = self.stack[-1] = self.makers.with_state(state)
            self.memo.update(dict.fromkeys(target.places, made))
            return
        if not isinstance(target, OrderedDict) or not isinstance(state, dict):
            raise self.refused("sets the state of what is no OrderedDict")
        target.__dict__.update(state)

    def persistent(self) -> None:
        match self.pop():
            case ("storage", _StorageKind(text=kind), key, str(place), int(numel), *view):
                self.push(self.storage(StorageNode(kind, str(key), place, numel), view))
            case _:
                raise self.damaged("refers to a storage in an unknown way")

    def storage(self, root: StorageNode, view: list[object]) -> StorageNode | StorageView:
        """A storage, or the part of one that files before PyTorch 1.6 can speak of."""
        match view:
            case [] | [None]:
                return root
            case [(_, int(offset), int(count))] if 0 <= offset <= offset + count <= root.numel:
                return StorageView(root, offset, count)
        raise self.damaged("refers to a part of a storage in an unknown way")


_RENAMED = {"__builtin__": "builtins", "torch.torch": "torch"}


def _known(module: str, name: str) -> object:
    full = f"{module}.{name}"
    if full in MAKERS:
        return Name(full, MAKERS[full])
    if module in ("torch", "torch.storage", "torch.cuda") and name.endswith("Storage"):
        return _StorageKind(name.removesuffix("Storage"))
    return DTYPES.get(name) if module == "torch" else None


def _long(reader: WeightsReader, size: int) -> None:
    count = reader.unsigned(size)
    reader.push(int.from_bytes(reader.take(count), "little", signed=True))


def _text(reader: WeightsReader, size: int) -> None:
    reader.push(reader.take(reader.unsigned(size)).decode("utf-8", "surrogatepass"))


ACTIONS: dict[bytes, Callable[[WeightsReader], Any]] = {
    b"\x80": lambda r: r.take(1),
    b"\x95": lambda r: r.take(8),
    b"c": WeightsReader.name,
    b"\x93": WeightsReader.name_on_stack,
    b"q": lambda r: r.remember(r.unsigned(1)),
    b"r": lambda r: r.remember(r.unsigned(4)),
    b"\x94": lambda r: r.remember(len(r.memo)),
    b"h": lambda r: r.recall(1),
    b"j": lambda r: r.recall(4),
    b"(": lambda r: r.push(_Mark()),
    b")": lambda r: r.push(()),
    b"]": lambda r: r.push([]),
    b"}": lambda r: r.push({}),
    b"\x8f": lambda r: r.push(set()),
    b"\x90": WeightsReader.add_items,
    b"\x91": lambda r: r.push(frozenset(r.to_mark())),
    b"t": lambda r: r.push(tuple(r.to_mark())),
    b"\x85": lambda r: r.tuple_of(1),
    b"\x86": lambda r: r.tuple_of(2),
    b"\x87": lambda r: r.tuple_of(3),
    b"l": lambda r: r.push(r.to_mark()),
    b"a": WeightsReader.one_item,
    b"e": lambda r: r.extend(r.to_mark()),
    b"s": WeightsReader.one_pair,
    b"u": lambda r: r.set_items(r.to_mark()),
    b"R": WeightsReader.call,
    b"\x81": WeightsReader.call,
    b"b": WeightsReader.set_state,
    b"Q": WeightsReader.persistent,
    b"N": lambda r: r.push(None),
    b"\x88": lambda r: r.push(True),
    b"\x89": lambda r: r.push(False),
    b"K": lambda r: r.push(r.unsigned(1)),
    b"M": lambda r: r.push(r.unsigned(2)),
    b"J": lambda r: r.push(int.from_bytes(r.take(4), "little", signed=True)),
    b"\x8a": lambda r: _long(r, 1),
    b"\x8b": lambda r: _long(r, 4),
    b"G": lambda r: r.push(struct.unpack(">d", r.take(8))[0]),
    b"X": lambda r: _text(r, 4),
    b"\x8c": lambda r: _text(r, 1),
    b"\x8d": lambda r: _text(r, 8),
    b"U": lambda r: r.push(r.take(r.unsigned(1)).decode("latin-1")),
    b"C": lambda r: r.push(r.take(r.unsigned(1))),
    b"B": lambda r: r.push(r.take(r.unsigned(4))),
    b"\x8e": lambda r: r.push(r.take(r.unsigned(8))),
}
