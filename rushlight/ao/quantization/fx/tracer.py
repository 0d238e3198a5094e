"""Tracing a model for quantization: layers stay calls, and nodes know the modules they are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....fx._symbolic_trace import Tracer
from ....fx.graph import Graph
from ....fx.graph_module import GraphModule
from ....fx.node import Node
from ....module_names import names_of
from ....nn.modules.module import Module
from ...nn.intrinsic.modules.fused import _FusedModule

__all__ = ["QuantizationTracer", "traced"]


class QuantizationTracer(Tracer):
    """A tracer that leaves layers alone, and modules that are not to be traced."""

    def __init__(
        self, skipped_module_names: Sequence[str], skipped_module_classes: Sequence[type]
    ) -> None:
        super().__init__()
        self.skipped_module_names = skipped_module_names
        self.skipped_module_classes = tuple(skipped_module_classes)
        self.scopes: dict[str, str] = {}
        """The paths of the modules that nodes were made in."""
        self._path: list[str] = [""]

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Layers of the library, fused ones, and those that are to be skipped."""
        return (
            super().is_leaf_module(m, module_qualified_name)
            or isinstance(m, _FusedModule)
            or type(m).__module__.partition(".")[2].startswith("ao.nn.")
            or module_qualified_name in self.skipped_module_names
            or type(m) in self.skipped_module_classes
        )

    def call_module(
        self,
        m: Module,
        forward: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Any:
        """Note the module while its nodes are made."""
        self._path.append(self.path_of_module(m))
        try:
            return super().call_module(m, forward, args, kwargs)
        finally:
            self._path.pop()

    def create_node(self, *args: Any, **kwargs: Any) -> Node:
        """A node, which is known to be of the module at work."""
        made = super().create_node(*args, **kwargs)
        self.scopes[made.name] = self._path[-1]
        return made


def traced(
    model: Module, names: Sequence[str] = (), classes: Sequence[type] = ()
) -> tuple[GraphModule, dict[str, str]]:
    """The traced model, and the paths of the modules that its nodes are in.

    Raises:
        TraceError: the model decides by values.
    """
    if isinstance(model, GraphModule) and not names:
        graph = Graph()
        copied: dict[Node, Node] = {}
        result = graph.graph_copy(model.graph, copied)
        graph.output(result)
        return GraphModule(model, graph), {}
    tracer = QuantizationTracer(names, classes)
    graph = tracer.trace(model)
    return GraphModule(model, graph, type(model).__name__), tracer.scopes


__getattr__ = names_of(__name__)
