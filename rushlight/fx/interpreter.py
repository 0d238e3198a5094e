"""`torch.fx.interpreter`: running a graph node by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..nn.modules.module import Module
from . import traceback as fx_traceback
from ._codegen import last_uses
from ._lazy_graph_module import _make_graph_module
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument, Node, Target, map_aggregate, map_arg
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]

Args = tuple[Argument, ...]
Kwargs = dict[str, Any]


class Interpreter:
    """Runs a graph; subclasses override what a kind of node, or any node, does.

    Args:
        garbage_collect_values: drop values behind their last use.
        graph: another graph than the module's own.
    """

    def __init__(
        self,
        module: Module,
        garbage_collect_values: bool = True,
        graph: Graph | None = None,
    ) -> None:
        self.module: Module = module
        self.submodules = dict(self.module.named_modules())
        self.graph: Graph = graph if graph is not None else self.module.graph
        self.env: dict[Node, object] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.args_iter: Iterator[object] = iter(())
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            self.user_to_last_uses = last_uses(self.graph.nodes)

    def run(
        self,
        *args: object,
        initial_env: dict[Node, object] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """What the graph gives for some arguments.

        Args:
            initial_env: values of nodes that are not to be run.
            enable_io_processing: take nested arguments apart, and put results together.
        """
        self.env = initial_env if initial_env is not None else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._run_told(node)
            if self.garbage_collect_values:
                for done in self.user_to_last_uses.get(node, ()):
                    del self.env[done]
            if node.op == "output":
                found = self.env[node]
                return self.graph.process_outputs(found) if enable_io_processing else found
        return None

    def _run_told(self, node: Node) -> object:
        """Run a node; an error says which it was."""
        try:
            return self.run_node(node)
        except Exception as error:
            if not self.extra_traceback:
                raise
            said = (
                f"While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}"
                "\nUse tlparse to see full graph. (https://github.com/pytorch/tlparse?"
                "tab=readme-ov-file#tlparse-parse-structured-pt2-logs)"
            )
            first = f"{error.args[0]}\n\n{said}" if error.args else said
            error.args = (first, *error.args[1:])
            if isinstance(error, KeyError):
                raise RuntimeError(*error.args) from error
            raise

    def boxed_run(self, args_list: list[object]) -> Any:
        """The same for a list of one argument for each placeholder, which is emptied.

        Raises:
            RuntimeError: there are more or fewer.
        """
        inputs = self.graph.find_nodes(op="placeholder")
        if len(args_list) != len(inputs):
            detail = "extra" if len(args_list) > len(inputs) else "missing"
            raise RuntimeError(
                f"Interpreter.boxed_run expected {len(inputs)} arguments for placeholders "
                f"but received {len(args_list)} ({detail} arguments)"
            )
        given = dict(zip(inputs, args_list, strict=True))
        args_list.clear()
        return self.run(initial_env=given)

    def run_node(self, n: Node) -> Any:
        """The value of a node."""
        with fx_traceback.set_current_meta(n, f"Interpreter_{type(self).__name__}"):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    # -- kinds of nodes ------------------------------------------------------------------------

    def placeholder(self, target: Target, args: Args, kwargs: Kwargs) -> Any:
        """The next argument, or the default.

        Raises:
            RuntimeError: there is neither.
        """
        if not isinstance(target, str):
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target: Target, args: Args, kwargs: Kwargs) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(str(target))

    def call_function(self, target: Target, args: Args, kwargs: Kwargs) -> Any:
        """What the function gives."""
        if isinstance(target, str):
            raise AssertionError("target should not be a string for call_function")
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: Args, kwargs: Kwargs) -> Any:
        """What the method gives."""
        receiver, *rest = args
        return getattr(receiver, str(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: Args, kwargs: Kwargs) -> Any:
        """What the module gives."""
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: Args, kwargs: Kwargs) -> Any:
        """The result."""
        return args[0]

    # -- values --------------------------------------------------------------------------------

    def fetch_attr(self, target: str) -> Any:
        """The module's attribute of a dotted name.

        Raises:
            RuntimeError: there is none.
        """
        found: object = self.module
        parts = target.split(".")
        for place, part in enumerate(parts):
            if not hasattr(found, part):
                raise RuntimeError(
                    f"Node referenced nonexistent target {'.'.join(parts[: place + 1])}"
                )
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A node's arguments as values."""
        args = self.map_nodes_to_values(n.args, n)
        kwargs = self.map_nodes_to_values(n.kwargs, n)
        return args, kwargs

    def map_nodes_to_values(self, args: Argument, n: Node) -> Any:
        """Arguments with values in the place of nodes.

        Raises:
            RuntimeError: a node has none.
        """

        def value(node: Node) -> object:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose "
                    "such issues"
                )
            return self.env[node]

        return map_arg(args, value)


class Transformer(Interpreter):
    """Makes a new graph of an old one: each node is run on proxies."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph, module)

    def placeholder(self, target: Target, args: Args, kwargs: Kwargs) -> Proxy:
        """A new input."""
        node = self.new_graph.placeholder(str(target), None, *args)
        return Proxy(node, self.tracer)

    def get_attr(self, target: Target, args: Args, kwargs: Kwargs) -> Proxy:
        """A node that reads the attribute."""
        return self.tracer.create_proxy("get_attr", str(target), args, kwargs)

    def call_module(self, target: Target, args: Args, kwargs: Kwargs) -> Any:
        """A node that calls the module."""
        module = self.fetch_attr(str(target))
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Target, args: Args, kwargs: Kwargs) -> Proxy:
        """A node that calls the function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The new module."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            returned = map_aggregate(result, _strip)
            self.new_graph.output(returned)
            self.new_graph.output_node().meta.update(self.graph.output_node().meta)
        return _make_graph_module(self.module, self.new_graph)


def _strip(value: object) -> object:
    return value.node if isinstance(value, Proxy) else value


class _TransformerTracer(Tracer):
    """Puts nodes into a graph that is there; calls of modules are nodes."""

    def __init__(self, graph: Graph, module: Module) -> None:
        super().__init__()
        self.graph = graph
        self.root = module
        self.tensor_attrs = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """All are."""
        return True
