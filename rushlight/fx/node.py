"""`torch.fx.node`: one step of a graph, and walks through the arguments of steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeVar

from ..nn.modules.module import Module
from ._names import module_of, qualified_name, schema_title, type_text
from ._purity import _side_effectful_functions as _side_effectful_functions
from ._purity import has_side_effect as has_side_effect
from ._purity import impure_call
from .immutable_collections import immutable_dict, immutable_list
from .operator_schemas import ArgsKwargsPair, normalize_function, normalize_module

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

Argument = Any
Target = str | Callable[..., object]
Call = TypeVar("Call", bound=Callable[..., object])

_legal_ops: Final = dict.fromkeys(
    "placeholder call_method call_module call_function get_attr output root".split()
)
base_types: Final = (str, int, float, bool, complex)
_GAP: Final = 1 << 32
"""How far apart the numbers of nodes are that are put behind each other."""

_get_qualified_name = qualified_name
_find_module_of_method = module_of
_type_repr = type_text


# --------------------------------------------------------------------------------- walking


def map_aggregate(a: Argument, fn: Callable[[Any], object]) -> Any:
    """The same nested tuples, lists, dicts and slices with `fn` of what they hold.

    Lists and dicts come back as immutable ones; named tuples stay what they are.
    """
    if isinstance(a, tuple):
        made = [map_aggregate(each, fn) for each in a]
        return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
    if isinstance(a, list):
        return immutable_list([map_aggregate(each, fn) for each in a])
    if isinstance(a, dict):
        return immutable_dict([(key, map_aggregate(each, fn)) for key, each in a.items()])
    if isinstance(a, slice):
        return slice(*(map_aggregate(each, fn) for each in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], object]) -> Any:
    """`map_aggregate` for the nodes alone; all else stays."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda each: fn(each) if isinstance(each, Node) else each)


