"""Hooks of optimizers: around steps, and around taking and giving their state."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from ..nn.handles import Hook, RemovableHandle, add_hook

__all__ = [
    "Hooked",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

P = ParamSpec("P")
R = TypeVar("R")

_BEFORE: Final[OrderedDict[int, Hook]] = OrderedDict()
_AFTER: Final[OrderedDict[int, Hook]] = OrderedDict()
"""Hooks of the steps of all optimizers."""


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Have `hook(optimizer, args, kwargs)` called before the steps of all optimizers; it may give
    the arguments, which begin with the optimizer, and the named ones anew, as a pair."""
    return add_hook(_BEFORE, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Have `hook(optimizer, args, kwargs)` called after the steps of all optimizers."""
    return add_hook(_AFTER, hook)


_TABLES: Final = (
    *("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"),
    *("_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks"),
    *("_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks"),
)


class Hooked:
    """What has hooks: `step` of every class below calls those of steps."""

    _optimizer_step_pre_hooks: OrderedDict[int, Hook]
    _optimizer_step_post_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Hook]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        step = cls.__dict__.get("step")
        if callable(step) and not hasattr(step, "hooked"):
            cls.step = _with_hooks(step)  # type: ignore[attr-defined]

    @staticmethod
    def profile_hook_step(func: Callable[P, R]) -> Callable[P, R]:
        """A `step` that calls hooks, for packages that put one into a class by themselves."""
        return _with_hooks(func)

    def _patch_step_function(self) -> None:
        """Have the `step` of the class call hooks, where a package put one there that does not."""
        step = type(self).step  # type: ignore[attr-defined]
        if not hasattr(step, "hooked"):
            type(self).step = _with_hooks(step)  # type: ignore[attr-defined]

    def _make_tables(self) -> None:
        """Make what is missing of the tables of hooks: copies have none of the original's."""
        for name in _TABLES:
            if name not in self.__dict__:
                self.__dict__[name] = OrderedDict()

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._make_tables()

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Have `hook(optimizer, args, kwargs)` called before a step; it may give the arguments,
        which begin with the optimizer, and the named ones anew, as a pair."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Have `hook(optimizer, args, kwargs)` called after a step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Have `hook(optimizer)` called before `state_dict`."""
        return add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Have `hook(optimizer, state_dict)` called after `state_dict`; what it returns, if it is
        not None, takes the place of that."""
        return add_hook(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Have `hook(optimizer, state_dict)` called before `load_state_dict`; what it returns, if
        it is not None, is loaded."""
        return add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Have `hook(optimizer)` called after `load_state_dict`."""
        return add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)


def _with_hooks(step: Callable[P, R]) -> Callable[P, R]:
    """A `step` that calls hooks: those of all optimizers outermost."""

    @wraps(step)
    def with_hooks(*args: Any, **kwargs: Any) -> R:
        optimizer = args[0]
        before = vars(optimizer).get("_optimizer_step_pre_hooks")
        if before is None:  # it wraps another one, without the state of one
            return step(*args, **kwargs)
        after = optimizer._optimizer_step_post_hooks
        for hook in [*_BEFORE.values(), *before.values()]:
            changed = hook(optimizer, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                        f"{changed}."
                    )
                args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in [*after.values(), *_AFTER.values()]:
            hook(optimizer, args, kwargs)
        return result

    vars(with_hooks)["hooked"] = True
    return with_hooks
