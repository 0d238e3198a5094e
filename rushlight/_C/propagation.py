"""What a graph's inputs tell of the tensors inside it: sizes, element types, devices.

%0 : Float(2, 3) = ...                            %0 : Float(2, 3) = ...
%1 : Tensor = aten::t(%0)                   ->    %1 : Float(3, 2) = aten::t(%0)

Operators are asked for the outcome over arrays without memory (`ops/meta`), so there is no second
description of what they give.  Where branches or rounds of a loop disagree, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..ir.aliases.alias_db import AliasDb
from ..ir.graphs.clone import clone_graph
from ..ir.graphs.constants import MISSING, constant_value
from ..ir.graphs.graph import Block, Node, Value
from ..ir.graphs.graph import Graph as InnerGraph
from ..ir.graphs.tensor_types import refined_type
from ..ops.memory.dtype import DTYPES, Array, Device, dtype_of
from ..ops.memory.reserved import reserved
from ..ops.memory.storage import strides_of
from ..ops.meta.outcome import outcome
from ..ops.meta.tensors import opened
from ..ops.table.table import TABLE
from ..ops.tensors.tensor import Tensor
from ..typecheck.types.tensor_facts import RefinedTensor, facts_of
from ..typecheck.types.types import BOOL, FLOAT, INT, TENSOR, Type
from .handles import Graph, inner_graph

__all__ = ["PROPAGATIONS"]

_UNKNOWN: Final = MISSING
_BY_WORD: Final = {dtype.scalar_name: dtype for dtype in DTYPES.values()}


@dataclass(frozen=True, eq=False)
class _Form:
    """What is known of a tensor: an array without memory; its dtype and whether it requires
    gradients may be made up."""

    array: Array
    has_dtype: bool
    requires_grad: bool | None

    def same(self, other: object) -> bool:
        """Whether the same is known of another value."""
        return (
            isinstance(other, _Form)
            and self.array.shape == other.array.shape
            and self.array.dtype == other.array.dtype
            and self.array.strides == other.array.strides
            and self.has_dtype == other.has_dtype
            and self.requires_grad == other.requires_grad
        )


def _same(one: object, other: object) -> bool:
    if isinstance(one, _Form):
        return one.same(other)
    return type(one) is type(other) and bool(one == other)


Tell = Callable[[Node, Callable[[Value], object]], Sequence[object]]
"""Says what a node without blocks gives; what is known of a value is asked of the second."""


class _Walk:
    """Goes through a graph in order and keeps what is known of each value."""

    def __init__(self, of_input: Callable[[Value], object], tell: Tell) -> None:
        self.known: dict[Value, object] = {}
        self._of_input = of_input
        self._tell = tell

    def value(self, value: Value) -> object:
        """What is known of a value."""
        found = self.known.get(value, _UNKNOWN)
        return constant_value(value) if found is _UNKNOWN else found

    def graph(self, graph: InnerGraph) -> dict[Value, object]:
        """What is known of all values of a graph."""
        for value in graph.inputs:
            self.known[value] = self._of_input(value)
        self._block(graph.block)
        return self.known

    def _block(self, block: Block) -> list[object]:
        for node in block.nodes:
            if node.kind == "prim::If":
                outputs = self._joined(*(self._block(inner) for inner in node.blocks))
            elif node.kind == "prim::Loop":
                outputs = self._loop(node)
            else:
                for inner in node.blocks:
                    self._block(inner)
                outputs = list(self._tell(node, self.value))
            self.known.update(zip(node.outputs, outputs, strict=False))
        return [self.value(value) for value in block.outputs]

    def _joined(self, one: list[object], other: list[object]) -> list[object]:
        pairs = zip(one, other, strict=True)
        return [a if _same(a, b) else _UNKNOWN for a, b in pairs]

    def _loop(self, node: Node) -> list[object]:
        body = node.blocks[0]
        carried = [self.value(value) for value in node.inputs[2:]]
        while True:
            self.known.update(zip(body.inputs[1:], carried, strict=True))
            after = self._joined(carried, self._block(body)[1:])
            if all(a is _UNKNOWN or _same(a, b) for a, b in zip(carried, after, strict=True)):
                return after
            carried = after


# --------------------------------------------------------------------------- sizes and dtypes


def _form_by_type(value: Value) -> object:
    """What the type of a value says, if it says all sizes."""
    facts = facts_of(value.type)
    if facts is None or facts.sizes is None or None in facts.sizes:
        return _UNKNOWN
    numpy = _BY_WORD[facts.scalar or "Float"].numpy
    steps = facts.strides
    strides = None if not steps or None in steps else [(s or 0) * numpy.itemsize for s in steps]
    sizes = tuple(size or 0 for size in facts.sizes)
    return _Form(reserved(sizes, numpy, strides), facts.scalar is not None, facts.requires_grad)


def _forms(graph: InnerGraph, of_input: Callable[[Value], object]) -> dict[Value, object]:
    aliases = AliasDb(graph)

    def tell(node: Node, known: Callable[[Value], object]) -> Sequence[object]:
        values = [known(value) for value in node.inputs]
        if node.kind == "prim::Constant":
            return [constant_value(node.output)]
        if node.kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            changed = node.kind == "prim::ListConstruct" and aliases.has_writers(node.output)
            whole = not changed and not any(v is _UNKNOWN for v in values)
            return [(list if "List" in node.kind else tuple)(values) if whole else _UNKNOWN]
        if node.kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            parts = values[0]
            fits = isinstance(parts, (list, tuple)) and len(parts) == len(node.outputs)
            return list(parts) if fits else []  # type: ignore[call-overload]
        found = _of_operator(node, values)
        return found or [_form_by_type(value) for value in node.outputs]

    return _Walk(of_input, tell).graph(graph)


_FACTORS: Final = frozenset({"other", "alpha", "beta", "value", "min", "max"})
_NUMBERS: Final[dict[Type, object]] = {INT: 1, FLOAT: 1.0, BOOL: True}
"""Numbers that stand for unknown ones where no sizes depend on them."""


def _of_operator(node: Node, values: list[object]) -> list[object]:
    """What an operator gives; nothing if that is not known."""
    if node.signature is None:
        return []
    entry = TABLE.of(node.signature)
    if entry.is_in_place and isinstance(values[0], _Form):
        return [values[0]]
    arguments = entry.signature.arguments
    for place, argument in enumerate(arguments[: len(values)]):
        if values[place] is _UNKNOWN and argument.name in _FACTORS:
            values[place] = _NUMBERS.get(node.inputs[place].type, _UNKNOWN)
    if any(value is _UNKNOWN for value in values):
        return []
    forms = [form for value in values for form in _forms_in(value)]
    try:
        result = outcome(entry, [_arrays(value) for value in values])
    except Exception:  # what is wrong with the operands is told when the graph runs
        return []
    has_dtype = all(form.has_dtype for form in forms)
    alone = sum(isinstance(value, _Form) for value in values) < 2
    requires_grad = forms[0].requires_grad if forms and alone else None

    def form(part: object) -> object:
        if isinstance(part, np.ndarray):
            return _Form(part, has_dtype, requires_grad)
        return [form(each) for each in part] if isinstance(part, list) else part

    return [form(r) for r in result] if len(node.outputs) > 1 else [form(result)]


def _forms_in(value: object) -> list[_Form]:
    if isinstance(value, _Form):
        return [value]
    if isinstance(value, (list, tuple)):
        return [form for each in value for form in _forms_in(each)]
    return []


def _arrays(value: object) -> object:
    if isinstance(value, _Form):
        return value.array
    return [_arrays(each) for each in value] if isinstance(value, list) else value


def _note(
    graph: InnerGraph, known: Mapping[Value, object], **facts: Callable[[_Form], object]
) -> None:
    """Put facts into the types of the values that something is known of."""
    for value, form in known.items():
        old = facts_of(value.type)
        if isinstance(form, _Form) and old is not None:
            value.type = refined_type(old, **{name: of(form) for name, of in facts.items()})
    for node in graph.all_nodes:
        if node.kind == "prim::TupleConstruct":
            parts = tuple(v.type if v.type == TENSOR else p for v, p in _parts(node))
            node.output.type = node.output.type.with_contained(parts)


def _parts(node: Node) -> zip[tuple[Value, Type]]:
    return zip(node.inputs, node.output.type.contained, strict=True)


def _scalar(form: _Form) -> str:
    return dtype_of(form.array).scalar_name


def _sizes(form: _Form) -> tuple[int, ...]:
    return tuple(form.array.shape)


def _propagate_sizes(graph: Graph) -> None:
    """Note the sizes that follow from those of the graph's inputs."""
    inner = inner_graph(graph)
    known = _forms(inner, _form_by_type)
    made = {value: form for value, form in known.items() if value not in inner.inputs}
    _note(inner, made, sizes=_sizes, strides=lambda form: None)


