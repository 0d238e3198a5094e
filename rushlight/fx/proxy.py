"""`torch.fx.proxy`: values that stand for a graph's nodes while Python code runs on them."""

from __future__ import annotations

import copy
import dataclasses
import dis
import enum
import operator
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from itertools import dropwhile
from types import FrameType
from typing import Any, Final, NoReturn, cast

from ..module_names import names_of
from ..nn.parameter import Parameter
from ..ops.eager.dispatch import EagerFunction
from ..ops.eager.packets import Overload, Packet
from ..ops.memory.dtype import Device, DType, Layout, MemoryFormat
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import traceback as fx_traceback
from ._codegen import magic_methods, reflectable_magic_methods
from ._names import module_of
from .graph import Graph
from .node import Argument, Node, Target
from .operator_schemas import check_for_mutable_operation

__all__ = [
    *("Attribute", "GraphAppendingTracer", "MetaProxy", "ParameterProxy", "Proxy", "Scope"),
    *("ScopeContextManager", "TraceError", "TracerBase"),
]

base_types: Final = (
    *(str, int, float, bool, complex, DType, Device, MemoryFormat, Layout, Tensor, Overload),
    Packet,
)
_HERE: Final = __file__.rpartition("fx")[0]


class TraceError(ValueError):
    """Python code asked something of a value that is only known when the graph runs."""


# ---------------------------------------------------------------------------------- scopes


class Scope:
    """Which module's code runs: its path and its class."""

    def __init__(self, module_path: str, module_type: type | None) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """A block in which `scope` says what `current_scope` says."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._scope, self._before = scope, dict(vars(scope))
        vars(scope).update(vars(current_scope))

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *raised: object) -> None:
        vars(self._scope).update(self._before)


# --------------------------------------------------------------------------------- tracers


class TracerBase:
    """Makes nodes of what happens to proxies; subclasses say what happens to modules."""

    graph: Graph
    record_stack_traces: bool = False
    _record_forward_stack_traces_only: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, type | None]]
    node_name_to_scope: dict[str, tuple[str, type | None]]

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: object | None = None,
    ) -> Node:
        """A node with what is known of where it comes from.

        Raises:
            RuntimeError: `check_mutable_operations` is set and the function changes an argument.
        """
        if kind == "call_function" and self.check_mutable_operations:
            assert callable(target)
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope.module_path, self.scope.module_type
        if fx_traceback.has_preserved_node_meta():
            node.meta.update(fx_traceback.get_current_meta())
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = _stack_text(sys._getframe(1))
            if not node.stack_trace:
                del node.meta["stack_trace"]
        return node

    def proxy(self, node: Node) -> Proxy:
        """What stands for a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        name: str | None = None,
        type_expr: object | None = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """A node whose arguments may hold proxies, and what stands for it."""
        made_args, made_kwargs = self.create_arg(args), self.create_arg(kwargs)
        assert isinstance(made_args, tuple)
        assert isinstance(made_kwargs, dict)
        node = self.create_node(kind, target, made_args, made_kwargs, name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: object) -> Argument:
        """A value as the argument of a node: proxies are their nodes.

        Raises:
            NotImplementedError: a node cannot hold values of this type.
            RuntimeError: a key of a dict is a proxy.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            return self._create_tuple(a)
        if isinstance(a, list):
            return [self.create_arg(each) for each in a]
        if isinstance(a, dict):
            return self._create_dict(a)
        if isinstance(a, slice):
            return slice(*(self.create_arg(each) for each in (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*(self.create_arg(each) for each in (a.start, a.stop, a.step)))
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_tuple(self, a: tuple[object, ...]) -> Argument:
        made = tuple(self.create_arg(each) for each in a)
        if not hasattr(a, "_fields"):
            return made
        return self.create_node("call_function", type(a), made, {})

    def _create_dict(self, a: Mapping[object, object]) -> Argument:
        made: dict[object, object] = {}
        for key, each in a.items():
            if not isinstance(key, (str, int, float, bool)):
                _check_key(self.create_arg(key))
            made[key] = self.create_arg(each)
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """What `if` on a proxy asks.

        Raises:
            TraceError: always; a subclass may answer.
        """
        del obj
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Proxy]:
        """What a loop over a proxy asks, or taking it apart (`a, b = proxy`), which works.

        Raises:
            TraceError: it is a loop.
        """
        count = _unpacked(sys._getframe(2))
        if count is not None:
            return (cast(Any, obj)[place] for place in range(count))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
            "loop or as a *args or **kwargs function argument. See the torch.fx docs on "
            "pytorch.org for a more detailed explanation of what types of control flow can be "
            "traced, and check out the Proxy docstring for help troubleshooting Proxy iteration "
            "errors"
        )

    def keys(self, obj: Proxy) -> Proxy:
        """What `**proxy` asks."""
        return Attribute(obj, "keys")()


def _check_key(key: Argument) -> None:
    def refuse(node: Node) -> NoReturn:
        raise RuntimeError(
            f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}"
        )

    from .node import map_arg

    map_arg(key, refuse)


def _unpacked(frame: FrameType) -> int | None:
    """How many values the instruction at work takes a value apart into, if it does."""
    for step in dis.get_instructions(frame.f_code):
        if step.offset == frame.f_lasti:
            return int(step.argval) if step.opname == "UNPACK_SEQUENCE" else None
    return None


def _stack_text(frame: FrameType | None) -> str:
    """The user's frames of a stack from the first `forward` on; nothing where there is none."""
    found = traceback.StackSummary()
    for each in traceback.extract_stack(frame):
        if each.filename.startswith(_HERE):
            if each.name == "trace":
                found.clear()
        else:
            found.append(each)
    kept = dropwhile(lambda each: each.name != "forward", found)
    return "".join(traceback.format_list(kept)).strip()


