"""`torch.utils.module_tracker`: which modules are at work."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from ..autograd.variable import Variable
from ..nn.handles import RemovableHandle
from ..nn.modules.module import (
    Module,
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from ..ops.tensors.tensor import Tensor
from ._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """Within a `with` block, `parents` has the names of the modules that are being called.

    Names begin with the class of the outermost module; `Global` is always among them.  While
    gradients are computed, `is_bw` is True, and the names are of the modules whose turn it is.
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self.is_bw = False
        self._names: WeakKeyDictionary[Module, str] = WeakKeyDictionary()
        self._handles: list[RemovableHandle] = []

    def __enter__(self) -> ModuleTracker:
        self._handles = [
            register_module_forward_pre_hook(self._entered),
            register_module_forward_hook(self._left, always_call=True),
        ]
        return self

    def __exit__(self, *raised: object) -> None:
        for handle in self._handles:
            handle.remove()

    def _name(self, module: Module) -> str:
        """The module's name below the outermost one that was called."""
        if module not in self._names:
            root = type(module).__name__
            for path, below in module.named_modules():
                self._names.setdefault(below, f"{root}.{path}" if path else root)
        return self._names[module]

    def _entered(self, module: Module, args: object) -> None:
        name = self._name(module)
        self.parents.add(name)
        self._watch(args, lambda: self.parents.discard(name))

    def _left(self, module: Module, args: object, output: object) -> None:
        name = self._name(module)
        self.parents.discard(name)
        self._watch(output, lambda: self._backward(name))

    def _backward(self, name: str) -> None:
        if not self.is_bw:
            Variable._execution_engine.queue_callback(self._forward_again)
        self.is_bw = True
        self.parents.add(name)

    def _forward_again(self) -> None:
        self.is_bw = False
        self.parents = {"Global"}

    def _watch(self, values: object, then: Callable[..., object]) -> None:
        """Do something when the gradient of a value is there."""
        for value in tree_leaves(values):
            if isinstance(value, Tensor) and value.requires_grad:
                value.register_hook(lambda grad: then())
