"""Calls from Python that are as usual, without a detour.

What `calling` finds out for each call (who listens, how arguments are bound, which tensors want
gradients) is written, for a function that has run often, as one Python function: it looks whether
all is as it was, calls the plan or native code, and makes the result.  Whatever is not as usual is
left to `calling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy import ndarray

from ...ops.memory.quiet import QUIET, enter, leave
from ...ops.memory.versions import written
from ...ops.table.autocast import OFF, autocast_state
from ...ops.table.grad_mode import GRAD_MODE, RUNNING
from ...ops.tensors.overriding import STATE
from ...ops.tensors.tensor import Parameter, Tensor
from ...ops.tensors.tracing import ACTIVE
from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE
from ...typecheck.definitions.class_types import ClassAttribute, ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument
from ...typecheck.types.types import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    DictType,
    EnumType,
    ListType,
    Type,
)
from ..native.native import NEVER, ROUNDS, STRAIGHT
from ..native.program import FAILED, STOPPED
from ..values.handles import KEEPING
from ..values.histories import tensors_of
from ..values.inward import Convert
from ..values.levels import Unusual, taken_by_levels
from ..values.objects import ScriptObject
from .called import traits_with_calls
from .calling import after_failure
from .reached import Reached
from .tiers import FunctionTiers, Tiers, Way
from .traits import Traits
from .writes import Written, count_writes_of

__all__ = ["Quick"]

FIRST: Final = 16
"""Calls after which it is found out whether there can be such a function; then twice as many."""

MOST_TRIED: Final = 12

MOST_WATCHED: Final = 2000
"""Tensors and objects that an object may hold."""

Slow = Callable[..., object]


class Quick:
    """The quick way into a function, or a method of `owner`, once there is one.

    `call` takes as many arguments by position as `count` says, and behind them those that callers
    name by `words`; None if there is none.  It falls back to `slow`, which gets them by name.
    """

    __slots__ = (
        *("__weakref__", "_left", "_owner", "_slow", "_tried"),
        *("call", "count", "function", "last", "words"),
    )

    def __init__(
        self, function: Function, slow: Slow, last: list[Function], owner: ScriptObject | None
    ) -> None:
        self.function = function
        self.call: Callable[..., Any] | None = None
        self.count = 0
        self.words: tuple[str, ...] = ()
        self.last = last
        self._slow, self._owner = slow, owner
        self._left, self._tried = FIRST, 0

    def consider(self, count: int, words: tuple[str, ...]) -> None:
        """There was a call with so many arguments by position, and others by these names, that was
        not quick."""
        self._left -= 1
        if self._left or self.call is not None:
            return
        self._tried += 1
        if self._tried < MOST_TRIED:
            self._left = FIRST << self._tried
            self.count, self.words = count, words
            self.call = self._made()

    def drop_plan(self) -> None:
        """There is another plan."""
        self.call, self._left = None, FIRST

    def drop(self, *given: object, **named: object) -> object:
        """Something is no longer as it was: the call is done slowly, and there will be another."""
        self.call, self._left = None, FIRST
        return self._slow(*given, **named)

    def finish(self, way: Way, error: BaseException, *given: object, **named: object) -> object:
        """A plan has failed: what Python gets, or the exception that it sees."""
        owner = () if self._owner is None else (self._owner,)
        tiers = self.function.tiers
        assert isinstance(tiers, FunctionTiers)
        return after_failure(tiers, way, (*owner, *given), named, error)

    def _made(self) -> Callable[..., object] | None:
        tiers = self.function.tiers
        if not isinstance(tiers, FunctionTiers) or Tiers.way is not Tiers.usual_way:
            return None
        way = tiers.way()
        if type(way) is not Way or autocast_state():
            return None
        executable, binding = way.executable, tiers.binding
        traits = self._traits(executable.traits)
        if traits is None:
            return None
        arguments = binding.arguments[self._owner is not None :]
        left = {each.name: each for each in arguments[self.count :]}
        if any(each.keyword_only for each in arguments) or self.count > len(arguments):
            return None
        if any(word not in left for word in self.words):
            return None
        types = [each.type for each in arguments[: self.count]]
        types += [left[word].type for word in self.words]
        behind = [_source(each, self.words) for each in left.values()]
        if _UNKNOWN in behind:
            return None
        places = {each.name: place for place, each in enumerate(binding.arguments)}
        named = [*(each.name for each in arguments[: self.count]), *self.words]
        converts = [binding.conversion(places[name]) for name in named]
        return _Text(self, tiers, way, traits).made(types, converts, behind)

    def _traits(self, own: Traits) -> Traits | None:
        """What is known of the code and of all that it calls; None if that is not enough."""
        if own.is_left or not own.calls_others:
            return None if own.is_left else own
        holders = [] if self._owner is None else Reached((self._owner,)).holders
        return traits_with_calls(own, list({each.cls: None for each in holders}))


def _source(argument: Argument, words: tuple[str, ...]) -> object:
    """Which of the names of a call an argument is, or its default; `_UNKNOWN` if that may differ
    from call to call."""
    if argument.name in words:
        return "word", words.index(argument.name)
    is_plain = argument.has_default and type(argument.default) in _PLAIN
    return ("default", argument.default) if is_plain else _UNKNOWN


class _Text:
    """The writing of one such function: `space` holds what its text names.  That is made of this
    file's own lines, and numbers."""

    def __init__(self, quick: Quick, tiers: FunctionTiers, way: Way, traits: Traits) -> None:
        self._quick, self._way, self._traits = quick, way, traits
        self._owner = quick._owner
        self._tests: list[str] = []
        self._stale: list[str] = []
        self._wanted: list[str] = []
        self._converted: list[str] = []
        self._bare: list[str] = []
        self._given: list[str] = []
        self._given_tensors: list[str] = []
        self._watched: list[str] = []
        self._reading: list[str] = []
        self._set: list[str] = []
        self.space: dict[str, Any] = {
            "__builtins__": _BUILTINS,
            **{"ACTIVE": ACTIVE, "KEEPING": KEEPING, "RUNNING": RUNNING, "STATE": STATE},
            **{"OFF": OFF, "autocast": autocast_state, "grad": GRAD_MODE.get},
            **{"QUIET": QUIET, "enter": enter, "leave": leave, "new": object.__new__},
            **{"Tensor": Tensor, "Parameter": Parameter, "ndarray": ndarray},
            **{"Tiers": Tiers, "usual": Tiers.usual_way, "function": quick.function},
            **{"tiers": tiers, "slow": quick._slow, "drop": quick.drop, "last": quick.last},
            **{"STRINGS": {str}, "wants": _WANTS, "written": written},
            **{"FAILED": FAILED, "STOPPED": STOPPED, "owner": self._owner},
            **{"give_back": tiers.binding.give_back, "finish": quick.finish, "way": way},
            **{"recognize": tiers.binding.recognize, "tensors_of": tensors_of},
            "NOTHING": Tensor._of(np.empty(0, np.float32)),
        }

    def made(
        self, types: Sequence[Type], converts: Sequence[Convert], behind: Sequence[Any]
    ) -> Callable[..., object] | None:
        """The function of arguments of these types, with what takes each to the machine; None where
        there can be none.

        `behind` says of those that do not come by position which of the names of the call it is,
        or that it is a default, and which.
        """
        count = self._quick.count
        names = self._given = [f"a{number}" for number in range(len(types))]
        values = [self._argument(*each) for each in zip(names, types, converts, strict=True)]
        if None in values or not self._watches():
            return None
        owner = [] if self._owner is None else ["owner"]
        words = list(enumerate(self._quick.words, count))
        self.space.update((f"w{number}", word) for number, word in words)
        named = ", ".join(f"w{number}: a{number}" for number, _ in words)
        given = ", ".join([*names[:count], *([f"**{{{named}}}"] if named else [])])

        def every(written: Sequence[object]) -> list[str]:
            found = [*owner, *map(str, written[:count])]
            for at, (kind, what) in enumerate(behind):
                self.space[f"d{at}"] = what
                found.append(f"d{at}" if kind == "default" else str(written[count + what]))
            return found

        ending = self._natively(given, every(names))
        ending = ending or self._by_plan(given, every(values))
        if not ending:
            return None
        usual = (
            "ACTIVE or KEEPING or RUNNING.record is not None or STATE.below is not None"
            " or (autocast() is not OFF and autocast()) or Tiers.way is not usual"
        )
        lines = [
            f"def quick({', '.join(names)}):",
            " last[0] = function",
            f" if {' or '.join([usual, *self._tests])}: return slow({given})",
            f" if function.tiers is not tiers: return drop({given})",
            *ending,
        ]
        # as if it stood in this file, whose frames users do not see
        exec(compile("\n".join(lines) + "\n", __file__, "exec"), self.space)
        made: Callable[..., object] = self.space["quick"]
        return made

    def _argument(self, name: str, type: Type, convert: Convert) -> str | None:
        """The machine value of an argument; what is none of the usual types is converted as
        always."""
        written = self._value(name, type)
        if written is None:
            return self._container(name, type, convert)
        if not _holds_words(type):
            self._given_tensors.append(_SHORT.get(type, "*tensors_of(({},))").format(name))
        return written

    def _container(self, name: str, type: Type, convert: Convert) -> str | None:
        """The machine value of a container, and the tensors in it."""
        if _holds_words(type):
            self.space[f"c{name}"] = convert
            self._converted.append(f"v{name} = c{name}({name})")
            return f"v{name}"
        levels = taken_by_levels(type)
        if levels is None and not _holds_values(type):
            return None
        self.space[f"c{name}"] = _by_levels(levels, convert)
        self._converted.append(f"v{name}, t{name} = c{name}({name})")
        self._given_tensors.append(f"*t{name}")
        self._wanted.append(f"any(map(wants, t{name}))")
        return f"v{name}"

    def _value(self, name: str, type: Type) -> str | None:
        """The machine value of an argument, which is tested to be as it nearly always is; None if
        the type is one of others."""
        inner = type.optional_of
        if type == TENSOR or inner == TENSOR or (type.is_choice and TENSOR in type.alternatives):
            if inner is None and name.isidentifier():
                self._bare.append(name)
            kind = f"(kind := type({name})) is not Tensor and kind is not Parameter"
            wants = f"{name}._requires_grad"
            if inner is None:
                self._tests.append(f"({kind})")
                self._wanted.append(wants)
                return f"{name}._array"
            self._tests.append(f"({name} is not None and {kind})")
            self._wanted.append(f"({name} is not None and {wants})")
            return f"(None if {name} is None else {name}._array)"
        if type.list_of == TENSOR:
            return self._tensors(name, "list", name, f"[each._array for each in {name}]")
        if isinstance(type, DictType) and type.key == STRING and type.value == TENSOR:
            written = f"{{key: each._array for key, each in {name}.items()}}"
            return self._tensors(name, "dict", f"{name}.values()", written)
        if type.tuple_of and type.tuple_name is None:
            return self._parts(name, type.tuple_of)
        test = _TESTS.get(type if inner is None else inner)
        if test is None:
            return None
        nothing = "" if inner is None else f"{name} is not None and "
        self._tests.append(f"({nothing}({test.format(name)}))")
        return name

    def _tensors(self, name: str, kind: str, every: str, written: str) -> str:
        """The machine value of a container that holds nothing but tensors."""
        each = f"(kind := type(each)) is not Tensor and kind is not Parameter for each in {every}"
        of_strings = f" or not {{*map(type, {name})}} <= STRINGS" if kind == "dict" else ""
        self._tests.append(f"(type({name}) is not {kind}{of_strings} or any([{each}]))")
        self._wanted.append(f"any([each._requires_grad for each in {every}])")
        return written

    def _parts(self, name: str, types: Sequence[Type]) -> str | None:
        """The machine value of a tuple."""
        self._tests.append(f"(type({name}) is not tuple or len({name}) != {len(types)})")
        values = [self._value(f"{name}[{place}]", each) for place, each in enumerate(types)]
        return None if None in values else f"({''.join(f'{each}, ' for each in values)})"

    def _natively(self, given: str, values: Sequence[str]) -> list[str]:
        """The lines that call native code with values as they come, where that does such calls."""
        native = self._way.executable.native
        run = None if native is None else native.straight_run
        if run is None:
            return []
        self.space["run"] = run
        self._tests.clear()  # native code looks itself
        return [
            f" found = run({', '.join([f'{ROUNDS}, {NEVER}, {STRAIGHT}', *values])})",
            f" if found is FAILED or found is STOPPED: return drop({given})",
            " return found",
        ]

    def _by_plan(self, given: str, values: Sequence[str]) -> list[str]:
        """The lines that call the plan, unless native code may yet take over."""
        native = self._way.executable.native
        if native is not None and not native.refusal:
            return []
        self._way.watchers.add(self._quick)
        if self._way.plan is None:
            return []
        self.space["plan"] = self._way.plan.run
        wanted, stale = " or ".join(self._wanted), " or ".join(self._stale)
        slots = self._watched if self._traits.gives_slots else []
        known = ", ".join([*self._set, *self._given_tensors, *slots, ""])
        alone = [*self._bare, *(each for each in slots if each[0] != "*"), *self._set]
        several = [each[1:] for each in slots if each[0] == "*"]
        lines = [line.format(f"return drop({given})") for line in self._reading]
        if self._converted:  # whatever is wrong is said there
            lines += [" try:", *(f"  {each}" for each in self._converted)]
            lines += [f" except Exception: return slow({given})"]
        if wanted:
            many = "any(" in wanted
            test = f"grad() is not False and ({wanted})"
            test = test if many else f"({wanted}) and grad() is not False"
            lines.append(f" if {test}: return slow({given})")
        if stale:
            lines.append(f" if grad() is not False and ({stale}): return drop({given})")
        lines += self._counting(values)
        return [
            *lines,
            " loud = enter(QUIET)",
            " try:",
            f"  made = plan({', '.join(values)})",
            " except BaseException as error:",
            f"  return finish(way, error, {given})" if given else "  return finish(way, error)",
            " finally:",
            "  leave(loud)",
            " if isinstance(made, ndarray):",
            *(f"  if made is {each}._array: return {each}" for each in alone),
            *(f"  for each in {t}:\n   if made is each._array: return each" for t in several),
            "  handle = new(Tensor)",
            "  handle._array, handle._requires_grad, handle._view_of = made, False, None",
            "  return handle",
            *([] if self.space["recognize"] is None else [f" made = recognize(made, ({known}))"]),
            " return give_back(made)",
        ]

    def _counting(self, values: Sequence[str]) -> list[str]:
        """The lines that count what the call writes of what it is given."""
        arguments, lines, deeper = self._way.executable.arguments, list[str](), list[Written]()
        for each in self._way.writes:
            slots = None if each.conditions else each.slots_of(arguments[each.argument])
            if slots is None:
                deeper.append(each)
                continue
            path = values[each.argument] + "".join(f".slots[{slot}]" for slot in slots)
            lines.append(f" written({path}{'._array' if slots else ''})")
        if deeper:
            self.space["deeper"], self.space["count_writes_of"] = deeper, count_writes_of
            lines.append(f" count_writes_of(({', '.join(values)},), deeper)")
        return lines

    def _watches(self) -> bool:
        """Find what the owner holds, none of which must want gradients; False if that cannot be
        looked at quickly."""
        if self._owner is None:
            return True
        holders, number = [self._owner], 0
        native = self._way.executable.native
        asks_always = self._traits.gives_slots or not (native is None or native.refusal)
        sets = self._traits.sets
        for holder in holders:
            if holder.histories and asks_always:
                return False
            slots = f"s{id(holder)}"
            self.space[slots] = holder.slots
            self._look_for_histories(holder, self._tests if asks_always else self._stale)
            for at, attribute, value in _held(holder):
                type, changes = attribute.type, attribute.name in sets
                if number >= MOST_WATCHED:
                    return False
                slot, name = f"{slots}[{at}]", f"t{number}"
                number += 1
                wants = ""
                if isinstance(value, ScriptObject):
                    if any(value is each for each in holders):
                        return False
                    holders.append(value)
                elif isinstance(value, Tensor) and not changes:
                    self._watched.append(name)
                    wants = f" or {name}._requires_grad"
                elif self._reads(slot, name, type):
                    self._set += [slot] if changes and type == TENSOR else []
                    continue
                elif value is not None or changes:
                    return False
                self.space[name] = value
                self._stale.append(f"{slot} is not {name}{wants}")
        return True

    def _look_for_histories(self, holder: ScriptObject, tests: list[str]) -> None:
        """Have it tested that nothing is known of tensors in the containers of an object; where
        none of them comes out, that matters to calls alone of which gradients are wanted."""
        if any(not isinstance(value, (ScriptObject, Tensor)) for _, _, value in _held(holder)):
            name = f"h{id(holder)}"
            self.space[name] = holder
            tests.append(f"{name}.histories")

    def _reads(self, slot: str, name: str, type: Type) -> bool:
        """Have the tensors in a slot looked at anew in each call; whether that can be done."""
        inner = type.optional_of
        if TENSOR in (type, inner):
            self._watched.append(name)
            self._reading.append(f" {name} = {slot}")
            if inner is not None:
                self._reading.append(f" if {name} is None: {name} = NOTHING")
            kind = f"(kind := type({name})) is not Tensor and kind is not Parameter"
            self._reading.append(f" if {kind}: {{}}")
            self._stale.append(f"{name}._requires_grad")
        elif _holds_values(type):
            self._watched.append(f"*{name}")
            held = _HELD.get(type, "[*tensors_of(({0},))]")
            self._reading.append(f" {name} = {held.format(slot)}")
            self._stale.append(f"any(map(wants, {name}))")
        else:
            return False
        return True


