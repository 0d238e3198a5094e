"""From a graph to ONNX: the graph is run, with operands in the place of what only a run knows.

Calls are followed, attributes looked up, branches taken and constants computed where that is
possible; what is left becomes ONNX nodes by the table of operators, `If` and `Loop`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..frontend.diagnostics.diagnostics import Diagnostic, Frame, Label
from ..frontend.foundations.declared import Declared
from ..frontend.sources.source import UNKNOWN
from ..interpreter.running.evaluating import evaluate
from ..interpreter.values.objects import ScriptObject
from ..ir.graphs.clone import clone_graph
from ..ir.graphs.graph import Block, Graph, Node, Value
from ..ir.graphs.kinds import has_effects, is_random, is_undefined
from ..ir.passes.constants_as_numbers import constants_as_numbers
from ..ir.passes.dead_code import eliminate_dead_code
from ..ops.memory.dtype import Array, Dtype
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.functions import Function
from ..typecheck.types.types import BOOL, FLOAT, INT, NUMBER, TENSOR, Type
from .complex_parts import by_parts, form_for, is_complex
from .contents import Contents
from .items import BROKEN, UNSET, Cell, Item, Operand, Unsupported
from .spelled import spelled
from .table import EXPORTS
from .writer import BOOL as BOOLEAN
from .writer import DOUBLE, Model, Writer
from .writer import INT as INT64

__all__ = ["STEPS", "Walk", "step"]

_LARGEST: Final = 1 << 16
"""Constants of more elements are computed by the model and not kept in it."""

_NUMBERS: Final[Mapping[Type, Dtype]] = {INT: INT64, FLOAT: DOUBLE, BOOL: BOOLEAN}

Step = Callable[["Walk", Node, list[Item]], Sequence[Item] | None]
STEPS: Final[Declared[str, Step]] = Declared()
"""What has a meaning of its own in the walk, by kind: control flow, containers, attributes.  A kind
with `[]` behind it is for lists alone."""


def step(*kinds: str) -> Callable[[Step], Step]:
    """Declare the decorated function to give the results of a node."""
    return STEPS.of(*kinds)


class NotKnown(Exception):
    """A value that only a run knows."""


class Walk:
    """One export.

    Attributes:
        problems: what has no ONNX form, by node.
        as_functions: the classes of modules whose calls become functions; True: of all.
        opposites: what was negated, by the names of the results.
    """

    def __init__(self, model: Model, names: dict[int, str], folds: bool = True) -> None:
        self.model = model
        self.w = Writer(model)
        self.contents = Contents()
        self.problems: dict[object, Diagnostic] = {}
        self.opposites: dict[str, Operand] = {}
        self.as_functions: bool | Collection[str] = False
        self.folds = folds
        self._names = names
        self._weights: dict[int, Cell] = {}
        self._slots: dict[tuple[int, str], Cell] = {}
        self._values: dict[Value, Item] = {}
        self._calls: list[Frame] = []
        self._function = "forward"

    # -- values

    def get(self, value: Value) -> Item:
        """What a value of the graph is."""
        return self._values[value]

    def set(self, value: Value, item: Item) -> None:
        """Note what a value of the graph is."""
        self._values[value] = item

    def constant(self, value: object) -> Item:
        """The item of a constant of a graph or of an object's slot."""
        if isinstance(value, Tensor | np.ndarray):
            return self._weight(value)
        if isinstance(value, list):
            return self.contents.lasting([self.constant(each) for each in value])
        if isinstance(value, tuple):
            return tuple(self.constant(each) for each in value)
        if isinstance(value, dict):
            return self.contents.lasting({k: self.constant(v) for k, v in value.items()})
        return value

    def _weight(self, tensor: Tensor | Array) -> Cell:
        found = self._weights.get(id(tensor))
        if found is None:
            own = tensor._array if isinstance(tensor, Tensor) else tensor
            name, array = self._names.get(id(tensor)), np.asarray(own, order="C")
            made = self.model.constant(array) if name is None else self.model.weight(name, array)
            found = self._weights[id(tensor)] = self.contents.lasting(made)
        return found

    def slot(self, target: Item, name: str) -> Cell:
        """The cell of an object's attribute."""
        if not isinstance(target, ScriptObject):
            raise Unsupported(f"the attribute `{name}` of an object that only a run knows")
        key = id(target), name
        if key not in self._slots:
            item = self.constant(target.slots[target.cls.slot(name)])
            self._slots[key] = self.contents.lasting(item, is_slot=True)
        return self._slots[key]

    def wrapped(self, item: Item, type: Type) -> Item:
        """What an operator gave, as a value of the graph: tensors and lists become cells."""
        inner = type.inner
        if isinstance(item, Operand) and inner in _NUMBERS:
            item = self.w.cast(item, _NUMBERS[inner])
            if item.array is not None and item.array.ndim == 0:
                return item.array.item()
            return Operand(item.name, item.dtype, item.shape, None, weak=True)
        if isinstance(item, Operand):
            return (
                replace(item, weak=True) if inner == NUMBER else self._list_or_tensor(item, inner)
            )
        if isinstance(item, np.ndarray):
            return self.contents.cell(self.model.constant(item))
        if isinstance(item, list):
            element = inner.list_of or TENSOR
            return self.contents.cell([self.wrapped(each, element) for each in item])
        if isinstance(item, tuple):
            elements = inner.tuple_of or (TENSOR,) * len(item)
            return tuple(map(self.wrapped, item, elements))
        if isinstance(item, dict):
            return self.contents.cell(item)
        return item

    def _list_or_tensor(self, operand: Operand, type: Type) -> Cell:
        is_list = type.list_of is not None and not operand.is_sequence
        return self.contents.cell(replace(operand, weak=is_list))

    def negated(self, operand: Operand) -> Operand:
        """The opposite of a bool, which is also what was negated once."""
        found = self.opposites.get(operand.name)
        if found is None:
            found = replace(self.w.op("Not", operand), weak=True)
            self.opposites[found.name] = operand
        return found

    # -- blocks and nodes

    def block(self, block: Block) -> list[Item]:
        """Write what a block computes; its results."""
        for node in block.nodes:
            self.node(node)
        return [self.get(value) for value in block.outputs]

    def node(self, node: Node) -> None:
        """Write what a node computes."""
        found: Sequence[Item] | None = None
        try:
            items = [self.get(value) for value in node.inputs]
            if not _has_broken(items):
                found = self._results(node, items)
        except Unsupported as reason:
            self._report(node, str(reason))
        for value, item in zip(node.outputs, found or [BROKEN] * len(node.outputs), strict=True):
            self.set(value, item)

    def _results(self, node: Node, items: list[Item]) -> Sequence[Item] | None:
        own = STEPS.get(node.kind)
        if node.inputs and node.inputs[0].type.list_of is not None:
            own = STEPS.get(f"{node.kind}[]", own)
        if own is not None:
            return own(self, node, items)
        if node.signature is None:
            raise Unsupported("")
        resolved = [self.contents.resolved(item) for item in items]
        if _has_broken(resolved):
            return None
        writes = _written(node)
        if writes is not None:
            return self._change(node, writes, items, resolved)
        with suppress(NotKnown):
            return self._folded(node, items, resolved)
        form = form_for(node.kind, resolved)
        program = spelled(node.signature.full_name)
        if form is None:
            if program is None:
                raise Unsupported("for complex numbers" if is_complex(resolved) else "")
            return self._spelled(program, items, node)
        written, made = len(self.w.nodes), set(self.w.made)
        try:
            result = form(self.w, *resolved)
        except Unsupported:
            if program is None:
                raise
            del self.w.nodes[written:]
            self.w.made = made
            return self._spelled(program, items, node)
        if len(node.outputs) != 1:
            types = [value.type for value in node.outputs]
            return [self.wrapped(each, type) for each, type in zip(result, types, strict=True)]
        return [self._made(node, items, resolved, result, form)]

    def _made(
        self, node: Node, items: list[Item], resolved: list[Item], result: Item, form: Any
    ) -> Item:
        """The result of an operator, a view where it shares its first argument's elements."""
        base = items[0] if items else None
        alias = node.signature and node.signature.returns[0].alias
        before, rest = resolved[0] if resolved else None, resolved[1:]
        if alias is None or not isinstance(base, Cell) or not isinstance(before, Operand):
            return self.wrapped(result, node.output.type)
        if isinstance(result, list):

            def part(number: int) -> Callable[[Operand], Item]:
                return lambda operand: form(self.w, operand, *rest)[number]

            parts = [self.contents.view(x, base, part(n), None) for n, x in enumerate(result)]
            return self.contents.cell(parts)
        is_same = isinstance(result, Operand) and before.dtype == result.dtype
        if not isinstance(result, Operand) or not (is_same or node.kind in ACROSS):
            return self.wrapped(result, node.output.type)
        put = PUTS.get(node.kind)
        if put is not None and node.kind not in ACROSS and before.dtype.kind == "c":
            put = by_parts(put, (0, 1))
        return self.contents.view(
            result,
            base,
            lambda operand: form(self.w, operand, *rest),
            None if put is None else lambda operand, new: put(self.w, operand, new, *rest),
        )

    def _change(
        self, node: Node, writes: int, items: list[Item], resolved: list[Item]
    ) -> Sequence[Item]:
        """What an operator writes into its first argument."""
        names = node.kind, node.kind.removesuffix("_")
        form = next(filter(None, (form_for(name, resolved) for name in names)), None)
        target, before = items[0], resolved[0]
        if form is None or writes != 0 or not isinstance(target, Cell):
            raise Unsupported("for complex numbers" if is_complex(resolved) else "")
        if not isinstance(before, Operand):
            raise Unsupported("a list is changed in a way that ONNX has no form for")
        made = self.w.cast(self.w.tensor(form(self.w, *resolved)), before.dtype)
        if (
            before.shape is not None
            and made.shape is not None
            and len(made.shape) < len(before.shape)
        ):
            made = self.w.expand_as(made, before)
        self.contents.write(target, made)
        return [target]

    def _folded(self, node: Node, items: list[Item], resolved: list[Item]) -> Sequence[Item]:
        """The results of an operator over constants; views of such are views all the same, since
        what is written into them is written into the constant's place."""
        if not self.folds and any(isinstance(item, Operand) for item in resolved):
            raise NotKnown
        if is_random(node) or is_undefined(node) or has_effects(node) or node.signature is None:
            raise NotKnown
        values = [known(item) for item in resolved]
        try:
            result = evaluate(node.signature, values)
        except Exception:  # whatever it raises, the call itself will raise
            raise NotKnown from None
        results = result if len(node.outputs) != 1 else (result,)
        if not isinstance(results, tuple) or not all(map(_is_small, results)):
            raise NotKnown
        if len(results) == 1 and node.signature.returns[0].alias is not None:
            made = self._constant_operand(_plain(result))
            form = EXPORTS.get(node.kind, _formless)
            return [self._made(node, items, resolved, made, form)]
        return [
            self.wrapped(_plain(each), value.type)
            for each, value in zip(results, node.outputs, strict=True)
        ]

    def _constant_operand(self, value: object) -> Item:
        if isinstance(value, list):
            return [self._constant_operand(each) for each in value]
        return self.model.constant(value) if isinstance(value, np.ndarray) else value

    # -- calls

    def call(self, graph: Graph, items: Sequence[Item], node: Node, function: str) -> list[Item]:
        """The results of a function's graph."""
        if len(self._calls) > 200:
            raise Unsupported("a function calls itself")
        values, self._values = self._values, {}
        outer, self._function = self._function, function
        self._calls.append(Frame(outer, node.span))
        try:
            for value, item in zip(graph.inputs, items, strict=True):
                self.set(value, item)
            with graph.entered():
                return self.block(graph.block)
        finally:
            self._calls.pop()
            self._function, self._values = outer, values

    def _spelled(self, program: Function, items: Sequence[Item], node: Node) -> Sequence[Item]:
        """The results of an operator by the program that stands for it."""
        problems = set(self.problems)
        results = self.call(graph_of(program), items, node, program.name)
        inside = [key for key in self.problems if key not in problems]
        if inside:
            first = self.problems[inside[0]].message
            for key in inside:
                del self.problems[key]
            raise Unsupported(f"inside of it, {first}")
        if len(node.outputs) == 1:
            return results
        (whole,) = results
        assert isinstance(whole, tuple)
        return whole

    def run(self, function: Function, items: Sequence[Item]) -> list[Item]:
        """The results of the whole program."""
        self._function = function.name
        graph = graph_of(function)
        for value, item in zip(graph.inputs, items, strict=True):
            self.set(value, item)
        with graph.entered():
            return self.block(graph.block)

    # -- diagnostics

    def _report(self, node: Node, reason: str) -> None:
        key = node, tuple(frame.span for frame in self._calls)
        operator = node.signature.full_name if node.signature is not None else node.kind
        message = f"`{operator}` has no ONNX form" + (f" here: {reason}" if reason else "")
        stack = [*self._calls, *(Frame(s.function, s.span) for s in node.call_stack)]
        place = None if node.span is UNKNOWN else Label(node.span, "")
        self.problems[key] = Diagnostic(
            "no-onnx-form",
            message,
            place,
            where=f"in function `{self._function}`",
            stack=tuple(stack),
            exception="UnsupportedOperatorError",
        )


