"""Casts where `torch.autocast` is entered.

    %c : autocast = prim::CreateObject()
    ...                                      prim::SetAttr of `device`, `_enabled`, `fast_dtype`
    %_ : autocast = prim::Enter(%c)
    %x.2 : Tensor = aten::_autocast_to_reduced_precision(%x, ...)      put in by this pass
    %y : Tensor = aten::mm(%x.2, %x.2)
    %z : Tensor = prim::Exit(%c)

The objects' attributes must be constants after inlining, as in torch.  What is cast to what is told
by the operators' declarations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...frontend.diagnostics.diagnostics import Diagnostic, Help, Label
from ...frontend.diagnostics.exceptions import exception_for
from ...ops.table.autocast import Autocast, eager_policy, graph_policy
from ...ops.table.table import TABLE
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import BOOL, INT, NONE, TENSOR, Type
from ..graphs.constants import MISSING, constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value

__all__ = ["enters_autocast", "insert_casts", "is_entering"]

_CLASSES = frozenset(
    f"__torch__.torch.{place}autocast_mode.autocast" for place in ("amp.", "cpu.amp.", "cuda.amp.")
)


def _refuse(message: str, node: Node, help: str) -> NoReturn:
    label = Label(node.span, "here")
    found = Diagnostic("autocast", message, label, helps=(Help(help),), torch_text=message)
    raise exception_for([found], message)


_BANNED = "use `binary_cross_entropy_with_logits`, which is safe in lower precision"


def _is_autocast(value: Value) -> bool:
    type = value.type
    return isinstance(type, ClassType) and type.qualified_name in _CLASSES


def enters_autocast(graph: Graph) -> bool:
    """Whether a graph enters autocast anywhere."""
    return any(map(is_entering, graph.all_nodes))


def is_entering(node: Node) -> bool:
    """Whether it is a node by which a graph enters autocast."""
    return node.kind == "prim::Enter" and _is_autocast(node.inputs[0])


def insert_casts(graph: Graph, state: Autocast, *, scripted: bool = True) -> None:
    """Cast what operators take while autocast is on.

    Args:
        graph: An inlined graph, which is changed.
        state: The state at its beginning.
        scripted: Whether graphs have autocast of their own; without it only the state counts.

    Raises:
        RuntimeError: autocast is made or used in a way that cannot be decided beforehand.
    """
    _Casts(scripted, eager=bool(state)).block(graph.block, state)


class _Casts:
    def __init__(self, scripted: bool, eager: bool) -> None:
        self.scripted = scripted
        self.eager = eager

    def block(self, block: Block, state: Autocast) -> None:
        states = [state]
        for node in list(block.nodes):
            if node.kind in ("prim::Enter", "prim::Exit") and _is_autocast(node.inputs[0]):
                if self.scripted:
                    self._switch(node, states)
            elif states[-1]:
                self._operator(node, states[-1])
            for inner in node.blocks:
                self.block(inner, states[-1])

    @staticmethod
    def _switch(node: Node, states: list[Autocast]) -> None:
        if node.kind == "prim::Exit":
            states.pop()
            return
        if node.outputs and node.output.uses:
            _refuse("`with autocast() as ...` is not supported", node, "leave out `as`")
        states.append(_state_of(node.inputs[0], states[-1]))

    def _operator(self, node: Node, state: Autocast) -> None:
        if node.signature is None or node.signature.is_mutable:
            return
        policy = graph_policy(node.kind) if self.scripted else ""
        if not policy and self.eager:
            policy = eager_policy(node.kind)
        if policy == "banned":
            _refuse("Unsafe to autocast", node, _BANNED)
        if not policy or policy == "full-on-gpu":
            return
        if policy == "full-unless-dtype" and _has_dtype(node):
            return
        _cast_inputs(node, state, lower=policy == "lower", eager=self.eager)


def _has_dtype(node: Node) -> bool:
    assert node.signature is not None
    arguments = zip(node.signature.arguments, node.inputs, strict=False)
    return any(argument.name == "dtype" and value.type != NONE for argument, value in arguments)


def _cast_inputs(node: Node, state: Autocast, *, lower: bool, eager: bool) -> None:
    """Cast an operator's tensors.

    Those that may be None are left alone in graphs, as in torch; where autocast is on in Python
    torch casts them as the operator runs.
    """
    kind = f"aten::_autocast_to_{'reduced' if lower else 'full'}_precision"
    settings: list[tuple[object, Type]] = [(state.cuda, BOOL), (state.cpu, BOOL)]
    if lower:
        settings += [(state.cuda_dtype, INT), (state.cpu_dtype, INT)]
    graph = node.graph
    signature = TABLE.operators(kind)[0].signature
    made: dict[Value, Value] = {}

    def cast(value: Value) -> Value:
        rest = [graph.insert(create_constant(graph, v, t)).output for v, t in settings]
        new = graph.create(kind, [value, *rest], [TENSOR], node.span, signature)
        return graph.insert(new).output

    with graph.inserting_before(node):
        for place, value in enumerate(list(node.inputs)):
            maybe_none = eager and value.type.optional_of == TENSOR
            if not (value.type == TENSOR or maybe_none) or value.node.kind == kind:
                continue
            if value not in made:
                made[value] = _where_given(value, node, cast) if maybe_none else cast(value)
            node.set_input(place, made[value])


def _where_given(value: Value, node: Node, cast: Callable[[Value], Value]) -> Value:
    """`cast` of a tensor that may be None, in a branch for where it is not."""
    graph, signature = node.graph, TABLE.operators("aten::__isnot__")[0].signature
    none = graph.insert(create_constant(graph, None, NONE)).output
    given = graph.create("aten::__isnot__", [value, none], [BOOL], node.span, signature)
    chosen = graph.create("prim::If", [graph.insert(given).output], [value.type], node.span)
    graph.insert(chosen)
    there, missing = chosen.add_block(), chosen.add_block()
    with graph.inserting_before(there.ret):
        known = graph.create("prim::unchecked_cast", [value], [TENSOR], node.span)
        there.add_output(cast(graph.insert(known).output))
    missing.add_output(value)
    return chosen.output


def _state_of(context: Value, before: Autocast) -> Autocast:
    """The state inside a context: what its attributes were set to."""
    if context.node.kind != "prim::CreateObject":
        _refuse("Unsupported autocast syntax", context.node, "make it in the `with` statement")
    found: dict[str, object] = {}
    for use in context.uses:
        name = str(use.user.attributes.get("name"))
        if use.user.kind == "prim::SetAttr" and name in ("_enabled", "device", "fast_dtype"):
            value = constant_value(use.user.inputs[1])
            if value is not MISSING:
                found[name] = value
            elif name != "fast_dtype":
                text = f"Autocast {name} argument must be a constant"
                _refuse(text, context.node, "write two functions, and choose between them")
    for name in ("_enabled", "device"):
        if name not in found:
            _refuse(f"Autocast missing {name} attribute", context.node, "use `torch.autocast`")
    device, dtype = str(found["device"]), found.get("fast_dtype")
    number = dtype if isinstance(dtype, int) else None
    return before.switched(device, bool(found["_enabled"]), number)