_UNKNOWN: Final = object()

_SHORT: Final[dict[Type, str]] = {
    TENSOR: "{}",
    ListType(TENSOR): "*{}",
    DictType(STRING, TENSOR): "*{}.values()",
}
"""How to write the tensors of some arguments."""

_HELD: Final[dict[Type, str]] = {
    ListType(TENSOR): "[each for each in {0} if type(each) is not ndarray]",
    DictType(STRING, TENSOR): "[each for each in {0}.values() if type(each) is not ndarray]",
}
"""How to write those in some attributes, which mostly hold bare arrays."""

_WANTS: Final = attrgetter("_requires_grad")

_WORDS: Final = frozenset((INT, FLOAT, BOOL, NUMBER, STRING, NONE))

_BUILTINS: Final = {
    each.__name__: each
    for each in (
        *(type, int, float, str, list, dict, tuple),
        *(len, any, map, isinstance, BaseException, Exception),
    )
}

_TESTS: Final[dict[Type, str]] = {
    INT: f"type({{0}}) is not int or not -{1 << 63} <= {{0}} < {1 << 63}",
    FLOAT: "type({0}) is not float",
    BOOL: "{0} is not True and {0} is not False",
    STRING: "type({0}) is not str",
}

_PLAIN: Final = (int, float, bool, str, type(None))
"""Classes of defaults that are the same in each call."""


