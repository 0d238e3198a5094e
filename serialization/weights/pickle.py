"""Reading the pickles of `torch.save`: tensors, and plain Python values around them.

This is no general unpickler.  It knows a closed list of names, none of which is imported or looked
up, calls nothing but the makers of `values.py`, and sets the state of nothing but an
OrderedDict and of packed weights.
Everything else is an error that names what the file holds.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any, ClassVar, Final

from ...frontend.diagnostics.diagnostics import Diagnostic, Help
from ...ops.memory.dtype import DTYPES, QSCHEMES
from ..files.errors import ArchiveError, RefusedPickle
from ..pickles.keys import Keys
from ..pickles.machine import SHARED, PickleMachine
from ..pickles.nodes import StorageNode
from ..pickles.object_names import found, present_name
from ..pickles.tensors import StorageReader
from .values import MAKERS, Makers, Name, StorageView, Unset

__all__ = ["BLOCKED", "UNSAFE_MESSAGE", "WeightsReader"]

_SAVE_STATE = (
    "where the program is at hand, save `module.state_dict()` and load that with "
    "`load_state_dict`, or save the scripted module with `torch.jit.save`"
)

UNSAFE_MESSAGE: Final = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
    "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, but it can result in arbitrary code execution. Do it only if you got the file "
    "from a trusted source."
)

_FAILED = (
    f"Weights only load failed. {{}}{UNSAFE_MESSAGE}\n{{}}\n\nCheck the documentation of "
    "torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
"""torch's sentence: what may be done before it says what changed, and what the file asks for."""

_TWO_WAYS = (
    "This file can still be loaded, to do so you have two options, \x1b[1mdo those steps only if "
    "you trust the source of the checkpoint\x1b[0m. \n\t(1) "
)

_FOREIGN = (
    "\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in "
    "the following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {0} was "
    "not an allowed global by default. Please use `torch.serialization.add_safe_globals([{0}])` or "
    "the `torch.serialization.safe_globals([{0}])` context manager to allowlist this global if you "
    "trust this class/function."
)

_OTHER = (
    "Please file an issue with the following so that we can make `weights_only=True` compatible "
    "with your use case: WeightsUnpickler error: {}"
)

BLOCKED: Final = frozenset({"sys", "os", "posix", "nt"})
"""Modules whose functions nobody can vouch for."""


class _StorageKind(Name):
    """`torch.FloatStorage` and so on."""

    @property
    def kind(self) -> str:
        """Of what elements it is: `Float`."""
        return self.name.removesuffix("Storage")


