"""Graph -> register code: structure, registers, and letting go of what is needed no more.

What a single node becomes is said in `steps`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TypeVar

from ...ir.aliases.shown_views import shown_views
from ...ir.graphs.graph import Block, Graph, Node, Value
from ...ops.python_values.named_tuples import make_named
from ...ops.table.table import TABLE, Operator, Table
from ...typecheck.types.types import INT, NONE, EnumType, TupleType, Type
from ..values.objects import EnumMember
from .code import Branch, Code, Region, Repeat, Step
from .instructions import opcode
from .liveness import Liveness, in_register
from .registers import Registers, is_heavy, sequence_moves
from .steps import UnsupportedKind, make_step
from .tidy import drop_needless_frees

__all__ = ["Assembler", "CodeTables", "UnsupportedKind", "assemble"]

_MOVE, _FREE, _RETURN, _TUPLE, _LIST = map(opcode, ("move", "free", "return", "tuple", "list"))
_NO_LIMIT = 2**63 - 1

Entry = TypeVar("Entry")


def assemble(graph: Graph, name: str = "function", table: Table = TABLE) -> Code:
    """The register code of a graph in which calls are inlined.

    Raises:
        UnsupportedKind: a node is of a kind that the machine does not know.
    """
    return Assembler(graph, name, table).code()


class CodeTables:
    """What instructions name by number: constants, operators, types and names."""

    def __init__(self, table: Table, sharing: Container[Node]) -> None:
        self.table = table
        self.sharing = sharing
        self.constants: list[object] = []
        self.operators: list[Operator] = []
        self.types: list[Type] = []
        self.names: list[str] = []
        self._constant_numbers: dict[object, int] = {}
        self._operator_numbers: dict[int, int] = {}

    def constant(self, value: object, type: Type) -> int:
        """The number of a constant, which is negative; equal scalars share one."""
        plain = isinstance(value, bool | int | str) or value is None
        key = (value.__class__, value) if plain else (object, id(value))
        number = self._constant_numbers.get(key)
        if number is None:
            self.constants.append(value if plain else _as_machine_has_it(value, type))
            number = self._constant_numbers[key] = -len(self.constants)
        return number

    def operator(self, entry: Operator) -> int:
        """The number of an operator."""
        number = self._operator_numbers.get(id(entry))
        if number is None:
            number = self._operator_numbers[id(entry)] = len(self.operators)
            self.operators.append(entry)
        return number

    def type(self, entry: Type) -> int:
        """The number of a type."""
        return _number(self.types, entry)

    def name_number(self, entry: str) -> int:
        """The number of a name."""
        return _number(self.names, entry)


class Assembler(CodeTables):
    """The assembly of one graph."""

    def __init__(self, graph: Graph, name: str, table: Table) -> None:
        super().__init__(table, shown_views(graph, leaving=graph.guard is None))
        self.graph = graph
        self.name = name
        self.live = Liveness(graph)
        self.registers = Registers()
        self._warnings: list[Node] = []
        self._warned: set[int] = set()

    def code(self) -> Code:
        """The code of the whole graph."""
        for value in self.graph.inputs:
            self.registers.define(value)
        region: Region = []
        end = self.graph.block.ret
        self._let_go(self.live.entry[self.graph.block], end, region)
        self._block(self.graph.block, region)
        self._return(end, region)
        region[:0] = [Step((_LIST, register, ()), end) for register in self._warned]
        drop_needless_frees(region)
        return Code(
            self.name,
            region,
            len(self.graph.inputs),
            self.registers.count,
            tuple(self.constants),
            tuple(self.operators),
            tuple(self.types),
            tuple(self.names),
        )

    # -- operands

    def operand(self, value: Value) -> int:
        """Where a value is read: its register, or its constant's number."""
        if not in_register(value):
            return self.constant(value.node.value, value.type)
        return self.registers.of[value]

    def operands(self, values: Iterable[Value]) -> tuple[int, ...]:
        return tuple([self.operand(value) for value in values])

    def warning(self, node: Node) -> tuple[int, ...]:
        """The register of a call's list of what has warned in it, and the number of a warning."""
        if not self._warned:  # no step so far knows the register, so the list may be made first
            self._warned = {self.registers.count}
            self.registers.count += 1
            self.registers.pinned |= self._warned
        self._warnings.append(node)
        return *self._warned, self.constant(len(self._warnings), INT)

    # -- structure

    def _block(self, block: Block, region: Region) -> None:
        for node in block.nodes:
            if node.kind == "prim::If":
                self._if(node, region)
            elif node.kind == "prim::Loop":
                self._loop(node, region)
            elif node.kind not in ("prim::Constant", "prim::Uninitialized"):
                self._plain(node, region)

    def _plain(self, node: Node, region: Region) -> None:
        inputs = tuple([self.operand(value) for value in node.inputs])
        dying = self.live.dying[node]
        self.registers.release(v for v in dying if v.node is not node)
        if node.kind == "prim::unchecked_cast" and node.inputs[0] in dying:
            self.registers.hints.setdefault(node.output, inputs[0])
        used = any(v.uses for v in node.outputs)
        if node.signature is not None and not used:
            dying = [v for v in dying if v.node is not node]
            outputs: tuple[int, ...] = ()
        else:
            outputs = tuple([self.registers.define(v) for v in node.outputs])
        region += [Step(each, node) for each in make_step(self, node, outputs, inputs)]
        self.registers.release(v for v in dying if v.node is node)
        kept = {self.registers.of[v] for v in node.outputs if v.uses}
        self._forget(dying, kept, node, region)

    def _if(self, node: Node, region: Region) -> None:
        condition = self.operand(node.inputs[0])
        self.registers.release(self.live.dying[node])
        start = set(self.registers.free)
        hints = [self.registers.hints.get(v) for v in node.outputs]
        results: list[int] | None = None
        parts: list[Region] = []
        for block in node.blocks:
            part: Region = []
            self.registers.free = set(start)
            self._let_go(self.live.entry[block], node, part)
            self._hint_outputs(block, hints if results is None else results, block.outputs)
            self._block(block, part)
            if results is None:
                results = self._choose_results(node, block)
            self._move_all(block.outputs, results, self.live.after[node], node, part)
            parts.append(part)
        assert results is not None
        region.append(Branch(condition, parts[0], parts[1], node, results))
        self._settle(node, results, region)

    def _choose_results(self, node: Node, block: Block) -> list[int]:
        """Registers for the results of an if, those of the first branch where that is possible."""
        registers = self.registers
        registers.keep_only(self.live.after[node])
        chosen: list[int] = []
        for result, value in zip(node.outputs, block.outputs, strict=True):
            wish = registers.hints.get(result)
            if wish is None or wish in chosen or wish not in registers.free | registers.pinned:
                own = registers.of.get(value)
                wish = own if own in registers.free else None
            chosen.append(registers.take(wish))
        return chosen

    def _loop(self, node: Node, region: Region) -> None:
        registers = self.registers
        (body,) = node.blocks
        limit, condition, *starts = node.inputs
        index, *carried = body.inputs
        counted = self._is_counted(limit, index)
        tested = not (_is_true(condition) and _is_true(body.outputs[0]))
        values = [*starts, condition] if tested else starts
        count = self.operand(limit) if counted else None
        places = self._choose_places(node, values)
        self._enter(node, values, places, region)
        outer_pins = set(registers.pinned)
        if tested:
            registers.pinned.add(places[-1])
        numbers = -1
        if counted:
            numbers = registers.take()
            registers.pinned.add(numbers)
            registers.of[index] = registers.take()
        registers.of.update(zip(carried, places, strict=False))
        inner: Region = []
        self._loop_body(node, counted, [*body.outputs[1:], body.outputs[0]], places, inner)
        registers.pinned = outer_pins | self._warned
        test = places[-1] if tested else None
        index_register = registers.of[index] if counted else -1
        results = places[: len(carried)]
        region.append(Repeat(count, test, index_register, numbers, inner, node, results))
        self._settle(node, results, region)
        self._forget(self.live.exit[node], set(places), node, region)

    def _loop_body(
        self, node: Node, counted: bool, outputs: list[Value], places: list[int], region: Region
    ) -> None:
        """A loop's body; at its end `outputs`, as many as there are `places`, move there."""
        (body,) = node.blocks
        outputs = outputs[: len(places)]
        present = body.inputs if counted else body.inputs[1:]
        self.registers.keep_only([*self.live.during[node], *present])
        self._let_go([v for v in self.live.entry[body] if v in present], node, region)
        self._hint_outputs(body, places, outputs)
        self._block(body, region)
        self._move_all(outputs, places, self.live.during[node], node, region)

    def _choose_places(self, node: Node, values: Sequence[Value]) -> list[int]:
        """Registers for what a loop carries: where the first values are, if those die there."""
        dying = self.live.dying[node]
        places: list[int] = []
        for number, value in enumerate(values):
            own = self.registers.of.get(value)
            if value in dying and own is not None and own not in places:
                places.append(own)
            else:
                result = node.outputs[number] if number < len(node.outputs) else None
                hint = self.registers.hints.get(result) if result is not None else None
                places.append(self.registers.take(hint))
        return places

    def _enter(
        self, node: Node, values: Sequence[Value], places: list[int], region: Region
    ) -> None:
        """Move a loop's first values to their places."""
        self._moves(values, places, node, region)
        self._forget(self.live.dying[node], set(places), node, region)

    @staticmethod
    def _is_counted(limit: Value, index: Value) -> bool:
        endless = limit.node.is_constant and limit.node.value == _NO_LIMIT
        return bool(index.uses) or not endless

    def _hint_outputs(
        self,
        block: Block,
        registers: Sequence[int | None],
        outputs: Sequence[Value],
    ) -> None:
        """Ask for values that a block gives back to be made in these registers."""
        for value, register in zip(outputs, registers, strict=True):
            made_here = value.node.owner is block and value.node is not block.param
            if register is not None and made_here and in_register(value):
                self.registers.hints[value] = register

    def _settle(self, node: Node, results: Sequence[int], region: Region) -> None:
        """After an if or a loop: its results are in their registers, all else is free."""
        self.registers.of.update(zip(node.outputs, results, strict=True))
        used = [v for v in node.outputs if v.uses]
        self.registers.keep_only([*self.live.after[node], *used])
        unused = [v for v in node.outputs if not v.uses]
        self._forget(unused, {self.registers.of[v] for v in used}, node, region)

    # -- moving and letting go

    def _move_all(
        self,
        values: Sequence[Value],
        places: Sequence[int],
        after: set[Value],
        node: Node,
        region: Region,
    ) -> None:
        """At the end of a block: move what it gives back, let go of where it came from."""
        self._moves(values, places, node, region)
        left = [v for v in values if in_register(v) and v not in after]
        self._forget(left, set(places), node, region)

    def _moves(
        self, values: Sequence[Value], places: Sequence[int], node: Node, region: Region
    ) -> None:
        scratch = self.registers.count
        moves = list(zip(places, self.operands(values), strict=True))
        ordered = sequence_moves(moves, scratch)
        region.extend(Step((_MOVE, to, source), node) for to, source in ordered)
        if any(to == scratch for to, _ in ordered):
            self.registers.count += 1
            self.registers.free.add(scratch)
            if any(is_heavy(v.type) for v in values):
                region.append(Step((_FREE, (scratch,)), node))

    def _let_go(self, values: Sequence[Value], node: Node, region: Region) -> None:
        """The values are needed no more, from here on."""
        self.registers.release(values)
        self._forget(values, set(), node, region)

    def _forget(self, values: Sequence[Value], kept: set[int], node: Node, region: Region) -> None:
        """Empty the registers of heavy values, those in `kept` excepted.

        What an object or the caller holds on to anyway is not worth an instruction.
        """
        if not values:
            return
        heavy = {
            self.registers.of[v]
            for v in values
            if is_heavy(v.type) and v.node.kind != "prim::GetAttr" and v not in self.graph.inputs
        } - kept
        if heavy:
            region.append(Step((_FREE, tuple(sorted(heavy))), node))

    def _return(self, node: Node, region: Region) -> None:
        outputs = self.operands(node.inputs)
        if len(outputs) == 1:
            result = outputs[0]
        elif not outputs:
            result = self.constant(None, NONE)
        else:
            result = self.registers.take()
            region.append(Step((_TUPLE, result, outputs), node))
        region.append(Step((_RETURN, result), node))