def _propagate_dtypes(graph: Graph) -> bool:
    """Note the element types that follow from those of the graph's inputs."""
    inner = inner_graph(graph)
    known = _forms(inner, _form_by_type)
    typed = {v: form for v, form in known.items() if isinstance(form, _Form) and form.has_dtype}
    _note(inner, typed, scalar=_scalar)
    return bool(typed)


def _complete(graph: Graph, inputs: Sequence[object], with_grad: bool) -> None:
    """Note all that follows from tensors that the graph would be given."""
    inner = inner_graph(graph)
    values = [value for value in inner.inputs if not value.type.is_module]
    given = dict(zip(values, inputs, strict=False))

    def of_input(value: Value) -> object:
        tensor = given.get(value)
        if not isinstance(tensor, Tensor):
            return _UNKNOWN if tensor is None else tensor
        with opened():
            array = tensor._array
        form = reserved(array.shape, array.dtype, [abs(step) for step in array.strides])
        return _Form(form, True, bool(tensor.requires_grad))

    _note(
        inner,
        _forms(inner, of_input),
        scalar=_scalar,
        sizes=_sizes,
        strides=lambda form: tuple(strides_of(form.array)),
        requires_grad=lambda form: form.requires_grad,
        device=lambda form: "cpu",
    )


def _ranks_only(graph: Graph, inputs: Sequence[object], with_grad: bool = False) -> Graph:
    """A copy in which all is noted that follows from tensors of any sizes like those given."""
    copy = Graph(clone_graph(inner_graph(graph)))
    _complete(copy, inputs, with_grad)
    inner = inner_graph(copy)
    for value in (*inner.inputs, *(v for node in inner.all_nodes for v in node.outputs)):
        facts = facts_of(value.type)
        if facts is not None and facts.sizes is not None:
            value.type = refined_type(facts, sizes=(None,) * len(facts.sizes), strides=None)
    return copy


