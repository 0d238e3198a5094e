"""Fronts: eager calls that native code takes apart, by the types of their arguments.

What a shortcut or a recipe does in Python (`shortcuts.py`, `recipes.py`) is done by native code
once a call has come often (`kernels/code/fronts/fronts_text.py`): it takes the arrays of tensors,
calls what does the operator, and makes the tensor.  Whatever is not as usual, a tracer, other
types, goes the way in Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from ..kernels import TRIALS, family
from ..memory.dtype import Array, Device, DType, Layout, MemoryFormat
from ..memory.inference import ON
from ..memory.made_since import WATCHED
from ..memory.native_class import NativeMember, bind_by
from ..memory.quiet import QUIET, enter, leave
from ..memory.storage import address
from ..memory.versions import APART, counts_by_owner, unwritten, write_clock, written
from ..table.direct import direct_form_around, has_direct_form, knows_calls
from ..table.grad_mode import GRAD_MODE
from ..table.table import Operator
from ..tensors.differentiable import AMONG_UNKNOWN, INFERENCE, NO_GRAD
from ..tensors.indexing import read_places, write_places
from ..tensors.sizes import Size, give_member
from ..tensors.slots import slots_of_tensors
from ..tensors.tape_port import MISSED, tape
from ..tensors.tensor import Parameter, Tensor
from ..tensors.tracing import ACTIVE
from .calls import finish, several_of

__all__ = [
    *("CONSTANT", "Front", "Given", "Inner", "Learn", "Look", "NativeMembers", "Recording", "Way"),
    *("arrays_form", "constants_among", "front_of", "learning_more", "quiet", "quiet_form"),
]

_MOST: Final = 24
"""Ways of one function: a call looks through them one after the other."""
_TENSOR, _SAME, _ITSELF, _INTS, _TENSORS, _SPREAD, _LISTED = range(7)
_TOLD_AT: Final = 12
"""The word of a way that tells native code how to record."""
_VIEW, _WRITTEN, _NUMBER, _OTHERS, _FIRST, _VIEWS, _TUPLE, _LEAF, _SLICES = (
    1 << bit for bit in range(9)
)
_LOOKED_TYPES: Final = {"size_type": Size, "apart_type": APART}
_TENSOR_TYPES: Final = (Tensor, Parameter)
CONSTANT: Final = frozenset({bool, type(None), str, DType, Device, Layout, MemoryFormat})
"""Types of what is known by being the very object."""

_UNWATCHED: Final = sys.intern("_unwatched")
_AMONG: Final = sys.intern("_view_among")


class Given(NamedTuple):
    """An argument of a call: which of the operator's it is, what it was given by, if by a name, and
    what it became, what converts it, None where it is taken as it is.  It is none of the operator's
    (-1) where it says whether gradients of a new tensor are wanted."""

    place: int
    name: str
    value: object
    convert: Callable[[object, bool], Any] | None


class Recording(NamedTuple):
    """How calls of tensors that want gradients are recorded."""

    call: Callable[..., object]
    """Records a call; gives `MISSED` for one that it leaves to others, which has not run then."""
    kept: list[Any]
    """What records all such calls, None until there was one."""


class Inner(NamedTuple):
    """What does the operator of a way."""

    call: Callable[..., object]
    spread: Sequence[int] | None
    """Which of its arguments are lists that it takes apart."""
    writes: bool
    """Whether it gives back its first argument, which is written."""


class Way(NamedTuple):
    """How calls like one are done."""

    entry: Operator
    given: Sequence[Given]
    template: Sequence[object]
    """What all arguments are that are not given."""
    sizes_at: int
    """Which of the given ones is the first of several sizes, -1 if none is."""
    recording: Recording
    inner: Inner | None = None
    """What is called with these arguments, where it is not the operator."""


Learn = Callable[[Way], None]
"""`Front.add` of the front of a function, which is made by then."""


class Front:
    """The ways of an eager function; `call` does a call, or has `slowly` do it."""

    def __init__(self, slowly: Callable[..., object]) -> None:
        self._crew = family("calls.prepared").CREW
        self._held: list[object] = []
        self._ways = np.zeros(_MOST + 1, np.int64)
        self.call = self.falling_to(slowly)

    def falling_to(self, slowly: Callable[..., object]) -> Callable[..., object]:
        """The same by the same ways, but for who does other calls."""
        self._held.append(slowly)
        made: Callable[..., object] = self._crew.front(_words(slowly, address(self._ways)))
        return made

    def add(self, way: Way) -> None:
        """Remember the way of calls like one."""
        count = int(self._ways[0])
        if count == _MOST:
            return
        words = self._told(way)
        if words is not None:
            self._ways[1 + count] = words
            self._ways[0] = count + 1

    def _told(self, way: Way) -> int | None:
        """The address of what native code is told; None where it cannot be told."""
        entry, given, _, sizes_at, recording, does = way
        inner, spread, writes = does or _called(entry)
        template = [*way.template]
        arguments: list[int] = []
        wants = False
        for number, each in enumerate(given):
            if each.place < 0:
                arguments += [_ITSELF, id(each.value), 0, 0]
                wants = bool(each.value)
                continue
            is_behind = 0 <= sizes_at <= number
            if is_behind and not each.name:
                arguments += [_SAME, id(int), each.place, 0]
                continue
            found = _argument(each, template, spread)
            if found is None:
                return None
            arguments += [*found[:2], each.place, *found[2:]]
        has_lists = _TENSORS in arguments[::4]  # whose elements might come back
        if spread is not None:
            order = [place for place in range(len(template)) if place not in spread]
            if len(spread) != 1 or _SPREAD not in arguments[::4]:
                return None
            new = {place: number for number, place in enumerate(order)}
            for at in range(0, len(arguments), 4):
                arguments[at + 2] = new.get(arguments[at + 2], 0)
            template = [template[place] for place in order]
        of_tensors = zip(arguments[::4], given, strict=True)
        is_first = any(kind == _TENSOR and each.place == 0 for kind, each in of_tensors)
        flags = _FIRST * is_first + _WRITTEN * writes + _OTHERS * (has_lists and not writes)
        flags += _NUMBER * entry.gives_number + _LEAF * wants
        if entry.is_view:
            is_led = bool(given) and given[0].place == 0
            may_be_told = is_first and is_led
            flags += _SLICES * entry.slices
            flags += _VIEW + _VIEWS * entry.schema.endswith("[]") if may_be_told else _OTHERS
        several = several_of(entry)
        namer = None if several in (None, tuple) else partial(tuple.__new__, several)
        is_plain = arguments[::4].count(_TENSOR) == 1 and not (has_lists or spread)
        gives_several = several is not None or entry.schema.endswith("[]")
        flags += _TUPLE * (gives_several and is_plain and not entry.is_view)
        length = max([_length(each.value) for each in given], default=0)
        records = _Records(entry, recording, -1 if has_lists else length)
        names = [sys.intern(each.name) for each in given if each.name]
        ending = _finisher(entry)
        kinds = arguments[::4]  # of the values themselves only those are named
        named = [each.value for each, kind in zip(given, kinds, strict=True) if kind == _ITSELF]
        self._held += [inner, ending, namer, template, names, named, records]
        words = [
            *(len(given) - len(names), len(names), self._words(map(id, names))),
            *(self._words(arguments), id(inner), self._words(map(id, template)), len(template)),
            *(sizes_at, flags, id(ending), 0 if namer is None else id(namer), id(records.call), 0),
        ]
        records.way = np.array(words, np.int64)
        return address(records.way)

    def _words(self, words: Iterable[int]) -> int:
        array = np.array([*words], np.int64)
        self._held.append(array)
        return address(array)


def _length(value: Any) -> int:
    """How many tensors a list or a tuple of them holds; 0 for all else."""
    is_list = type(value) in (list, tuple) and bool(value) and type(value[0]) in _TENSOR_TYPES
    return len(value) if is_list else 0


class _Records:
    """What records calls of a way, until native code does so itself."""

    def __init__(self, entry: Operator, recording: Recording, length: int) -> None:
        """`length` is that of a list of tensors, if there is one; -1 where there is one that is
        given as a list."""
        self.way: Array
        """Its words, which it is given when these are known."""
        self._held: object = None
        self._entry, self._recording, self._length = entry, recording, length
        self._left = TRIALS if length >= 0 else 1 << 62
        self.call = self._counted
        """Kept here, since native code knows it by its address."""

    def _counted(self, *args: object, **kwargs: object) -> object:
        self._left -= 1
        if self._left < 0:
            self._left = 1 << 62
            found = tape().told(self._entry, self._recording.kept[0], self._length)
            if found is not None:
                self.way[_TOLD_AT], self._held = found
        return self._recording.call(*args, **kwargs)


def _argument(
    each: Given, template: list[object], spread: Sequence[int] | None
) -> tuple[int, int, int] | None:
    """The kind of an argument, what it must be, and how long; None where that is not told."""
    kind, value = type(each.value), each.value
    if kind in _TENSOR_TYPES:
        return _TENSOR, 0, 0
    if kind in (int, float) and each.convert is None:
        return _SAME, id(kind), 0
    if kind is int and each.convert is not None:
        made = each.convert(value, False)
        if type(made) is list and made == [value] * len(made):
            return _LISTED, id(kind), len(made)
        if type(made) is float:  # known by being the very int, of which there is one if it is small
            template[each.place] = made
            return _ITSELF, id(value), 0
    if kind in CONSTANT:
        template[each.place] = value if each.convert is None else each.convert(value, False)
        return _ITSELF, id(value), 0
    if isinstance(value, (list, tuple)) and kind in (list, tuple):
        kinds = set(map(type, value))
        if kinds <= {int} and each.convert is not None and each.convert(value, False) == [*value]:
            return _INTS, id(kind), len(value)
        if value and kinds <= set(_TENSOR_TYPES):
            is_spread = spread is not None and each.place in spread
            return (_SPREAD if is_spread else _TENSORS), id(kind), len(value)
    return None


def _called(entry: Operator) -> Inner:
    """What does an operator."""
    if has_direct_form(entry) or entry.views_by_form:
        direct = direct_form_around(entry, quiet(entry))
        if direct is not None:
            call, form = direct
            return Inner(call, None if form is None else form.lists, entry.is_in_place)
    return Inner(quiet(entry)(arrays_form(entry)), None, entry.is_in_place)


def quiet_form(entry: Operator) -> Callable[..., object] | None:
    """What does an operator's calls natively, without warnings of NumPy's; None where that is not
    known, or takes lists apart."""
    direct = None
    if has_direct_form(entry) or entry.views_by_form:
        direct = direct_form_around(entry, quiet(entry))
    return None if direct is None or direct[1] is not None else direct[0]


def arrays_form(entry: Operator) -> Callable[..., object]:
    """The forward that sees arrays alone."""
    return entry.forward if entry.quantized is None else entry.on_arrays or entry.forward


def quiet(entry: Operator) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """What keeps NumPy from warning, where an operator computes."""
    return _as_it_is if entry.only_moves or entry.of_form else _quietly


def _as_it_is(function: Callable[..., object]) -> Callable[..., object]:
    return function


def _quietly(function: Callable[..., object]) -> Callable[..., object]:
    def call(*values: object) -> object:
        state = enter(QUIET)
        try:
            return function(*values)
        finally:
            leave(state)

    return call


def _finisher(entry: Operator) -> Callable[..., object]:
    """What makes of a result what Python gets, where that is not one new tensor."""

    def call(result: object, *args: object, **named: object) -> object:
        handles = (*args, *named.values())
        values = [each._array if isinstance(each, Tensor) else each for each in handles]
        return finish(entry, values, result, handles)

    return call


def _words(slowly: object, ways: int) -> dict[str, int]:
    """What native code looks at, by name: addresses of objects, and places within them."""
    words: dict[str, object] = {
        **{"slowly": slowly, "active": ACTIVE, "tensor_type": Tensor, "never": False},
        **{"parameter_type": Parameter, "written": written, "grad_mode": GRAD_MODE},
        **{"missed": MISSED, "always": True},
        **{"inference_mode": ON, "unwatched_name": _UNWATCHED, "among_name": _AMONG},
        **{"no_grad_word": NO_GRAD, "inference_word": INFERENCE, "no_word": AMONG_UNKNOWN},
        **{"counts": counts_by_owner(), "clock": write_clock(), "watched": WATCHED},
    }
    return {name: id(each) for name, each in words.items()} | {"ways": ways, **_slots()}


def _slots() -> dict[str, int]:
    """The same of a tensor's slots; none where one is not found."""
    found = slots_of_tensors()
    return (
        {} if found is None else dict(zip(("slot", "wants_slot", "base_slot"), found, strict=True))
    )


