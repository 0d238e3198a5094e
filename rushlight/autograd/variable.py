"""`torch.autograd.Variable`, from before tensors had gradients: a call that gives a tensor."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import ClassVar

from ..ops.gradients.nodes.autograd import WALKING
from ..ops.tensors.tensor import Tensor


class VariableMeta(type):
    """Every tensor counts as an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class _Engine:
    """`Variable._execution_engine`: what runs walks back, as packages ask it."""

    def queue_callback(self, callback: Callable[[], object]) -> None:
        """Have something called when this thread's walk back has ended.

        Raises:
            RuntimeError: there is no such walk.
        """
        if WALKING.walk is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        WALKING.walk.callbacks.append(callback)


class Variable(metaclass=VariableMeta):
    """`Variable(data, requires_grad)`: a leaf that shares the memory of the tensor `data`."""

    _execution_engine: ClassVar = _Engine()

    def __new__(  # type: ignore[misc]  # calls give tensors, not instances
        cls,
        data: Tensor | None = None,
        requires_grad: bool | None = None,
        volatile: bool | None = None,
    ) -> Tensor:
        """
        Raises:
            TypeError: `data` is no tensor.
            RuntimeError: gradients are wanted of whole numbers or bools.
        """
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                stacklevel=2,
            )
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        leaf: Tensor = data.detach()
        leaf.requires_grad_(bool(requires_grad))
        return leaf
