"""What calls of scripted code do, for gradients of whole calls.

Calls of one code mostly run the same operators on operands of the same sizes and dtypes, which are
connected in the same way.  What they have in common is a `CallShape`: it knows further such calls
by their notes, and makes one node for all of them (`call_nodes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from ...memory.complex_parts import is_complex
from ...memory.dtype import Array, Device, DType, Dtype, Layout, MemoryFormat
from ...memory.storage import address
from ...memory.versions import owner_of
from ...table.table import TABLE, Operator
from ..nodes.autograd import Edge
from ..nodes.bound import Bound, bound_row_in_script
from ..recording.noted import Step
from .puts import Memory, Put, key_between

__all__ = [
    *("LONGEST", "LONGEST_WRITING", "At", "CallShape", "Did", "End", "NotJoined", "Value"),
    *("numbers_in", "shape_of"),
]

LONGEST: Final = 400
"""Operators of a call; longer ones are taken in parts."""

LONGEST_WRITING: Final = 2000
"""Operators of a call that writes in place, which cannot be."""


class NotJoined(Exception):
    """A call leaves a node for each of its operators."""


class At(NamedTuple):
    """The value of that number, among the arguments of an operator."""

    number: int


class End(NamedTuple):
    """An argument that has gradients: its place, which one of a list it is, and its value."""

    at: int
    inner: int | None
    value: int


class Did(NamedTuple):
    """An operator that ran: values and lists of them are among its `args`, other arguments are
    themselves.  `many` is the class of a result that is several.  `ends` are the arguments that
    have gradients, where one came from something that requires them, which is `active`.
    """

    bound: Bound
    args: tuple[Any, ...]
    results: tuple[int, ...]
    many: type | None
    ends: tuple[End, ...]
    active: bool


class Value(NamedTuple):
    """What is known of a value."""

    shape: tuple[int, ...]
    dtype: Dtype

    @property
    def is_smooth(self) -> bool:
        """Whether it may have a gradient."""
        return self.dtype.kind not in "biu"


class CallShape:
    """What the operators of a call did.

    `outside` are the values that came from outside and stand where gradients are, of which those
    in `edges` require some.  `outward` are the values that went out, of which the first `pending`
    have tensors and the others are among the `bases` of views, `saved` those that the way back
    needs, and `watched` those of them that somebody outside can write to.
    """

    def __init__(self) -> None:
        self.steps: list[Did] = []
        self.values: list[Value] = []
        self.active: set[int] = set()
        self.useful: list[bool] = []
        self.outside: list[int] = []
        self.edges: list[int] = []
        self.outward: list[int] = []
        self.pending = 0
        self.bases: list[int] = []
        self.saved: list[int] = []
        self.watched: list[int] = []
        self.noted: dict[int, Bound] = {}
        """By which operator in place steps are noted that stand for one that makes its result."""
        self.copies: dict[int, int] = {}
        """Of those the values that they wrote over, of which the notes have copies."""
        self.views: dict[int, tuple[int, str | None]] = {}
        """Of views that are made here: of what, and by which operator that makes several."""
        self.puts: dict[int, Put] = {}
        """The steps that have no note: each puts what the step before it has made of a view into
        what that is a view of."""
        self.placed: set[int] = set()
        """The steps that make views which are written."""
        self.wholes: list[int] = []
        """The values that were made in memory which is written later."""
        self.lent: list[int] = []
        """The saved values from outside, of which none may lie in that memory."""

    def numbers_of(self, notes: Sequence[Step]) -> dict[int, int]:
        """The numbers of the arrays of the notes that the shape was made of, by their identity."""
        found: dict[int, int] = {}

        def note(value: object, array: Any) -> None:
            if type(value) is At:
                found[id(array)] = value.number
            elif type(value) is list:
                for one, other in zip(value, array, strict=True):
                    note(one, other)

        for step, (_, args, result, _) in zip(self.steps, notes, strict=True):
            note(list(step.args), args)
            several = [result] if step.many is None else result
            note(list(map(At, step.results)), several)
        return found

    @property
    def has_inner(self) -> bool:
        """Whether what went out was made of something else that did."""
        before = set[int]()
        for step in self.steps:
            if not before.isdisjoint(numbers_in(step.args)):
                before.update(step.results)
                if not before.isdisjoint(self.outward) and not set(step.results).isdisjoint(
                    self.outward
                ):
                    return True
            before.update(set(step.results).intersection(self.outward))
        return False

    def is_thin(self, step: Did, end: End) -> bool:
        """Whether an argument's gradient may be a sparse tensor, which only leaves take."""
        bound = step.bound
        is_asked = bound.may_be_thin and step.args[bound.positions["sparse"]] is not False
        return is_asked and end.value in self.edges

    @cached_property
    def may_be_thin(self) -> bool:
        """Whether some gradient may be."""
        return any(self.is_thin(step, end) for step in self.steps for end in step.ends)

    def ghost(self, number: int) -> Array:
        """An array without memory that has the sizes and dtype of a value."""
        value = self.values[number]
        return np.broadcast_to(np.empty((), value.dtype), value.shape)

    def keeps(self, step: Did) -> set[int]:
        """The places of arguments that the way back through an active step needs."""
        bound = step.bound
        found = set[int]()
        for end in step.ends:
            if end.value in self.active:
                found |= bound.keeps[end.at]
        return found

    def keeps_results(self, step: Did) -> bool:
        """Whether it needs the results."""
        return any(step.bound.keeps_result[end.at] for end in step.ends if end.value in self.active)


