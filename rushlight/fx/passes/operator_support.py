"""`torch.fx.passes.operator_support`: which nodes a back end can run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...nn.modules.module import Module
from ...ops.memory.dtype import DType
from ..node import Node
from .tools_common import CALLABLE_NODE_OPS, get_node_target

__all__ = [
    *("OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain"),
    "create_op_support",
]

Dtypes = Sequence[DType]
SupportDict = Mapping[str, tuple[Sequence[Dtypes], dict[str, Dtypes]] | None]
IsSupported = Callable[[Mapping[str, Module], Node], bool]


class OperatorSupportBase(ABC):
    """Says of nodes whether they can be run."""

    @abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether a node can; `submodules` are those that it may call."""


class OperatorSupport(OperatorSupportBase):
    """A table of targets, with the dtypes of their arguments, or None for any."""

    _support_dict: SupportDict = {}  # noqa: RUF012

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or self._support_dict

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether the table has the node's target and the dtypes of its arguments."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        table: Mapping[str, Any] = self._support_dict
        wanted = table.get(get_node_target(submodules, node), False)
        if not wanted:  # the table does not have it, or has None: any arguments
            return wanted is None
        args, kwargs = wanted
        pairs = [*zip(node.args, args, strict=False)]
        pairs += [(node.kwargs.get(name), given) for name, given in kwargs.items()]
        return all(_get_arg_dtype(v) in given for v, given in pairs if isinstance(v, Node))


def _get_arg_dtype(arg: Node) -> object:
    meta: object = arg.meta.get("tensor_meta")
    return meta.dtype if hasattr(meta, "dtype") else arg.meta.get("type")


class _Function(OperatorSupportBase):
    def __init__(self, function: IsSupported) -> None:
        self._function = function

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """What the function says."""
        return self._function(submodules, node)


def create_op_support(is_node_supported: IsSupported) -> OperatorSupportBase:
    """Support by a function."""
    return _Function(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """What all support."""
    return _Function(lambda below, n: all(s.is_node_supported(below, n) for s in op_support))


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """What any supports."""
    return _Function(lambda below, n: any(s.is_node_supported(below, n) for s in op_support))


class OpSupports:
    """Supports that are often used."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: DType) -> OperatorSupportBase:
        """All nodes but those with an argument of a dtype."""
        return _Function(
            lambda _, node: all(_get_arg_dtype(each) != dtype for each in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """All nodes but those of some names."""
        return _Function(lambda _, node: node.name not in disallow_set)
