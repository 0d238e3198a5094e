"""`torch.fx.experimental.proxy_tensor`: graphs of the operators that a function comes down to.

`make_fx` calls the function with a mode entered that is shown each operator below gradients, and
notes it as a node.  So loops and branches go the way they went for the given arguments, and sizes
are numbers.  Functions that compute gradients are refused: not all of what a walk back does here is
an operator that a mode is shown.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ...module_names import names_of
from ...nn.modules.module import Module
from ...ops.eager.packets import Namespace
from ...ops.gradients.nodes.autograd import WALKING
from ...ops.tensors.tensor import Parameter, Tensor
from ...utils import _pytree as pytree
from ...utils._python_dispatch import TorchDispatchMode
from .._codegen import _PyTreeCodeGen, _PyTreeInfo
from .._symbolic_trace import Tracer
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node

__all__ = ["get_proxy_mode", "make_fx", "maybe_disable_fake_tensor_mode"]

_NUMBER: Final = "aten::_local_scalar_dense"
_FRESH: Final = "aten::lift_fresh"
_COPY: Final = "lift_fresh_copy"


class PythonKeyTracer(Tracer):
    """The tracer that graphs of `make_fx` name as theirs."""


class _Recording(TorchDispatchMode):
    """Notes operators as nodes of a graph; tensors are known by their arrays."""

    def __init__(self, decompositions: Mapping[object, Callable[..., object]]) -> None:
        super().__init__()
        self.root = Module()
        self.graph = Graph(self.root, PythonKeyTracer)
        self._decompositions = decompositions
        self._last_walk = WALKING.last
        self._nodes: dict[int, tuple[object, Node]] = {}
        self._constants: dict[int, tuple[object, str]] = {}
        self._memory: dict[int, bool] = {}
        """Whether a piece of memory that nodes' arrays lie in comes from outside."""

    def refuse_walks(self) -> None:
        """
        Raises:
            NotImplementedError: gradients have been computed.
        """
        if WALKING.last != self._last_walk:
            raise NotImplementedError(
                "make_fx: the function computes gradients, whose formulas are not all operators "
                "here; make the graph of the function alone"
            )

    def input(self, tensor: Tensor, name: str) -> None:
        """Note an argument."""
        self._know(tensor, self.graph.create_node("placeholder", name, (), {}, name))

    def node_of(self, value: object) -> object:
        """The node of a tensor; other values are themselves."""
        if not isinstance(value, Tensor):
            return value
        known = self._nodes.get(id(value._array))
        return self._constant(value) if known is None else known[1]

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Note an operator, and run it."""
        self.refuse_walks()
        kwargs = kwargs or {}
        instead = self._decompositions.get(func)
        if instead is not None:
            with self:
                return instead(*args, **kwargs)
        overload: Any = func
        if overload.entry.name == _NUMBER:
            self._give_number(args[0])
            return func(*args, **kwargs)
        if overload.entry.name == _FRESH:
            return self._fresh(func(*args, **kwargs))
        given = pytree.tree_map(self.node_of, [list(args), kwargs])
        name = overload.entry.name.partition("::")[2]
        node = self.graph.create_node(
            "call_function", func, tuple(given[0]), given[1], self.graph._target_to_str(name)
        )
        result = func(*args, **kwargs)
        self._take(result, node)
        return result

    def _fresh(self, made: Any) -> Tensor:
        """Note a tensor that the function makes of data: each run has a copy, which it may write
        to."""
        data = self._attribute(made.clone())
        lift: Any = getattr(Namespace("aten"), _COPY).default
        self._know(made, self.graph.create_node("call_function", lift, (data,), {}, _COPY))
        return made  # type: ignore[no-any-return]

    def _give_number(self, tensor: object) -> None:
        if isinstance(tensor, Tensor) and id(tensor._array) in self._nodes:
            raise RuntimeError(
                "It appears that you're trying to get value out of a tracing tensor with "
                "aten._local_scalar_dense.default - erroring out! It's likely that this is caused "
                "by data-dependent control flow or similar."
            )

    def _take(self, result: object, node: Node) -> None:
        if isinstance(result, Tensor):
            self._know(result, node)
        elif isinstance(result, Sequence):
            for place, part in enumerate(result):
                if isinstance(part, Tensor):
                    parts = (node, place)
                    self._know(
                        part, self.graph.create_node("call_function", operator.getitem, parts, {})
                    )

    def _know(self, tensor: Tensor, node: Node) -> None:
        self._memory.setdefault(_owner(tensor), False)
        self._nodes[id(tensor._array)] = tensor._array, node

    def _constant(self, tensor: Tensor) -> Node:
        """The node of a tensor that comes from outside, which the module of the graph gets.

        Raises:
            NotImplementedError: it is a view of what the graph computes, and no operator made it.
        """
        if not self._memory.setdefault(_owner(tensor), True):
            raise NotImplementedError(
                "make_fx: a tensor that the function computes is seen through a view that no "
                "operator makes in rushlight, such as x.data or x.real; use x.detach() or "
                "torch.view_as_real(x)"
            )
        return self._attribute(tensor)

    def _attribute(self, tensor: Tensor) -> Node:
        """The node of an attribute of the graph's module, which holds a tensor."""
        known = self._constants.get(id(tensor._array))
        if known is None:
            kind = "_param_constant" if isinstance(tensor, Parameter) else "_tensor_constant"
            count = sum(name.startswith(kind) for _, name in self._constants.values())
            name = f"{kind}{count}"
            if isinstance(tensor, Parameter):
                self.root.register_parameter(name, tensor)
            else:
                self.root.register_buffer(name, tensor)
            self._constants[id(tensor._array)] = tensor._array, name
        else:
            name = known[1]
        return self.graph.create_node("get_attr", name, (), {})


