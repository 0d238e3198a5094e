"""`torch.fx.passes.infra.pass_base`: passes as classes, and what they give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from ...graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module behind a pass, and whether that changed it."""

    graph_module: GraphModule
    modified: bool


class PassBase(ABC):
    """A pass: `call` does the work, `requires` and `ensures` check before and behind."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Change the module."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Check what the pass needs; by default nothing."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Check what it promises; by default nothing."""
