"""`torch.fx.experimental.normalize`: all arguments of calls by the names of their parameters."""

from __future__ import annotations

from typing import Any

from ...module_names import names_of
from ..graph_module import GraphModule
from ..interpreter import Transformer
from ..node import Argument, Node, Target
from ..operator_schemas import normalize_function, normalize_module

__all__ = ["NormalizeArgs"]


class NormalizeArgs(Transformer):
    """Makes a graph in which calls have the arguments that signatures say, defaults too."""

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[object, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        """The new node of an old one."""
        self._node = n
        made = super().run_node(n)
        if n.op != "output":
            self.node_map[made] = n
            made.node.meta = n.meta
            made.node.type = n.type
        return made

    def call_function(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, object]
    ) -> Any:
        """A call of a function in its normal form."""
        assert callable(target)
        only = self.normalize_to_only_use_kwargs
        found = normalize_function(target, args, kwargs, None, None, only)
        if found is not None:
            args, kwargs = found.args, found.kwargs
        return super().call_function(target, args, kwargs)

    def call_module(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, object]
    ) -> Any:
        """A call of a layer in its normal form."""
        only = self.normalize_to_only_use_kwargs
        found = normalize_module(self.module, str(target), args, kwargs, only)
        if found is not None:
            args, kwargs = found.args, found.kwargs
        return super().call_module(target, args, kwargs)


__getattr__ = names_of(__name__)
