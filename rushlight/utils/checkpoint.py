"""`torch.utils.checkpoint`: parts of a network that torch computes again on the way back.

Here they are computed once and keep their intermediate results: the same values, more memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from typing import Any, Final, Self

from ..autograd import backward
from ..autograd.function import Function
from ..ops.table.autocast import Autocast, autocast_state, set_autocast_state
from ..ops.table.grad_mode import enable_grad, no_grad
from ..ops.tensors.tensor import Tensor
from ..random import fork_rng, get_rng_state, set_rng_state

__all__ = [
    *("CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType"),
    *("GraphExecGroup", "SAC_IGNORED_OPS", "SelectiveCheckpointContext"),
    *("check_backward_validity", "checkpoint", "checkpoint_sequential"),
    *("create_selective_checkpoint_contexts", "detach_variable", "get_device_states"),
    *("noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop"),
    "set_device_states",
]

_OPTIONS = (
    *("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check"),
    *("debug", "early_stop"),
)


def checkpoint(function: Callable[..., object], *args: object, **kwargs: object) -> Any:
    """`function(*args, **kwargs)`; torch's options are taken and say nothing here."""
    return function(*args, **{key: kwargs[key] for key in kwargs if key not in _OPTIONS})


def checkpoint_sequential(functions: Any, segments: int, input: object, **kwargs: object) -> Any:
    """What a sequence of functions, or a Sequential, makes of an input."""
    steps: Sequence[Callable[[Any], object]] = (
        list(functions.children()) if hasattr(functions, "children") else list(functions)
    )
    for step in steps:
        input = step(input)
    return input


def get_device_states(*args: object) -> tuple[list[int], list[Any]]:
    """The devices of tensors other than the CPU, and their generators' states: none."""
    del args
    return [], []


def set_device_states(devices: object, states: object, *, device_type: str | None = None) -> None:
    """Give the generators of such devices their states back."""
    del devices, states, device_type


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """A block in which computing again may stop early; nothing is computed again."""
    del enable
    return nullcontext()


set_checkpoint_debug_enabled = set_checkpoint_early_stop


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Blocks for the first computation and the second that change nothing."""
    return nullcontext(), nullcontext()


class CheckpointError(RuntimeError):
    """What is computed again differs from what was computed first, which cannot be."""


class CheckpointPolicy(Enum):
    """What becomes of an operator's result."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


SAC_IGNORED_OPS: Final = frozenset[object]()
"""The operators that no policy is asked about."""


class SelectiveCheckpointContext:
    """What a policy is told besides an operator and its arguments."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Blocks for `context_fn`: everything is kept, so no policy is asked.

    Args:
        policy_fn_or_list: a function, or operators whose results are kept.
        allow_cache_entry_mutation: taken, without effect.

    Raises:
        TypeError: neither a function nor a list.
    """
    if not callable(policy_fn_or_list) and not isinstance(policy_fn_or_list, list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return noop_context_fn()


class DefaultDeviceType:
    """The kind of device that is looked after where a network has none of its own."""

    _chosen = "cuda"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Choose it."""
        DefaultDeviceType._chosen = device

    @staticmethod
    def get_device_type() -> str:
        """The one that was chosen."""
        return DefaultDeviceType._chosen


class GraphExecGroup:
    """A block in which several ways back share what is computed again, which is nothing."""

    _entered: list[GraphExecGroup] = []  # noqa: RUF012

    def __enter__(self) -> Self:
        if GraphExecGroup._entered:
            raise RuntimeError("GraphExecGroup is not reentrant")
        GraphExecGroup._entered.append(self)
        return self

    def __exit__(self, *raised: object) -> None:
        GraphExecGroup._entered.pop()


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same values, tensors without their history.

    Raises:
        RuntimeError: not a tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(_detached(each) if isinstance(each, Tensor) else each for each in inputs)


def _detached(tensor: Tensor) -> Tensor:
    made: Tensor = tensor.detach()
    return made.requires_grad_(tensor.requires_grad)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no input requires a gradient."""
    if not any(isinstance(each, Tensor) and each.requires_grad for each in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


@contextmanager
def _autocast_as(state: Autocast) -> Iterator[None]:
    """A block under an earlier state of autocast."""
    before = autocast_state()
    set_autocast_state(state)
    try:
        yield
    finally:
        set_autocast_state(before)


class CheckpointFunction(Function):
    """A function that is computed again on the way back (Chen et al., arXiv:1604.06174).

    `apply(run_function, preserve_rng_state, *args)`
    """

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """What the function makes of the arguments; what it computes with is not kept."""
        check_backward_validity(args)
        ctx.run_function, ctx.args = run_function, args
        ctx.places = [i for i, each in enumerate(args) if isinstance(each, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        ctx.random_state = get_rng_state() if preserve_rng_state else None
        ctx.autocast = autocast_state()
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Compute again, under the same autocast and with the same random numbers if asked for, and
        walk back through that.

        Raises:
            RuntimeError: no result requires a gradient.
        """
        args = list(ctx.args)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = _detached(tensor)
        forking = fork_rng(enabled=ctx.random_state is not None)
        with forking, enable_grad(), _autocast_as(ctx.autocast):
            if ctx.random_state is not None:
                set_rng_state(ctx.random_state)
            made = ctx.run_function(*args)
        results = [made] if isinstance(made, Tensor) else list(made)
        pairs = [
            (result, grad)
            for result, grad in zip(results, grads, strict=True)
            if isinstance(result, Tensor) and result.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([result for result, _ in pairs], [grad for _, grad in pairs])
        return (None, None, *(each.grad if isinstance(each, Tensor) else None for each in args))