def constants_among(args: Sequence[object]) -> dict[int, object]:
    """The dtypes, words and their like among arguments, by their places: what may be kept of a
    call, since tensors would keep their memory and where they came from."""
    return {place: each for place, each in enumerate(args) if type(each) in CONSTANT}


def learning_more(
    call: Callable[..., object],
    learn: Callable[[Sequence[object], dict[str, object]], None],
    first: Mapping[int, object],
) -> Callable[..., object]:
    """A call that a front has learned with the constants `first` among its arguments, and learns
    with others of these types: a dtype or a word is known by being the very one."""
    places = list(first)
    if not places:
        return call
    seen = {tuple(first.values()): TRIALS + 1}

    def counted(*args: object, **kwargs: object) -> object:
        given = (*args, *kwargs.values()) if kwargs else args
        key = tuple([given[place] for place in places])
        count = seen.get(key, 0)
        if count <= TRIALS and (count or len(seen) < _MOST):
            seen[key] = count + 1
            if count == TRIALS:
                learn(args, kwargs)
        return call(*args, **kwargs)

    return counted


def front_of(slowly: Callable[..., object]) -> Front | None:
    """A front without ways; None where there is no native code for it."""
    return Front(slowly) if knows_calls() and _slots() else None


class Look:
    """What a look at a tensor tells, found natively: `call` gives it, or has `slowly` do so, which
    is kept here, as all is that native code looks at.

    `kind` is one of those that `kernels/code/fronts/looked_text.py` names.
    """

    def __init__(
        self, name: str, kind: int, slowly: Callable[..., object], told: Mapping[Any, object]
    ) -> None:
        """`told` is what is told of dtypes of arrays."""
        self._held = slowly, told
        pairs = [id(each) for pair in told.items() for each in pair]
        self._pairs = np.array([*pairs, 0], np.int64)
        words = _words(slowly, 0) | {"tells": kind, "pairs": address(self._pairs)}
        crew = family("calls.prepared").CREW
        words |= {name: id(each) for name, each in _LOOKED_TYPES.items()}
        self.call: Callable[..., object] = crew.looked(name, words)


