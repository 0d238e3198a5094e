"""Hooks around `forward`, and handles by which hooks are taken away again."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .modules.module import Module

__all__ = ["Hook", "RemovableHandle", "add_hook", "call_with_hooks"]

Hook = Callable[..., Any]

_numbers = itertools.count()


class RemovableHandle:
    """What registering a hook returns; leaving its `with` block removes the hook."""

    def __init__(self, *tables: MutableMapping[int, Any], id: int | None = None) -> None:
        self.id = next(_numbers) if id is None else id
        self._tables = [weakref.ref(table) for table in tables]

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

    def __getstate__(self) -> tuple[int, list[MutableMapping[int, Any] | None]]:
        return self.id, [reference() for reference in self._tables]

    def __setstate__(self, state: tuple[int, list[MutableMapping[int, Any] | None]]) -> None:
        self.id, tables = state
        self._tables = [weakref.ref(table) for table in tables if table is not None]


def add_hook(
    hooks: MutableMapping[int, Any],
    hook: Hook,
    *flags: MutableMapping[int, bool],
    prepend: bool = False,
) -> RemovableHandle:
    """Add a hook to an ordered table, last or first, and its number to the tables of flags."""
    handle = RemovableHandle(hooks, *flags)
    hooks[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)  # type: ignore[attr-defined]
    return handle


def call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`module.forward` between the hooks registered for it."""
    args, kwargs = _run_before(module, args, kwargs)
    result = None
    called: set[int] = set()
    try:
        result = module.forward(*args, **kwargs)
        for number in list(module._forward_hooks):
            called.add(number)
            result = _run_after(module, number, args, kwargs, result)
        return result
    finally:
        for number in list(module._forward_hooks_always_called):
            if number not in called:
                _run_after(module, number, args, kwargs, result)


def _run_before(
    module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for number, hook in list(module._forward_pre_hooks.items()):
        if number not in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
            continue
        changed = hook(module, args, kwargs)
        if isinstance(changed, tuple) and len(changed) == 2:
            args, kwargs = changed
        elif changed is not None:
            wanted = "forward pre-hook must return None or a tuple of (new_args, new_kwargs)"
            raise RuntimeError(f"{wanted}, but got {changed}.")
    return args, kwargs


def _run_after(
    module: Module, number: int, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    with_kwargs = number in module._forward_hooks_with_kwargs
    given = (args, kwargs) if with_kwargs else (args,)
    changed = module._forward_hooks[number](module, *given, result)
    return result if changed is None else changed