def shape_of(
    steps: Sequence[Step],
    outward: Sequence[Array],
    edge: Callable[[Array], Edge | None],
    least: int = 2,
) -> CallShape:
    """The shape of a call whose notes these are, so many at least; `outward` are the arrays that
    went out.

    Raises:
        NotJoined: the notes hold what is left to nodes of single operators.
    """
    if not least <= len(steps) <= LONGEST_WRITING:
        raise NotJoined
    found = _Finding(edge)
    for bound, args, result, old in steps:
        if not bound.watched or (old is not None and bound.entry.written == "replaced"):
            raise NotJoined
        found.add(bound, args, result, old is not None)
    return found.finished(outward)


class _Finding:
    """A shape while it is found."""

    def __init__(self, edge: Callable[[Array], Edge | None]) -> None:
        self._edge = edge
        self._numbers: dict[int, int] = {}
        self._made: set[int] = set()
        self._written: set[int] = set()
        self._memory: dict[int, Memory] = {}
        """The memory of values whose memory was made here."""
        self._makers: dict[int, tuple[int, int]] = {}
        """By which step views in it were made, and of which value."""
        self._stale: set[int] = set()
        """Values that stood in memory before it was written."""
        self._shared: set[int] = set()
        """Values that may lie in the memory of others, nobody knows how."""
        self._owners: dict[int, int] = {}
        """Who owns the memory of whole numbers and bools."""
        self._counters: dict[int, int] = {}
        """By which step such memory was written last."""
        self._waiting: dict[int, Array] = {}
        self._idle_views: set[int] = set()
        self.shape = CallShape()

    def add(self, bound: Bound, args: Sequence[object], result: Any, has_copy: bool) -> None:
        """The next note; `has_copy` says that what it wrote over is noted, too."""
        taken: tuple[Any, ...] = tuple(map(self._argument, args))
        if not self._stale.isdisjoint(numbers_in(taken)):
            raise NotJoined
        if not bound.in_place:
            self._add_step(bound, taken, result)
            return
        if not self._is_smooth(taken, result):
            self._add_counter(bound, taken)
            return
        old = taken[0].number
        memory = self._memory_of(old, taken)
        self._add_step(self._write(bound, taken, result, has_copy), taken, result, memory)
        if not memory.members & self._written:
            self.shape.wholes.append(memory.now)
        self._stale.update(memory.members)
        self._written.update(memory.members)
        made = self._numbers[id(result)]
        self._memory[made] = memory
        if result is memory.whole:
            memory.now = made
        else:
            self._put(memory, old, result)
        memory.members.update((made, memory.now))

    def _add_step(
        self, bound: Bound, taken: tuple[object, ...], result: Any, memory: Memory | None = None
    ) -> None:
        """The next step; `memory` is what it writes."""
        shape = self.shape
        ends = tuple(self._ends(bound, taken))
        for end in ends:
            self._look_outside(end.value)
        many = type(result) if type(result) in (list, tuple) else None
        arrays = result if many else (result,)
        results = tuple(map(self._result, arrays))
        if memory is None:
            self._note_memory(bound, taken, results, arrays)
        active = any(end.value in shape.active for end in ends)
        active = active and any(shape.values[number].is_smooth for number in results)
        if active and bound.row is None:
            raise NotJoined
        if active:
            floats = [number for number in results if shape.values[number].is_smooth]
            active = not self._made.isdisjoint(floats)  # else it gave what it was given
            if active and not self._made.issuperset(floats):
                raise NotJoined
        shape.steps.append(Did(bound, taken, results, many, ends, active))
        if not active:
            self._idle_views |= self._made if bound.is_view else set()
            self._made.clear()
            return
        assert bound.row is not None
        of = next((a.number for a in taken if type(a) is At), -1)
        smooth = -1
        for number in results:
            smooth += shape.values[number].is_smooth
            is_apart = not shape.values[number].is_smooth or smooth in bound.row.apart
            if number in self._made and not is_apart:
                shape.active.add(number)
            if bound.is_view and number in self._made:
                among = bound.node_class.__name__.removesuffix("Backward0")
                shape.views[number] = of, among if bound.forbids_writes else None
        self._made.clear()

    # ------------------------------------------------------------------ memory

    def _note_memory(
        self, bound: Bound, taken: tuple[Any, ...], results: Sequence[int], arrays: Sequence[Array]
    ) -> None:
        """Note in which memory results lie: in their own, as views in that of the first argument,
        or in what nothing is known of, where nothing may be written."""
        if not _shares(bound):
            for number, array in zip(results, arrays, strict=True):
                if number in self._made:
                    self._memory[number] = Memory(array, number)
            return
        memory = self._memory.get(taken[0].number) if taken and type(taken[0]) is At else None
        if memory is None or not bound.is_view or bound.gives_several:
            self._shared.update(numbers_in(taken), results)
            return
        self._makers[results[0]] = len(self.shape.steps), taken[0].number
        self._memory[results[0]] = memory
        memory.members.add(results[0])

    def _memory_of(self, old: int, taken: Sequence[object]) -> Memory:
        """The memory of a value that is written.

        Raises:
            NotJoined: somebody else may see that.
        """
        memory = self._memory.get(old)
        others = set(numbers_in(taken[1:]))
        if memory is None or old in others or not self._shared.isdisjoint(memory.members):
            raise NotJoined
        if memory.now == old and not others.isdisjoint(memory.members):
            raise NotJoined
        return memory

    def _put(self, memory: Memory, old: int, part: Array) -> None:
        """Put what a written view holds now into what it is a view of."""
        shape, whole = self.shape, memory.whole
        key = key_between(whole, part)
        if key is None:
            raise NotJoined
        made, before = self._numbers[id(part)], memory.now
        memory.now = number = self._new(whole)
        self._memory[number] = memory
        shape.views[made] = number, None
        maker = self._makers.get(old)
        while maker is not None:
            shape.placed.add(maker[0])
            maker = self._makers.get(maker[1])
        self._makers[made] = len(shape.steps), old
        shape.puts[len(shape.steps)] = Put(old, key)
        unit = whole.itemsize
        steps = [stride // unit for stride in part.strides]
        begin = (address(part) - address(whole)) // unit
        args = At(before), At(made), list(part.shape), steps, begin
        ends = End(0, None, before), End(1, None, made)
        active = not shape.active.isdisjoint((before, made))
        if active:
            shape.active.add(number)
        shape.steps.append(Did(_putting(), args, (number,), None, ends, active))

    def _is_smooth(self, taken: tuple[object, ...], result: object) -> bool:
        """Whether it is a value that may have a gradient that is written."""
        first = taken[0] if taken else None
        if type(first) is not At or type(result) is not np.ndarray:
            raise NotJoined
        if self._numbers.get(id(result)) != first.number:
            raise NotJoined
        return self.shape.values[first.number].is_smooth

    def _write(self, bound: Bound, taken: tuple[Any, ...], result: Array, has_copy: bool) -> Bound:
        """Take what writes a value made here, which nobody else sees, for the operator that makes
        another one; no other may need what was there before."""
        old, values = taken[0].number, self.shape.values
        others = [values[n] for n in numbers_in(taken)]
        if any(each.is_smooth and each.dtype is not values[old].dtype for each in others):
            raise NotJoined
        twin = _twin(bound.entry)
        if twin is None:
            raise NotJoined
        self.shape.noted[len(self.shape.steps)] = bound
        if has_copy:
            self.shape.copies[len(self.shape.steps)] = old
        del self._numbers[id(result)]  # from here on the array is another value
        return twin

    def _add_counter(self, bound: Bound, taken: tuple[Any, ...]) -> None:
        """What writes whole numbers in place has no gradients; nothing before may need them."""
        first = taken[0]
        self._counters[self._owners[first.number]] = len(self.shape.steps)
        self.shape.steps.append(Did(bound, taken, (first.number,), None, (), False))

    def finished(self, outward: Sequence[Array]) -> CallShape:
        """The shape, when all is added."""
        shape = self.shape
        shape.pending = len(outward)
        for array in outward:
            number = self._numbers.get(id(array))
            if number is None or number in self._idle_views or number in self._stale:
                raise NotJoined
            shape.outward.append(number)
        outside = self._outside
        for number in shape.outward:  # which grows by what views that go out are of
            view = shape.views.get(number)
            if view is None:
                continue
            if view[0] not in shape.bases:
                shape.bases.append(view[0])
            if view[0] in shape.active and view[0] not in (*shape.outward, *outside):
                shape.outward.append(view[0])
        if shape.active.isdisjoint(shape.outward):
            raise NotJoined
        self._find_useful()
        saved = set[int]()
        for index, (step, useful) in enumerate(zip(shape.steps, shape.useful, strict=True)):
            if useful:
                needed = set(numbers_in(step.args[at] for at in shape.keeps(step)))
                if shape.keeps_results(step):
                    if index + 1 in shape.puts:
                        raise NotJoined  # what is kept is the view itself
                    needed.update(step.results)
                if not self._written.isdisjoint(needed - {shape.copies.get(index)}):
                    raise NotJoined
                owners = (self._owners.get(number, 0) for number in needed)
                if any(self._counters.get(owner, 0) > index for owner in owners):
                    raise NotJoined
                saved |= needed
        shape.saved = sorted(saved)
        if shape.wholes:
            shape.lent = [n for n in shape.saved if n in outside and shape.values[n].is_smooth]
        reached = self._reached
        shape.watched = [n for n in shape.saved if n in reached]
        return shape

    @property
    def _outside(self) -> set[int]:
        made = {n for step in self.shape.steps for n in step.results}
        return set(range(len(self.shape.values))) - made

    @property
    def _reached(self) -> set[int]:
        """The values whose memory may be that of something outside."""
        found = self._outside | set(self.shape.outward)
        for step in self.shape.steps:
            if _shares(step.bound) and not found.isdisjoint(numbers_in(step.args)):
                found.update(step.results)
        return found

    def _find_useful(self) -> None:
        """Find the operators through which gradients of what went out come back."""
        shape = self.shape
        wanted = shape.active.intersection(shape.outward)
        for step in reversed(shape.steps):
            useful = step.active and not wanted.isdisjoint(step.results)
            shape.useful.append(useful)
            if useful:
                wanted.update(end.value for end in step.ends if end.value in shape.active)
        shape.useful.reverse()
        shape.edges = [n for n in shape.outside if n in wanted]

    def _look_outside(self, number: int) -> None:
        """Ask of a value from outside whether it requires gradients, once."""
        shape = self.shape
        array = self._waiting.pop(number, None)
        if array is None or not shape.values[number].is_smooth:
            return
        shape.outside.append(number)
        if self._edge(array) is not None:
            shape.active.add(number)

    def _argument(self, value: Any) -> object:
        if type(value) is np.ndarray:
            number = self._numbers.get(id(value))
            if number is None:
                number = self._new(value)
                self._waiting[number] = value
            return At(number)
        if type(value) in (list, tuple):
            return [self._argument(each) for each in value]
        if value is not None and type(value) not in _PLAIN:
            raise NotJoined
        return value

    def _result(self, value: object) -> int:
        if type(value) is not np.ndarray:
            raise NotJoined
        number = self._numbers.get(id(value))
        if number is None:
            number = self._new(value)
            self._made.add(number)
        return number

    def _new(self, array: Array) -> int:
        if is_complex(array.dtype):
            raise NotJoined
        number = self._numbers[id(array)] = len(self.shape.values)
        self.shape.values.append(Value(array.shape, array.dtype))
        if array.dtype.kind in "biu":
            self._owners[number] = id(owner_of(array))
        return number

    def _ends(self, bound: Bound, args: Sequence[object]) -> Iterator[End]:
        values = self.shape.values
        for at in bound.order:
            value = args[at] if at < len(args) else None
            if type(value) is At:
                if values[value.number].is_smooth or bound.shared is None:
                    yield End(at, None, value.number)
            elif type(value) is list:
                for inner, each in enumerate(value):
                    if type(each) is At and values[each.number].is_smooth:
                        yield End(at, inner, each.number)


_PLAIN: Final = frozenset({int, float, bool, str, DType, Device, Layout, MemoryFormat})


def _shares(bound: Bound) -> bool:
    """Whether a result may lie in the memory of an argument."""
    return any(each.alias is not None for each in bound.entry.signature.returns)


@cache
def _putting() -> Bound:
    """The operator that gives a tensor with a part of it exchanged."""
    entry = TABLE.operator("aten::as_strided_scatter")
    assert entry is not None
    return bound_row_in_script(entry)


@cache
def _twin(entry: Operator) -> Bound | None:
    """The operator that makes what another one writes in place, of the same arguments."""
    wanted = _taken_by(entry)
    for each in TABLE.operators(entry.name[:-1]):
        if _taken_by(each) == wanted and not each.is_out_form:
            found = bound_row_in_script(each)
            return None if found.row is None or found.row.rewritten is not None else found
    return None


def _taken_by(entry: Operator) -> list[tuple[str, str]]:
    """The names and types of an operator's arguments."""
    return [(each.name, str(each.type)) for each in entry.signature.arguments]


def numbers_in(args: Iterable[object]) -> Iterator[int]:
    """The values among arguments."""
    for value in args:
        if type(value) is At:
            yield value.number
        elif type(value) is list:
            yield from numbers_in(value)
