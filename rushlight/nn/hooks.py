"""Hooks around `forward`."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any
from weakref import ref

from ..ops.tensors.tracing import current_tracer
from .backward_hooks import backward_hooks_exist, gradients_of, watch_result
from .handles import Hook, RemovableHandle, add_hook
from .members import Members

__all__ = [
    "Hook",
    "WrappedHook",
    "RemovableHandle",
    "add_hook",
    "call_with_hooks",
    "has_hooks",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "run_forward",
]


class WrappedHook:
    """A hook before loading a state dict, which is given the module or is not."""

    __module__ = "rushlight.nn.modules.module"  # archives name it so
    __qualname__ = "_WrappedHook"

    def __init__(self, hook: Hook, module: Members | None = None) -> None:
        self.hook = hook
        self.with_module = module is not None
        if module is not None:
            self.module = ref(module)

    def __call__(self, *args: object) -> object:
        if not self.with_module:
            return self.hook(*args)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self) -> dict[str, object]:
        module = {"module": self.module()} if self.with_module else {}
        return {"hook": self.hook, "with_module": self.with_module, **module}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = ref(state["module"])


# Hooks of all modules, by the names that torch has for them in `torch.nn.modules.module`.
_global_forward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()


def run_forward(module: Members, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
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
    return add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, result)` after `forward` of every module."""
    flags = [_global_forward_hooks_with_kwargs] if with_kwargs else []
    if always_call:
        flags.append(_global_forward_hooks_always_called)
    return add_hook(_global_forward_hooks, hook, *flags)


def has_hooks(module: Members) -> bool:
    """Whether a call of the module has hooks to call, its own or those of all modules."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or _global_forward_pre_hooks
        or _global_forward_hooks
        or backward_hooks_exist()
    )


def call_with_hooks(module: Members, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """`module.forward` between the hooks registered for it.

    Hooks that are always called come after an error as well; if one of them fails then, that is a
    warning, since the first error is the one to report.
    """
    result = None
    called: set[int] = set()
    try:
        args, kwargs = _run_before(module, args, kwargs)
        gradients = gradients_of(module)
        if gradients is not None:
            args = gradients.watch_arguments(args)
        result = run_forward(module, args, kwargs)
        for number, hook in _after(module):
            called.add(number)
            result = _run_after(module, number, hook, args, kwargs, result)
        if gradients is not None:
            result = gradients.watch_results(result)
        watch_result(module, args, result)
        return result
    except Exception:
        for number, hook in _after(module):
            if _is_always_called(module, number) and number not in called:
                try:
                    result = _run_after(module, number, hook, args, kwargs, result)
                except Exception as error:  # the first error goes on
                    warnings.warn(f"{_SILENCED}: {error}", stacklevel=2)
        raise


_SILENCED = (
    "module forward hook with ``always_call=True`` raised an exception that was silenced as "
    "another error was raised in forward"
)


def _after(module: Members) -> list[tuple[int, Hook]]:
    return [*_global_forward_hooks.items(), *module._forward_hooks.items()]


def _is_always_called(module: Members, number: int) -> bool:
    own, of_all = module._forward_hooks_always_called, _global_forward_hooks_always_called
    return number in own or number in of_all


def _run_before(
    module: Members, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    for number, hook in [*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()]:
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
    module: Members,
    number: int,
    hook: Hook,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    result: object,
) -> object:
    with_kwargs = (
        number in module._forward_hooks_with_kwargs or number in _global_forward_hooks_with_kwargs
    )
    given = (args, kwargs) if with_kwargs else (args,)
    changed = hook(module, *given, result)
    return result if changed is None else changed
