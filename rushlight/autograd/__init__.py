"""`torch.autograd`: gradients of what operators computed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

from ..module_names import names_of
from ..ops.gradients.nodes.autograd import WALKING
from ..ops.gradients.nodes.edges import GradientEdge
from ..ops.gradients.recording.tape import backward as _backward
from ..ops.gradients.recording.tape import gradients_of
from ..ops.table.grad_mode import (
    TRANSFORMS,
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from ..ops.tensors.construct import stands_for
from ..ops.tensors.differentiable import NO_BACKWARD
from ..ops.tensors.overriding import ask_for, askers
from ..ops.tensors.tensor import Tensor
from . import functional, graph, profiler
from .anomaly import detect_anomaly, set_detect_anomaly
from .function import Function, NestedIOFunction
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .jacobians import ABOVE
from .variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def _profiler_enabled() -> bool:
    """Whether a profiler notes what operators do."""
    return profiler.active_recorder() is not None


def _is_checkpoint_valid() -> bool:
    """Whether a part may be computed again here: the walk back, if there is one, goes to all
    leaves."""
    return WALKING.leads is None


def _several(value: Any) -> list[Any]:
    single = isinstance(value, GradientEdge) or hasattr(value, "__torch_function__")
    return [value] if single else list(value)


@stands_for("aten::backward")
def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: list[Tensor] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: object = None,
    inputs: object = None,
) -> None:
    """Add the gradients of some results to the `grad` of the leaves they were made from.

    Raises:
        RuntimeError: there is no way back from a result.
    """
    TRANSFORMS.refuse(NO_BACKWARD)
    if inputs is not None and not isinstance(inputs, Tensor) and not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = _several(tensors)
    given = grad_variables if grad_tensors is None else grad_tensors
    grads = [None] * len(outputs) if given is None else _several(given)
    wanted = None if inputs is None else _several(inputs)
    _backward(outputs, grads, retain_graph, create_graph, wanted)


@stands_for("aten::grad")
def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of the sum of some results, for the given inputs.

    Args:
        outputs: the results.
        inputs: what gradients are wanted of.
        grad_outputs: the gradients to begin with; ones for results of one element.
        retain_graph: whether another walk back shall be possible; as `create_graph` by default.
        create_graph: whether the gradients can be differentiated themselves.
        only_inputs: must be true.
        allow_unused: whether an input may not be reached: its gradient is None then.
        is_grads_batched: whether `grad_outputs` have one more dimension, of separate walks.
        materialize_grads: whether zeros are given in place of None.

    Raises:
        RuntimeError: there is no way back from a result, an input is not reached, or zeros are
            wanted for what only names a place.
    """
    if askers((outputs, inputs, grad_outputs), {}) is not None:
        given = dict(locals(), outputs=tuple(_several(outputs)), inputs=tuple(_several(inputs)))
        return ask_for(grad, given)
    results, wanted = _several(outputs), _several(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    grads = [None] * len(results) if grad_outputs is None else _several(grad_outputs)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if is_grads_batched:
        batched = _batched(results, wanted, grads, create_graph, bool(allow_unused))
        return cast("tuple[Tensor, ...]", batched)
    unused = bool(allow_unused) or materialize_grads
    gradients = gradients_of(
        results, wanted, grads, keep=retain_graph, create=create_graph, allow_unused=unused
    )
    if materialize_grads:
        return tuple(
            _zeros_like(x, create_graph) if g is None else g
            for g, x in zip(gradients, wanted, strict=True)
        )
    return cast("tuple[Tensor, ...]", tuple(gradients))  # torch, too, leaves the None unsaid


def _zeros_like(wanted: Tensor | GradientEdge, is_recorded: bool) -> Tensor:
    if isinstance(wanted, GradientEdge):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    zeros: Tensor = wanted.new_zeros(wanted.shape)
    return zeros._want_gradients(is_recorded)


def _batched(
    results: list[Tensor],
    wanted: list[Tensor],
    grads: Sequence[Tensor | None],
    create: bool,
    allow_unused: bool,
) -> tuple[Tensor | None, ...]:
    """The gradients for each of several beginnings, stacked."""
    for number, (begin, result) in enumerate(zip(grads, results, strict=True)):
        if begin is not None and begin.shape[1:] != result.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{number}] has a shape of {begin.shape} and output[{number}] has a "
                f"shape of {result.shape}. If you only want some tensors in `grad_output` to be "
                "considered batched, consider using vmap."
            )
    count = next(g for g in grads if g is not None).shape[0]
    rows = []
    for i in range(count):
        first = [None if g is None else g[i] for g in grads]
        rows.append(grad(results, wanted, first, True, create, allow_unused=allow_unused))
    columns: list[Tensor | None] = []
    for column in zip(*rows, strict=True):
        first_one = column[0]
        columns.append(None if first_one is None else _stack(list(column)))
    return tuple(columns)


def _stack(tensors: list[Tensor]) -> Tensor:
    joined: Tensor = tensors[0].unsqueeze(0)
    for tensor in tensors[1:]:
        rest = tensor.unsqueeze(0)
        joined = functional.joined([joined, rest])
    return joined


_others = names_of(__name__, "forward_ad", "grad_mode")


def __getattr__(name: str) -> Any:
    """What records is imported when it is first named."""
    return profiler.kineto_available if name == "kineto_available" else _others(name)


def _above(name: str) -> object:
    """What `gradcheck` asks for, which imports this package."""
    if name == "vmap":
        return import_module(__name__.rpartition(".")[0]).vmap
    return grad if name == "grad" else __getattr__(name)


ABOVE.install(_above)
