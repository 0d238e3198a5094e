"""What scripts ask about gradients: `x.requires_grad`, `x.grad`, `x.backward()`, `autograd.grad`.

The machine's tensors are bare arrays; the record that runs knows the tensors they belong to.  Where
nothing is recorded no array requires gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..memory.dtype import Array
from ..memory.versions import version_of
from ..table.grad_mode import RUNNING
from ..table.table import operator

_NO_WAY_BACK = "element 0 of tensors does not require grad and does not have a grad_fn"


def _tensor(array: Array) -> Any:
    """The tensor of an array, with its history; None where nothing is recorded."""
    record = RUNNING.record
    return None if record is None else record.handle_of(array)


@operator("prim::requires_grad(Tensor a) -> bool")
def requires_grad(a: Array) -> bool:
    tensor = _tensor(a)
    return tensor is not None and bool(tensor.requires_grad)


@operator(
    "aten::requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)",
    of_leaves=True,
    written="unchecked",
)
def set_requires_grad(self: Array, requires_grad: bool) -> Array:
    tensor = _tensor(self)
    if tensor is not None:
        tensor.requires_grad_(requires_grad)
        RUNNING.record.guard(self)
    return self


@operator("aten::detach_(Tensor(a!) self) -> Tensor(a!)", of_leaves=True, written="unchecked")
def detach_(self: Array) -> Array:
    tensor = _tensor(self)
    if tensor is not None:
        tensor.detach_()
        RUNNING.record.guard(self)
    return self


@operator("aten::is_leaf(Tensor self) -> bool", face="method")
def is_leaf(self: Array) -> bool:
    tensor = _tensor(self)
    return tensor is None or bool(tensor.is_leaf)


@operator("aten::retain_grad(Tensor(a!) self) -> ()", face="method")
def retain_grad(self: Array) -> None:
    tensor = _tensor(self)
    if tensor is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    tensor.retain_grad()


@operator("aten::retains_grad(Tensor self) -> bool", face="method")
def retains_grad(self: Array) -> bool:
    tensor = _tensor(self)
    return tensor is not None and bool(tensor.retains_grad)


@operator("aten::output_nr(Tensor self) -> int", face="method")
def output_number(self: Array) -> int:
    tensor = _tensor(self)
    return 0 if tensor is None else int(tensor.output_nr)


@operator("aten::_version(Tensor self) -> int", face="method")
def version(self: Array) -> int:
    return version_of(self)


@operator("prim::grad(Tensor a) -> Tensor(*)")
def gradient(a: Array) -> Array | None:
    tensor = _tensor(a)
    if tensor is None or tensor.grad is None:
        return None
    RUNNING.record.know((tensor.grad,))
    found: Array = tensor.grad._array
    return found


@operator(
    "aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, "
    "bool create_graph=False) -> ()",
    effects=True,
    face="method",
)
def backward(
    self: Array, gradient: Array | None, retain_graph: bool | None, create_graph: bool
) -> None:
    tensor = _tensor(self)
    if tensor is None:
        raise RuntimeError(_NO_WAY_BACK)
    given = None if gradient is None else _tensor(gradient)
    tensor.backward(given, retain_graph, create_graph)


@operator(
    "aten::backward.TensorList(Tensor[] tensors, Tensor?[]? grad_tensors=None, "
    "bool? retain_graph=None, bool create_graph=False) -> ()",
    effects=True,
    face="method",
)
def backward_of_several(
    tensors: Sequence[Array],
    grad_tensors: Sequence[Array | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> None:
    record = RUNNING.record
    if record is None:
        raise RuntimeError(_NO_WAY_BACK)
    record.backward(tensors, grad_tensors, retain_graph, create_graph)


@operator(
    "aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, "
    "bool? retain_graph=None, bool create_graph=False, bool allow_unused=False) -> Tensor?[]",
    face="operator",
)
def gradients(
    outputs: Sequence[Array],
    inputs: Sequence[Array],
    grad_outputs: Sequence[Array | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool,
) -> list[Array | None]:
    record = RUNNING.record
    if record is None:
        raise RuntimeError(_NO_WAY_BACK)
    found: list[Array | None] = record.gradients(
        outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused
    )
    return found
