"""`torch.fx.graph`: a list of nodes, how it is changed, and the Python source made of it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, Literal

from ..module_names import names_of
from ..nn.modules.module import Module
from ._attributes import has_attr
from ._codegen import CodeGen, PythonCode, Style, TransformCodeFunc
from ._codegen import _format_target as _format_target
from ._codegen import _is_from_torch as _is_from_torch
from ._codegen import _PyTreeCodeGen as _PyTreeCodeGen
from ._codegen import _PyTreeInfo as _PyTreeInfo
from ._codegen import inplace_methods as inplace_methods
from ._codegen import magic_methods as magic_methods
from ._codegen import reflectable_magic_methods as reflectable_magic_methods
from ._lint import lint_graph
from ._namespace import _custom_builtins as _custom_builtins
from ._namespace import _CustomBuiltin as _CustomBuiltin
from ._namespace import _Namespace as _Namespace
from ._namespace import _snake_case as _snake_case
from ._node_comments import _parse_stack_trace as _parse_stack_trace
from ._node_comments import _ParsedStackTrace as _ParsedStackTrace
from .node import Argument, Node, Target, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]

_UNSAID: Final = object()


class _node_list:
    """The nodes of a graph in their order, as they are while one walks."""

    def __init__(self, graph: Graph, direction: Literal["_prev", "_next"] = "_next") -> None:
        if direction not in ("_next", "_prev"):
            raise AssertionError(f"direction must be '_next' or '_prev', got {direction}")
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_next" if self.direction == "_prev" else "_prev")


class _InsertPoint:
    """Where new nodes go; a `with` block puts back where they went before."""

    def __init__(self, graph: Graph, new_insert: Callable[..., None]) -> None:
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: object) -> None:
        self.graph._insert = self.orig_insert


class Graph:
    """A list of nodes, each before those that use it.

    Args:
        owning_module: the module whose attributes `get_attr` and `call_module` name.
        tracer_cls: the class of the tracer that made it.
        tracer_extras: what that tracer keeps with it.
    """

    def __init__(
        self,
        owning_module: Module | None = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, object] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[..., None] = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, object] = {}

    @property
    def owning_module(self) -> Module | None:
        """The module whose attributes its nodes name."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Module | None) -> None:
        self._owning_module = mod

    @property
    def nodes(self) -> _node_list:
        """The nodes in their order; `reversed` gives them backwards."""
        return _node_list(self)

    def output_node(self) -> Node:
        """The node that returns.

        Raises:
            StopIteration: there is none.
        """
        return next(iter(self.find_nodes(op="output")))

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of a kind; those that call or name `target` alone, if it is given.

        Raises:
            AssertionError: functions are looked for, and it is not said which.
        """
        del sort
        if op == "call_function" and target is None:
            raise AssertionError("target must not be None for call_function op")
        nodes = (node for node in self.nodes if node.op == op)
        return [node for node in nodes if target is None or node.target == target]

    # -- copies --------------------------------------------------------------------------------

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Argument | None:
        """Put copies of another graph's nodes into this one.

        Args:
            val_map: nodes of `g` that have one here already; takes the others.
            return_output_node: give the node that returned in `g`, too.

        Returns:
            What `g` returned, in terms of this graph.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x
    ) -> Node:
        """A copy of another graph's node at the insert point.

        Args:
            arg_transform: gives this graph's value for a node among the arguments.
        """
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> Graph:
        memo = {} if memo is None else memo
        made = memo[id(self)] = Graph(tracer_cls=self._tracer_cls)
        copied: dict[Node, Node] = {}
        result = made.graph_copy(self, copied, return_output_node=True)
        made._codegen = copy.deepcopy(self._codegen)
        if result is not None:
            assert isinstance(result, tuple)
            values, old = result
            new = made.output(values, type_expr=getattr(old, "type", None))
            new.meta = copy.copy(old.meta)
        return made

    # -- making nodes --------------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: object | None = None,
    ) -> Node:
        """A new node at the insert point; its name is made of `name` or the target.

        Raises:
            AssertionError: the kind is unknown, the target neither a name nor a function, or
                arguments are no tuple and dict.
            ValueError: the target is not of the sort that the kind needs.
        """
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        named = self._graph_namespace.create_name(candidate, None)
        node = Node(self, named, op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        self._graph_namespace.associate_name_with_obj(named, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Target | None) -> str:
        if callable(target):
            op = str(getattr(target, "__name__", type(target).__name__))
        elif not isinstance(target, str):
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        else:
            op = target
            if op.startswith("__") and op.endswith("__"):
                op = op[2:-2]
        return _snake_case(op)

    def placeholder(
        self, name: str, type_expr: object | None = None, default_value: object = _UNSAID
    ) -> Node:
        """An input."""
        args = () if default_value is _UNSAID else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: object | None = None) -> Node:
        """An attribute of the module; a warning says so if it has none of that name."""
        root = self.owning_module
        if root is not None and not has_attr(root, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or "
                "nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: object | None = None,
    ) -> Node:
        """A call of a module below the owning one.

        Raises:
            AttributeError: that is not there.
        """
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: object | None = None,
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., object],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: object | None = None,
        name: str | None = None,
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: object | None = None) -> Node:
        """The return of a value."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def create_size_node(self, tensor_node: Node, dim: int) -> Node:
        """A call of `aten::sym_size`."""
        return self._of_tensor("sym_size", tensor_node, dim)

    def create_stride_node(self, tensor_node: Node, dim: int) -> Node:
        """A call of `aten::sym_stride`."""
        return self._of_tensor("sym_stride", tensor_node, dim)

    def _of_tensor(self, name: str, node: Node, dim: int) -> Node:
        import rushlight

        packet = getattr(rushlight.ops.aten, name)
        return self.call_function(packet.int, (node, dim))

    # -- changing ------------------------------------------------------------------------------

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go before `n`, or before all; as a context, within the block alone.

        Raises:
            AssertionError: `n` is of another graph.
        """
        return _InsertPoint(self, self._own(n, "before").prepend if n else self._root.append)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go behind `n`, or behind all; as a context, within the block alone.

        Raises:
            AssertionError: `n` is of another graph.
        """
        return _InsertPoint(self, self._own(n, "after").append if n else self._root.prepend)

    def _own(self, node: Node, where: str) -> Node:
        if node.graph is not self:
            raise AssertionError(f"Node to insert {where} is not in graph.")
        return node

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out that nothing uses.

        Raises:
            RuntimeError: something does, or it is of another graph.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        before, after = to_erase._prev, to_erase._next
        to_erase._remove_from_list()
        to_erase._prev, to_erase._next = before, after  # who stands on it may still walk on
        to_erase._erased = True
        to_erase._update_args_kwargs((), {})
        self._len -= 1

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out nodes that nothing uses and that change nothing.

        Args:
            is_impure_node: says which must stay; `Node.is_impure` if None.

        Returns:
            Whether there were any.
        """
        self.lint()
        impure = is_impure_node or Node.is_impure
        before = self._len
        for node in reversed(self.nodes):
            if not impure(node) and not node.users:
                self.erase_node(node)
        return self._len < before

    def lint(self) -> None:
        """Check that the graph is well formed.

        Raises:
            RuntimeError: a value is used before it is made or is of another graph, two have one
                name, or the module lacks what is named.
        """
        lint_graph(self)

    # -- code ----------------------------------------------------------------------------------

    def process_inputs(self, *args: object) -> Any:
        """What the placeholders take, of a call's arguments."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: object) -> Any:
        """What a call returns, of what the graph gives."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Have another object make the source."""
        self._codegen = codegen

    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        """The source of a function that computes the graph.

        Args:
            root_module: the expression for the owning module: `self`.
            verbose: tell tensors and where the nodes were written.
            include_stride: tell strides, too.
            include_device: tell devices, too.
            colored: with codes for terminals.
            expanded_def: each parameter on a line of its own.
            additional_meta: keys of `Node.meta` to tell.

        Raises:
            NotImplementedError: `record_func` asks for calls of torch's profiler in it.
        """
        if record_func:
            raise NotImplementedError(
                "python_code(record_func=True): rushlight's profiler has none"
            )
        style = Style(
            *(verbose, include_stride, include_device, colored, expanded_def),
            additional_meta or (),
        )
        return self._codegen._gen_python_code(list(self.nodes), root_module, _Namespace(), style)

    def __str__(self) -> str:
        lines = [str(node.format_node()) for node in self.nodes]
        return "\n    ".join(["graph():", *lines])

    def print_tabular(self) -> None:
        """Print the nodes as a table; the library `tabulate` lays it out.

        Raises:
            ImportError: it is not installed.
        """
        try:
            from tabulate import tabulate  # type: ignore[import-untyped]
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on "
                "this machine. Run `pip install tabulate` to install the library."
            )
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    def on_generate_code(
        self, make_transformer: Callable[[TransformCodeFunc | None], TransformCodeFunc]
    ) -> AbstractContextManager[None]:
        """Have a function change the lines of the source from now on.

        Args:
            make_transformer: is given the function that does so until now, and gives the new.

        Returns:
            A context whose end puts the old one back.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextmanager
        def block() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return block()


__getattr__ = names_of(__name__)