def _erase_inside(graph: Graph) -> None:
    """Forget sizes, element types and devices of all but the graph's inputs."""
    for node in inner_graph(graph).all_nodes:
        for value in node.outputs:
            if isinstance(value.type, RefinedTensor):
                value.type = TENSOR


# --------------------------------------------------------------------------- devices

_TO_DEVICE: Final = {"aten::cpu": "cpu", "aten::cuda": "cuda", "aten::to_mkldnn": "mkldnn"}
_FIRST: Final = frozenset({"aten::view_as", "aten::expand_as", "aten::reshape_as"})


def _propagate_devices(graph: Graph) -> bool:
    """Note the devices that follow from those of the graph's inputs."""
    inner = inner_graph(graph)
    known = _Walk(_device_by_type, _device_of).graph(inner)
    changed = False
    for value, device in known.items():
        facts = facts_of(value.type)
        if isinstance(device, str) and facts is not None and facts.device != device:
            value.type = refined_type(facts, device=device)
            changed = True
    return changed


def _device_by_type(value: Value) -> object:
    facts = facts_of(value.type)
    return _UNKNOWN if facts is None or facts.device is None else facts.device


def _device_of(node: Node, known: Callable[[Value], object]) -> Sequence[object]:
    tensors = [value for value in node.inputs if facts_of(value.type) is not None]
    if node.kind == "prim::Constant":
        return [_device_by_type(node.output)]
    if node.kind in _TO_DEVICE:
        found: object = _TO_DEVICE[node.kind]
    elif node.kind in _FIRST:
        found = known(tensors[0])
    elif node.kind == "aten::type_as":
        found = known(tensors[1])
    else:
        found = _asked_device(node)
        if found is None:
            found = _common_device(tensors, known)
    return [found] * len(node.outputs)


def _asked_device(node: Node) -> object:
    """The device that an argument names; None where none does."""
    for value in node.inputs:
        if str(value.type).startswith("Device"):
            device = constant_value(value)
            return _UNKNOWN if device is MISSING else str(Device(str(device)))
    return None


def _common_device(tensors: list[Value], known: Callable[[Value], object]) -> object:
    """Where an operator over these tensors gives its result: single numbers lie anywhere."""
    places = [known(value) for value in tensors]
    if not places or any(place is _UNKNOWN for place in places):
        return _UNKNOWN
    if len(set(places)) > 1:
        pairs = zip(tensors, places, strict=True)
        places = [place for value, place in pairs if not (place == "cpu" and _is_number(value))]
    return places[0] if len(set(places)) == 1 else _UNKNOWN


def _is_number(value: Value) -> bool:
    facts = facts_of(value.type)
    return facts is not None and facts.sizes == ()


PROPAGATIONS: Final[dict[str, Callable[..., object]]] = {
    "_jit_erase_non_input_shape_information": _erase_inside,
    "_jit_pass_complete_shape_analysis": _complete,
    "_jit_pass_propagate_device": _propagate_devices,
    "_jit_pass_propagate_dtype": _propagate_dtypes,
    "_jit_pass_propagate_shapes_on_graph": _propagate_sizes,
    "_propagate_shapes": _ranks_only,
}
"""The passes by name."""
