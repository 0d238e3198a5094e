"""Operators whose meaning has changed: what they meant in archives of older file versions.

An archive of version v uses the meaning an operator had before its first change after v.  Those
meanings are written here in the language itself and compiled like the archive's own code.  Where
the old form would not even type-check today (`linspace` without a number of steps) the name is
replaced, otherwise the node in the compiled graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...ir.graphs.callee import callee
from ...ir.graphs.clone import insert_graph
from ...ir.graphs.graph import Graph, Node, Value
from ...typecheck.definitions.functions import Function

__all__ = ["NAMESPACE", "TEXT", "Upgraders"]

NAMESPACE = "__torch__.upgraders"
"""Where the replacements live, beside the archive's own code."""

_LONG = "dtype: Optional[int]=None, layout: Optional[int]=None, device: Optional[Device]=None"

TEXT = f"""
def div_tensor(self: Tensor, other: Tensor) -> Tensor:
  if torch.is_floating_point(self) or torch.is_floating_point(other):
    return torch.div(self, other)
  return torch.div(self, other, rounding_mode="trunc")
def div_scalar(self: Tensor, other: Union[int, float, complex]) -> Tensor:
  if torch.is_floating_point(self) or isinstance(other, float):
    return torch.div(self, other)
  return torch.div(self, other, rounding_mode="trunc")
def div_tensor_(self: Tensor, other: Tensor) -> Tensor:
  if torch.is_floating_point(self) or torch.is_floating_point(other):
    return torch.div_(self, other)
  return torch.div_(self, other, rounding_mode="trunc")
def div_scalar_(self: Tensor, other: Union[int, float, complex]) -> Tensor:
  if torch.is_floating_point(self) or isinstance(other, float):
    return torch.div_(self, other)
  return torch.div_(self, other, rounding_mode="trunc")
def div_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
  whole = not torch.is_floating_point(self) and not torch.is_floating_point(other)
  if whole and not torch.is_floating_point(out):
    return torch.div(self, other, rounding_mode="trunc", out=out)
  return torch.div(self, other, out=out)
def full(size: List[int], fill_value: number, {_LONG}, pin_memory: Optional[bool]=None) -> Tensor:
  if dtype is None and not isinstance(fill_value, complex):
    return torch.full(size, float(fill_value), dtype=dtype, layout=layout, device=device,
                      pin_memory=pin_memory)
  return torch.full(size, fill_value, dtype=dtype, layout=layout, device=device,
                    pin_memory=pin_memory)
def linspace(start: number, end: number, steps: Optional[int]=None, {_LONG},
             pin_memory: Optional[bool]=None) -> Tensor:
  if steps is None:
    return torch.linspace(start, end, 100, dtype=dtype, layout=layout, device=device,
                          pin_memory=pin_memory)
  return torch.linspace(start, end, steps, dtype=dtype, layout=layout, device=device,
                        pin_memory=pin_memory)
def linspace_out(start: number, end: number, steps: Optional[int]=None, *,
                 out: Tensor) -> Tensor:
  if steps is None:
    return torch.linspace(start, end, 100, out=out)
  return torch.linspace(start, end, steps, out=out)
def logspace(start: number, end: number, steps: Optional[int]=None, base: float=10., {_LONG},
             pin_memory: Optional[bool]=None) -> Tensor:
  if steps is None:
    return torch.logspace(start, end, 100, base, dtype=dtype, layout=layout, device=device,
                          pin_memory=pin_memory)
  return torch.logspace(start, end, steps, base, dtype=dtype, layout=layout, device=device,
                        pin_memory=pin_memory)
def logspace_out(start: number, end: number, steps: Optional[int]=None, base: float=10., *,
                 out: Tensor) -> Tensor:
  if steps is None:
    return torch.logspace(start, end, 100, base, out=out)
  return torch.logspace(start, end, steps, base, out=out)
def gelu(self: Tensor) -> Tensor:
  return torch.gelu(self, approximate="none")
def stft(self: Tensor, n_fft: int, hop_length: Optional[int], win_length: Optional[int],
         window: Optional[Tensor], normalized: bool, onesided: Optional[bool],
         return_complex: Optional[bool], align_to_window: Optional[bool]) -> Tensor:
  whole = torch.is_complex(self) if return_complex is None else return_complex
  return torch.stft(self, n_fft, hop_length, win_length, window, normalized, onesided, whole,
                    align_to_window)
def stft_center(self: Tensor, n_fft: int, hop_length: Optional[int], win_length: Optional[int],
                window: Optional[Tensor], center: bool, pad_mode: str, normalized: bool,
                onesided: Optional[bool], return_complex: Optional[bool],
                align_to_window: Optional[bool]) -> Tensor:
  whole = torch.is_complex(self) if return_complex is None else return_complex
  return torch.stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized,
                    onesided, whole, align_to_window)
"""