def _held(holder: ScriptObject) -> Iterator[tuple[int, ClassAttribute, object]]:
    """The tensors and modules in an object's slots, and whatever may hold tensors."""
    for at, attribute in enumerate(holder.cls.attributes.values()):
        if not _is_plain(attribute.type):
            yield at, attribute, holder.slots[at]


def _holds_words(type: Type) -> bool:
    """Whether values of a type are made of numbers, strings, members of enumerations, None and
    containers alone."""
    if type in _WORDS or isinstance(type, EnumType):
        return True
    is_known = type.list_of is not None or isinstance(type, DictType) or bool(type.tuple_of)
    is_known = is_known or type.optional_of is not None
    return is_known and all(map(_holds_words, type.contained))


def _holds_values(type: Type) -> bool:
    """Whether values of a type are made of tensors, numbers, strings, None and containers alone."""
    if type == TENSOR or type in _WORDS:
        return True
    is_known = type.list_of is not None or bool(type.tuple_of) or isinstance(type, DictType)
    return is_known and all(map(_holds_values, type.contained))


def _by_levels(
    levels: Callable[[object], tuple[object, list[Tensor]]] | None, convert: Convert
) -> Callable[[object], tuple[object, list[Tensor]]]:
    """What takes a container to the machine, one by one where its values are not as usual, and
    tells the tensors in it."""

    def taken(value: object) -> tuple[object, list[Tensor]]:
        try:
            if levels is not None:
                return levels(value)
        except Unusual:
            pass
        return convert(value), [*tensors_of((value,))]

    return taken


def _is_plain(type: Type) -> bool:
    """Whether values of a type hold nothing but numbers and the like, or bare arrays."""
    if isinstance(type, ClassType):
        return type.qualified_name.startswith(BUILTIN_NAMESPACE)
    inside = type.contained
    if inside:
        return all(map(_is_plain, inside))
    return type in _WORDS or isinstance(type, EnumType)
