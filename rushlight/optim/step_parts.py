"""What optimizers of other people take from `torch.optim.optimizer` besides `Optimizer`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import DTYPES, DType
from ..ops.table.grad_mode import set_grad_enabled
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("ParamsT", "_capturable_doc", "_default_to_fused_or_foreach", "_differentiable_doc"),
    *("_disable_dynamo_if_unsupported", "_foreach_doc", "_fused_doc"),
    *("_get_capturable_supported_devices", "_get_scalar_dtype", "_get_value", "_maximize_doc"),
    *("_params_doc", "_stack_if_compiling", "_use_grad_for_differentiable", "_view_as_real"),
]

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
_Function = TypeVar("_Function", bound=Callable[..., object])

_params_doc = "params: tensors, pairs of a name and a tensor, or dicts of such and their options"
_foreach_doc = "foreach: taken; tensors are updated one after the other"
_fused_doc = "fused: taken; tensors are updated one after the other"
_maximize_doc = "maximize: go up the gradients instead of down"
_capturable_doc = "capturable: taken; there are no graphs of a device to capture steps in"
_differentiable_doc = "differentiable: record the steps for gradients through them"


def _use_grad_for_differentiable(func: _Function) -> _Function:
    """A `step` that records gradients where `self.defaults["differentiable"]` says so."""

    @wraps(func)
    def step(self: Any, *args: object, **kwargs: object) -> object:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step  # type: ignore[return-value]


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether parameters are updated by one kernel, where that is asked for, and by lists: not."""
    fused = use_fused and not differentiable and all(p.is_floating_point() for p in params)
    return fused, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices whose graphs can hold an optimizer's steps."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _get_value(x: object) -> object:
    """The number in a tensor; a number as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: object) -> object:
    """The same, as nothing is compiled."""
    return x


def _get_scalar_dtype(is_fused: bool | None = None) -> DType:
    """The dtype of the counters of steps."""
    default = eager_function("aten::empty")([0]).dtype
    return DTYPES["float64" if default == DTYPES["float64"] and not is_fused else "float32"]


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Put, in lists, pairs of real numbers in the place of complex tensors."""
    for number, parameter in enumerate(params):
        if parameter.is_complex():
            for each in (params, *state_and_grads):
                each[number] = eager_function("aten::view_as_real")(each[number])


def _disable_dynamo_if_unsupported(
    single_tensor_fn: Callable[..., object] | None = None,
) -> Callable[[_Function], _Function]:
    """A decorator that leaves functions as they are, as nothing is compiled."""
    return lambda func: func