PUTS: Final[Declared[str, Callable[..., Operand]]] = Declared()
"""What a tensor holds after a view of it, by the operator that made it, has been written: it and
the view's new contents come first."""

ACROSS: Final[set[str]] = set()
"""Operators whose views have another dtype."""


def graph_of(function: Function) -> Graph:
    """A function's graph, with the numbers that constants of traces stand for."""
    function.ensure_defined()
    if not isinstance(function.graph, Graph):
        raise Unsupported(f"`{function.name}` has no code of its own")
    graph = clone_graph(function.graph)
    if constants_as_numbers(graph):
        eliminate_dead_code(graph)
    return graph


def known(item: Item) -> object:
    """The machine's value of an item.

    Raises:
        NotKnown: only a run knows.
    """
    if isinstance(item, Operand):
        if item.array is None or item.is_sequence:
            raise NotKnown
        return item.array.tolist() if item.weak else item.array
    if isinstance(item, list):
        return [known(each) for each in item]
    if isinstance(item, tuple):
        return tuple(known(each) for each in item)
    if isinstance(item, ScriptObject) or item is UNSET or item is BROKEN:
        raise NotKnown
    return item


def _formless(w: Writer, *items: Item) -> Item:
    """The form of an operator that only constants can be given to."""
    raise Unsupported("")


def _is_small(result: object) -> bool:
    if isinstance(result, list):
        return all(map(_is_small, result))
    return not isinstance(result, np.ndarray) or result.size <= _LARGEST


def _plain(result: object) -> object:
    """A computed value without memory in common with others."""
    if isinstance(result, np.ndarray):
        return np.array(result, order="C")
    if isinstance(result, list):
        return [_plain(each) for each in result]
    if isinstance(result, tuple):
        return tuple(_plain(each) for each in result)
    return result


def _has_broken(items: Sequence[Item]) -> bool:
    return any(
        item is BROKEN or (isinstance(item, list | tuple) and _has_broken(item)) for item in items
    )


def _written(node: Node) -> int | None:
    """Which argument an operator changes; None if it changes none."""
    assert node.signature is not None
    for number, argument in enumerate(node.signature.arguments):
        if argument.alias is not None and argument.alias.is_write:
            return number
    return None
