"""A weight as direction times length, which are trained apart (arXiv:1602.07868)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Parameter, Tensor
from ..modules.module import Module
from ..parameter import refuse_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound=Module)

_norm_except_dim = eager_function("aten::norm_except_dim")
_weight_norm: Callable[..., Tensor] = eager_function("aten::_weight_norm")


class WeightNorm:
    """The hook that makes the weight anew before every call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight from its length `name_g` and direction `name_v`."""
        length, direction = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return _weight_norm(direction, length, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Put the hook in place.

        Raises:
            RuntimeError: it is there already.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        made = WeightNorm(name, dim)
        weight: Tensor = getattr(module, name)
        refuse_lazy(weight, "WeightNorm", "weight normalization")
        del module._parameters[name]
        length = _norm_except_dim(weight, 2, made.dim)
        module.register_parameter(name + "_g", Parameter(length.detach()))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        whole = Parameter(self.compute_weight(module).detach())
        for name in (self.name + "_g", self.name + "_v"):
            del module._parameters[name]
        delattr(module, self.name)
        setattr(module, self.name, whole)

    def __call__(self, module: Module, inputs: object) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int = 0) -> M:
    """Train length and direction of a weight apart; `dim` is kept apart, None takes all as one."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Take `weight_norm` away again.

    Raises:
        ValueError: it is not there.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")


__getattr__ = names_of(__name__)
