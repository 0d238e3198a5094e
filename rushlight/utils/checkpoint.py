"""`torch.utils.checkpoint`: parts of a network that are computed again on the way back.

What they compute with is not kept meanwhile: less memory, more time.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, Self

from ..autograd import backward
from ..autograd.function import Function, FunctionCtx
from ..autograd.graph import saved_tensors_hooks
from ..nn.modules.module import Module
from ..ops.gradients.nodes.autograd import WALKING
from ..ops.memory.dtype import CPU, Device, DType, Dtype, of_numpy
from ..ops.random_numbers.random import default_generator
from ..ops.table.autocast import autocast_state, set_autocast_state
from ..ops.table.grad_mode import enable_grad, no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import PLAIN_TENSORS, Tensor
from .selective_checkpoint import SAC_IGNORED_OPS as SAC_IGNORED_OPS
from .selective_checkpoint import CheckpointPolicy as CheckpointPolicy
from .selective_checkpoint import Policy, blocks_of
from .selective_checkpoint import SelectiveCheckpointContext as SelectiveCheckpointContext

__all__ = [
    *("CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType"),
    *("GraphExecGroup", "SAC_IGNORED_OPS", "SelectiveCheckpointContext"),
    *("check_backward_validity", "checkpoint", "checkpoint_sequential"),
    *("create_selective_checkpoint_contexts", "detach_variable", "get_device_states"),
    *("noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop"),
    "set_device_states",
]

Block = AbstractContextManager[object]
Form = tuple[Sequence[int], DType | Dtype, Device]

_CHECKS: Final = ["default", "none"]

_EXPLICIT: Final = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in "
    "PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. "
    "use_reentrant=False is recommended, but if you need to preserve the current default "
    "behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences "
    "between the two variants."
)
_EXPLICIT_SEQUENCE: Final = (
    "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
    "explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed. "
    "use_reentrant=False is recommended, but if you need to preserve the current default "
    "behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences "
    "between the two variants."
)
_MORE: Final = (
    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
    "original forward pass."
)
_OTHER_COUNT: Final = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
    "and recomputation.\nNumber of tensors saved during forward: {}\nNumber of tensors saved "
    "during recomputation: {}."
)
_OTHER_FORM: Final = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata "
    "than during the forward pass.\ntensor at position {}:\nsaved metadata: {}\nrecomputed "
    "metadata: {}\n."
)


def checkpoint(
    function: Callable[..., object],
    *args: object,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Block, Block]] | None = None,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: object,
) -> Any:
    """`function(*args, **kwargs)`, of which only the arguments are kept for the way back, where it
    is computed again.

    Args:
        function: what is computed.
        args: its arguments.
        use_reentrant: whether `backward` walks back through the function for itself, which takes no
            keywords and no `torch.autograd.grad`; True, with a warning, if it is not said.
        context_fn: makes the blocks in which it is computed first and again.
        determinism_check: "default" compares sizes and dtypes of both times, "none" does not.
        debug: taken, without effect.
        early_stop: whether computing again ends when all is there that is needed.
        kwargs: keywords of the function, and `preserve_rng_state`: whether the second time draws
            the random numbers of the first, as it does if that is not said.

    Raises:
        ValueError: `use_reentrant` and something that it does not take; no such check.
        CheckpointError: on the way back, if the second time is not like the first.
    """
    if use_reentrant is None:
        warnings.warn(_EXPLICIT, stacklevel=2)
        use_reentrant = True
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    if not use_reentrant:
        if determinism_check not in _CHECKS:
            raise ValueError(
                f"determinism_check should be one of {_CHECKS}, but got {determinism_check}"
            )
        first, again = (context_fn or noop_context_fn)()
        said = _EARLY_STOP.get()
        if said is not None:
            early_stop = said
        seen = _Again(lambda: function(*args, **kwargs), again, preserve)
        seen.checks, seen.early_stop = determinism_check == "default", early_stop
        return seen.first(first)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    if debug or context_fn not in (None, noop_context_fn):
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve, *args)


class _Kept:
    """What a node keeps in place of a tensor: its number, and its form; for a while its value."""

    __slots__ = ("__weakref__", "form", "number", "value")

    def __init__(self, number: int, tensor: Tensor) -> None:
        self.number = number
        self.form = _form(tensor)
        self.value: Tensor | None = None


def _form(tensor: Tensor) -> Form:
    """Sizes, dtype and device; of plain tensors, which are on the CPU, as their array has them."""
    if type(tensor) in PLAIN_TENSORS:
        array = tensor._array
        return array.shape, array.dtype, CPU
    return tensor.shape, tensor.dtype, tensor.device


def _told(form: Form) -> dict[str, object]:
    shape, dtype, device = form
    kind = dtype if isinstance(dtype, DType) else of_numpy(dtype)
    return {"shape": Size(shape), "dtype": kind, "device": device}


class _Enough(BaseException):
    """All that is needed has been computed again."""


class _Conditions:
    """Under what something is computed: autocast, and the random numbers if those are to be the
    same a second time."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self._autocast = autocast_state()
        self._random = default_generator.place() if preserve_rng_state else None

    @contextmanager
    def again(self) -> Iterator[None]:
        """A block under the same, that records for gradients; the generator is as before then."""
        place = self._random
        now = None if place is None else default_generator.place()
        autocast = autocast_state()
        with enable_grad():
            try:
                set_autocast_state(self._autocast)
                if place is not None:
                    default_generator.return_to(place)
                yield
            finally:
                set_autocast_state(autocast)
                if now is not None:
                    default_generator.return_to(now)


