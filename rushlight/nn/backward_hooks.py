"""Hooks on the gradients of modules: of what a module gives and of what it was given.

A call of a module that has such hooks passes its tensors through `BackwardHookFunction`, once
before `forward` and once after.  It changes nothing; its two nodes see the gradients go by.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ..autograd.function import Function, FunctionCtx
from ..ops.gradients.nodes.autograd import Node
from ..ops.table.grad_mode import is_grad_enabled
from ..ops.tensors.tensor import Tensor
from .handles import Hook, RemovableHandle, add_hook
from .members import Members

__all__ = [
    "ModuleGradients",
    "add_backward_hook",
    "backward_hooks_exist",
    "gradients_of",
    "register_module_backward_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "watch_result",
]

Gradients = tuple[Tensor | None, ...]

_MIXED = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use "
    "only one of them."
)
_MIXED_GLOBAL = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
    "Please use only one of them."
)

_FIRES_EARLY = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since "
    "no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module."
    "html#torch.nn.Module.register_full_backward_hook for more details."
)

# Hooks of all modules, by the names that torch has for them in `torch.nn.modules.module`.
_global_backward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_is_full_backward_hook: bool | None = None
"""Whether `_global_backward_hooks` holds full hooks; None until the first one."""


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the gradients of every module are computed."""
    return add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when every module's gradients are known.

    Raises:
        RuntimeError: there are hooks of the old kind.
    """
    return _add_for_all(hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """The old kind of `register_module_full_backward_hook`: sees a module's last operator alone.

    Raises:
        RuntimeError: there are full hooks.
    """
    return _add_for_all(hook, full=False)


def _add_for_all(hook: Hook, *, full: bool) -> RemovableHandle:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook not in (None, full):
        raise RuntimeError(_MIXED_GLOBAL)
    _global_is_full_backward_hook = full
    return add_hook(_global_backward_hooks, hook)


def add_backward_hook(
    module: Members, hook: Hook, *, full: bool, prepend: bool = False
) -> RemovableHandle:
    """Add a hook to a module's own.

    Raises:
        RuntimeError: the module has hooks of the other kind.
    """
    if module._is_full_backward_hook not in (None, full):
        raise RuntimeError(_MIXED)
    module._is_full_backward_hook = full
    return add_hook(module._backward_hooks, hook, prepend=prepend)


def backward_hooks_exist() -> bool:
    """Whether there is a hook for all modules."""
    return bool(_global_backward_pre_hooks or _global_backward_hooks)


def _own_and_global(module: Members, *, full: bool) -> list[Hook]:
    found: list[Hook] = []
    if _global_is_full_backward_hook is full:
        found += _global_backward_hooks.values()
    if module._is_full_backward_hook is full:
        found += module._backward_hooks.values()
    return found


def gradients_of(module: Members) -> ModuleGradients | None:
    """What calls the hooks of one call of the module; None if there are none."""
    before = [*_global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
    after = _own_and_global(module, full=True)
    return ModuleGradients(module, before, after) if before or after else None


class BackwardHookFunction(Function):
    """Gives back the tensors it is given, and lets their gradients pass."""

    @staticmethod
    def forward(ctx: FunctionCtx, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: object, *grads: Tensor) -> tuple[Tensor, ...]:
        return grads


NodeHook = Callable[[Gradients, Gradients], Gradients | None]


class ModuleGradients:
    """The gradients of one call of a module.

    Args:
        module: whose call it is.
        before: called with the gradients of the results; may change them.
        after: called with those of the arguments as well; may change the latter.
    """

    def __init__(self, module: Members, before: list[Hook], after: list[Hook]) -> None:
        self.module = module
        self.before = before
        self.after = after
        self.of_results: Gradients | None = None
        self._arguments: list[int] | None = None
        self._count = 0

    def watch_arguments(self, args: tuple[object, ...]) -> tuple[object, ...]:
        """The positional arguments of the call, as `forward` is to get them."""
        self._count = len(args)
        values, self._arguments = _through_gate(args, self._see_arguments)
        return values

    def watch_results(self, result: object) -> object:
        """The result of the call."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=4,
            )
        results = result if isinstance(result, tuple) else (result,)
        places: list[int] = []
        hook = partial(self._see_results, places, len(results))
        values, found = _through_gate(results, hook)
        places += found or ()
        return values if isinstance(result, tuple) else values[0]

    def _see_results(
        self, places: list[int], count: int, grads: Gradients, arrived: Gradients
    ) -> Gradients:
        seen = _spread(arrived, places, count)
        for hook in self.before:
            said = hook(self.module, seen)
            seen = _changed(seen, said, "pre hook", "grad_output")
        if self._arguments is None:
            self._tell_without_arguments(seen)
        else:
            self.of_results = seen
        return tuple(seen[place] for place in places)

    def _tell_without_arguments(self, seen: Gradients) -> None:
        """No argument has a gradient, so there is nothing to wait for."""
        if self.after:
            warnings.warn(_FIRES_EARLY, stacklevel=2)
        for hook in self.after:
            said = hook(self.module, (None,) * self._count, seen)
            nothing = isinstance(said, tuple) and all(grad is None for grad in said)
            if said is not None and not nothing:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )

    def _see_arguments(self, grads: Gradients, arrived: Gradients) -> Gradients | None:
        if self.of_results is None:  # they came here past the results, as in a second derivative
            return None
        assert self._arguments is not None
        seen = _spread(grads, self._arguments, self._count)
        for hook in self.after:
            said = hook(self.module, seen, self.of_results)
            seen = _changed(seen, said, "hook", "grad_input")
        self.of_results = None
        return tuple(seen[place] for place in self._arguments)