class GraphAppendingTracer(TracerBase):
    """The tracer of proxies that are made by hand: it puts nodes into their graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


# --------------------------------------------------------------------------------- proxies


class Proxy:
    """Stands for a node: operators, methods, attributes and functions of torch make new nodes.

    Args:
        node: what it stands for.
        tracer: what makes the nodes; without one they go into the node's graph.
    """

    node: Node

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = tracer or GraphAppendingTracer(node.graph)
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k.startswith("__array") or k == "__cuda_array_interface__":  # no array: NumPy asks
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict[int, object]) -> Proxy:
        made = object.__new__(Proxy)
        memo[id(self)] = made
        made.tracer, made.node = copy.deepcopy((self.tracer, self.node), memo)
        return made

    def __call__(self, *args: object, **kwargs: object) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Proxy:
        """What `**proxy` asks."""
        return self.tracer.keys(self)

    def __len__(self) -> NoReturn:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls,
        orig_method: Callable[..., object],
        types: object,
        args: tuple[object, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Proxy:
        args, kwargs = args or (), kwargs or {}
        tracers = {id(proxy.tracer): proxy.tracer for proxy in _proxies((args, kwargs))}
        if len(tracers) > 1:
            raise RuntimeError(
                "Found multiple different tracers "
                f"{list(tracers.values())} while trying to trace operations {orig_method}"
            )
        (tracer,) = tracers.values()
        name = orig_method.__name__
        if is_method_of_tensors(orig_method):
            return tracer.create_proxy("call_method", name, args, kwargs)
        said = tracer.graph._target_to_str(name)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=said)


def is_method_of_tensors(function: Callable[..., object]) -> bool:
    """Whether a function is a method of Tensor, which a node calls by its name."""
    if isinstance(function, EagerFunction):
        return function.is_method
    known = getattr(function, "__qualname__", "").startswith("Tensor.")
    return known and module_of(function) == "torch.Tensor"


def _proxies(value: object) -> Iterator[Proxy]:
    if isinstance(value, Proxy):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _proxies(each)
    elif isinstance(value, dict):
        yield from _proxies(tuple(value.values()))
    elif isinstance(value, slice):
        yield from _proxies((value.start, value.stop, value.step))


class MetaProxy(Proxy):
    """A proxy whose node tells, too, what value it gave."""

    def __init__(
        self, node: Node, tracer: TracerBase | None = None, fake_mode: object = None
    ) -> None:
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self) -> str:
        return f"MetaProxy({self.node.name})"


class Attribute(Proxy):
    """An attribute of a proxy; it becomes a node when it is used but to be called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads the attribute; made the first time."""
        if self._node is None:
            read = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = read.node
        return self._node

    def __call__(self, *args: object, **kwargs: object) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter of the traced module, whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Parameter) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Size:
        """Its sizes."""
        return self.param.shape

    def size(self) -> Size:
        """Its sizes."""
        return self.param.shape

    def dim(self) -> int:
        """How many dimensions it has."""
        return self.param.dim()

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self.param.ndim

    def numel(self) -> int:
        """How many elements it has."""
        return self.param.numel()

    nelement = numel


# ------------------------------------------------------------------------------- operators


def _operator_method(name: str) -> Callable[..., object]:
    target = getattr(operator, name)

    def method(*args: Any, **kwargs: object) -> object:
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    return method


def _reflected_method(name: str) -> Callable[..., object]:
    target = getattr(operator, name)

    def method(self: Proxy, other: object) -> object:
        return self.tracer.create_proxy("call_function", target, (other, self), {})

    return method


def _add_operators() -> None:
    for name in magic_methods:
        bare = name.strip("_")
        if not hasattr(operator, name):
            continue
        made = {f"__{bare}__": _operator_method(name)}
        if name in reflectable_magic_methods:
            made[f"__r{bare}__"] = _reflected_method(name)
        for title, method in made.items():
            method.__name__ = title
            method.__qualname__ = f"Proxy.{title}"
            setattr(Proxy, title, method)


_add_operators()
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]

__getattr__ = names_of(__name__)
