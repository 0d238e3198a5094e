"""Hooks around `forward`, and handles by which hooks are taken away again."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from ..ops.tracing import current_tracer

if TYPE_CHECKING:
    from .modules.module import Module

__all__ = [
    "Hook",
    "LoadHook",
    "RemovableHandle",
    "add_hook",
    "call_with_hooks",
    "global_hooks_exist",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "run_forward",
]

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


class LoadHook:
    """A hook before loading a state dict, which is given the module or is not."""

    def __init__(self, hook: Hook, with_module: bool) -> None:
        self.hook = hook
        self.with_module = with_module

    def __call__(self, module: Module, *args: Any) -> None:
        if self.with_module:
            self.hook(module, *args)
        else:
            self.hook(*args)


# Hooks of all modules.
_before_all: OrderedDict[int, Hook] = OrderedDict()
_after_all: OrderedDict[int, Hook] = OrderedDict()
_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_always_called: OrderedDict[int, bool] = OrderedDict()


def run_forward(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`module.forward`; a tracer makes a call of it."""
    tracer = current_tracer()
    path = None if tracer is None else tracer.path_of(module)
    if tracer is None or path is None:
        return module.forward(*args, **kwargs)
    tracer.enter_module(path)
    try:
        return module.forward(*args, **kwargs)
    finally:
        tracer.leave_module()


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before `forward` of every module."""
    return add_hook(_before_all, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, result)` after `forward` of every module."""
    flags = [_with_kwargs] if with_kwargs else []
    if always_call:
        flags.append(_always_called)
    return add_hook(_after_all, hook, *flags)


def global_hooks_exist() -> bool:
    """Whether there is a hook for all modules."""
    return bool(_before_all or _after_all)


def call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`module.forward` between the hooks registered for it.

    Hooks that are always called come after an error as well; if one of them fails then, that is a
    warning, since the first error is the one to report.
    """
    result = None
    called: set[int] = set()
    try:
        args, kwargs = _run_before(module, args, kwargs)
        result = run_forward(module, args, kwargs)
        for number, hook in _after(module):
            called.add(number)
            result = _run_after(module, number, hook, args, kwargs, result)
        return result
    except Exception:
        for number, hook in _after(module):
            always = number in module._forward_hooks_always_called or number in _always_called
            if always and number not in called:
                try:
                    result = _run_after(module, number, hook, args, kwargs, result)
                except Exception as error:  # the first error goes on
                    warnings.warn(f"{_SILENCED}: {error}", stacklevel=2)
        raise


_SILENCED = (
    "module forward hook with ``always_call=True`` raised an exception that was silenced as "
    "another error was raised in forward"
)


def _after(module: Module) -> list[tuple[int, Hook]]:
    return [*_after_all.items(), *module._forward_hooks.items()]


def _run_before(
    module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for number, hook in [*_before_all.items(), *module._forward_pre_hooks.items()]:
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
    module: Module,
    number: int,
    hook: Hook,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
) -> Any:
    with_kwargs = number in module._forward_hooks_with_kwargs or number in _with_kwargs
    given = (args, kwargs) if with_kwargs else (args,)
    changed = hook(module, *given, result)
    return result if changed is None else changed
