"""Handles by which hooks are taken away again."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from ..ops.tensors.tape_port import Removable

__all__ = ["Hook", "MultiHandle", "RemovableHandle", "Table", "add_hook"]

Hook = Callable[..., Any]
Table = MutableMapping[int, Any]

_numbers = itertools.count()


class RemovableHandle:
    """What registering a hook returns; leaving its `with` block removes the hook.

    Args:
        hooks_dict: the table the hook is in.
        extra_dict: further tables with an entry under the hook's number.
    """

    def __init__(self, hooks_dict: Table, *, extra_dict: Table | list[Table] | None = None) -> None:
        self.id = next(_numbers)
        extra = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self._refer([hooks_dict, *extra])

    def _refer(self, tables: Sequence[Table | None]) -> None:
        self._tables = [weakref.ref(table) for table in tables if table is not None]

    @property
    def hooks_dict_ref(self) -> weakref.ref[Table]:
        """A weak reference to the table the hook is in."""
        return self._tables[0]

    def remove(self) -> None:
        """Take the hook away; a second time does nothing."""
        for reference in self._tables:
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __getstate__(self) -> tuple[int, list[Table | None]]:
        return self.id, [reference() for reference in self._tables]

    def __setstate__(self, state: tuple[int, list[Table | None]]) -> None:
        self.id, tables = state
        self._refer(tables)


class MultiHandle(RemovableHandle):
    """Takes the hooks of several tensors away again."""

    def __init__(self, handles: Sequence[Removable]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take them away."""
        for each in self.handles:
            each.remove()

    def __getstate__(self) -> tuple[Removable, ...]:  # type: ignore[override]
        return self.handles

    def __setstate__(self, state: tuple[Removable, ...]) -> None:  # type: ignore[override]
        self.handles = state


def add_hook(
    hooks: Table,
    hook: Hook,
    *flags: Table,
    prepend: bool = False,
) -> RemovableHandle:
    """Add a hook to an ordered table, last or first, and its number to the tables of flags."""
    handle = RemovableHandle(hooks, extra_dict=list(flags))
    hooks[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)  # type: ignore[attr-defined]
    return handle