class _Again:
    """A computation that is done again when a node asks for what it kept."""

    checks = early_stop = True

    def __init__(self, run: Callable[[], object], again: Block, preserve: bool) -> None:
        self._run = run
        self._again = again
        self._conditions = _Conditions(preserve)
        self._kept = list[weakref.ref[_Kept]]()

    def first(self, block: Block) -> object:
        """Compute, and keep nothing."""

        def pack(tensor: Tensor) -> _Kept:
            made = _Kept(len(self._kept), tensor)
            self._kept.append(weakref.ref(made))
            return made

        with saved_tensors_hooks(pack, self._taken), block:
            return self._run()

    def _taken(self, kept: _Kept) -> Tensor:
        """The tensor, computed again with all the others that nodes still keep."""
        if kept.value is None:
            self._compute()
        made, kept.value = kept.value, None
        assert made is not None
        return made

    def _compute(self) -> None:
        wanted = {number: kept for number, ref in enumerate(self._kept) if (kept := ref())}
        last, count = max(wanted), 0

        def pack(tensor: Tensor) -> Tensor:
            nonlocal count
            kept, count = wanted.get(count), count + 1
            if count > len(self._kept):
                if self.early_stop:
                    raise _Enough
                raise CheckpointError(_MORE)
            is_plain = type(tensor) in PLAIN_TENSORS
            value = Tensor._of(tensor._array) if is_plain else tensor.detach()
            if kept is not None:
                self._check(kept, tensor)
                kept.value = value
            if self.early_stop and count > last:
                raise _Enough
            return value  # without its history: a node that keeps its result would keep itself

        hooks = saved_tensors_hooks(pack, lambda tensor: tensor)
        with self._conditions.again(), hooks, self._again:
            try:
                self._run()
            except _Enough:
                return
        if count != len(self._kept):
            raise CheckpointError(_OTHER_COUNT.format(len(self._kept), count))

    def _check(self, kept: _Kept, tensor: Tensor) -> None:
        if self.checks and (form := _form(tensor)) != kept.form:
            told = _OTHER_FORM.format(kept.number, _told(kept.form), _told(form))
            raise CheckpointError(told)


