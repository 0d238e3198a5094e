"""`prim::If` and `prim::Loop`: taken or unrolled where that is known, else ONNX's `If` and `Loop`.

What a branch or round changes (lists, tensors in place, attributes) is carried like a variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from ..ir.graphs.graph import Block, Node, Value
from ..typecheck.types.types import TENSOR
from . import joined, proto
from .contents import Kept
from .items import BROKEN, Cell, Item, Maybe, Operand, Unsupported
from .walk import Walk, step
from .writer import BOOL, INT, Writer

_ATTEMPTS = 20
_ROUNDS = 256
"""Loops of a known number of rounds, up to this one, are written out where ONNX has no `Loop` for
them."""


@dataclass
class _Way:
    """One branch, or the body of a loop: its nodes, results, and what there is after it."""

    writer: Writer
    results: list[Item]
    after: dict[Cell, Kept]
    changed: list[Cell]


@contextmanager
def _inside(walk: Walk, before: dict[Cell, Kept]) -> Iterator[Writer]:
    """Write into a graph of its own; what is changed inside is put back."""
    outer, walk.w = walk.w, Writer(walk.model)
    try:
        yield walk.w
    finally:
        walk.w = outer
        walk.contents.restore(before)


@contextmanager
def _after(walk: Walk, way: _Way) -> Iterator[None]:
    """Be where a way ends: its values are held, and nodes go into its graph."""
    now, outer = walk.contents.saved(), walk.w
    walk.contents.restore(way.after)
    walk.w = way.writer
    try:
        yield
    finally:
        walk.w = outer
        walk.contents.restore(now)


def _way(walk: Walk, block: Block, before: dict[Cell, Kept]) -> _Way:
    with _inside(walk, before) as writer:
        results = walk.block(block)
        changed = walk.contents.changed(before)
        return _Way(writer, results, walk.contents.saved(), changed)


@step("prim::If")
def _if(walk: Walk, node: Node, items: list[Item]) -> Sequence[Item] | None:
    condition, (yes, no) = items[0], node.blocks
    if isinstance(condition, bool):
        return walk.block(yes if condition else no)
    for raising, other in ((yes, no), (no, yes)):
        if _raises(raising):
            return walk.block(other)
    if not isinstance(condition, Operand):
        raise Unsupported("a branch depends on what is no number")
    before = walk.contents.saved()
    ways = []
    for block, taken in ((yes, True), (no, False)):
        with _knowing(walk, condition, taken):
            ways.append(_way(walk, block, before))
    return _meeting(walk, condition, ways, before)


@contextmanager
def _knowing(walk: Walk, condition: Operand, taken: bool) -> Iterator[None]:
    """While a branch is written that is taken where a value is there, or is None."""
    opposite = walk.opposites.get(condition.name)
    name, says = (condition.name, taken) if opposite is None else (opposite.name, not taken)
    values = {
        value: item
        for value, item in walk._values.items()
        if isinstance(item, Maybe) and item.present.name == name
    }
    for value, item in values.items():
        walk.set(value, item.value if says else None)
    try:
        yield
    finally:
        walk._values.update(values)


def _raises(block: Block) -> bool:
    """Whether a block raises in any case: a run is taken not to come there."""
    return any(
        node.kind == "prim::RaiseException"
        or (node.kind == "prim::If" and all(map(_raises, node.blocks)))
        for node in block.nodes
    )


def _meeting(
    walk: Walk, condition: Operand, ways: list[_Way], before: dict[Cell, Kept]
) -> Sequence[Item]:
    """Write the `If`; its results."""
    changed = list(dict.fromkeys(cell for way in ways for cell in way.changed))
    lost = set[Cell]().union(*(_lost(walk, way, changed) for way in ways))
    kept = [cell for cell in changed if cell not in lost]
    one, other = (_forms(walk, way, [*way.results, *kept]) for way in ways)
    forms = [joined.meet(a, b) for a, b in zip(one, other, strict=True)]
    for number, (a, b) in enumerate(zip(*(way.results for way in ways), strict=True)):
        if a is b and isinstance(a, Cell) and a in before:
            forms[number] = joined.Same(a)
    graphs = []
    for way, name in zip(ways, ("then", "else"), strict=True):
        with _after(walk, way):
            outputs = _spread(walk, [*way.results, *kept], forms)
            graphs.append(_graph(walk, name, [], outputs))
    sources = [_sources(items) for items in zip(*(way.results for way in ways), strict=True)]
    results = _operands(walk, "if", forms)
    if results:
        names = [operand.name for operand in results]
        branches = {"then_branch": graphs[0], "else_branch": graphs[1]}
        walk.w.add(proto.make_node("If", [condition.name], names, branches))
    found = _gathered(walk, forms, results, sources, kept)
    for cell in lost:
        walk.contents.lose(cell)
    ends = zip(found, *(way.results for way in ways), strict=True)
    return [_told(walk, condition, item, one, other) for item, one, other in ends]


def _told(walk: Walk, condition: Operand, item: Item, one: Item, other: Item) -> Item:
    """A result; one that says no more than the condition, or its opposite, is that."""
    says = [one, other]
    if isinstance(item, Maybe):
        says = [end is not None for end in says if not isinstance(end, Maybe)]
    for operand, wanted in ((condition, [True, False]), (None, [False, True])):
        if len(says) == 2 and all(a is b for a, b in zip(says, wanted, strict=True)):
            told = operand or walk.negated(condition)
            return Maybe(told, item.value) if isinstance(item, Maybe) else told
    return item


def _lost(walk: Walk, way: _Way, cells: Iterable[Cell]) -> set[Cell]:
    """Which cells were changed under another name on a way."""
    with _after(walk, way):
        return {cell for cell in cells if walk.contents.is_lost(cell)}


def _forms(walk: Walk, way: _Way, items: Sequence[Item]) -> list[joined.Form]:
    """The forms of values at the end of a way."""
    with _after(walk, way):
        return [joined.form_of(item, walk.contents) for item in items]


def _operands(walk: Walk, kind: str, forms: Sequence[joined.Form]) -> list[Operand]:
    """New operands that carry values of these forms."""
    return [
        Operand(
            walk.model.fresh(kind),
            leaf.dtype or INT,
            leaf.shape,
            weak=leaf.weak,
            is_sequence=leaf.is_sequence,
        )
        for form in forms
        for leaf in joined.leaves(form)
    ]


def _graph(walk: Walk, name: str, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> object:
    """The ONNX graph of the nodes written since it was entered."""
    given, made = (list(map(proto.value_info, each)) for each in (inputs, outputs))
    return proto.make_graph(walk.model.fresh(name), walk.w.nodes, given, made)


def _spread(walk: Walk, items: Sequence[Item], forms: Sequence[joined.Form]) -> list[Operand]:
    """The operands that carry values out of a graph: each is made in it, and is another."""
    outputs: list[Operand] = []
    for item, form in zip(items, forms, strict=True):
        for leaf, operand in zip(
            joined.leaves(form), joined.spread(item, form, walk.contents, walk.w), strict=True
        ):
            if operand.name not in walk.w.made or operand.name in [o.name for o in outputs]:
                operand = walk.w.same(operand)
            outputs.append(replace(operand, shape=leaf.shape))
    return outputs


def _sources(items: Sequence[Item]) -> list[Cell]:
    return [item for item in items if isinstance(item, Cell)]


def _gathered(
    walk: Walk,
    forms: Sequence[joined.Form],
    operands: Sequence[Operand],
    sources: Sequence[list[Cell]],
    kept: Sequence[Cell],
) -> list[Item]:
    """The values that operands carry, of each what it may be elsewhere; those of cells, which come
    last, are put into them."""
    rest = iter(operands)
    found = [
        joined.gather(form, rest, walk.contents, others)
        for form, others in zip(forms, [*sources, *([] for _ in kept)], strict=True)
    ]
    for cell, item in zip(kept, found[len(sources) :], strict=True):
        walk.contents.write(cell, _bare(walk, cell, item))
    return found[: len(sources)]


def _bare(walk: Walk, cell: Cell, item: Item) -> Item:
    """What is put into a cell: into an attribute the cell that was gathered, else its contents."""
    return walk.contents.read(item) if isinstance(item, Cell) and not cell.is_slot else item


# ------------------------------------------------------------------------------------ loops


@step("prim::Loop")
def _loop(walk: Walk, node: Node, items: list[Item]) -> Sequence[Item] | None:
    rounds, condition, carried = items[0], items[1], items[2:]
    if rounds == 0 or condition is False:
        return carried
    before, problems = walk.contents.saved(), dict(walk.problems)
    if (
        isinstance(rounds, int)
        and rounds <= _ROUNDS
        and condition is True
        and _of_numbers(node.blocks[0])
    ):
        with suppress(Unsupported):
            return _unrolled(walk, node, rounds, carried)
        walk.contents.restore(before)
    values, nodes, made = dict(walk._values), list(walk.w.nodes), set(walk.w.made)
    try:
        found = _as_loop(walk, node, items)
        if walk.problems.keys() == problems.keys():
            return found
    except Unsupported:
        if not (isinstance(rounds, int) and rounds <= _ROUNDS):
            raise
        found = None
    if not (isinstance(rounds, int) and rounds <= _ROUNDS and condition is True):
        return found
    told = dict(walk.problems)
    walk.problems.clear()
    walk.problems.update(problems)
    walk.contents.restore(before)
    walk._values, walk.w.nodes, walk.w.made = values, nodes, made
    unrolled = _unrolled(walk, node, rounds, carried)
    if unrolled is None or walk.problems.keys() != problems.keys():
        walk.problems.update(told)
        return found if found is not None else unrolled
    return unrolled


def _of_numbers(block: Block) -> bool:
    """Whether nothing in a block makes a tensor, so that its results are mostly known."""
    made = (value.type.inner for node in block.all_nodes for value in node.outputs)
    return not any(TENSOR in (type, type.list_of) for type in made)


def _unrolled(walk: Walk, node: Node, rounds: int, carried: list[Item]) -> list[Item] | None:
    """The loop, round by round; None if only a run knows how often it goes on."""
    (body,) = node.blocks
    for number in range(rounds):
        for value, item in zip(body.inputs, [number, *carried], strict=True):
            walk.set(value, item)
        goes_on, *carried = walk.block(body)
        if goes_on is False:
            break
        if goes_on is not True:
            raise Unsupported("the loop's values differ from round to round")
    return carried


def _as_loop(walk: Walk, node: Node, items: list[Item]) -> Sequence[Item]:
    """Write the `Loop`; its results.

    The first round is tried with what the values are before the loop; where they are something
    else after it, they are carried, and it is tried anew.
    """
    before = walk.contents.saved()
    carried, kept, lost = items[2:], list[Cell](), set[Cell]()
    forms = [
        joined.Same(item)
        if isinstance(item, Cell) and _is_itself(result, value)
        else joined.form_of(item, walk.contents)
        for item, value, result in zip(
            carried, node.blocks[0].inputs[1:], node.blocks[0].outputs[1:], strict=True
        )
    ]
    problems = dict(walk.problems)
    for _ in range(_ATTEMPTS):
        walk.problems.clear()
        walk.problems.update(problems)
        attempt = _attempt(walk, node, forms, carried, kept, before)
        new_cells = [c for c in attempt.way.changed if c not in kept and c not in lost]
        gone = _lost(walk, attempt.way, [*kept, *new_cells])
        more = [c for c in new_cells if c not in gone]
        results = _forms(walk, attempt.way, [*attempt.way.results[1:], *kept])
        met = [
            a if isinstance(a, joined.Same) and isinstance(a.item, Cell) else joined.meet(a, b)
            for a, b in zip(forms, results, strict=True)
        ]
        if joined.Same(BROKEN) in met:
            return [BROKEN] * len(carried)  # why, this round has told; another would tell nothing
        if met == forms and not more and not (gone - lost):
            return _written(walk, items, attempt, forms, kept, lost)
        lost |= gone
        forms = met + [joined.form_of(cell, walk.contents) for cell in more]
        kept = [*kept, *more]
    raise Unsupported("the loop's values differ from round to round")


def _is_itself(value: Value, other: Value) -> bool:
    """Whether a value is the same list or tensor as another, changed in place at most."""
    while value is not other:
        node = value.node
        if isinstance(node, Node) and node.kind == "prim::If":
            at = next(n for n, output in enumerate(node.outputs) if output is value)
            return all(_is_itself(block.outputs[at], other) for block in node.blocks)
        if not isinstance(node, Node) or not node.kind.endswith("_") or node.signature is None:
            return False
        written = node.signature.arguments[0].alias
        if written is None or not written.is_write or len(node.outputs) != 1:
            return False
        value = node.inputs[0]
    return True


@dataclass
class _Attempt:
    way: _Way
    inputs: list[Operand]
    goes_on: Item


def _attempt(
    walk: Walk,
    node: Node,
    forms: Sequence[joined.Form],
    carried: Sequence[Item],
    kept: Sequence[Cell],
    before: dict[Cell, Kept],
) -> _Attempt:
    (body,) = node.blocks
    with _inside(walk, before) as writer:
        number = Operand(walk.model.fresh("round"), INT, (), weak=True)
        condition = Operand(walk.model.fresh("condition"), BOOL, (), weak=True)
        inputs = _operands(walk, "carried", forms)
        sources = [_sources([item]) for item in carried]
        values = _gathered(walk, forms, inputs, sources, kept)
        for value, item in zip(body.inputs, [number, *values], strict=True):
            walk.set(value, item)
        goes_on, *results = walk.block(body)
        changed = walk.contents.changed(before)
        way = _Way(writer, [goes_on, *results], walk.contents.saved(), changed)
    return _Attempt(way, [number, condition, *inputs], goes_on)


def _written(
    walk: Walk,
    items: list[Item],
    attempt: _Attempt,
    forms: Sequence[joined.Form],
    kept: list[Cell],
    lost: set[Cell],
) -> Sequence[Item]:
    rounds, condition, *carried = items
    if attempt.goes_on is BROKEN:
        return [BROKEN] * len(carried)
    goes_on = joined.One(BOOL, (), weak=True, is_cell=False)
    with _after(walk, attempt.way):
        outputs = _spread(walk, [*attempt.way.results, *kept], [goes_on, *forms])
        graph = _graph(walk, "body", attempt.inputs, outputs)
    starts: list[Operand] = []
    for item, form in zip([*carried, *kept], forms, strict=True):
        starts.extend(joined.spread(item, form, walk.contents, walk.w))
    results = _operands(walk, "loop", forms)
    inputs = [walk.w.tensor(rounds, INT), walk.w.tensor(condition, BOOL), *starts]
    names = [operand.name for operand in results]
    walk.w.add(proto.make_node("Loop", [i.name for i in inputs], names, {"body": graph}))
    ends = attempt.way.results[1:]
    sources = [_sources(items) for items in zip(carried, ends, strict=True)]
    found = _gathered(walk, forms, results, sources, kept)
    for cell in lost:
        walk.contents.lose(cell)
    return found
