"""ONNX Runtime inside a bigger program: what it takes of a module goes to it, the rest runs here.

    fast = delegate(model)

The module is frozen and its graph split: operators that have an ONNX form and depend on each other
become parts, as large as they can be; a part is exported when it meets tensors of new sizes, and
runs in a session of its own from then on.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..interpreter.running.evaluating import CONTEXT
from ..interpreter.values.objects import ScriptObject
from ..ir.aliases.alias_db import AliasDb
from ..ir.functions.graph_functions import function_of_graph
from ..ir.functions.inline import call_path
from ..ir.graphs.clone import clone_node
from ..ir.graphs.graph import Block, Graph, Node, Value
from ..ir.graphs.kinds import has_effects, is_random
from ..ir.passes.mutation import remove_tensor_mutation
from ..jit.freezing import freeze
from ..jit.function import ScriptFunction, ScriptMethod
from ..jit.module import RecursiveScriptModule, ScriptModule
from ..jit.script import script
from ..nn.modules.module import Module
from ..onnx.errors import OnnxExporterError
from ..onnx.export import export
from ..onnx.families import load_operators, load_steps
from ..onnx.running import as_floats
from ..onnx.table import EXPORTS
from ..onnx.walk import STEPS
from ..ops.memory.dtype import Array
from ..ops.table.grad_mode import is_grad_enabled, no_grad
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.functions import PythonFunction
from ..typecheck.definitions.schema import Argument, Signature
from ..typecheck.relations.relations import is_subtype
from ..typecheck.types.types import TENSOR, TupleType

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["Delegated", "Part", "delegate"]

Which = Callable[[str, str], bool]
"""Says of the path of a module and the name of an operator in it whether it may be delegated."""
_SESSIONS: Final = 16
"""How many sizes of tensors a part keeps sessions for."""
_HERE: Final = frozenset({"prim::GetAttr", "prim::SetAttr", "prim::PythonOp", "prim::CallMethod"})


def _runtime() -> ModuleType:
    try:
        return import_module("onnxruntime")
    except ImportError:
        raise ImportError(
            "rushlight.backends.onnxruntime needs the package onnxruntime: "
            "pip install rushlight[onnxruntime]"
        ) from None


def delegate(
    module: Module, which: Which | Sequence[str] | None = None, least: int = 2
) -> Delegated:
    """A module that has ONNX Runtime compute what that takes, with the weights of now.

    What has no ONNX form, changes tensors in place, prints or draws numbers runs here, and so does
    a part whose inputs need gradients.  Archives of the result hold the module's own code.

    Args:
        module: in evaluation; scripted, or one that can be.
        which: the paths of modules to delegate from (`["encoder"]`), or a function of a path and an
            operator's name; everything, unless given.
        least: how many operators a part must have.

    Raises:
        ImportError: onnxruntime or onnx is not installed.
        RuntimeError: the module is in training, or cannot be scripted.
        ValueError: a path that the module does not have.
    """
    _runtime()
    import_module("onnx")
    scripted = module if isinstance(module, ScriptModule) else script(module)
    wanted = _wanted(scripted, which)
    frozen = freeze(scripted)._c if hasattr(scripted, "training") else scripted._c
    function = frozen.cls.method("forward")
    if function is None or not isinstance(function.graph, Graph):
        raise RuntimeError("delegate: the module has no method `forward`")
    remove_tensor_mutation(function.graph, CONTEXT)
    parts = _split(function.graph, wanted, least)
    return Delegated(scripted._c, frozen, parts)


def _wanted(module: Module, which: Which | Sequence[str] | None) -> Which:
    if which is None:
        return lambda path, kind: True
    if callable(which):
        return which
    known = {name for name, _ in module.named_modules()}
    for path in which:
        if path not in known:
            raise ValueError(f"delegate: the module has no module {path!r}")
    roots = tuple(which)
    return lambda path, kind: any(
        not root or path == root or path.startswith(f"{root}.") for root in roots
    )


class Delegated(RecursiveScriptModule):
    """A module of which ONNX Runtime computes `parts`; otherwise it is the scripted one."""

    _compiled = True

    def __init__(self, own: ScriptObject, running: ScriptObject, parts: list[Part]) -> None:
        super().__init__(ScriptObject(own.cls, own.slots))
        self.__dict__["_running"] = running
        self.__dict__["parts"] = parts

    def forward(self, *args: object, **kwargs: object) -> Any:
        """Run it."""
        running: ScriptObject = self.__dict__["_running"]
        function = running.cls.method("forward")
        assert function is not None
        return ScriptMethod(running, function)(*args, **kwargs)


# --------------------------------------------------------------------------- parts


@dataclass(eq=False)
class Part:
    """Operators that run in ONNX Runtime: a function of tensors.

    `reasons` says for which sizes it runs here, and why.
    """

    graph: Graph
    operators: list[str]
    reasons: dict[object, str] = field(default_factory=dict)
    _sessions: OrderedDict[object, _Session | None] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.function = ScriptFunction(function_of_graph("__torch__.delegated", self.graph))

    def __repr__(self) -> str:
        return f"Part({len(self.operators)} operators: {', '.join(self.operators)})"

    def __call__(self, *tensors: Tensor) -> object:
        """The results: a tensor, or a tuple of several."""
        if is_grad_enabled() and any(each.requires_grad for each in tensors):
            return self.function(*tensors)
        arrays = [as_floats(each) for each in tensors]
        dtypes = (each.dtype for each in tensors)
        session = self._session(tensors, tuple(zip(dtypes, (a.shape for a in arrays), strict=True)))
        if session is None:
            return self.function(*tensors)
        names = [each.name for each in session.runtime.get_inputs()]
        made = session.runtime.run(None, dict(zip(names, arrays, strict=True)))
        found = [
            Tensor._of(_as_complex(each) if is_complex else each)
            for each, is_complex in zip(made, session.are_complex, strict=True)
        ]
        return found[0] if len(found) == 1 else tuple(found)

    def _session(self, tensors: Sequence[Tensor], key: object) -> _Session | None:
        with self._lock:
            if key in self._sessions:
                self._sessions.move_to_end(key)
                return self._sessions[key]
            made = self._sessions[key] = self._made(tensors, key)
            if len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
            return made

    def _made(self, tensors: Sequence[Tensor], key: object) -> _Session | None:
        """A session for tensors of these sizes; None if the part cannot be exported for them."""
        file, runtime = io.BytesIO(), _runtime()
        names = [f"input_{place}" for place in range(len(tensors))]
        given = tuple(each.detach() for each in tensors)
        refused: tuple[type[Exception], ...] = (OnnxExporterError, RuntimeError)
        refused += _refusals(runtime)
        try:
            export(self.function, given, file, input_names=names, dynamo=False)
            settings = runtime.SessionOptions()
            settings.log_severity_level = 4
            session = runtime.InferenceSession(
                file.getvalue(), settings, providers=["CPUExecutionProvider"]
            )
        except refused as error:
            self.reasons[key] = str(error)
            return None
        if [each.name for each in session.get_inputs()] != names:
            self.reasons[key] = "an input is not used in the exported model"
            return None
        with no_grad():
            results = self.function(*given)
        several = results if isinstance(results, tuple) else (results,)
        return _Session(session, tuple(each.is_complex() for each in several))


class _Session(NamedTuple):
    """A session of the runtime, and which of its results stand for complex tensors."""

    runtime: InferenceSession
    are_complex: tuple[bool, ...]


def _as_complex(array: Array) -> Array:
    found: Array = array.view(np.complex128 if array.itemsize == 8 else np.complex64)[..., 0]
    return found


def _refusals(runtime: ModuleType) -> tuple[type[Exception], ...]:
    """What the runtime raises for models it does not take."""
    errors = runtime.capi.onnxruntime_pybind11_state
    names = ("Fail", "InvalidGraph", "NotImplemented", "InvalidArgument", "RuntimeException")
    return tuple(getattr(errors, name) for name in names if hasattr(errors, name))


# --------------------------------------------------------------------------- splitting


def _split(graph: Graph, wanted: Which, least: int) -> list[Part]:
    """Put calls of parts into a graph in the place of their operators."""
    load_operators()
    load_steps()
    aliases = AliasDb(graph)
    known = {node for node in graph.block.all_nodes if _is_known(node, aliases)}
    return list(_parts_of(graph, graph.block, known, wanted, least))


def _parts_of(
    graph: Graph, block: Block, known: set[Node], wanted: Which, least: int
) -> Iterator[Part]:
    """The parts of a block, and of the branches that stay in it."""
    levels = _Levels(block, known, wanted)
    levels.settle()
    for group in levels.groups():
        if len([node for node in group if node.kind in EXPORTS]) >= least:
            part = _part(graph, block, group)
            if part is not None:
                yield part
    for node in list(block.nodes):
        if node.kind == "prim::If":
            for branch in node.blocks:
                yield from _parts_of(graph, branch, known, wanted, least)


def _is_known(node: Node, aliases: AliasDb) -> bool:
    """Whether a node, by itself, has an ONNX form and changes nothing."""
    if node.is_constant:
        return True
    has_form = node.kind in EXPORTS or node.kind in STEPS or f"{node.kind}[]" in STEPS
    if not has_form or node.kind in _HERE or is_random(node) or has_effects(node):
        return False
    values = (*node.inputs, *node.outputs)
    tensors = [each for each in values if is_subtype(each.type, TENSOR)]
    return not any(map(aliases.has_writers, tensors))


class _Levels:
    """Which nodes go out, and in which order: those of level 0, what here needs them, and so on."""

    def __init__(self, block: Block, known: set[Node], wanted: Which) -> None:
        self.block = block
        self.nodes = [node for node in block.nodes if not node.is_constant]
        self.out = {
            node
            for node in self.nodes
            if wanted(call_path(node.call_stack), node.kind)
            and known.issuperset([node, *(n for b in node.blocks for n in b.all_nodes)])
        }
        self.level: dict[Node, int] = {}

    # -- levels

    def settle(self) -> None:
        """Take back what gives to the outside, or takes from it, other things than tensors."""
        while True:
            self.set_levels()
            back = [node for node in self.out if not self.is_closed(node)]
            if not back:
                return
            self.out.difference_update(back)

    def set_levels(self) -> None:
        last = 0
        for node in self.nodes:
            found = 0
            for value in _used(node):
                made = _outermost(value.node, self.block)
                if made in self.level or made in self.out:
                    later = node in self.out and made not in self.out
                    found = max(found, self.level.get(made, 0) + later)
            if node not in self.out:
                last = found = max(found, last)  # what runs here keeps its order
            self.level[node] = found

    def is_closed(self, node: Node) -> bool:
        for value in _used(node):
            if not is_subtype(value.type, TENSOR) and not value.node.is_constant:
                made = _outermost(value.node, self.block)
                if made not in self.out or self.level[made] != self.level[node]:
                    return False
        for value in node.outputs:
            if is_subtype(value.type, TENSOR):
                continue
            for use in value.uses:
                user = _outermost(use.user, self.block)
                if user not in self.out or self.level[user] != self.level[node]:
                    return False
        return True

    def groups(self) -> list[list[Node]]:
        """The nodes that go out, by level; the graph's nodes are put into that order."""
        made = []
        for level in sorted({*self.level.values()}):
            here = [node for node in self.nodes if self.level[node] == level]
            group = [node for node in here if node in self.out]
            for node in (*group, *(node for node in here if node not in self.out)):
                node.move_before(self.block.ret)
            made.append(group)
        return made