def checkpoint_sequential(
    functions: Module | Iterable[Callable[..., object]],
    segments: int,
    input: object,
    use_reentrant: bool | None = None,
    **kwargs: object,
) -> Any:
    """What a sequence of functions, or a Sequential, makes of an input, in so many parts, each
    checkpointed but the last.

    Raises:
        ValueError: a keyword other than `preserve_rng_state`.
    """
    if use_reentrant is None:
        warnings.warn(_EXPLICIT_SEQUENCE, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    steps: Sequence[Callable[..., object]] = (
        list(functions.children()) if isinstance(functions, Module) else list(functions)
    )
    size = len(steps) // segments
    for number in range(segments - 1):
        part = steps[number * size : (number + 1) * size]
        input = checkpoint(
            partial(_in_turn, part),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _in_turn(steps[(segments - 1) * size :], input)


def _in_turn(steps: Sequence[Callable[..., object]], value: object) -> object:
    for step in steps:
        value = step(value)
    return value


def get_device_states(*args: object) -> tuple[list[int], list[object]]:
    """The devices of tensors other than the CPU, and their generators' states: none."""
    del args
    return [], []


def set_device_states(devices: object, states: object, *, device_type: str | None = None) -> None:
    """Give the generators of such devices their states back."""
    del devices, states, device_type


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """A block that says whether computing again ends when all is there that is needed."""
    before = _EARLY_STOP.set(enable)
    try:
        yield
    finally:
        _EARLY_STOP.reset(before)


_EARLY_STOP: ContextVar[bool | None] = ContextVar("early_stop", default=None)
"""What the innermost block says that this thread is in."""


def set_checkpoint_debug_enabled(enabled: bool | None) -> Block:
    """A block in which errors would tell operators; they say the same in it."""
    del enabled
    return nullcontext()


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Blocks for the first computation and the second that change nothing."""
    return nullcontext(), nullcontext()


class CheckpointError(RuntimeError):
    """What is computed again differs from what was computed first, which cannot be."""


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | Sequence[object], allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[object], AbstractContextManager[object]]:
    """Blocks for `context_fn`: what a policy says is kept in the first, and given in the second.

    Args:
        policy_fn_or_list: says of each operator (`SelectiveCheckpointContext`, the operator, its
            arguments) what becomes of its result; or the operators whose results are kept.
        allow_cache_entry_mutation: whether results that are kept may be written in place.

    Raises:
        TypeError: neither a function nor a list.
        ValueError: a list of something else than overloads of operators.
    """
    return blocks_of(policy_fn_or_list, allow_cache_entry_mutation)


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
    """A block of several ways back; what one computes again is no other's."""

    _entered: list[GraphExecGroup] = []  # noqa: RUF012

    def __enter__(self) -> Self:
        if GraphExecGroup._entered:
            raise RuntimeError("GraphExecGroup is not reentrant")
        GraphExecGroup._entered.append(self)
        return self

    def __exit__(self, *raised: object) -> None:
        GraphExecGroup._entered.pop()


def detach_variable(inputs: tuple[object, ...]) -> tuple[object, ...]:
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
    return made._want_gradients(tensor.requires_grad)


def check_backward_validity(inputs: Iterable[object]) -> None:
    """Warn where no input requires a gradient."""
    if not any(isinstance(each, Tensor) and each.requires_grad for each in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


_NOT_FOR_SOME: Final = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an "
    "`inputs` parameter to .backward(). To resolve this error, you can either set "
    "use_reentrant=False, or call .backward() without passing the `inputs` argument."
)


class CheckpointFunction(Function):
    """A function that is computed again on the way back (Chen et al., arXiv:1604.06174).

    `apply(run_function, preserve_rng_state, *args)`
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        run_function: Callable[..., object],
        preserve_rng_state: bool,
        *args: object,
    ) -> object:
        """What the function makes of the arguments; what it computes with is not kept."""
        check_backward_validity(args)
        ctx.run_function, ctx.args = run_function, args
        tensors = {place: each for place, each in enumerate(args) if isinstance(each, Tensor)}
        ctx.places = list(tensors)
        ctx.save_for_backward(*tensors.values())
        ctx.conditions = _Conditions(preserve_rng_state)
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Any) -> tuple[Tensor | None, ...]:
        """Compute again, under the same autocast and with the same random numbers if asked for, and
        walk back through that.

        Raises:
            RuntimeError: no result requires a gradient, or not all leaves get theirs.
        """
        walk = WALKING.walk
        if walk is not None and walk.targets is not None:
            raise RuntimeError(_NOT_FOR_SOME)
        args = list(ctx.args)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = _detached(tensor)
        with ctx.conditions.again():
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
