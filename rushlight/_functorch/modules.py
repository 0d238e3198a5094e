"""Modules as functions of their parameters, one or several of a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..nn.modules.module import Module
from ..ops.batching.batched import Batched
from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor

__all__ = ["debug_unwrap", "functionalize", "replace_all_batch_norm_modules_", "stack_module_state"]


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters of modules of one kind, stacked by name, and their buffers.

    Raises:
        RuntimeError: there are none, or they differ in kind or in mode.
    """
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({each.training for each in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if any(type(each) is not type(models[0]) for each in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = _stacked([dict(each.named_parameters()) for each in models])
    return parameters, _stacked([dict(each.named_buffers()) for each in models])


def _stacked(tables: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: _joined([table[name] for table in tables]) for name in tables[0]}


def _joined(tensors: list[Tensor]) -> Tensor:
    wanted = [each.requires_grad for each in tensors]
    if any(wanted) and not all(wanted):
        raise RuntimeError(
            "Expected tensors from each model to have the same .requires_grad. Got tensors with "
            f"requires_grad={set(wanted)}"
        )
    made: Tensor = eager_function("aten::stack")([each.detach() for each in tensors])
    return made.requires_grad_(wanted[0]) if made.is_floating_point() else made


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Have no batch norm of a module keep running statistics; gives the module."""
    for inner in root.modules():
        if hasattr(inner, "track_running_stats") and hasattr(inner, "running_mean"):
            inner.running_mean = inner.running_var = inner.num_batches_tracked = None
            inner.track_running_stats = False
    return root


def functionalize(func: Callable[..., object], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function of the same results; torch's own has no writing operators inside.

    Raises:
        RuntimeError: `remove` is another word than torch knows.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}."
            " Valid options are:\n     remove='mutations': all inplace and out= operators will be"
            " removed from the program, and replaced with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators"
            " {view} will be replaced with their non-aliasing counterparts, {view}_copy.\n"
        )
    return func


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What a tensor inside a transform stands for; `recurse` unwraps all transforms."""
    while type(tensor) is Batched:
        tensor = tensor._value
        if not recurse:
            break
    return tensor