def _is_true(value: Value) -> bool:
    return value.node.is_constant and value.node.value is True


def _number(entries: list[Entry], wanted: Entry) -> int:
    """The number of an entry of a table; it is added if it is new."""
    if wanted not in entries:
        entries.append(wanted)
    return entries.index(wanted)


def _as_machine_has_it(value: object, type: Type) -> object:
    """A constant with members of enumerations and NamedTuples as the machine has them."""
    if isinstance(type, EnumType):
        return EnumMember(type, str(getattr(value, "name", "")))
    if type.optional_of is not None and value is not None:
        return _as_machine_has_it(value, type.optional_of)
    if isinstance(type, TupleType):
        assert isinstance(value, tuple)
        parts = tuple(map(_as_machine_has_it, value, type.elements))
        return parts if type.name is None else make_named(type, parts)
    if isinstance(value, list) and type.list_of is not None and _is_made(type.list_of):
        return [_as_machine_has_it(each, type.list_of) for each in value]
    if isinstance(value, dict) and type.dict_of is not None and _is_made(type.dict_of[1]):
        return {key: _as_machine_has_it(each, type.dict_of[1]) for key, each in value.items()}
    return value


def _is_made(type: Type) -> bool:
    """Whether values of a type have another form in the machine, or hold some that have."""
    is_made = isinstance(type, EnumType) or type.tuple_name is not None
    return is_made or any(map(_is_made, type.contained))