_NODES: dict[str, tuple[int, str]] = {
    "aten::div.Tensor": (4, "div_tensor"),
    "aten::div.Scalar": (4, "div_scalar"),
    "aten::div.out": (4, "div_out"),
    "aten::div_.Tensor": (4, "div_tensor_"),
    "aten::div_.Scalar": (4, "div_scalar_"),
    "aten::full": (5, "full"),
    "aten::gelu": (10, "gelu"),
}
"""The overload, the first file version with today's meaning, and what it meant before."""

_NAMES: dict[str, tuple[int, str]] = {
    "aten::linspace": (8, "linspace"),
    "aten::linspace.out": (8, "linspace_out"),
    "aten::logspace": (9, "logspace"),
    "aten::logspace.out": (9, "logspace_out"),
}
"""The same for overloads that are replaced by name: all of a name's, if one is."""


_BEFORE_2_1: dict[str, str] = {"aten::stft": "stft", "aten::stft.center": "stft_center"}
"""What has changed without a new file version, in archives that PyTorch wrote before 2.1: the
spectrum of real numbers was real where nothing was said of it, which is refused since 2.0."""


@dataclass(frozen=True)
class Upgraders:
    """The replacements for an archive of a file version; `find` compiles one of them.

    `is_before_2_1` says that PyTorch has written it before 2.1.
    """

    version: int
    find: Callable[[str], Function | None]
    is_before_2_1: bool = False

    @property
    def needed(self) -> bool:
        """Whether anything has changed since the archive's version."""
        return self.is_before_2_1 or any(
            self.version < first for first, _ in (*_NODES.values(), *_NAMES.values())
        )

    def name(self, operator: str) -> tuple[Function, ...]:
        """The functions that a name in the code stands for instead of the operator, if any."""
        forms = (self._replacement(_NAMES.get(f"{operator}{form}")) for form in ("", ".out"))
        return tuple(function for function in forms if function is not None)

    def overload(self, full_name: str) -> Function | None:
        """What an overload stands for, if its meaning has changed."""
        return self._replacement(_NODES.get(full_name) or _NAMES.get(full_name))

    def _meaning(self, full_name: str) -> Function | None:
        """What stands for a node of an operator, if anything does."""
        unnumbered = _BEFORE_2_1.get(full_name) if self.is_before_2_1 else None
        if unnumbered is not None:
            return self.find(f"{NAMESPACE}.{unnumbered}")
        return self._replacement(_NODES.get(full_name))

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
                function, inputs = _called_by_name(node), node.inputs[1:]
                if function is None and node.signature is not None:
                    function, inputs = self._meaning(node.signature.full_name), node.inputs
                if function is not None:
                    _replace(each, node, function, inputs)
                    changed = True
        return changed


def _called_by_name(node: Node) -> Function | None:
    """The replacement that a node calls, where a name stands for one."""
    called = callee(node) if node.kind == "prim::CallFunction" else None
    is_ours = called is not None and called.qualified_name.startswith(f"{NAMESPACE}.")
    return called if is_ours else None


def _replace(graph: Graph, node: Node, function: Function, inputs: Sequence[Value]) -> None:
    """Put a function's nodes in the place of a node; inputs that it has got since are left."""
    function.ensure_defined()
    assert isinstance(function.graph, Graph)
    inputs = inputs[: len(function.signature.arguments)]
    before, graph.insertion = graph.insertion, node
    try:
        (result,) = insert_graph(graph, function.graph, inputs)
    finally:
        graph.insertion = before
    node.output.replace_uses(result)
    node.destroy()
