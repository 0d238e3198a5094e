"""A module whose attributes have become constants of its methods' graphs.

All calls are inlined.  An attribute stays if a method sets it or changes it in place, if it was
asked for, or if the module it belongs to is used as a value; all other parameters, buffers and
attributes are put into the graphs, which are then cleaned up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, ValuesView
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from ...ir.aliases.alias_db import AliasDb, Place
from ...ir.functions.define import graph_of
from ...ir.functions.inline import inline
from ...ir.graphs.constants import create_constant
from ...ir.graphs.graph import Block, Graph, Node, Value
from ...ir.graphs.kinds import TASKS
from ...ir.graphs.tensor_types import type_of_array
from ...ir.passes.common_subexpressions import merge_common
from ...ir.passes.constant_pooling import pool_constants
from ...ir.passes.dead_code import eliminate_dead_code
from ...ir.passes.loop_unrolling import unroll_constant_loops
from ...ir.passes.lower_tuples import lower_simple_tuples
from ...ir.passes.mutable_constants import propagate_all_constants
from ...ir.passes.mutation import remove_list_mutation
from ...ir.passes.peephole import peephole
from ...ir.passes.shape_peephole import simplify_by_shape
from ...ir.passes.tensor_facts import erase_facts
from ...ops.memory.dtype import STRIDED
from ...ops.table.table import TABLE
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType, InterfaceType
from ...typecheck.definitions.functions import Function
from ...typecheck.trees import typed
from ...typecheck.types.types import NONE, TENSOR, Type
from ..values.attribute_places import AttributePlaces
from ..values.clone_objects import ObjectCloning
from ..values.matching import are_single
from ..values.objects import EnumMember, ScriptObject
from .evaluating import CONTEXT

__all__ = ["freeze_object"]


Slot = tuple[int, str]
"""An object, by identity, and the name of one of its attributes."""

_TAKES_OUT = frozenset({"prim::TupleIndex", "prim::TupleUnpack", "prim::ListUnpack"})


def freeze_object(
    source: ScriptObject,
    preserved: Sequence[str],
    rename: Callable[[str], str],
    *,
    interfaces: bool = True,
    keeps_parameters: bool = False,
) -> ScriptObject:
    """A frozen copy of a module; tensors are shared with the original.

    `preserved` names attributes, submodules and methods to keep ("encoder.scale" too).

    Raises:
        RuntimeError: a preserved name does not exist, or the module cannot be frozen.
    """
    cloning = ObjectCloning(rename)
    root = cloning.instance(source)
    freezing = _Freezing(root, interfaces, keeps_parameters)
    freezing.preserve(preserved)
    with ExitStack() as bounds:
        for graph in {m.graph.guard: m.graph for m in freezing.methods}.values():
            bounds.enter_context(graph.entered())
        freezing.run()
        freezing.clean_up()
    return root


@dataclass
class _Method:
    owner: ScriptObject
    function: Function
    graph: Graph


class _Freezing:
    def __init__(self, root: ScriptObject, interfaces: bool, keeps_parameters: bool) -> None:
        self.root = root
        self.interfaces = interfaces
        self.trains = "training" in root.cls.attributes and bool(_slot(root, "training"))
        self.keeps_parameters = keeps_parameters or self.trains
        self.places = AttributePlaces()
        self.held: dict[Place, frozenset[Place]] = {}
        """What the places of attributes hold before any code runs."""
        self.kept: set[Slot] = set()
        self.passed: set[Slot] = set()
        """Those that are kept for an attribute further inside alone."""
        self.set_from_code: set[Slot] = set()
        self.whole: dict[int, ScriptObject] = {}
        self.kept_methods: set[Function] = set()
        self.methods: list[_Method] = []
        self.forks: dict[Graph, dict[Graph, Node]] = {}
        self.objects: dict[int, ScriptObject] = {}
        self.paths: dict[int, str] = {}
        self._collect(root, "self")

    def _collect(self, target: ScriptObject, path: str) -> None:
        if id(target) in self.objects:
            return
        self.objects[id(target)] = target
        self.paths[id(target)] = path
        for name in target.cls.attributes:
            value = _slot(target, name)
            if isinstance(value, ScriptObject):
                self._collect(value, f"{path}.{name}")

    # -- what is asked for

    def preserve(self, names: Sequence[str]) -> None:
        wanted = [name for name in names if name != "forward"]
        if self.root.cls.method("forward") is not None:
            self._add_method(self.root, "forward")
        for name in wanted:
            *path, last = name.split(".")
            owner = self.root
            for part in path:
                inner = _slot(owner, part) if part in owner.cls.attributes else None
                if not isinstance(inner, ScriptObject):
                    raise RuntimeError(f"Unknown name: {name}")
                self.kept.add((id(owner), part))
                self.passed.add((id(owner), part))
                owner = inner
            if last in owner.cls.attributes:
                self.kept.add((id(owner), last))
                value = _slot(owner, last)
                if isinstance(value, ScriptObject):
                    self.keep_whole(value)
            elif owner.cls.method(last) is not None:
                self._add_method(owner, last)
            elif last not in owner.cls.constants:
                raise RuntimeError(f"Unknown name: {name}")

    def _add_method(self, owner: ScriptObject, name: str) -> None:
        function = owner.cls.method(name)
        assert function is not None
        graph = self.inlined(owner, graph_of(function), function.name)
        self.methods.append(_Method(owner, function, graph))
        self.kept_methods.add(function)

    def keep_whole(self, target: ScriptObject) -> None:
        """Keep an object with all that it has; graphs read what is there."""
        for each in self.show(target):
            self.kept.update((id(each), name) for name in each.cls.attributes)

    def show(self, target: ScriptObject) -> list[ScriptObject]:
        """Let an object and those in it be seen with all that they have; all of them."""
        found = {id(target): target}
        pending = [target]
        while pending:
            each = pending.pop()
            self.kept_methods.update(each.cls.methods.values())
            values = [_slot(each, name) for name in each.cls.attributes]
            new = [v for v in values if isinstance(v, ScriptObject) and id(v) not in found]
            found.update((id(value), value) for value in new)
            pending.extend(new)
        self.whole.update(found)
        return list(found.values())

    # -- looking at graphs

    def inlined(self, owner: ScriptObject, graph: Graph, name: str) -> Graph:
        """A graph with all calls inlined, those through interfaces too."""
        copy = inline(graph, name, CONTEXT)
        while self.interfaces and self._name_classes(owner, copy):
            copy = inline(copy, name, CONTEXT)
        return copy

    def _name_classes(self, owner: ScriptObject, graph: Graph) -> bool:
        """Give values of interface type the class of the object that they are."""
        changed = False
        for node in graph.all_nodes:
            if node.kind == "prim::GetAttr" and node.output.type.is_interface:
                target = self.resolve(node.output, owner, graph)
                if target is not None:
                    node.output.type = target.cls
                    changed = True
        return changed

    def resolve(self, value: Value, owner: ScriptObject, graph: Graph) -> ScriptObject | None:
        """The object that a value is, if it is read from `self`."""
        node = value.node
        if node is node.graph.block.param:
            place = node.outputs.index(value)
            fork = self._forks(graph).get(node.graph)
            if fork is not None:
                return self.resolve(fork.inputs[place], owner, graph)
            return owner if place == 0 and node.graph is graph else None
        if node.kind != "prim::GetAttr":
            return None
        holder = self.resolve(node.inputs[0], owner, graph)
        name = str(node.attributes["name"])
        if holder is None or name not in holder.cls.attributes:
            return None
        if (id(holder), name) in self.set_from_code:
            return None
        found = _slot(holder, name)
        return found if isinstance(found, ScriptObject) else None

    def _forks(self, graph: Graph) -> dict[Graph, Node]:
        """The nodes that start the tasks of a graph."""
        if graph not in self.forks:
            nodes = [n for n in _all_nodes(graph.block) if "Subgraph" in n.attributes]
            tasks = {n.attributes["Subgraph"]: n for n in nodes}
            self.forks[graph] = {t: n for t, n in tasks.items() if isinstance(t, Graph)}
        return self.forks[graph]

    def run(self) -> None:
        for method in self.methods:
            _refuse_unsupported(method.graph)
            self._note_sets(method)
        for method in self.methods:
            self._note_objects_as_values(method)
        found = (self.places.of(value, type) for _, value, type in self._slots())
        self.held = {place: _held(place) for place in found if place is not None}
        for method in self.methods:
            self._note_changes(method)
        for method in self.methods:
            erase_facts(method.graph, CONTEXT)
            self._put_constants(method)
            _clean(method.graph)
            method.function.graph = method.graph

    def _note_sets(self, method: _Method) -> None:
        for node in _all_nodes(method.graph.block):
            if node.kind != "prim::SetAttr":
                continue
            name = str(node.attributes["name"])
            target = self.resolve(node.inputs[0], method.owner, method.graph)
            cls = node.inputs[0].type
            _refuse_interface(cls, name)
            for each in [target] if target is not None else self._of_class(cls):
                self.set_from_code.add((id(each), name))
                self.kept.add((id(each), name))

    def _of_class(self, cls: Type) -> list[ScriptObject]:
        return [each for each in self.objects.values() if each.cls is cls]

    def _note_objects_as_values(self, method: _Method) -> None:
        """Objects that are used otherwise than to reach their attributes stay as they are."""
        graph = method.graph
        values = [v for g in (graph, *_tasks(graph.block)) for v in _all_values(g.block)]
        for value in values:
            if not isinstance(value.type, ClassType | InterfaceType):
                continue
            plain = all(
                use.user.kind in (*TASKS, "prim::PythonOp")
                or (use.user.kind in ("prim::GetAttr", "prim::SetAttr") and use.number == 0)
                for use in value.uses
            )
            target = self.resolve(value, method.owner, graph)
            if target is None:
                continue
            if any(use.user.kind == "prim::PythonOp" for use in value.uses):
                self.show(target)
            if plain:
                continue
            if target is self.root and any(use.user is graph.block.ret for use in value.uses):
                raise RuntimeError("attempted to freeze a module that return itself")
            self.keep_whole(target)
            self._keep_path(value, method)

    def _keep_path(self, value: Value, method: _Method) -> None:
        node = value.node
        if node.kind == "prim::GetAttr":
            holder = self.resolve(node.inputs[0], method.owner, method.graph)
            if holder is not None:
                self.kept.add((id(holder), str(node.attributes["name"])))
                self._keep_path(node.inputs[0], method)

    # -- what methods change

    def _note_changes(self, method: _Method) -> None:
        for graph in (method.graph, *_tasks(method.graph.block)):
            reads: dict[Node, tuple[Place, Place]] = {}
            aliases = AliasDb(graph, heap=True, known=partial(self._read, method, reads))
            written = set().union(*map(aliases.writes, graph.nodes))
            if written:
                self._refuse_overlaps(graph, method, aliases)
                changed = (place for read, place in reads.values() if aliases.is_written(read))
                self._keep_changed(aliases, written.union(changed))

    def _read(
        self, method: _Method, reads: dict[Node, tuple[Place, Place]], node: Node
    ) -> Place | None:
        """The place of what an attribute holds; each read of a tensor has one of its own, as in
        torch, so that what one hands to the outside does not tell of the others."""
        place = self._place(node, method)
        if place is None or node.output.type != TENSOR:
            return place
        if node not in reads:
            reads[node] = Place(place.type), place
        return reads[node][0]

    def _keep_changed(self, aliases: AliasDb, written: set[Place]) -> None:
        for slot, value, type in self._slots():
            place = self.places.of(value, type)
            if place is None or isinstance(value, ScriptObject):
                continue
            holds_tensors = type.list_of is not None or type.tuple_of is not None or type.contained
            changed = place in written or (not holds_tensors and aliases.is_written(place))
            outside = place in aliases._released and any(
                p.unknown and p.type == place.type for p in written
            )
            shared = holds_tensors and any(
                self._is_attribute(inner) and inner in written for inner in place.inside
            )
            if changed or outside or shared:
                self.kept.add(slot)

    def _is_attribute(self, place: Place) -> bool:
        """Whether a place is that of an attribute by itself."""
        return any(
            isinstance(value, Tensor) and self.places.of(value, type) is place
            for _, value, type in self._slots()
        )

    def _slots(self) -> Iterator[tuple[Slot, object, Type]]:
        for target in self.objects.values():
            for name, attribute in target.cls.attributes.items():
                yield (id(target), name), _slot(target, name), attribute.type

    def _place(self, node: Node, method: _Method) -> Place | None:
        """The place of an attribute that no code sets."""
        target = self.resolve(node.inputs[0], method.owner, method.graph)
        name = str(node.attributes["name"])
        if target is None or (id(target), name) in self.set_from_code:
            return None
        if name not in target.cls.attributes or node.output.type.is_interface:
            return None
        if node.output.type.is_class and node.output.type.is_module:
            return None
        return self.places.of(_slot(target, name), target.cls.attributes[name].type)

    def _refuse_overlaps(self, graph: Graph, method: _Method, aliases: AliasDb) -> None:
        """A tensor that is changed through the container it is in must be in no other attribute."""
        for node in graph.all_nodes:
            for value in node.inputs[:1] if aliases.writes(node) else ():
                origin = _origin(value)
                if origin is None or not origin.output.type.contained:
                    continue
                place = self._place(origin, method)
                if place is not None and self._is_elsewhere(place):
                    raise RuntimeError(
                        "module contains attributes values that overlaps "
                        f"{node.output.type if node.outputs else value.type}"
                    )

    def _is_elsewhere(self, holder: Place) -> bool:
        """Whether another attribute is, or holds, something that this one holds."""
        inside = self.held.get(holder, frozenset())
        for _, value, type in self._slots():
            place = self.places.of(value, type)
            if place is None or place is holder or isinstance(value, ScriptObject):
                continue
            if place in inside or not inside.isdisjoint(self.held[place]):
                return True
        return False

    # -- constants

    def _put_constants(self, method: _Method) -> None:
        for graph in (method.graph, *_tasks(method.graph.block)):
            made: dict[Slot, Value] = {}
            first = Node(graph, "prim::Scope").insert_before(graph.block.first)
            for node in list(graph.all_nodes):
                if node.kind == "prim::GetAttr":
                    self._put_constant(node, method, first, made)
            first.destroy()

    def _put_constant(
        self, node: Node, method: _Method, first: Node, made: dict[Slot, Value]
    ) -> None:
        target = self.resolve(node.inputs[0], method.owner, method.graph)
        name = str(node.attributes["name"])
        if target is None or name not in target.cls.attributes:
            return
        slot = (id(target), name)
        value, attribute = _slot(target, name), target.cls.attributes[name]
        is_module = isinstance(value, ScriptObject) and value.cls.is_module
        if is_module and (slot not in self.kept or slot in self.passed):
            node.graph.skip_numbers(1)  # torch tries to make a constant of it
        if slot in self.kept or isinstance(value, ScriptObject) or _holds_sparse(value):
            return
        if self.keeps_parameters and attribute.kind != "attribute":
            return
        if self.trains and name == "training":
            return
        if slot not in made:
            constant = _constant(node.graph, value, attribute.type).insert_before(first)
            constant.output.name = f"{self.paths[id(target)]}.{name}"
            made[slot] = constant.output
        node.output.replace_uses(made[slot])
        node.destroy()

    # -- afterwards

    def clean_up(self) -> None:
        """Take away the attributes and methods that nothing needs any more."""
        needed: dict[ClassType, set[str]] = {}
        for method in self.methods:
            for node in _all_nodes(method.graph.block):
                if node.kind in ("prim::GetAttr", "prim::SetAttr"):
                    cls = node.inputs[0].type
                    if isinstance(cls, ClassType):
                        needed.setdefault(cls, set()).add(str(node.attributes["name"]))
        for target in self.objects.values():
            mine = needed.setdefault(target.cls, set())
            mine.update(name for name in target.cls.attributes if (id(target), name) in self.kept)
            if id(target) in self.whole:
                mine.update(target.cls.attributes)
        for target in self.objects.values():
            if target.cls.is_module:
                kept = needed[target.cls]
                target.slots = [
                    v for v, a in zip(target.slots, target.cls.attributes, strict=True) if a in kept
                ]
        for cls, names in needed.items():
            if cls.is_module:
                self._reduce(cls, names)

    def _reduce(self, cls: ClassType, names: set[str]) -> None:
        attributes = {n: a for n, a in cls.attributes.items() if n in names}
        cls.attributes.clear()
        cls.attributes.update(attributes)
        methods = {n: m for n, m in cls.methods.items() if m in self.kept_methods}
        cls.methods.clear()
        cls.methods.update(methods)
        if not any(each.cls is cls for each in self.whole.values()):
            cls.finder.clear()
            cls.properties.clear()


def _slot(target: ScriptObject, name: str) -> object:
    return target.slots[target.cls.slot(name)]


def _holds_sparse(value: object) -> bool:
    """Whether a tensor that no constant can be is in a value, which may hold parts many times."""
    waiting, seen = [value], {id(value)}
    while waiting:
        each = waiting.pop()
        if isinstance(each, Tensor) and each.layout is not STRIDED:
            return True
        parts = each.values() if isinstance(each, dict) else each
        if isinstance(parts, (list, tuple, ValuesView)) and not are_single(parts):
            new = [part for part in parts if id(part) not in seen]
            seen.update(map(id, new))
            waiting += new
    return False


def _constant(graph: Graph, value: object, type: Type) -> Node:
    if isinstance(value, Tensor):
        array = value.detach()._array  # another one than the leaf's: a constant has no history
        return create_constant(graph, array, type_of_array(array))
    if value is None:
        return create_constant(graph, None, NONE)
    return create_constant(graph, _as_graphs_have_it(value, {}), type.optional_of or type)


def _as_graphs_have_it(value: object, known: dict[int, object]) -> object:
    """A value of the machine with members of enumerations as constants of graphs are.

    `known` are the values that were met, by their identity: each is walked through once.
    """
    if isinstance(value, EnumMember):
        return typed.EnumMember(value.name, value.value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    if id(value) not in known:
        parts = value.values() if isinstance(value, dict) else value
        if are_single(parts):
            return value
        found = [_as_graphs_have_it(each, known) for each in parts]
        made: object = value
        if any(part is not each for part, each in zip(found, parts, strict=True)):
            if isinstance(value, dict):
                made = dict(zip(value, found, strict=True))
            else:
                made = found if isinstance(value, list) else tuple(found)
        known[id(value)] = made
    return known[id(value)]


def _all_nodes(block: Block) -> Iterator[Node]:
    """All nodes, those of tasks too."""
    for node in block.all_nodes:
        yield node
        task = node.attributes.get("Subgraph")
        if isinstance(task, Graph):
            yield from _all_nodes(task.block)


def _tasks(block: Block) -> Iterator[Graph]:
    for node in block.all_nodes:
        task = node.attributes.get("Subgraph")
        if isinstance(task, Graph):
            yield task
            yield from _tasks(task.block)


def _all_values(block: Block) -> Iterator[Value]:
    yield from block.inputs
    for node in block.nodes:
        yield from node.outputs
        for inner in node.blocks:
            yield from _all_values(inner)


def _held(place: Place) -> frozenset[Place]:
    """All places inside a place."""
    found: set[Place] = set()
    pending = list(place.inside)
    while pending:
        inner = pending.pop()
        if inner not in found:
            found.add(inner)
            pending.extend(inner.inside)
    return frozenset(found)


def _origin(value: Value) -> Node | None:
    """The attribute that a value was taken out of, or is a view of."""
    node = value.node
    while node.inputs and (
        node.kind in _TAKES_OUT or any(entry.is_view for entry in TABLE.operators(node.kind))
    ):
        node = node.inputs[0].node
    return node if node.kind == "prim::GetAttr" else None


def _refuse_unsupported(graph: Graph) -> None:
    for node in _all_nodes(graph.block):
        if node.kind == "prim::ModuleContainerIndex":
            raise RuntimeError(
                "Freezing modules containing prim::ModuleContainerIndex is not supported"
            )


def _clean(graph: Graph) -> None:
    """The clean-up of a graph that has got its constants."""
    eliminate_dead_code(graph, CONTEXT)
    merge_common(graph, CONTEXT)
    simplify_by_shape(graph, CONTEXT)
    peephole(graph, CONTEXT)
    propagate_all_constants(graph, CONTEXT)
    pool_constants(graph, CONTEXT)
    if unroll_constant_loops(graph, CONTEXT):
        remove_list_mutation(graph, CONTEXT)
        peephole(graph, CONTEXT)
    merge_common(graph, CONTEXT)
    lower_simple_tuples(graph, CONTEXT)
    eliminate_dead_code(graph, CONTEXT)


def _refuse_interface(cls: Type, name: str) -> None:
    """
    Raises:
        RuntimeError: code exchanges a submodule of which only an interface is known.
    """
    held = cls.slot_type(name)
    if held is not None and held.is_interface:
        raise RuntimeError(
            "Freezing does not support SetAttr on an interface type. SetAttr is attempted on "
            f"'{name}'"
        )
