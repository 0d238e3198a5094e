"""Reading the pickles of `torch.save`: tensors, and plain Python values around them.

This is no general unpickler.  It knows a closed list of names, none of which is imported or looked
up, calls nothing but the makers of `values.py`, and sets the state of nothing but an
OrderedDict and of packed weights.
Everything else is an error that names what the file holds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from ...ops.memory.dtype import DTYPES
from ..files.errors import ArchiveError, archive_error
from ..pickles.machine import SHARED, PickleMachine
from ..pickles.nodes import StorageNode
from ..pickles.tensors import StorageReader
from .values import MAKERS, Makers, StorageView, Unset

__all__ = ["Name", "WeightsReader"]

_SAVE_STATE = (
    "where the program is at hand, save `module.state_dict()` and load that with "
    "`load_state_dict`, or save the scripted module with `torch.jit.save`"
)


class Name:
    """A class or function that a pickle names; `make` is what stands for calling it."""

    def __init__(self, text: str, make: Callable[..., object] | None = None) -> None:
        self.text = text
        self.make = make


class _StorageKind(Name):
    """`torch.FloatStorage` and so on."""


class WeightsReader(PickleMachine):
    """The values of pickles that follow each other in `data`.

    Storages come from `storages`; `is_first` says that they have no contents yet (see `Makers`).
    """

    actions: ClassVar = {
        **SHARED,
        b"\x80": lambda r: r.take(1),
        b"\x95": lambda r: r.take(8),
        b"\x93": "name_on_stack",
        b"\x94": lambda r: r.remember(len(r.memo)),
        b"\x8f": lambda r: r.push(set()),
        b"\x90": "add_items",
        b"\x91": lambda r: r.push(frozenset(r.pop_to_mark())),
        b"\x8a": lambda r: r.push(r.signed(r.unsigned(1))),
        b"\x8b": lambda r: r.push(r.signed(r.unsigned(4))),
        b"\x8c": lambda r: r.push(r.text(1)),
        b"\x8d": lambda r: r.push(r.text(8)),
        b"U": lambda r: r.push(r.take(r.unsigned(1)).decode("latin-1")),
        b"C": lambda r: r.push(r.take(r.unsigned(1))),
        b"B": lambda r: r.push(r.take(r.unsigned(4))),
        b"\x8e": lambda r: r.push(r.take(r.unsigned(8))),
    }
    undecodable_name = "replace"
    undecodable_text = "surrogatepass"

    def __init__(
        self,
        data: bytes,
        title: str,
        storages: StorageReader,
        at: int = 0,
        is_first: bool = False,
    ) -> None:
        super().__init__(data, title, at)
        self.makers = Makers(storages, self.damaged, is_first)

    def read(self) -> Any:
        """The next value.

        Raises:
            ArchiveError: the pickle is damaged, or holds what is no plain value.
        """
        try:
            value = super().read()
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
        if self.makers.unset:
            raise self.damaged("has an object without a state")
        return value

    # -- errors

    def damaged(self, what: str) -> ArchiveError:
        return self.error("damaged-archive", f"{what} (at offset {self.at})")

    def refused(self, what: str) -> ArchiveError:
        return archive_error("unsafe-pickle", f"{self.title} {what}", help=_SAVE_STATE)

    def foreign(self, name: str) -> ArchiveError:
        return self.refused(
            f"holds a Python object: `{name}`. Only tensors and plain values are loaded; nothing "
            "in a file is imported or run unless `weights_only=False` says that it is trusted"
        )

    def unknown(self, opcode: bytes) -> ArchiveError:
        return self.refused(f"uses opcode 0x{opcode.hex()}, which `torch.save` does not")

    # -- containers

    def remember(self, index: int) -> None:
        value = self.memo[index] = self.top()
        if isinstance(value, Unset):
            value.places.append(index)

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

    def add_items(self) -> None:
        items = self.pop_to_mark()
        target = self.stack[-1]
        if type(target) is not set:
            raise self.damaged("adds to what is no set")
        target.update(items)

    # -- names, calls and state

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

    new = call

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
