"""The parameters that groups of optimizers are given: tensors, or pairs of names and tensors."""

from __future__ import annotations

from collections.abc import Iterable

from ..ops.memory.warned import warn_caller
from ..ops.tensors.tensor import Tensor

__all__ = ["check_same_naming", "tensors_and_names", "type_name"]

_SET = (
    "optimizer parameters need to be organized in ordered collections, but the ordering of tensors "
    "in sets will change between runs. Please use a list instead."
)
_TWICE = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an "
    "error; see github.com/pytorch/pytorch/issues/40967 for more information"
)


def tensors_and_names(
    params: Tensor | Iterable[object], differentiable: bool
) -> tuple[list[Tensor], list[str]]:
    """The tensors of a group, and their names if all have some; a tensor that is there twice is
    told of.

    Raises:
        TypeError: it is a set, or something in it is no tensor.
        ValueError: only some have names, or a tensor is computed from others and steps are not
            `differentiable`.
    """
    if isinstance(params, set):
        raise TypeError(_SET)
    given: list[object] = [params] if isinstance(params, Tensor) else list(params)
    named = [each for each in given if isinstance(each, tuple)]
    if named and len(named) != len(given):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    tensors = _checked([each[1] for each in named] if named else given, differentiable)
    if len(set(map(id, tensors))) != len(tensors):
        warn_caller(_TWICE)
    return tensors, [each[0] for each in named]


def _checked(given: Iterable[object], differentiable: bool) -> list[Tensor]:
    found = []
    for parameter in given:
        if not isinstance(parameter, Tensor):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is "
                f"{type_name(parameter)}"
            )
        if not (differentiable or parameter.is_leaf or parameter.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")
        found.append(parameter)
    return found


def check_same_naming(groups: list[dict[str, object]], added: dict[str, object]) -> None:
    """Refuse a group with names beside one without.

    Raises:
        ValueError: it is such.
    """
    has = "param_names" in added
    if groups and ("param_names" in groups[0]) != has:
        raise ValueError(
            "all optimizer param groups should be with/without names. cannot add param group "
            f"{'with' if has else 'without'} names to the optimizer"
        )


def type_name(value: object) -> str:
    """What errors call the type of a value."""
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.scalar_name}Tensor"
    return type(value).__name__
