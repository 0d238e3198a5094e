"""`torch.fx._lazy_graph_module`: making modules of graphs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .graph_module import GraphModule

__all__: list[str] = []


class _LazyGraphModule(GraphModule):
    """The same as GraphModule: its source is made at once."""

    @classmethod
    def from_graphmodule(cls, gm: GraphModule) -> GraphModule:
        """The module itself."""
        return gm

    @staticmethod
    def force_recompile(gm: GraphModule) -> None:
        """Nothing: the source is there."""

    def real_recompile(self) -> None:
        """Make the source anew."""
        self.recompile()


def _make_graph_module(
    *args: Any, graph_module_cls: type[GraphModule] | None = None, **kwargs: Any
) -> GraphModule:
    """A module of a graph."""
    return (graph_module_cls or GraphModule)(*args, **kwargs)


def _get_graph_module_cls() -> type[GraphModule]:
    """The class of modules that are made of graphs."""
    return GraphModule


@contextmanager
def _use_lazy_graph_module(should_use: bool) -> Iterator[None]:
    """A block in which source would be made late; here it never is."""
    del should_use
    yield


@contextmanager
def _force_skip_lazy_graph_module() -> Iterator[None]:
    """A block in which source is made at once."""
    yield
