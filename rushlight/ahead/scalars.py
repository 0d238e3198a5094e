"""Operators over numbers: what their records have for native code, each form a function of its own.

The functions are made as those of `interpreter/native` are, from the same forms and library; what
they call of the C library has a table that grows with them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ..interpreter.native.emitter import ALIASES, CONTEXT, Instance, Value
from ..interpreter.native.kinds import BOOL, FLOAT, INT, NONE, Kind, NotNative, matches
from ..interpreter.native.lowering import Module
from ..interpreter.native.program import library_function
from ..ops.table.table import Operator
from .program import Scalar

__all__ = ["CONVERTED", "CUT", "PLACE", "Scalars", "kind_of_number"]

_KINDS: Final = {"i1": BOOL, "i64": INT, "double": FLOAT}

CUT: Final = "cut_or_fail({0})"
"""An element of a tensor as a whole number, which it must fit."""

PLACE: Final = "place_or_fail({0}, {1})"
"""An index, perhaps from the end, among so many elements."""

CONVERTED: Final = {"i1": "{0} != 0", "i64": "int({0})", "double": "float({0})"}
"""By a kind of LLVM's: a number as one of it."""

_OWN: Final = """
def cut_or_fail(x):
    if not fits_whole(x):
        fail()
    return int(x)

def place_or_fail(index, size):
    place = index + size if index < 0 else index
    if place < 0 or place >= size:
        fail()
    return place
"""


class _Words(list[str]):
    """The functions of the C library that are called, in the order in which they are first met."""

    def index(self, name: str, *range: object) -> int:
        if not name.startswith("m_"):
            raise NotNative(f"a call of {name}")
        if name not in self:
            self.append(name)
        return super().index(name)


@dataclass
class Scalars:
    """The functions of a program, and what has been written of them."""

    words: _Words = field(default_factory=_Words)
    made: dict[tuple[str, tuple[Kind, ...]], Instance] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._own = {each.name: each for each in _definitions(_OWN)}
        self.module = Module(
            lambda name: self._own.get(name) or library_function(name), self.words, {}, {}, {}, []
        )

    def of_operator(self, entry: Operator, values: Sequence[object]) -> Instance | None:
        """The function of an operator for its operands; None if it has no native form for them."""
        kinds = [_kind(value) for value in values]
        if None in kinds or len(entry.signature.returns) != 1:
            return None
        given = [kind for kind in kinds if kind is not None]
        for form in entry.native:
            if form.writes or any(_text(values[at]) != each for at, each in form.at.items()):
                continue
            if matches(form, entry.signature, given) is None:
                continue
            try:
                return self.of_text(form.text, given, form.given, form.then)
            except NotNative:
                continue
        return None

    def of_text(
        self, text: str, kinds: Sequence[Kind], given: Sequence[str] = (), then: str = ""
    ) -> Instance:
        """The function of a form; operands that are None are not among its parameters.

        Raises:
            NotNative: it gives something else than a number.
        """
        names = [f"a{n}" if kind != NONE else "None" for n, kind in enumerate(kinds)]
        every = {"all": ", ".join(names), "result": "found"}
        lines = [f"if not ({each.format(*names, **every)}): fail()" for each in given]
        lines.append(f"found = {text.format(*names, **every)}")
        if then:
            lines.append(f"if not ({then.format(*names, **every)}): fail()")
        body = "\n ".join([*lines, "return found"])
        taken = [name for name in names if name != "None"]
        key = body, tuple(kind for kind in kinds if kind != NONE)
        if key not in self.made:
            name = f"form{len(self.made)}_{len(self.module.texts)}"
            (self._own[name],) = _definitions(f"def {name}({', '.join(taken)}):\n {body}\n")
            made = self.module.instance(name, [Value(kind, "") for kind in key[1]])
            if made.kind not in (INT, FLOAT, BOOL):
                raise NotNative(f"a result {made.kind}")
            self.made[key] = made
        return self.made[key]

    def of_kinds(self, text: str, *kinds: str) -> Instance:
        """The function of a form for kinds of LLVM's."""
        return self.of_text(text, [_KINDS[kind] for kind in kinds])

    def text(self) -> list[str]:
        """LLVM's text: the functions, and `rushlight.context`, which sets up the words they share.

        These are called with the address of those words, `ptr %c`.
        """
        symbols = [f"@{word.removeprefix('m_')}" for word in self.words]
        own = {"@" + found for text in self.module.texts for found in _DEFINED.findall(text)}
        count = max(1, len(symbols))
        table = ", ".join(f"ptr {each}" for each in symbols) or "ptr null"
        place, _ = CONTEXT["table"]
        return [
            *(f"declare void {each}()" for each in sorted(set(symbols) - own)),
            f"@rushlight.table = internal constant [{count} x ptr] [{table}]",
            *self.module.texts,
            "declare double @llvm.sqrt.f64(double)",
            "declare double @llvm.fabs.f64(double)",
            f"%rushlight.words = type [{len(CONTEXT)} x i64]",
            "define internal void @rushlight.context(ptr %c) alwaysinline {",
            f"  %at = getelementptr i64, ptr %c, i64 {place}",
            "  store ptr @rushlight.table, ptr %at",
            "  ret void",
            "}",
            'attributes #0 = { nounwind "no-builtins" }',
            ALIASES,
        ]


_DEFINED: Final = re.compile(r"define internal .*? @([\w.]+)\(")


def _definitions(text: str) -> list[ast.FunctionDef]:
    return [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]


def _kind(value: object) -> Kind | None:
    """The kind of a number or None; None for anything else."""
    if value is None:
        return NONE
    letters = value.kind if isinstance(value, Scalar) else kind_of_number(value)
    return _KINDS.get(letters)


def _text(value: object) -> str:
    """How forms name a constant."""
    if isinstance(value, Scalar):
        return ""
    return f"({value})" if type(value) is int else str(value)


def kind_of_number(number: object) -> str:
    """LLVM's kind of a number of Python's; "" for anything else."""
    if isinstance(number, bool):
        return "i1"
    return "i64" if isinstance(number, int) else "double" if isinstance(number, float) else ""
