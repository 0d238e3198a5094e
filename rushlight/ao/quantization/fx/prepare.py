"""Observers in a traced model.

An operator of the backend's patterns has its operands observed, once each, and its result; what
only moves numbers shares the observer of its operand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....fx.graph_module import GraphModule
from ....fx.node import Node
from ....module_names import names_of
from ....nn.modules.module import Module
from ..backend_config.backend_config import BackendConfig, DTypeConfig, ObservationType
from ..observer import ReuseInputObserver
from ..qconfig import QConfig
from .configurations import dtypes_for
from .fuse import put_module
from .matching import Found, find, kind_of

__all__ = ["Quantized", "insert_observers", "swap_for_training"]

_SHARED: Final = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT
_NOT_OBSERVED: Final = ObservationType.INPUT_OUTPUT_NOT_OBSERVED
_NO_TENSORS: Final = frozenset({"size", "dim", "numel", "ndimension", "stride", "item", "tolist"})


@dataclass(frozen=True)
class Quantized:
    """A pattern that is quantized: by what configuration, and to what dtypes."""

    found: Found
    qconfig: QConfig
    dtypes: DTypeConfig
    places: Mapping[str, int]
    """Which arguments of the first operator are its weight and its bias."""

    @property
    def is_dynamic(self) -> bool:
        """Whether values are quantized by the range of each call."""
        return bool(self.dtypes.is_dynamic)

    @property
    def is_static(self) -> bool:
        """Whether operands are of a dtype with a scale."""
        dtype = self.dtypes.input_dtype
        return not self.is_dynamic and dtype is not None and not dtype.is_floating_point


def quantizable(
    model: GraphModule, backend: BackendConfig, qconfigs: Mapping[Node, QConfig | None]
) -> list[Quantized]:
    """The patterns of a model that are configured, and can be as they are."""
    modules = dict(model.named_modules())
    nodes = list(model.graph.nodes)
    places = {entry.pattern: entry._input_type_to_index for entry in backend.configs}
    made = []
    for found in find(nodes, modules, backend):
        qconfig = qconfigs.get(found.first) or None
        dtypes = None if qconfig is None else dtypes_for(found, qconfig)
        if qconfig is not None and dtypes is not None:
            known = places.get(kind_of(found.first, modules), {})
            made.append(Quantized(found, qconfig, dtypes, known))
    return made


def swap_for_training(
    model: GraphModule, backend: BackendConfig, qconfigs: Mapping[Node, QConfig | None]
) -> None:
    """Put layers that round their weights in the place of others."""
    for each in quantizable(model, backend, qconfigs):
        kind, node = each.found.entry.qat_module, each.found.first
        if kind is not None and node.op == "call_module":
            module = model.get_submodule(str(node.target))
            module.qconfig = each.qconfig
            put_module(model, str(node.target), kind.from_float(module))


# --------------------------------------------------------------------------- observers


def insert_observers(
    model: GraphModule, quantized: list[Quantized], given: frozenset[str] = frozenset()
) -> None:
    """Put observers into a model as `activation_post_process_0` and so on.

    Args:
        given: the names of arguments that come quantized.
    """
    inserting = _Inserting(model, given)
    by_first = {each.found.first: each for each in quantized}
    for node in list(model.graph.nodes):
        inserting.note(node)
        if node in by_first:
            inserting.operands(by_first[node])
    for each in quantized:
        inserting.share(each)
    model.graph.lint()
    model.recompile()


def _reuses(qconfig: QConfig) -> bool:
    """Whether a result is observed by what has observed the operand."""
    return isinstance(qconfig.activation(), ReuseInputObserver)


class _Inserting:
    def __init__(self, model: GraphModule, given: frozenset[str]) -> None:
        self.model = model
        self.given = given
        self.count = 0
        self.seen: dict[Node, Node] = {}
        """The observer's node of each that is observed."""
        self.numbers: set[Node] = set()
        """Nodes that give no tensors."""

    def note(self, node: Node) -> None:
        inputs = node.all_input_nodes
        is_asked = node.op == "call_method" and node.target in _NO_TENSORS
        is_shape = node.target is getattr and node.args[1:2] in (("shape",), ("dtype",))
        derived = node.op == "call_function" and inputs and all(n in self.numbers for n in inputs)
        if is_asked or is_shape or derived:
            self.numbers.add(node)

    def operands(self, each: Quantized) -> None:
        """Observe the operands of a pattern, and its result."""
        first, kind = each.found.first, each.found.entry.observation_type
        if kind is _NOT_OBSERVED or not (each.is_static or each.is_dynamic):
            return
        tensors = [n for n in first.all_input_nodes if n not in self.numbers]
        if _reuses(each.qconfig):
            if each.is_static and self.source(each.found.last) is not None:
                self.result(each)
            return
        for operand in dict.fromkeys(tensors):
            make = self.maker(each, operand)
            if make is None or operand in self.seen.values() or operand.name in self.given:
                continue
            if operand not in self.seen:
                self.observe(operand, make)
            first.replace_input_with(operand, self.seen[operand])
        if each.is_static and tensors:
            self.result(each)

    def maker(self, each: Quantized, operand: Node) -> Any:
        """What makes the observer of an operand; None for one that stays as it is."""
        first, named = each.found.first, {}
        for name, place in each.places.items():
            given = first.args[place] if place < len(first.args) else first.kwargs.get(name)
            named[name] = given
        if operand is named.get("bias"):
            return None
        if operand is not named.get("weight"):
            return each.qconfig.activation
        dtype = each.dtypes.weight_dtype
        return None if dtype is not None and dtype.is_floating_point else each.qconfig.weight

    def result(self, each: Quantized) -> None:
        last = each.found.last
        node = self.observe(last, each.qconfig.activation)
        for user in list(last.users):
            if user is not node:
                user.replace_input_with(last, node)

    def observe(self, node: Node, make: Callable[[], Module]) -> Node:
        name = f"activation_post_process_{self.count}"
        self.count += 1
        observer = make()
        if isinstance(observer, ReuseInputObserver):
            source = self.source(node)
            assert source is not None
            observer = self.model.get_submodule(str(source.target))
        setattr(self.model, name, observer)
        with self.model.graph.inserting_after(node):
            made = self.model.graph.call_module(name, (node,))
        self.seen[node] = made
        return made

    def source(self, node: Node) -> Node | None:
        """The observer of what a node moves numbers of."""
        at: object = node
        while isinstance(at, Node) and at not in self.seen.values():
            at = at.args[0] if at.args else None
        return at if isinstance(at, Node) else None

    # -- observers that are shared

    def share(self, each: Quantized) -> None:
        """Give operands and result of what only moves numbers one observer."""
        if not each.is_static or each.found.last not in self.seen:
            return
        first, entry = each.found.first, each.found.entry
        operands = [n for n in first.all_input_nodes if n in self.seen.values()]
        kinds = entry._num_tensor_args_to_observation_type
        tensors = [n for n in first.all_input_nodes if n not in self.numbers]
        kind = kinds.get(len(tensors), entry.observation_type)
        if len(tensors) == 1 and len(first.args) > 1 and first.args[0] is first.args[1]:
            kind = entry.observation_type
        if kind is not _SHARED or not operands:
            return
        kept = self.model.get_submodule(str(operands[0].target))
        for node in (*operands[1:], self.seen[each.found.last]):
            old = self.model.get_submodule(str(node.target))
            for name, module in list(self.model.named_children()):
                if module is old:
                    setattr(self.model, name, kept)


__getattr__ = names_of(__name__)