def _outermost(node: Node, block: Block) -> Node:
    """The node of the block itself that a node lies in; of the graph, if it lies in none."""
    while node.owner is not None and node.owner is not block and node.owner.node is not None:
        node = node.owner.node
    return node


def _used(node: Node) -> Iterator[Value]:
    """The values from outside that a node and those in it use."""
    inner = {node, *(n for block in node.blocks for n in block.all_nodes)}
    params = {block.param for each in inner for block in each.blocks}
    for each in inner:
        for value in (*each.inputs, *(v for block in each.blocks for v in block.outputs)):
            if value.node not in inner and value.node not in params:
                yield value


def _part(graph: Graph, block: Block, group: list[Node]) -> Part | None:
    """Take nodes out of a graph, and put a call of what they do there."""
    within = set(group)
    taken = dict.fromkeys(
        value
        for node in group
        for value in _used(node)
        if value.node not in within and not value.node.is_constant
    )
    given = [
        value
        for node in group
        for value in node.outputs
        if any(_outermost(use.user, block) not in within for use in value.uses)
    ]
    if not taken or not given:
        return None
    own, known = Graph(), dict[Value, Value]()
    own.guard = graph.guard
    for place, value in enumerate(taken):
        known[value] = own.add_input(TENSOR, f"input_{place}")

    def find(value: Value) -> Value:
        if value not in known:
            copy = own.block.append(clone_node(value.node, own, find))
            known.update(zip(value.node.outputs, copy.outputs, strict=True))
        return known[value]

    for node in group:
        copy = clone_node(node, own, find)
        own.block.append(copy)
        known.update(zip(node.outputs, copy.outputs, strict=True))
    for value in given:
        own.block.add_output(known[value])
    part = Part(own, [node.kind.rpartition("::")[2] for node in group if node.kind in EXPORTS])
    _put_call(graph, group, list(taken), given, part)
    return part


def _put_call(
    graph: Graph, group: list[Node], taken: list[Value], given: list[Value], part: Part
) -> None:
    arguments = tuple(Argument(f"input_{place}", TENSOR) for place in range(len(taken)))
    result = TENSOR if len(given) == 1 else TupleType(tuple(TENSOR for _ in given))
    signature = Signature("delegated", "", arguments, (Argument("", result),))
    call = graph.create("prim::PythonOp", taken, (result,), group[0].span)
    call.attributes["function"] = PythonFunction("delegated", part, signature)
    call.insert_before(group[0])
    made = [call.output]
    if len(given) > 1:
        unpack = graph.create("prim::TupleUnpack", [call.output], tuple(TENSOR for _ in given))
        made = unpack.insert_after(call).outputs
    for old, new in zip(given, made, strict=True):
        old.replace_uses(new)
    for node in reversed(group):
        node.destroy()