def _nodes_in(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _nodes_in(each)
    elif isinstance(value, dict):
        yield from _nodes_in(tuple(value.values()))
    elif isinstance(value, slice):
        yield from _nodes_in((value.start, value.stop, value.step))


# -------------------------------------------------------------------------------- printing


def _format_arg(arg: object, max_list_len: float = float("inf")) -> str:
    """An argument in the text of a graph: nodes by `%name`, strings without quotes."""
    custom = getattr(arg, "_custom_fx_repr_fn", None)
    if custom is not None:
        return str(custom())
    if isinstance(arg, list):
        return f"[{_format_items(arg, max_list_len)}]"
    if isinstance(arg, tuple):
        inner = _format_items(arg, max_list_len)
        return f"({inner},)" if len(arg) == 1 else f"({inner})"
    if isinstance(arg, dict):
        inner = ", ".join(f"{key}: {_format_arg(each)}" for key, each in arg.items())
        return f"{{{inner}}}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _format_items(items: Sequence[object], most: float) -> str:
    shown = [_format_arg(each) for i, each in enumerate(items) if i < most]
    cut = f", ...[total_len={len(items)}]" if len(items) > most else ""
    return ", ".join(shown) + cut


# ----------------------------------------------------------------------------------- nodes


class _Names(Protocol):
    """What gives names."""

    def create_name(self, candidate: str, obj: object | None) -> str: ...

    def _rename_object(self, obj: object, name: str) -> None: ...


class _Owner(Protocol):
    """What a node asks of its graph."""

    _root: Node

    @property
    def nodes(self) -> Iterable[Node]: ...

    @property
    def owning_module(self) -> Module | None: ...

    @property
    def _graph_namespace(self) -> _Names: ...


class Node:
    """One step of a graph: an input, an attribute, a call, or the result.

    `op` is one of `placeholder`, `get_attr`, `call_function`, `call_method`, `call_module` and
    `output`; `target` is what is called or read; `users` are the nodes that use the result.

    Raises:
        AssertionError: `op` is none of these.
        ValueError: `target` is a function where a name belongs, or the reverse.
    """

    _args: tuple[object, ...]
    _kwargs: dict[str, object]
    attrs_for_lowering: dict[str, Any]
    """What `lift_lowering_attrs_to_nodes` says of it."""

    def __init__(
        self,
        graph: _Owner,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: object | None = None,
    ) -> None:
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        _check_target(graph, name, op, target)
        self.graph: Any = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._sort_key = 0
        self._update_args_kwargs(args, kwargs)

    # -- order ---------------------------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The node behind; behind the last, the root of the list."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before; before the first, the root of the list."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move `x` to the place before this node.

        Raises:
            AssertionError: `x` is of another graph.
        """
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is not self:
            x._remove_from_list()
            before, x._prev, x._next = self._prev, self._prev, self
            before._next = self._prev = x
            x._number()

    def append(self, x: Node) -> None:
        """Move `x` to the place behind this node."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev
        self._prev = self._next = self

    def _number(self) -> None:
        """Take a number between the neighbours'; where there is none, all are numbered anew."""
        low, root = self._prev._sort_key, self.graph._root
        high = low + 2 * _GAP if self._next is root else self._next._sort_key
        if self._prev is root:
            low = high - 2 * _GAP
        self._sort_key = (low + high) // 2
        if self._sort_key == low:
            for place, node in enumerate(self.graph.nodes):
                node._sort_key = (place + 1) * _GAP

    def __lt__(self, other: Node) -> bool:
        return self._sort_key < other._sort_key

    def __gt__(self, other: Node) -> bool:
        return self._sort_key > other._sort_key

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    # -- arguments -----------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments; their nodes know this one as a user."""
        return self._args

    @args.setter
    def args(self, a: tuple[Argument, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The keyword arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Argument]) -> None:
        self._update_args_kwargs(self._args, k)

    def _update_args_kwargs(
        self, new_args: tuple[Argument, ...], new_kwargs: dict[str, Argument]
    ) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._args = map_aggregate(new_args, lambda each: each)
        self._kwargs = map_aggregate(new_kwargs, lambda each: each)
        self._input_nodes = dict.fromkeys(_nodes_in((self._args, self._kwargs)))
        for node in self._input_nodes:
            node.users[self] = None

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Exchange one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Put one more positional argument before the one at `idx`.

        Raises:
            AssertionError: there is no such place.
        """
        if not 0 <= idx <= len(self.args):
            raise AssertionError(
                f"insert_args index must be between 0 and len(self.args), got {idx}"
            )
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Set one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use another node wherever an argument is `old_input`."""
        self._replace_input_with(old_input, new_input)

    def _replace_input_with(self, old_input: Node, new_input: Argument) -> None:
        module = getattr(self.graph, "owning_module", None)
        for hook in getattr(module, "_replace_hooks", None) or ():
            hook(old=old_input, new=new_input.name, user=self)
        args, kwargs = map_arg(
            (self._args, self._kwargs), lambda node: new_input if node is old_input else node
        )
        self._update_args_kwargs(args, kwargs)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Have the users of this node use another.

        Args:
            delete_user_cb: says which users change; all if None.
            propagate_meta: give `meta`, too, to the other, which must have none.

        Returns:
            The users that changed.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but "
                    "replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [u for u in self.users if delete_user_cb is None or delete_user_cb(u)]
        for user in changed:
            user._replace_input_with(self, replace_with)
        return changed

    # -- what is known of it -------------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """Where the user's code made it, if the tracer was told to note that."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether dropping it could change anything though nothing uses its result.

        Raises:
            AssertionError: it calls a module and the graph has none.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return impure_call(self.target, impure_random)
        if self.op != "call_module":
            return False
        root = self.graph.owning_module
        if root is None:
            raise AssertionError("self.graph.owning_module not set for purity check")
        return bool(getattr(root.get_submodule(str(self.target)), "_is_impure", False))

    def normalized_arguments(
        self,
        root: Module,
        arg_types: tuple[object, ...] | None = None,
        kwarg_types: dict[str, object] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:
        """The arguments in the form of the signature of what is called, with its defaults.

        Returns:
            None where no signature is known.
        """
        only = normalize_to_only_use_kwargs
        if self.op == "call_function":
            assert callable(self.target)
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, only
            )
        if self.op == "call_module":
            return normalize_module(root, str(self.target), self.args, self.kwargs, only)
        return None

    # -- text ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target: Target) -> str:
        """The target in the text of a graph."""
        if isinstance(target, str):
            return target
        name = getattr(target, "__name__", "")
        if getattr(operator, name, None) is target:
            return f"operator.{name}"
        if getattr(target, "__module__", "") == "builtins":
            return f"builtins.{name}"
        return qualified_name(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The line of this node in the text of its graph."""
        del placeholder_names, maybe_return_typename, include_tensor_metadata
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{self._head()}{self.op}[target={self.target}]{default}"
        if self.op == "output":
            return f"return {self.args[0]}"
        line = f"{self._head()}{self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "get_attr":
            return line
        return f"{line}(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"

    def _head(self) -> str:
        kind = "" if self.type is None else f"{type_text(self.type)} "
        return f"%{self.name} : {kind}[num_users={len(self.users)}] = "

    # -- copies --------------------------------------------------------------------------------

    def _rename(self, candidate: str) -> None:
        """Take a name, or one like it that no other node has."""
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)


def _check_target(graph: _Owner, name: str, op: str, target: Any) -> None:
    if op == "call_function":
        if callable(target):
            return
        given, wanted = type_text(type(target)), "a Callable"
    elif isinstance(target, str):
        return
    else:
        named = hasattr(target, "__name__")
        given = schema_title(target) if named else type_text(type(target))
        wanted = "a str"
    raise ValueError(
        f"Node [graph = {graph}, name = '{name}'] target {target} has type {given} but "
        f"{wanted} is expected"
    )
