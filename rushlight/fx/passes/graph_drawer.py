"""`torch.fx.passes.graph_drawer`: graphs as pictures, where pydot is installed."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from ...nn.modules.module import Module
from ...ops.tensors.tensor import Tensor
from .._attributes import get_attr
from .._names import type_text
from ..graph_module import GraphModule
from ..node import Node, _get_qualified_name
from .shape_prop import TensorMetadata

__all__ = ["FxGraphDrawer"]

_COLORS: Final = {
    "placeholder": "AliceBlue",
    "get_attr": "LightGrey",
    "call_module": "LemonChiffon1",
    "output": "PowderBlue",
}
_SHADES: Final = (
    *("CadetBlue1", "Coral", "DarkOliveGreen1", "DarkSeaGreen1", "GhostWhite", "Khaki1"),
    *("LavenderBlush1", "LightSkyBlue", "MistyRose1", "MistyRose2", "PaleTurquoise2"),
    *("PeachPuff1", "Salmon", "Thistle1", "Thistle3", "Wheat1"),
)


class FxGraphDrawer:
    """Draws the graph of a module, and those of modules below that have one.

    Args:
        ignore_getattr: leave nodes out that read attributes.
        ignore_parameters_and_buffers: leave out what modules hold.
        skip_node_names_in_args: do not name nodes among arguments.
        parse_stack_trace: say where the nodes were written.
        dot_graph_shape: the shape of nodes; `record` if None.
        normalize_args: arguments by the names of their parameters.

    Raises:
        RuntimeError: pydot is not installed.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        self._name = name
        self.dot_graph_shape = dot_graph_shape if dot_graph_shape is not None else "record"
        self.normalize_args = normalize_args
        self._skip_attributes = ignore_getattr
        self._skip_state = ignore_parameters_and_buffers
        self._skip_names = skip_node_names_in_args
        self._say_places = parse_stack_trace
        self._dot_graphs = {name: self._to_dot(graph_module, name)}
        for node in graph_module.graph.nodes:
            if node.op == "call_module":
                below = get_attr(graph_module, str(node.target))
                if isinstance(below, GraphModule):
                    title = f"{name}_{node.target}"
                    self._dot_graphs[title] = self._to_dot(below, title)

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """The picture of the module, or of one below, as an object of pydot."""
        return self.get_main_dot_graph() if submod_name is None else self._dot_graphs[submod_name]

    def get_main_dot_graph(self) -> Any:
        """The picture of the module."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        """The picture of a module below."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Any]:
        """All pictures by name."""
        return self._dot_graphs

    def _to_dot(self, module: GraphModule, name: str) -> object:
        try:
            import pydot  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ModuleNotFoundError:
            raise RuntimeError(
                "FXGraphDrawer requires the pydot package to be installed. Please install pydot "
                "through your favorite Python package manager."
            ) from None
        drawn = pydot.Dot(name, rankdir="TB")
        shown = [
            n for n in module.graph.nodes if not (self._skip_attributes and n.op == "get_attr")
        ]
        for node in shown:
            label = self._label(module, node)
            drawn.add_node(pydot.Node(node.name, label=label, **self._style(node)))
        for node in shown:
            for user in node.users:
                drawn.add_edge(pydot.Edge(node.name, user.name))
        return drawn

    def _style(self, node: Node) -> dict[str, str]:
        color = _COLORS.get(node.op)
        if color is None:
            digest = hashlib.md5(str(node.target).encode(), usedforsecurity=False).hexdigest()
            color = _SHADES[int(digest, 16) % len(_SHADES)]
        return {
            "shape": self.dot_graph_shape,
            "fillcolor": color,
            "style": '"filled,rounded"',
            "fontcolor": "#000000",
        }

    def _label(self, module: GraphModule, node: Node) -> str:
        """The text of a node: a record with a row for each thing there is to say."""
        rows = [f"name=%{node.name}", f"op_code={node.op}\\n"]
        if node.op == "call_module":
            rows += self._of_module(get_attr(module, str(node.target)))
        target = node.target
        said = target if isinstance(target, str) else _get_qualified_name(target)
        rows.append(f"target={said}\\n")
        rows += self._arguments(node)
        rows.append(f"num_users={len(node.users)}\\n")
        rows += self._known(node)
        return "{" + "|".join(map(_escaped, rows)) + "}"

    def _of_module(self, module: Module) -> list[str]:
        constants = getattr(module, "__constants__", ())
        rows = [type_text(type(module)) + "\\n"]
        rows += [f"{name}: {getattr(module, name, None)}\\n" for name in constants]
        if not self._skip_state:
            state = (*module.named_parameters(), *module.named_buffers())
            rows += [f"{name}: {_tensor(value)}\\n" for name, value in state]
        return rows

    def _arguments(self, node: Node) -> list[str]:
        rows = []
        for name, given in (("args", node.args), ("kwargs", node.kwargs)):
            if given and not (self._skip_names and node.all_input_nodes and name == "kwargs"):
                rows.append(f"{name}={given}\\n")
        return rows

    def _known(self, node: Node) -> list[str]:
        rows = []
        meta = node.meta.get("tensor_meta")
        if isinstance(meta, TensorMetadata):
            rows.append(f"dtype={meta.dtype}\\nshape={tuple(meta.shape)}\\n")
            rows.append(f"requires_grad={meta.requires_grad}\\nstride={meta.stride}\\n")
        if self._say_places and node.stack_trace:
            rows.append(node.stack_trace.strip().replace("\n", "\\n"))
        return rows


def _tensor(value: Tensor) -> str:
    return f"{value.dtype}{list(value.shape)}"


def _escaped(text: str) -> str:
    for mark in "{}|<>":
        text = text.replace(mark, f"\\{mark}")
    return text
