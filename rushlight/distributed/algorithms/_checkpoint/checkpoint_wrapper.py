"""Modules around modules, which keep less for the way back than these do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any, Final

from ....autograd.graph import save_on_cpu
from ....nn.modules.module import Module
from ....nn.parameter import Parameter
from ....utils.checkpoint import checkpoint

__all__ = [
    *("ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper"),
    *("apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper"),
]

_INNER: Final = "_checkpoint_wrapped_module"
_PREFIX: Final = f"{_INNER}."


class CheckpointImpl(Enum):
    """By which of its two ways `torch.utils.checkpoint` computes again."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module):
    """A module around another one, whose attributes it has and whose state it saves as its own."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        setattr(self, _INNER, mod)
        self._register_state_dict_hook(_without_prefix)
        self._register_load_state_dict_pre_hook(_with_prefix)

    def forward(self, *args: object, **kwargs: object) -> Any:
        raise ValueError("Subclasses should implement forward().")

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(_INNER), name)

    def __getitem__(self, key: int) -> Any:
        return getattr(self, _INNER)[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Parameter]]:
        """The parameters, under the names that they have in the module within."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_PREFIX, ""), parameter


def _without_prefix(
    module: Module, state: dict[str, object], prefix: str, metadata: object
) -> None:
    for name in [each for each in state if each.startswith(prefix + _PREFIX)]:
        state[prefix + name.removeprefix(prefix + _PREFIX)] = state.pop(name)


def _with_prefix(state: dict[str, object], prefix: str, *rest: object) -> None:
    for name in [each for each in state if each.startswith(prefix)]:
        state[prefix + _PREFIX + name.removeprefix(prefix)] = state.pop(name)


class OffloadWrapper(ActivationWrapper):
    """Keeps what is kept for the way back in the memory of the CPU."""

    def forward(self, *args: object, **kwargs: object) -> Any:
        with save_on_cpu(pin_memory=True):
            return getattr(self, _INNER)(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """Keeps the inputs alone for the way back, where it computes the rest again.

    Args:
        checkpoint_fn: what computes again, in the place of `torch.utils.checkpoint.checkpoint`.
        checkpoint_fn_kwargs: for it.
    """

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., object] | None = None,
        **checkpoint_fn_kwargs: object,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            way = checkpoint_impl is CheckpointImpl.REENTRANT
            checkpoint_fn = partial(checkpoint, use_reentrant=way)
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: object, **kwargs: object) -> Any:
        inner = getattr(self, _INNER)
        if self.checkpoint_impl is not CheckpointImpl.REENTRANT or not kwargs:
            return self.checkpoint_fn(inner, *args, **kwargs)
        names, count = list(kwargs), len(args)

        def named(*given: object) -> object:  # that way takes no arguments by name
            return inner(*given[:count], **dict(zip(names, given[count:], strict=True)))

        return self.checkpoint_fn(named, *args, *kwargs.values())


def offload_wrapper(module: Module) -> Module:
    """The module in an `OffloadWrapper`."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., object] | None = None,
    **checkpoint_fn_kwargs: object,
) -> Module:
    """The module in a `CheckpointWrapper`."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[[Module, bool, int], bool] | None = None,
) -> None:
    """Wrap the modules below a module that are to be, the inner ones first; one that stands in
    several places is wrapped in the first.

    Args:
        check_fn: says of a module whether it is to be wrapped.
        auto_wrap_policy: says so in its place, as policies of FSDP do: asked of a module whether to
            go on within it, and then whether to wrap it.

    Raises:
        NotImplementedError: the policy is an object (`ModuleWrapPolicy`).
    """
    if auto_wrap_policy is not None and not callable(auto_wrap_policy):
        raise NotImplementedError(
            "apply_activation_checkpointing: rushlight takes functions as policies"
        )
    for name, child in list(model.named_children()):
        if auto_wrap_policy is None or auto_wrap_policy(child, True, 0):
            apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn, auto_wrap_policy)
        wanted = check_fn(child) if auto_wrap_policy is None else auto_wrap_policy(child, False, 0)
        if wanted:
            setattr(model, name, checkpoint_wrapper_fn(child))
