"""LLVM's text of one function as it is written: blocks, variables, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ...frontend.foundations.value_class import value_class
from .kinds import ADDRESS, BOOL, FLOAT, INT, STR, Kind, NotNative

__all__ = [
    *("ALIASES", "CONTEXT", "HEADERS", "RARELY", "TAGS"),
    *("Emitter", "Host", "Instance", "Item", "Known", "Value", "outcome"),
]

_TAKEN: Final = (("origin", ADDRESS), ("next", ADDRESS), ("tag", INT), ("dirty", INT))
"""The object that one is outside, the one that was taken before it, its kind's number, and whether
it was written: of objects, which attributes were."""

HEADERS: Final[dict[str, tuple[tuple[str, Kind], ...]]] = {
    "list": (*_TAKEN, ("count", INT), ("room", INT), ("data", ADDRESS)),
    "dict": (
        *(*_TAKEN, ("count", INT), ("used", INT), ("room", INT)),
        *(("data", ADDRESS), ("index", ADDRESS)),
    ),
    "object": (*_TAKEN, ("known", INT)),
}
"""The words that lists, dicts and objects begin with."""


CONTEXT: Final = {
    name: (place, kind)
    for place, (name, kind) in enumerate(
        (
            *(("table", ADDRESS), ("status", INT), ("left", INT), ("stop", ADDRESS)),
            *(("top", ADDRESS), ("end", ADDRESS), ("chunks", ADDRESS), ("taken", INT)),
            *(("lists", ADDRESS), ("origins", ADDRESS), ("places", INT), ("known", INT)),
            *(("done", INT), ("scratch", ADDRESS), ("straight", INT), ("given", INT)),
            *(("printed", ADDRESS), ("printed_size", INT), ("printed_room", INT)),
            *(("kept", INT), ("checks", INT), ("arrays", ADDRESS)),
            *(("thread", ADDRESS), ("held", INT)),
        )
    )
}
"""The words that functions of one call share."""


@value_class(frozen=True, slots=True)
class Value:
    """What runs when the code does: LLVM's name or literal."""

    kind: Kind
    text: str


@value_class(frozen=True, slots=True)
class Known:
    """What is known while the text is made: a kind, its parts, None, a number or a truth."""

    value: object


Item = Value | Known


TAGS: Final = {"header": 1, "context": 2, "i64": 3, "double": 4, "table": 5, "other": 6}
"""Kinds of memory that never overlap, for LLVM."""

RARELY: Final = ", !prof !9"
"""Of a branch: its first way is hardly ever gone."""

ALIASES: Final = "\n".join(
    [
        '!0 = !{!"rushlight"}',
        *(f'!{10 + n} = !{{!"{tag}", !0, i64 0}}' for tag, n in TAGS.items()),
        *(f"!{n} = !{{!{10 + n}, !{10 + n}, i64 0}}" for n in TAGS.values()),
        '!9 = !{!"branch_weights", i32 1, i32 10000}',
    ]
)


@dataclass(slots=True)
class Instance:
    """A function for arguments of certain kinds; calls of one that `fails` may be given up."""

    symbol: str
    kind: Kind
    fails: bool

    @property
    def llvm(self) -> str:
        """LLVM's type of what it gives: with whether it failed, if it may."""
        return outcome(self.kind) if self.fails else self.kind.llvm


def outcome(kind: Kind) -> str:
    """LLVM's type of a value, and whether there is none since the call is given up."""
    return f"{{ {kind.llvm}, i1 }}"


class Host(Protocol):
    """The module that functions are written for."""

    names: dict[str, object]
    objects: dict[str, tuple[Kind, ...]]
    slots: dict[str, set[int]]
    sites: list[tuple[str, int]]
    taken: list[Kind]
    texts: list[str]
    words: Sequence[str]

    def instance(self, name: str, arguments: Sequence[Item], caller: str = "") -> Instance:
        """The function of the library for arguments, which a `caller` calls."""

    def is_used(self, name: str) -> bool:
        """Whether a function of the library has been written for some arguments."""

    def string(self, value: bytes) -> str:
        """The name of characters that are known beforehand."""

    def fields(self, kind: Kind) -> str:
        """LLVM's type of what lies where a list, a dict or an object is."""


