"""`torch.fx.passes.fake_tensor_prop`: what a graph gives for tensors without elements."""

from __future__ import annotations

from typing import Any

from ..._subclasses.fake_tensor import FakeTensorMode
from ...nn import Module
from ...ops.tensors.tensor import Tensor
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["FakeTensorProp"]


class FakeTensorProp(Interpreter):
    """Runs a graph on fake tensors; each node gets its own as `meta["val"]`.

    Args:
        module: the graph's module, whose parameters become fake as they are met.
        mode: of the fake tensors; one of its own, if there is none.
    """

    def __init__(self, module: Module, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode(allow_non_fake_inputs=True) if mode is None else mode

    def run_node(self, n: Node) -> Any:
        """The fake value of a node, which it keeps."""
        found = super().run_node(n)
        n.meta["val"] = map_aggregate(
            found, lambda each: each if isinstance(each, (Tensor, int, float, bool)) else None
        )
        return found

    def propagate(self, *args: object) -> Any:
        """What the graph gives for fake tensors of the arguments."""
        given = [self._mode.from_tensor(a) if isinstance(a, Tensor) else a for a in args]
        return self.propagate_dont_convert_inputs(*given)

    def propagate_dont_convert_inputs(self, *args: object) -> Any:
        """What it gives for arguments that are fake already."""
        with self._mode:
            return self.run(*args)
