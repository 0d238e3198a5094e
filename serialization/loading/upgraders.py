"""Operators whose meaning has changed: what they meant in archives of older file versions.

An archive of version v uses the meaning an operator had before its first change after v.  Those
meanings are written here in the language itself and compiled like the archive's own code.  Where
the old form would not even type-check today (`linspace` without a number of steps) the name is
replaced, otherwise the node in the compiled graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.graphs.clone import insert_graph
from ...ir.graphs.graph import Graph, Node
from ...typecheck.definitions.functions import Function

__all__ = ["NAMESPACE", "TEXT", "Upgraders"]

NAMESPACE = "__torch__.upgraders"
"""Where the replacements live, beside the archive's own code."""

_LONG = "dtype: Optional[int]=None, layout: Optional[int]=None, device: Optional[Device]=None"

TEXT = f"""
def div_tensor(self: Tensor, other: Tensor) -> Tensor:
  if torch.is_floating_point(self) or torch.is_floating_point(other):
    result = torch.div(self, other)
  else:
    result = torch.div(self, other, rounding_mode="trunc")
  return result
def div_scalar(self: Tensor, other: number) -> Tensor:
  if torch.is_floating_point(self) or isinstance(other, float):
    result = torch.div(self, other)
  else:
    result = torch.div(self, other, rounding_mode="trunc")
  return result
def div_tensor_(self: Tensor, other: Tensor) -> Tensor:
  if torch.is_floating_point(self) or torch.is_floating_point(other):
    result = torch.div_(self, other)
  else:
    result = torch.div_(self, other, rounding_mode="trunc")
  return result
def div_scalar_(self: Tensor, other: number) -> Tensor:
  if torch.is_floating_point(self) or isinstance(other, float):
    result = torch.div_(self, other)
  else:
    result = torch.div_(self, other, rounding_mode="trunc")
  return result
def div_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
  whole = not torch.is_floating_point(self) and not torch.is_floating_point(other)
  if whole and not torch.is_floating_point(out):
    result = torch.div(self, other, rounding_mode="trunc", out=out)
  else:
    result = torch.div(self, other, out=out)
  return result
def full(size: List[int], fill_value: number, {_LONG}, pin_memory: Optional[bool]=None) -> Tensor:
  if dtype is None and not isinstance(fill_value, complex):
    result = torch.full(size, float(fill_value), dtype=dtype, layout=layout, device=device,
                        pin_memory=pin_memory)
  else:
    result = torch.full(size, fill_value, dtype=dtype, layout=layout, device=device,
                        pin_memory=pin_memory)
  return result
def linspace(start: number, end: number, steps: Optional[int]=None, {_LONG},
             pin_memory: Optional[bool]=None) -> Tensor:
  count = 100 if steps is None else steps
  return torch.linspace(start, end, count, dtype=dtype, layout=layout, device=device,
                        pin_memory=pin_memory)
def linspace_out(start: number, end: number, steps: Optional[int]=None, *,
                 out: Tensor) -> Tensor:
  return torch.linspace(start, end, 100 if steps is None else steps, out=out)
def logspace(start: number, end: number, steps: Optional[int]=None, base: float=10., {_LONG},
             pin_memory: Optional[bool]=None) -> Tensor:
  count = 100 if steps is None else steps
  return torch.logspace(start, end, count, base, dtype=dtype, layout=layout, device=device,
                        pin_memory=pin_memory)
def logspace_out(start: number, end: number, steps: Optional[int]=None, base: float=10., *,
                 out: Tensor) -> Tensor:
  return torch.logspace(start, end, 100 if steps is None else steps, base, out=out)
"""

_NODES: dict[str, tuple[int, str]] = {
    "aten::div.Tensor": (4, "div_tensor"),
    "aten::div.Scalar": (4, "div_scalar"),
    "aten::div.out": (4, "div_out"),
    "aten::div_.Tensor": (4, "div_tensor_"),
    "aten::div_.Scalar": (4, "div_scalar_"),
    "aten::full": (5, "full"),
}
"""The overload, the first file version with today's meaning, and what it meant before."""

_NAMES: dict[str, tuple[int, str]] = {
    "aten::linspace": (8, "linspace"),
    "aten::linspace.out": (8, "linspace_out"),
    "aten::logspace": (9, "logspace"),
    "aten::logspace.out": (9, "logspace_out"),
}
"""The same for overloads that are replaced by name: all of a name's, if one is."""


@dataclass(frozen=True)
class Upgraders:
    """The replacements for an archive of a file version; `find` compiles one of them."""

    version: int
    find: Callable[[str], Function | None]

    @property
    def needed(self) -> bool:
        """Whether anything has changed since the archive's version."""
        return any(self.version < first for first, _ in (*_NODES.values(), *_NAMES.values()))

    def name(self, operator: str) -> tuple[Function, ...]:
        """The functions that a name in the code stands for instead of the operator, if any."""
        forms = (self._replacement(_NAMES.get(f"{operator}{form}")) for form in ("", ".out"))
        return tuple(function for function in forms if function is not None)

    def overload(self, full_name: str) -> Function | None:
        """What an overload stands for, if its meaning has changed."""
        return self._replacement(_NODES.get(full_name) or _NAMES.get(full_name))

    def _replacement(self, entry: tuple[int, str] | None) -> Function | None:
        if entry is None or self.version >= entry[0]:
            return None
        return self.find(f"{NAMESPACE}.{entry[1]}")

    def upgrade(self, graph: Graph) -> bool:
        """Replace the operators of a compiled graph whose meaning has changed.

        %2 : Tensor = aten::div(%x, %y)   =>   the nodes of `div_tensor`

        Returns whether there were any.
        """
        changed = False
        for each in list(graph.with_tasks):
            for node in list(each.all_nodes):
                if node.signature is None:
                    continue
                function = self._replacement(_NODES.get(node.signature.full_name))
                if function is not None:
                    _replace(each, node, function)
                    changed = True
        return changed


def _replace(graph: Graph, node: Node, function: Function) -> None:
    function.ensure_defined()
    assert isinstance(function.graph, Graph)
    before, graph.insertion = graph.insertion, node
    try:
        (result,) = insert_graph(graph, function.graph, node.inputs)
    finally:
        graph.insertion = before
    node.output.replace_uses(result)
    node.destroy()