def _changed(seen: Gradients, said: Gradients | None, kind: str, what: str) -> Gradients:
    """The gradients after a hook: those it gives back, if it does.

    Raises:
        RuntimeError: it gives back another number of them.
    """
    if said is None:
        return seen
    if len(said) != len(seen):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, "
            f"got {len(said)}, but expected {len(seen)}"
        )
    return tuple(said)


def _spread(grads: Sequence[Tensor | None], places: Sequence[int], count: int) -> Gradients:
    """The gradients of tensors at their places among all values."""
    found: list[Tensor | None] = [None] * count
    for place, grad in zip(places, grads, strict=False):
        found[place] = grad
    return tuple(found)


def _through_gate(
    values: tuple[object, ...], hook: NodeHook
) -> tuple[tuple[object, ...], list[int] | None]:
    """The values with tensors that came through a gate, and where they are; `hook` is its node's.

    None is said for the places where no gradient is wanted.
    """
    tensors = {at: value for at, value in enumerate(values) if isinstance(value, Tensor)}
    if not is_grad_enabled() or not any(each.requires_grad for each in tensors.values()):
        return values, None
    passed = list(values)
    behind: tuple[Tensor, ...] = BackwardHookFunction.apply(*tensors.values())
    for at, tensor in zip(tensors, behind, strict=True):
        passed[at] = tensor
    node = next(each.grad_fn for each in behind if each.grad_fn is not None)
    node.register_hook(hook)
    kind: Callable[..., tuple[object, ...]] = type(values)
    return (tuple(passed) if kind is tuple else kind(*passed)), list(tensors)


# --------------------------------------------------------------------------- the old kind

_STRUCTURED_RESULT = "on a Module that does not return a single Tensor or a tuple of Tensors"
_STRUCTURED_ARGUMENTS = (
    "on a Module that does not take as input a single Tensor or a tuple of Tensors"
)
_NESTED_RESULT = "when outputs are nested in python data structure"
_SEVERAL_NODES = "when outputs are generated by different autograd Nodes"
_SEVERAL_STEPS = "when the forward contains multiple autograd Nodes"


def watch_result(module: Members, args: tuple[object, ...], result: object) -> None:
    """Have the hooks of the old kind called when the gradients of the last operator are known."""
    hooks = _own_and_global(module, full=False)
    if not hooks:
        return
    tensor = next(_tensors(result), None)
    node = None if tensor is None else tensor.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(partial(hook, module))
    fault = _what_is_missed(args, result, node)
    if fault is not None:
        _warn(*fault)


def _what_is_missed(args: tuple[object, ...], result: object, node: Node) -> tuple[str, str] | None:
    """In which case a hook of the old kind does not see all gradients, and which it misses."""
    results = (result,) if isinstance(result, Tensor) else result
    if not isinstance(results, tuple) or not all(isinstance(r, Tensor) for r in results):
        return _STRUCTURED_RESULT, "output"
    if not all(isinstance(a, Tensor) for a in args):
        return _STRUCTURED_ARGUMENTS, "input"
    nodes = {r.grad_fn for r in results if r.grad_fn is not None}
    if len(nodes) > 1:
        return _SEVERAL_NODES, "output"
    if node not in nodes:
        return _NESTED_RESULT, "output"
    origins = {a.grad_fn for a in args if isinstance(a, Tensor) and a.grad_fn is not None}
    if origins != {origin for origin, _ in node.next_functions}:
        return _SEVERAL_STEPS, "input"
    return None


def _tensors(result: object) -> Iterator[Tensor]:
    if isinstance(result, Tensor):
        yield result
    elif isinstance(result, dict):
        yield from (value for value in result.values() if isinstance(value, Tensor))
    elif isinstance(result, (tuple, list)):
        for value in result:
            yield from _tensors(value)


def _warn(case: str, missed: str) -> None:
    hooks = "non-full backward hooks" if case.startswith("on") else "a non-full backward hook"
    advice = " Please use register_full_backward_hook to get the documented behavior."
    warnings.warn(
        f"Using {hooks} {case} is deprecated and will be removed in future versions. This hook "
        f"will be missing some {'of the ' if case.startswith('on') else ''}grad_{missed}."
        f"{'' if case == _NESTED_RESULT else advice}",
        FutureWarning,
        stacklevel=4,
    )
