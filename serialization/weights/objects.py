"""Reading and writing any Python object, as `torch.save(module)` and `weights_only=False` do.

A file read so may run anything: classes and functions are imported by the names it gives, and
called.  `torch.load` comes here only when told that the file is trusted.
"""

from __future__ import annotations

import copyreg
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ..files.errors import ArchiveError, archive_error
from ..pickles.object_names import found, name_in_torch
from .pickle import WeightsReader
from .states import set_state
from .values import Name, Unset

__all__ = ["ObjectsReader", "Reduction", "reduced"]


@dataclass(frozen=True, slots=True)
class Reduction:
    """How an object is made again: `make(*arguments)`, or `make.__new__`; then items and state."""

    make: Any
    arguments: tuple[object, ...]
    is_new: bool
    items: list[object]
    pairs: list[object]
    state: object


def reduced(value: object) -> Reduction | str:
    """What an object says of itself for pickling; a text is the name it is found under.

    Raises:
        ArchiveError: it cannot be pickled.
    """
    known: Callable[[object], Any] | None = copyreg.dispatch_table.get(type(value))
    try:
        says = known(value) if known is not None else value.__reduce_ex__(2)
    except TypeError as error:
        raise archive_error("unsupported-value", str(error)) from None
    if isinstance(says, str):
        return says
    make, arguments, state, items, pairs = (*says, None, None, None)[:5]
    is_new = make is getattr(copyreg, "__newobj__")  # noqa: B009
    if is_new:
        make, *arguments = arguments
    flat = [part for pair in pairs or () for part in pair]
    return Reduction(make, tuple(arguments), is_new, list(items or ()), flat, state)


_CLASSES: Final = frozenset({"Parameter", "Size", "Tensor", "device"})
"""Classes of torch, which may be met as such and not only be called."""


class ObjectsReader(WeightsReader):
    """Reads any pickle.  Storages and tensors are made as for weights."""

    actions: ClassVar = {
        **WeightsReader.actions,
        b"\x92": "new_with_keywords",
        b"0": lambda r: r.stack.pop(),
        b"1": lambda r: r.pop_to_mark(),
        b"2": lambda r: r.push(r.stack[-1]),
    }

    def named(self, module: str, name: str) -> object:
        module = name_in_torch(module)
        if module.startswith("torch") and name not in _CLASSES and self.is_known(module, name):
            return super().named(module, name)
        try:
            return found(module, name)
        except (ImportError, AttributeError) as error:
            raise archive_error(
                "unsupported-value", f"{self.title} needs `{module}.{name}`: {error}"
            ) from error

    def read(self) -> Any:
        """The next value; storages are made at once, for objects are made no second time.

        Raises:
            ArchiveError: the pickle is damaged, or names what is not there.
        """
        self.makers.makes_storages = True
        return super().read()

    def vouches_for(self, called: object) -> bool:
        return True

    def refused(self, what: str, torch: str = "") -> ArchiveError:
        """A file that may hold anything is damaged where it makes no sense."""
        return self.damaged(what)

    def call(self) -> None:
        if isinstance(self.stack[-2], Name):
            super().call()
            return
        arguments, target = self.pop(), self.pop()
        self.push(target(*arguments))

    def new(self) -> None:
        """Make an object without its `__init__`."""
        if isinstance(self.stack[-2], Name):
            super().call()
            return
        arguments, kind = self.pop(), self.pop()
        self.push(kind.__new__(kind, *arguments))

    def new_with_keywords(self) -> None:
        """The same with keyword arguments."""
        keywords, arguments, kind = self.pop(), self.pop(), self.pop()
        self.push(kind.__new__(kind, *arguments, **keywords))

    def set_state(self) -> None:
        target = self.stack[-2]
        if isinstance(target, Unset) or type(target) is OrderedDict:
            super().set_state()
            return
        set_state(target, self.pop())

    def extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        items = self.values_of(items)
        if isinstance(target, list):
            target.extend(items)
        else:
            for item in items:
                target.append(item)

    def set_items(self, items: list[Any]) -> None:
        target = self.stack[-1]
        items = self.values_of(items)
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key] = value

    def persistent(self) -> None:
        match self.stack[-1]:
            case ("module", kind, *_):  # with its source, before PyTorch 1.6
                self.stack[-1] = kind
            case _:
                super().persistent()
