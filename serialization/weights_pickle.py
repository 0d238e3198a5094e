"""Reading the pickles of `torch.save`: tensors, and plain Python values around them.

This is no general unpickler.  It knows a closed list of names, none of which is imported or looked
up, calls nothing but the makers of values below, and sets the state of nothing but an OrderedDict.
Everything else is an error that names what the file holds.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from ..ops.dtype import DTYPES, Array, Device, DType
from ..ops.tensor import Parameter, Size, Tensor
from .errors import ArchiveError, archive_error
from .pickle_nodes import StorageNode, TensorNode
from .tensors import StorageReader

__all__ = ["WeightsReader"]

_SAVE_STATE = (
    "where the program is at hand, save `module.state_dict()` and load that with "
    "`load_state_dict`, or save the scripted module with `torch.jit.save`"
)


class _Name:
    """A class or function that a pickle names; `make` is what stands for calling it."""

    def __init__(self, text: str, make: Callable[..., Any] | None = None) -> None:
        self.text = text
        self.make = make


class _Mark:
    """The place on the stack where a group of items begins."""


class _StorageKind(_Name):
    """`torch.FloatStorage` and so on."""


class WeightsReader:
    """The values of pickles that follow each other in `data`, from `at` on.

    `title` is what messages call the file.  Storages come from `storages`.
    """

    def __init__(self, data: bytes, title: str, storages: StorageReader, at: int = 0) -> None:
        self.data = data
        self.title = title
        self.storages = storages
        self.at = at
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.changed: list[tuple[Array, TensorNode]] = []
        """Arrays that are no windows on their storages, since their values are others."""

    def read(self) -> Any:
        """The next value.

        Raises:
            ArchiveError: the pickle is damaged, or holds what is no plain value.
        """
        self.stack, self.memo = [], {}
        while True:
            opcode = self.take(1)
            if opcode == b".":
                return self.pop()
            action = _ACTIONS.get(opcode)
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

    # -- errors

    def damaged(self, what: str) -> ArchiveError:
        return archive_error("damaged-archive", f"{self.title} {what} (at offset {self.at})")

    def refused(self, what: str) -> ArchiveError:
        return archive_error("unsafe-pickle", f"{self.title} {what}", help=_SAVE_STATE)

    def foreign(self, name: str) -> ArchiveError:
        return self.refused(
            f"holds a Python object: `{name}`. Only tensors and plain values are loaded; "
            "nothing in a file is ever imported or run"
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

    def to_mark(self) -> list[Any]:
        for place in range(len(self.stack) - 1, -1, -1):
            if isinstance(self.stack[place], _Mark):
                items = self.stack[place + 1 :]
                del self.stack[place:]
                return items
        raise self.damaged("ends a group that never began")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def recall(self, size: int) -> None:
        index = self.unsigned(size)
        if index not in self.memo:
            raise self.damaged(f"refers to memo {index}, which is not set")
        self.push(self.memo[index])

    def remember(self, index: int) -> None:
        self.memo[index] = self.stack[-1]

    # -- containers

    def tuple_of(self, count: int) -> None:
        items = [self.pop() for _ in range(count)]
        self.push(tuple(reversed(items)))

    def extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise self.damaged("appends to what is no list")
        target.extend(items)

    def set_items(self, items: list[Any]) -> None:
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
        module = {"__builtin__": "builtins", "torch.torch": "torch"}.get(module, module)
        full = f"{module}.{name}"
        if full in _MAKERS:
            return _Name(full, _MAKERS[full])
        if module in ("torch", "torch.storage", "torch.cuda") and name.endswith("Storage"):
            return _StorageKind(name.removesuffix("Storage"))
        if module == "torch" and name in DTYPES:
            return DTYPES[name]
        raise self.foreign(full)

    def call(self) -> None:
        arguments, target = self.pop(), self.pop()
        if not isinstance(target, _Name) or target.make is None or type(arguments) is not tuple:
            raise self.refused("calls what is no known maker of values")
        self.push(target.make(self, *arguments))

    def set_state(self) -> None:
        state, target = self.pop(), self.stack[-1]
        if not isinstance(target, OrderedDict) or not isinstance(state, dict):
            raise self.refused("sets the state of what is no OrderedDict")
        target.__dict__.update(state)

    def persistent(self) -> None:
        match self.pop():
            case ("storage", _StorageKind(text=kind), key, str(place), int(numel), *_):
                self.push(StorageNode(kind, str(key), place, numel))
            case _:
                raise self.damaged("refers to a storage in an unknown way")

    # -- the makers

    def tensor(
        self,
        storage: Any,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool = False,
        hooks: Any = None,
        metadata: Any = None,
    ) -> Tensor:
        if not isinstance(storage, StorageNode):
            raise self.damaged("has a tensor without a storage")
        bits = frozenset(key for key, value in (metadata or {}).items() if value is True)
        node = TensorNode(storage, offset, tuple(size), tuple(stride), requires_grad, bits)
        array = self.storages.array(node)
        if bits:
            self.changed.append((array, node))
        if array.dtype.names is not None:
            raise archive_error(
                "unsupported-value", f"{self.title} holds a quantized tensor, which is not loaded"
            )
        return Tensor._of(array, requires_grad)

    def typed_tensor(
        self,
        storage: Any,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool,
        hooks: Any,
        dtype: Any,
        metadata: Any = None,
    ) -> Tensor:
        """A tensor over bytes without a type (`_rebuild_tensor_v3`)."""
        if not isinstance(storage, StorageNode) or not isinstance(dtype, DType):
            raise self.damaged("has a tensor without a storage")
        count = storage.numel // dtype.itemsize
        typed = StorageNode(dtype.scalar_name, storage.key, storage.location, count)
        return self.tensor(typed, offset, size, stride, requires_grad, hooks, metadata)

    def parameter(self, data: Any, requires_grad: bool = True, *_: Any) -> Parameter:
        if not isinstance(data, Tensor):
            raise self.damaged("has a parameter that is no tensor")
        return Parameter(data, requires_grad)

    def ordered_dict(self, items: Any = ()) -> OrderedDict[Any, Any]:
        return OrderedDict(items)

    def encoded(self, text: str, encoding: str = "latin1") -> bytes:
        if encoding not in ("latin1", "latin-1", "utf-8"):
            raise self.damaged(f"encodes bytes by {encoding!r}")
        return text.encode(encoding)


def _plain(make: Callable[..., Any], *types: type) -> Callable[..., Any]:
    """A maker that takes at most one argument of each of the given types."""

    def made(reader: WeightsReader, *arguments: Any) -> Any:
        if len(arguments) > len(types) or not all(map(isinstance, arguments, types)):
            raise reader.damaged(f"makes a {make.__name__} in an unknown way")
        return make(*arguments)

    return made


_MAKERS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": WeightsReader.tensor,
    "torch._utils._rebuild_tensor_v2": WeightsReader.tensor,
    "torch._utils._rebuild_tensor_v3": WeightsReader.typed_tensor,
    "torch._utils._rebuild_parameter": WeightsReader.parameter,
    "torch._utils._rebuild_parameter_with_state": WeightsReader.parameter,
    "torch.nn.parameter.Parameter": WeightsReader.parameter,
    "collections.OrderedDict": WeightsReader.ordered_dict,
    "collections.Counter": _plain(Counter, dict),
    "builtins.set": _plain(set, list),
    "builtins.frozenset": _plain(frozenset, list),
    "builtins.complex": _plain(complex, float, float),
    "builtins.bytearray": _plain(bytearray, bytes),
    "_codecs.encode": WeightsReader.encoded,
    "torch.Size": _plain(Size, tuple),
    "torch.device": _plain(Device, str, int),
}


def _long(reader: WeightsReader, size: int) -> None:
    count = reader.unsigned(size)
    reader.push(int.from_bytes(reader.take(count), "little", signed=True))


def _text(reader: WeightsReader, size: int) -> None:
    reader.push(reader.take(reader.unsigned(size)).decode("utf-8", "surrogatepass"))


_ACTIONS: dict[bytes, Callable[[WeightsReader], Any]] = {
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