class _Mentions:
    """A tuple that holds names, and what it is as a value, once that is asked."""

    __slots__ = ("items", "values")

    def __init__(self, items: Any) -> None:
        self.items: tuple[object, ...] = items
        self.values: tuple[object, ...] | None = None


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
        b"\x91": "frozen_set",
        b"\x8a": lambda r: r.push(r.signed(r.unsigned(1))),
        b"\x8b": lambda r: r.push(r.signed(r.unsigned(4))),
        b"\x8c": lambda r: r.push(r.text(1)),
        b"\x8d": lambda r: r.push(r.text(8)),
        b"U": lambda r: r.push(r.old_string(1)),
        b"T": lambda r: r.push(r.old_string(4)),
        b"C": lambda r: r.push(r.take(r.unsigned(1))),
        b"B": lambda r: r.push(r.take(r.unsigned(4))),
        b"\x8e": lambda r: r.push(r.take(r.unsigned(8))),
    }
    encoding = "utf-8"
    """How strings of Python 2 are decoded; `bytes` leaves them as they are."""
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
        self.keys = Keys(partial(self.error, "limit-exceeded"))
        self.makers = Makers(storages, self.damaged, is_first, self.keys)
        self.makers.vouches_for = self.vouches_for
        self._mentioning: dict[int, _Mentions] = {}
        """The tuples that hold names, or such tuples, by their ids."""

    @property
    def wants_contents(self) -> bool:
        """Whether something that was made depends on what its storages hold."""
        return self.makers.wants_contents

    def read(self) -> Any:
        """The next value.

        Raises:
            ArchiveError: the pickle is damaged, or holds what is no plain value.
        """
        begin = self.at
        try:
            value = self.value_of(super().read())
            if self.makers.unused:  # most files have none: read once more, with storages
                self.makers.makes_storages = True
                self.makers.unused.clear()
                self.at = begin
                value = self.value_of(super().read())
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

    def old_string(self, size: int) -> str | bytes:
        """A string of Python 2, whose length takes `size` bytes."""
        string = self.take(self.unsigned(size))
        return string if self.encoding == "bytes" else string.decode(self.encoding)

    def vouches_for(self, called: object) -> bool:
        """Whether something that is no name of a maker may be called."""
        return False

    # -- errors

    def damaged(self, what: str) -> ArchiveError:
        return self.error("damaged-archive", f"{what} (at offset {self.at})")

    def refused(self, what: str, torch: str = "") -> ArchiveError:
        """The error of a file that asks for too much; `torch` is torch's sentence."""
        told = torch or _FAILED.format("", _OTHER.format(what))
        helps = (Help(_SAVE_STATE),)
        message = f"{self.title} {what}"
        found = Diagnostic("unsafe-pickle", message, None, helps=helps, torch_message=told)
        return RefusedPickle([found])

    def foreign(self, module: str, name: str) -> ArchiveError:
        name = f"{module}.{name}"
        if module in BLOCKED:
            told = f"\n\nTrying to load unsupported GLOBAL {name} whose module {module} is blocked."
            told = _FAILED.format("", told)
        else:
            told = _FAILED.format(_TWO_WAYS, _FOREIGN.format(name.removeprefix("builtins.")))
        return self.refused(
            f"holds a Python object: `{name}`. Only tensors and plain values are loaded; nothing "
            "in a file is imported or run unless `weights_only=False` says that it is trusted",
            told,
        )

    def unknown(self, opcode: bytes) -> ArchiveError:
        return self.refused(f"uses opcode 0x{opcode.hex()}, which `torch.save` does not")

    # -- names that are values by themselves

    def values_of(self, items: list[object]) -> list[object]:
        """Items of a container, with what names stand for in the place of names."""
        if _MENTIONS.isdisjoint(map(type, items)):
            return items
        return [self.value_of(item) for item in items]

    def value_of(self, item: object) -> object:
        """What an item is where nothing is called by it: a name is the class or function."""
        if isinstance(item, Name):
            return self.mentioned(item)
        mentions = self._mentioning.get(id(item))
        if mentions is None:
            return item
        if mentions.values is None:
            mentions.values = tuple(map(self.value_of, mentions.items))
        return mentions.values

    def mentioned(self, name: Name) -> object:
        """What one of the known names stands for; torch makes a `StorageType` of typed storages."""
        try:
            if isinstance(name, _StorageKind) and name.module == "torch":
                return found("torch.serialization", "StorageType")(name.name)
            return found(name.module, name.name)
        except (ImportError, AttributeError, LookupError):
            raise self.foreign(name.module, name.name) from None

    # -- containers

    def new_tuple(self, items: list[Any]) -> object:
        made = super().new_tuple(items)
        if any(isinstance(item, Name) or id(item) in self._mentioning for item in items):
            self._mentioning[id(made)] = _Mentions(made)
        return made

    def new_list(self, items: list[Any]) -> object:
        return self.values_of(items)

    def remember(self, index: int) -> None:
        value = self.memo[index] = self.top()
        if isinstance(value, Unset):
            value.places.append(index)

    def extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise self.damaged("appends to what is no list")
        target.extend(self.values_of(items))

    def set_items(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict) or len(items) % 2:
            raise self.damaged("sets items of what is no dict")
        items = self.values_of(items)
        self.keys.check(items[::2])
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key] = value

    def add_items(self) -> None:
        items = self.pop_to_mark()
        target = self.stack[-1]
        if type(target) is not set:
            raise self.damaged("adds to what is no set")
        items = self.values_of(items)
        self.keys.check(items)
        target.update(items)

    def frozen_set(self) -> None:
        items = self.values_of(self.pop_to_mark())
        self.keys.check(items)
        self.push(frozenset(items))

    # -- names, calls and state

    def name_on_stack(self) -> None:
        name, module = self.pop(), self.pop()
        self.push(self.named(str(module), str(name)))

    def named(self, module: str, name: str) -> object:
        """What a name stands for."""
        module, name = present_name(module, name)
        known = _known(module, name)
        if known is None and module in _OF_TENSORS and name.endswith("Tensor"):
            return Name(module, name)
        if known is None:
            raise self.foreign(module, name)
        return known

    def is_known(self, module: str, name: str) -> bool:
        """Whether it is the name of a plain value's maker, a storage or a dtype."""
        return _known(*present_name(module, name)) is not None

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
        said = self.pop()
        if self.encoding == "bytes" and isinstance(said, tuple):
            said = tuple(each.decode() if isinstance(each, bytes) else each for each in said)
        match said:
            case ("storage", _StorageKind(kind=kind), key, str(place), int(numel), *view):
                node = StorageNode(kind, str(key), place, numel)
                self.push(self.makers.stored(self.storage(node, view)))
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


_MENTIONS: Final = frozenset({Name, _StorageKind, tuple})
"""Types of items that are, or may hold, names."""

_OF_TENSORS: Final = ("torch", "torch.sparse", "torch.cuda", "torch.cuda.sparse")
"""Where the types are that tensors of one dtype and device have: values, which nothing calls."""


def _known(module: str, name: str) -> object:
    full = f"{module}.{name}"
    if full in MAKERS:
        return Name(module, name, MAKERS[full])
    if module in ("torch", "torch.storage", "torch.cuda") and name.endswith("Storage"):
        return _StorageKind(module, name)
    return DTYPES.get(name) or QSCHEMES.get(name) if module == "torch" else None
