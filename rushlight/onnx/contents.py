"""What tensors, lists and dicts hold, at the place the walk has come to."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from .items import BROKEN, Cell, Item, Maybe, Operand, Unsupported, View

__all__ = ["Contents", "Kept"]


class Kept(NamedTuple):
    """What a cell holds, when it came there, and for a view when that of its base came there."""

    item: Item
    time: int
    base_time: int = -1


_LOST: Final = object()
"""The contents of what was changed under another name."""


class Contents:
    """The contents of all cells.

    A view is taken anew where its base has changed since; writing to one writes to its base.
    """

    def __init__(self) -> None:
        self._kept: dict[Cell, Kept] = {}
        self._lasting: dict[Cell, Kept] = {}
        self._linked: dict[Cell, list[Cell]] = {}
        self._times = itertools.count()

    # -- cells

    def cell(self, item: Item, others: Sequence[Cell] = ()) -> Cell:
        """A new cell."""
        made = Cell()
        self.link(made, others)
        self._kept[made] = Kept(item, next(self._times))
        return made

    def link(self, cell: Cell, others: Sequence[Cell]) -> None:
        """Note that cells may be the same object, where a run decides which: what one of them is
        changed to the others do not learn."""
        for other in others:
            self.hold(cell, other)
            self.hold(other, cell)

    def hold(self, holder: Item, element: Item) -> None:
        """Note that a list may hold a tensor in a copy, so that it does not learn its changes."""
        if isinstance(holder, Cell) and isinstance(element, Cell) and holder is not element:
            self._linked.setdefault(element, []).append(holder)

    def lasting(self, item: Item, is_slot: bool = False) -> Cell:
        """A new cell of a constant, parameter or attribute, which all branches know."""
        made = Cell(is_slot=is_slot)
        self._lasting[made] = self._kept[made] = Kept(item, next(self._times))
        return made

    def view(
        self,
        item: Item,
        base: Cell,
        take: Callable[[Operand], Item],
        put: Callable[[Operand, Operand], Operand] | None,
    ) -> Cell:
        """A new cell whose contents are part of another's."""
        made = Cell(View(base, take, put))
        self._kept[made] = Kept(item, next(self._times), self._time(base))
        return made

    def read(self, cell: Cell) -> Item:
        """What a cell holds.

        Raises:
            Unsupported: only a run knows, since it was changed under another name.
        """
        kept = self._kept[cell]
        view = cell.view
        if view is not None and self._time(view.base) != kept.base_time:
            base = self.read(view.base)
            if not isinstance(base, Operand):
                return BROKEN
            kept = Kept(view.take(base), next(self._times), self._time(view.base))
            self._kept[cell] = kept
        if kept.item is _LOST:
            raise Unsupported("this is changed under another name in a branch or loop")
        return kept.item

    def content(self, item: Item) -> Item:
        """What an item is, or holds: its elements may be cells."""
        while isinstance(item, Cell):
            item = self.read(item)
        return item

    def write(self, cell: Cell, item: Item) -> None:
        """Change what a cell holds.

        Raises:
            Unsupported: it is a part of another in a way that has no way back.
        """
        view = cell.view
        if view is not None and isinstance(item, Operand):
            base = self.read(view.base)
            if view.put is None or not isinstance(base, Operand):
                raise Unsupported("what is changed here shares its elements with another tensor")
            self.write(view.base, view.put(base, item))
            self._kept[cell] = Kept(item, next(self._times), self._time(view.base))
        else:
            self._kept[cell] = Kept(item, next(self._times))
        for other in self._reached(cell):
            self.lose(other)

    def are_linked(self, one: Item, other: Item) -> bool:
        """Whether two cells may be the same object."""
        return isinstance(one, Cell) and other in self._reached(one)

    def _reached(self, cell: Cell) -> list[Cell]:
        """The other cells that are linked to one."""
        found, waiting = {cell}, [cell]
        while waiting:
            for other in self._linked.get(waiting.pop(), ()):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return [other for other in found if other is not cell]

    def _time(self, cell: Cell) -> int:
        """When a cell, or what it is a part of, was changed last."""
        while cell.view is not None:
            cell = cell.view.base
        return self._kept[cell].time

    def resolved(self, item: Item) -> Item:
        """The value without cells."""
        item = self.content(item)
        if isinstance(item, list):
            return [self.resolved(each) for each in item]
        if isinstance(item, tuple):
            return tuple(self.resolved(each) for each in item)
        if isinstance(item, dict):
            return {key: self.resolved(each) for key, each in item.items()}
        if isinstance(item, Maybe):
            return Maybe(item.present, self.resolved(item.value))
        return item

    # -- branches and rounds

    def saved(self) -> dict[Cell, Kept]:
        """What is held now."""
        return dict(self._kept)

    def restore(self, saved: dict[Cell, Kept]) -> None:
        """Hold what was held then."""
        self._kept = {**self._lasting, **saved}

    def changed(self, saved: dict[Cell, Kept]) -> list[Cell]:
        """The cells of that time that hold something else now; views follow their bases."""
        return [
            cell
            for cell, kept in {**self._lasting, **saved}.items()
            if cell.view is None and self._kept[cell].item is not kept.item
        ]

    def is_lost(self, cell: Cell) -> bool:
        """Whether it was changed under another name."""
        return self._kept[cell].item is _LOST

    def lose(self, cell: Cell) -> None:
        """Note that it was changed under another name."""
        while cell.view is not None:
            cell = cell.view.base
        if cell in self._kept:
            self._kept[cell] = Kept(_LOST, next(self._times))
