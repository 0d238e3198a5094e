"""Looking at what is compiled."""

from __future__ import annotations

from .._C.handles import Graph
from ..nn.modules.module import Module
from ..serialization.mobile.compile import CannotCompile
from ..serialization.mobile.save import used_operators
from .function import last_run

__all__ = ["export_opnames", "last_executed_optimized_graph"]


def export_opnames(m: Module) -> list[str]:
    """The operators of a scripted module's mobile code, each as `aten::add.Tensor`, sorted.

    Raises:
        RuntimeError: there is no mobile code for something that the module does.
    """
    try:
        return sorted(used_operators(m._c))
    except CannotCompile as error:
        raise RuntimeError(str(error)) from None


def last_executed_optimized_graph() -> Graph:
    """The graph that ran when something compiled was last called from Python.

    Raises:
        RuntimeError: nothing has run.
    """
    return last_run()