class Emitter:
    """The text of a function, and what is known of its variables."""

    def __init__(self, module: Host, symbol: str) -> None:
        self._module = module
        self._symbol = symbol
        self._lines: list[str] = []
        self._places: list[str] = []
        self._variables: dict[str, Value] = {}
        self._known: dict[str, object] = {}
        self._loops: list[tuple[str, str]] = []
        self._count = 0
        self._result: Kind | None = None
        self._fails = False
        self._is_over = False

    # ---------------------------------------------------------------------------- text

    def _say(self, line: str) -> None:
        self._lines.append(f"  {line}")

    def _name(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _let(self, kind: Kind, text: str) -> Value:
        name = f"%{self._name()}"
        self._say(f"{name} = {text}")
        return Value(kind, name)

    def _begin(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._is_over = False

    def _jump(self, label: str) -> None:
        if not self._is_over:
            self._say(f"br label %{label}")
            self._is_over = True

    def _branch(self, condition: str, then: str, otherwise: str, weights: str = "") -> None:
        self._say(f"br i1 {condition}, label %{then}, label %{otherwise}{weights}")
        self._is_over = True

    def _variable(self, name: str, kind: Kind) -> Value:
        place = f"%m{len(self._places) // 2}"
        self._places.append(f"  {place} = alloca {kind.llvm}")
        self._places.append(f"  store {kind.llvm} zeroinitializer, ptr {place}")
        found = self._variables[name] = Value(kind, place)
        return found

    def _give(self, value: Value) -> None:
        """Return a value; how is known when it is known whether the function may fail."""
        if self._result is None:
            self._result = value.kind
        elif self._result != value.kind:
            raise NotNative(f"{self._symbol} gives {self._result} and {value.kind}")
        self._lines.append(f"RETURN {value.text}")
        self._is_over = True

    def _fail(self) -> None:
        self._fails = True
        self._lines.append("FAIL")
        self._is_over = True

    def _fail_if(self, condition: Value) -> None:
        out, on = self._name("out"), self._name("on")
        self._branch(condition.text, out, on, RARELY)
        self._begin(out)
        self._fail()
        self._begin(on)

    def _ended(self, lines: list[str], kind: Kind) -> list[str]:
        """The lines, with one end: what is given, and whether there is anything, meet there as
        words, of which LLVM knows more than of a pair of them."""
        given = self._variable("given", kind).text
        failed = self._variable("failed", BOOL).text
        found = []
        for line in lines:
            mark, _, text = line.partition(" ")
            if mark == "RETURN":
                found.append(f"  store {kind.llvm} {text}, ptr {given}")
            elif mark == "FAIL":
                found.append(f"  store i1 true, ptr {failed}")
            else:
                found.append(line)
                continue
            found.append("  br label %the.end")
        found += ["the.end:", f"  %the.given = load {kind.llvm}, ptr {given}"]
        if not self._fails:
            return [*found, f"  ret {kind.llvm} %the.given"]
        pair = outcome(kind)
        return [
            *found,
            f"  %the.failed = load i1, ptr {failed}",
            f"  %the.first = insertvalue {pair} zeroinitializer, {kind.llvm} %the.given, 0",
            f"  %the.pair = insertvalue {pair} %the.first, i1 %the.failed, 1",
            f"  ret {pair} %the.pair",
        ]

    def _table_word(self, name: str) -> Value:
        """The address of what is called so outside."""
        place, kind = CONTEXT["table"]
        table = self._load(kind, self._word("%c", place), "context")
        return self._load(ADDRESS, self._word(table.text, self._module.words.index(name)), "table")

    def _word(self, address: str, index: int) -> Value:
        return self._let(ADDRESS, f"getelementptr i64, ptr {address}, i64 {index}")

    def _load(self, kind: Kind, address: Value, tag: str = "") -> Value:
        alias = TAGS[tag or (kind.llvm if kind.llvm in TAGS else "other")]
        return self._let(kind, f"load {kind.llvm}, ptr {address.text}, !tbaa !{alias}")

    def _store(self, address: Value, value: Value, tag: str = "") -> None:
        alias = TAGS[tag or (value.kind.llvm if value.kind.llvm in TAGS else "other")]
        self._say(f"store {value.kind.llvm} {value.text}, ptr {address.text}, !tbaa !{alias}")

    def _size(self, llvm: str) -> Value:
        end = self._let(ADDRESS, f"getelementptr {llvm}, ptr null, i64 1")
        return self._let(INT, f"ptrtoint ptr {end.text} to i64")

    def _pair(self, data: Value, size: Value) -> Value:
        first = self._let(STR, f"insertvalue {STR.llvm} zeroinitializer, ptr {data.text}, 0")
        return self._let(STR, f"insertvalue {STR.llvm} {first.text}, i64 {size.text}, 1")

    def _not(self, value: Value) -> Value:
        return self._let(BOOL, f"xor i1 {value.text}, true")

    def _negative(self, value: Value) -> Value:
        return self._let(INT, f"sub i64 0, {value.text}")

    def _real(self, value: Value) -> Value:
        if value.kind == FLOAT:
            return value
        how = "uitofp" if value.kind == BOOL else "sitofp"
        return self._let(FLOAT, f"{how} {value.kind.llvm} {value.text} to double")

    def _header(self, kind: Kind, word: str) -> tuple[int, Kind]:
        for index, (name, each) in enumerate(HEADERS.get(kind.family, ())):
            if name == word:
                return index, each
        raise NotNative(f"{kind} has no {word}")