def _owner(tensor: Tensor) -> int:
    """What stands for the memory in which a tensor lies."""
    array: Any = tensor._array
    while getattr(array, "base", None) is not None:
        array = array.base
    return id(array)


def _names(f: Callable[..., object], args: Sequence[object]) -> list[str]:
    """The names of a function's arguments, as far as it says them."""
    if not inspect.isfunction(f):
        return [f"arg{place}" for place in range(len(args))]
    names = list(inspect.signature(f).parameters.values())
    if len(names) < len(args) or any(each.kind is each.VAR_POSITIONAL for each in names):
        return [f"arg{place}" for place in range(len(args))]
    return [each.name for each in names[: len(args)]]


def make_fx(
    f: Callable[..., object],
    decomposition_table: Mapping[Any, Callable[..., object]] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    **more: object,
) -> Callable[..., GraphModule]:
    """A function of `f`'s arguments that gives the graph of the operators `f` runs on them.

    Args:
        f: a function or module over tensors and containers of them.
        decomposition_table: functions to run in the place of operators.
        tracing_mode: "real" or "fake", which are the same here: operators run on the tensors.

    Raises:
        ValueError: there is no such mode of tracing.
        NotImplementedError: sizes are to be symbols, operators above gradients are wanted, or
            the function computes gradients.
        RuntimeError: `f` reads a number from a tensor that depends on its arguments.
    """
    del _allow_non_fake_inputs, record_module_stack, more
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise ValueError(f"Unexpected tracing type: {tracing_mode}")
    if tracing_mode == "symbolic" or pre_dispatch:
        wanted = "pre_dispatch=True" if pre_dispatch else 'tracing_mode="symbolic"'
        raise NotImplementedError(
            f"make_fx({wanted}): sizes are ints in rushlight, and operators are seen below "
            'gradients; use tracing_mode="real"'
        )

    table = decomposition_table or {}

    def wrapped(*args: object) -> GraphModule:
        return _traced(f, args, table)

    return wrapped


def _traced(
    f: Callable[..., object],
    args: tuple[object, ...],
    table: Mapping[object, Callable[..., object]],
) -> GraphModule:
    """The graph of what a function runs on arguments."""
    leaves, spec = pytree.tree_flatten(args)
    recording = _Recording(table)
    names = _names(f, args)
    owners = [
        name
        for name, each in zip(names, args, strict=True)
        for _ in range(pytree.tree_structure(each).num_leaves)
    ]
    for place, (leaf, owner) in enumerate(zip(leaves, owners, strict=True)):
        name = f"{owner}_{owners[:place].count(owner) + 1}"
        if isinstance(leaf, Tensor):
            recording.input(leaf, name)
        else:
            recording.graph.create_node("placeholder", name, (), {}, name)
    with recording:
        result = f(*args)
    recording.refuse_walks()
    found, out_spec = pytree.tree_flatten(result)
    nodes = [recording.node_of(each) for each in found]
    if len(leaves) == len(args) and all(each.is_leaf() for each in spec.children_specs):
        recording.graph.output(pytree.tree_unflatten(nodes, out_spec))
    else:
        recording.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names, spec, out_spec))
        recording.graph.output(nodes)
    title = f.__class__.__name__ if isinstance(f, Module) else f.__name__
    return GraphModule(recording.root, recording.graph, title)


def get_proxy_mode() -> None:
    """The tracing that is at work: never any that others see."""


get_innermost_proxy_mode = get_proxy_mode


@contextmanager
def maybe_disable_fake_tensor_mode() -> Iterator[None]:
    """A block without fake tensors, of which there are none."""
    yield


@contextmanager
def disable_proxy_modes_tracing() -> Iterator[None]:
    """A block without tracing, of which there is none."""
    yield


__getattr__ = names_of(__name__)