class NativeMembers:
    """Members of the class of tensors by native code, `found` by name, which leave to those that
    the class has what they do not do themselves; and those of the class of sizes, which has them
    from then on.  Parts of what wants gradients are named in steps, by eager functions of these
    names."""

    def __init__(self, kind: type, steps: Mapping[str, object]) -> None:
        module, crew = family("fronts.parts_text"), family("calls.prepared").CREW
        everything = {kind: module.MEMBERS, Size: module.SIZE_MEMBERS}
        objects: dict[str, object] = {
            slowly: getattr(owner, name)
            for owner, members in everything.items()
            for name, (_, slowly) in members.items()
        }
        objects |= {"slice_type": slice, "ellipsis": Ellipsis, "whole_dtype": np.dtype(np.int64)}
        objects |= steps
        objects |= {"unwritten": unwritten, "whole_slice": slice(None), **_LOOKED_TYPES}
        self._held = [*objects.values()]
        words = _words(self, 0) | {name: id(each) for name, each in objects.items()}
        words |= {"tells": 0, "pairs": 0, "reads": 0, "puts": 0}
        self._table = crew.know_members(words)
        bind_by(crew.binding)
        self.found: dict[str, Callable[..., object]] = {
            name: NativeMember(getattr(kind, name), crew.member(native))
            for name, (native, _) in module.MEMBERS.items()
        }
        for name, (native, _) in module.SIZE_MEMBERS.items():
            give_member(name, NativeMember(getattr(Size, name), crew.member(native)))
        read_places.when_learned(lambda call: self._learned(-2, call))
        write_places.when_learned(lambda call: self._learned(-1, call))

    def _learned(self, place: int, call: Callable[..., object]) -> None:
        """Have what does calls by index tensors called natively: `place` is its word's."""
        self._held.append(call)
        self._table[place] = id(call)
