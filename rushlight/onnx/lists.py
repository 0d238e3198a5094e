"""Lists and dicts: kept as Python's where their length is known, else 1-d tensors and sequences."""

from __future__ import annotations

from dataclasses import replace

from ..ir.graphs.graph import Node
from .items import Cell, Item, Operand, Unsupported
from .walk import Walk, step
from .writer import BOOL, END, INT, is_plain


@step("prim::ListConstruct")
def _list(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [walk.contents.cell(list(items))]


@step("prim::DictConstruct")
def _dict(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    keys = items[::2]
    if not all(isinstance(key, str | int | float | bool) for key in keys):
        raise Unsupported("the keys of a dict must be known when the model is exported")
    return [walk.contents.cell(dict(zip(keys, items[1::2], strict=True)))]


@step("prim::ListUnpack")
def _unpack(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held = _held(walk, items[0])
    if isinstance(held, Operand):
        return [_element(walk, items[0], held, number) for number in range(len(node.outputs))]
    return list(held)


def _held(walk: Walk, item: Item) -> list[Item] | Operand:
    """What a list holds."""
    held = walk.contents.content(item)
    if not isinstance(held, list | Operand):
        raise Unsupported("a list that only a run knows")
    return held


def _element(walk: Walk, target: Item, held: Operand, index: Item) -> Item:
    """An element of a list whose length only a run knows."""
    place = walk.w.tensor(index, INT)
    if not held.is_sequence:
        return replace(walk.w.op("Gather", held, place, axis=0), weak=True)
    found = walk.contents.cell(walk.w.op("SequenceAt", held, place))
    walk.contents.hold(target, found)
    return found


def as_operand(walk: Walk, held: list[Item] | Operand) -> Operand:
    """A list as a 1-d tensor or a sequence."""
    if isinstance(held, Operand):
        return held
    parts = [walk.contents.resolved(each) for each in held]
    if not parts:
        raise Unsupported("the dtype of an empty list's elements is not known here")
    if all(is_plain(p) and not (isinstance(p, Operand) and p.shape != ()) for p in parts):
        dtype = walk.w.meeting(*parts)
        return replace(walk.w.vector(parts, dtype), weak=True)
    if any(isinstance(part, list | tuple) for part in parts):
        raise Unsupported("a list of lists whose length only a run knows")
    return walk.w.op("SequenceConstruct", *(walk.w.tensor(part) for part in parts))


def _appended(walk: Walk, target: Item, held: Operand, item: Item) -> Operand:
    walk.contents.hold(target, item)
    if not held.is_sequence:
        one = walk.w.vector([walk.contents.resolved(item)], held.dtype)
        return replace(walk.w.op("Concat", held, one, axis=0), weak=True)
    return walk.w.op("SequenceInsert", held, walk.w.tensor(walk.contents.resolved(item)))


@step("aten::append")
def _append(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held = _held(walk, items[0])
    assert isinstance(items[0], Cell)
    made = (
        _appended(walk, items[0], held, items[1])
        if isinstance(held, Operand)
        else [*held, items[1]]
    )
    walk.contents.write(items[0], made)
    return [items[0]]


@step("aten::extend")
def _extend(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    assert isinstance(items[0], Cell)
    walk.contents.write(items[0], _joined(walk, items[0], items[1]))
    return []


@step("aten::add[]")
def _sum(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [walk.contents.cell(_joined(walk, items[0], items[1]))]


@step("aten::add_[]")
def _sum_in_place(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    _extend(walk, node, items)
    return [items[0]]


def _joined(walk: Walk, one: Item, other: Item) -> Item:
    held, more = _held(walk, one), _held(walk, other)
    if isinstance(held, list) and isinstance(more, list):
        return [*held, *more]
    if isinstance(more, list):
        assert isinstance(held, Operand)
        for each in more:
            held = _appended(walk, one, held, each)
        return held
    if held == []:
        return more
    first = as_operand(walk, held)
    if first.is_sequence:
        raise Unsupported("two lists of tensors are joined whose lengths only a run knows")
    return replace(walk.w.op("Concat", first, walk.w.cast(more, first.dtype), axis=0), weak=True)


@step("aten::insert")
def _insert(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held, place = _held(walk, items[0]), items[1]
    assert isinstance(items[0], Cell)
    if isinstance(held, list) and isinstance(place, int):
        made: Item = [*held[:place], items[2], *held[place:]]
    else:
        operand = as_operand(walk, held)
        if not operand.is_sequence:
            raise Unsupported("a number is put into a list whose length only a run knows")
        x = walk.w.tensor(walk.contents.resolved(items[2]))
        walk.contents.hold(items[0], items[2])
        made = walk.w.op("SequenceInsert", operand, x, walk.w.tensor(place, INT))
    walk.contents.write(items[0], made)
    return []


@step("aten::pop")
def _pop(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held, place = _held(walk, items[0]), items[1] if len(items) > 1 else -1
    assert isinstance(items[0], Cell)
    if isinstance(held, list) and isinstance(place, int):
        rest = [*held]
        if not -len(rest) <= place < len(rest):
            raise Unsupported("an empty list has nothing to give")
        taken = rest.pop(place)
        walk.contents.write(items[0], rest)
        return [taken]
    operand = as_operand(walk, held)
    if not operand.is_sequence:
        if place != -1:
            raise Unsupported("a number is taken out of a list whose length only a run knows")
        taken = _element(walk, items[0], operand, -1)
        walk.contents.write(items[0], replace(walk.w.slice(operand, 0, 0, -1), weak=True))
        return [taken]
    taken = walk.contents.cell(walk.w.op("SequenceAt", operand, walk.w.tensor(place, INT)))
    walk.contents.write(items[0], walk.w.op("SequenceErase", operand, walk.w.tensor(place, INT)))
    return [taken]


@step("aten::reverse")
def _reverse(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held = _held(walk, items[0])
    assert isinstance(items[0], Cell)
    if isinstance(held, list):
        walk.contents.write(items[0], held[::-1])
        return []
    if held.is_sequence:
        raise Unsupported("a list of tensors is turned around whose length only a run knows")
    turned = walk.w.slice(held, 0, -1, -END, -1)
    walk.contents.write(items[0], replace(turned, weak=True, shape=held.shape or (None,)))
    return []


@step("aten::clear")
def _clear(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    assert isinstance(items[0], Cell)
    held = walk.contents.read(items[0])
    walk.contents.write(items[0], {} if isinstance(held, dict) else [])
    return []


@step("aten::_set_item")
def _set(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    target, place, item = items
    assert isinstance(target, Cell)
    held = walk.contents.read(target)
    if isinstance(held, dict):
        _check_key(place)
        walk.contents.write(target, {**held, place: item})
        return []
    if isinstance(held, list) and isinstance(place, int):
        if not -len(held) <= place < len(held):
            raise Unsupported("the list has no such place")
        made = [*held]
        made[place] = item
        walk.contents.write(target, made)
        return [target] if node.outputs else []
    operand = as_operand(walk, _held(walk, target))
    walk.contents.hold(target, item)
    walk.contents.write(target, _exchanged(walk, operand, place, item))
    return [target] if node.outputs else []


def _exchanged(walk: Walk, operand: Operand, place: Item, item: Item) -> Operand:
    """A list with another element at a place."""
    w = walk.w
    if operand.is_sequence:
        at, x = w.tensor(place, INT), w.tensor(walk.contents.resolved(item))
        with_it = w.op("SequenceInsert", operand, x, at)
        length = w.op("SequenceLength", operand)
        wrapped = w.where(w.op("Less", at, w.constant(0, INT)), w.op("Add", at, length), at)
        return w.op("SequenceErase", with_it, w.op("Add", wrapped, w.constant(1, INT)))
    where = w.unsqueeze(w.vector([place]), 1)
    new = w.vector([walk.contents.resolved(item)], operand.dtype)
    return replace(w.op("ScatterND", operand, where, new), weak=True)


@step("aten::slice[]")
def _slice(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held = _held(walk, items[0])
    bounds = [*items[1:], *(None, None, 1)[len(items) - 1 :]]
    known = [each for each in bounds if each is None or isinstance(each, int)]
    if isinstance(held, list) and len(known) == len(bounds):
        return [walk.contents.cell(held[slice(*known)])]
    start, end, by = bounds
    operand = as_operand(walk, held)
    if operand.is_sequence:
        raise Unsupported("a part of a list of tensors whose places only a run knows")
    first, last = 0 if start is None else start, END if end is None else end
    part = replace(walk.w.slice(operand, 0, first, last, by), weak=True)
    return [walk.contents.cell(part)]


@step("aten::eq[]")
def _equal(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return _compared(walk, items, True)


@step("aten::ne[]")
def _unequal(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return _compared(walk, items, False)


def _compared(walk: Walk, items: list[Item], is_equal: bool) -> list[Item]:
    """Whether lists are equal, or whether they are not."""
    one, other = (_held(walk, item) for item in items)
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [not is_equal]
        if not any(isinstance(each, Operand | Cell) for each in (*one, *other)):
            return [(one == other) == is_equal]
    a, b = (as_operand(walk, held) for held in (one, other))
    if a.is_sequence or b.is_sequence:
        raise Unsupported("lists of tensors are compared")
    if a.shape is None or b.shape is None or a.shape != b.shape or None in a.shape:
        raise Unsupported("lists are compared whose lengths only a run knows")
    differs = walk.w.cast(walk.negated(walk.w.op("Equal", *walk.w.common(a, b))), INT)
    some = replace(walk.w.cast(walk.w.reduce("ReduceMax", differs, [0], False), BOOL), weak=True)
    return [walk.negated(some) if is_equal else some]


@step("aten::len")
def _length(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held = walk.contents.content(items[0])
    if isinstance(held, list | dict | tuple | str):
        return [len(held)]
    if not isinstance(held, Operand):
        raise Unsupported("the length of what only a run knows")
    if held.is_sequence:
        return [replace(walk.w.op("SequenceLength", held), weak=True)]
    return [walk.w.size(held, 0)]


def _check_key(key: Item) -> None:
    if not isinstance(key, str | int | float | bool):
        raise Unsupported("the key of a dict must be known when the model is exported")


@step("aten::__getitem__")
def _get(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    target, place = items
    held = walk.contents.content(target)
    if isinstance(held, dict):
        _check_key(place)
        if place not in held:
            raise Unsupported(f"the dict has no key {place!r}")
        return [held[place]]
    if isinstance(held, str) and isinstance(place, int):
        return [held[place]]
    if isinstance(held, list | tuple) and isinstance(place, int):
        if not -len(held) <= place < len(held):
            raise Unsupported("the list has no such place")
        return [held[place]]
    return [_element(walk, target, as_operand(walk, _held(walk, target)), place)]


@step("aten::__contains__")
def _contains(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held, sought = walk.contents.resolved(items[0]), walk.contents.resolved(items[1])
    if isinstance(held, dict):
        _check_key(sought)
        return [sought in held]
    plain = isinstance(held, list) and all(isinstance(e, int | float | str) for e in held)
    if plain and isinstance(sought, int | float | str):
        assert isinstance(held, list)
        return [sought in held]
    if isinstance(held, list | Operand) and not isinstance(sought, str):
        w = walk.w
        found = w.op("Equal", *w.common(as_operand(walk, held), sought))
        any_of = w.reduce("ReduceMax", w.cast(found, INT), [0], False)
        return [replace(w.cast(any_of, found.dtype), weak=True)]
    raise Unsupported("an object is looked for in a list")


def _dict_held(walk: Walk, item: Item) -> dict[Item, Item]:
    """What a dict holds."""
    held = walk.contents.content(item)
    if not isinstance(held, dict):
        raise Unsupported("a dict that only a run knows")
    return held


@step("aten::keys")
def _keys(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [walk.contents.cell(list(_dict_held(walk, items[0])))]


@step("aten::values")
def _values(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [walk.contents.cell(list(_dict_held(walk, items[0]).values()))]


@step("aten::items")
def _pairs(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [walk.contents.cell(list(_dict_held(walk, items[0]).items()))]


@step("aten::get")
def _get_or_default(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held = _dict_held(walk, items[0])
    _check_key(items[1])
    return [held.get(items[1], items[2] if len(items) > 2 else None)]


@step("aten::list", "aten::copy")
def _copy(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    held = walk.contents.content(items[0])
    if isinstance(held, str):
        return [walk.contents.cell(list(held))]
    return [walk.contents.cell(list(held) if isinstance(held, tuple) else held)]
