"""The body of a compiled function, as lines of LLVM's text with the numbers taken out of them.

Programs for other sizes often differ in numbers alone: how far memory lies behind its start, how
many pieces a kernel has.  Such numbers stand apart, so that one body does for all of these
programs, each with a row of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ..ops.kernels.code.language.text import DOUBLE
from .program import (
    Branch,
    Call,
    Compute,
    Constant,
    Copy,
    Fail,
    Input,
    Kernel,
    Load,
    Loop,
    Move,
    Number,
    Output,
    Place,
    Program,
    Scalar,
    Slot,
    Step,
    Store,
    Word,
    Zeroed,
)

__all__ = ["Driver", "filled"]

_HOLE: Final = re.compile("<(\\d+)>")

_ELEMENTS: Final = {
    **{"?": "i8", "b": "i8", "B": "i8", "h": "i16", "i": "i32", "f": "float", "d": "double"}
}


def filled(lines: Sequence[str], number: Callable[[int], tuple[str, Sequence[str]]]) -> list[str]:
    """Lines with their numbers, each of which may need lines before it."""
    found: list[str] = []
    for line in lines:
        texts: dict[str, str] = {}
        for place in dict.fromkeys(_HOLE.findall(line)):
            texts[place], before = number(int(place))
            found += before
        found.append(_HOLE.sub(lambda hole, texts=texts: texts[hole[1]], line))  # type: ignore[misc]
    return found


class Driver:
    """The lines of a program, `<n>` in the place of number n, and these numbers."""

    def __init__(self, program: Program, constants: str, kernels: Mapping[Kernel, str]) -> None:
        self.lines: list[str] = []
        self.numbers: list[int] = []
        self._constants = constants
        self._kernels = kernels
        self._count = 0
        most = max((len(call.words) for call in program.calls()), default=0)
        self._line(f"%words = alloca [{max(1, most)} x i64], align 16")
        self._line("%c = alloca %rushlight.words, align 16")
        self._line("call void @rushlight.context(ptr %c)")
        for scalar in program.scalars:
            self._line(f"%s{scalar.number} = alloca {scalar.kind}")
        self._body(program.steps)
        self._line("ret i32 0")

    # ------------------------------------------------------------------ text

    def _line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def _let(self, text: str) -> str:
        """A new value of an instruction."""
        self._count += 1
        self._line(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def _label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def _new_labels(self, *names: str) -> list[str]:
        self._count += 1
        return [f"{name}{self._count}" for name in names]

    def _number(self, value: int) -> str:
        """A whole number that may be another one for other sizes."""
        self.numbers.append(value)
        return f"<{len(self.numbers) - 1}>"

    def _address(self, place: Place) -> str:
        """The pointer of a place."""
        base, offset = place.base, place.offset
        match base:
            case Input(number):
                start = f"%in{number}"
            case Output(number):
                start = f"%out{number}"
            case Slot():
                start, offset = "%workspace", offset + base.offset
            case Constant():
                start, offset = self._constants, offset + base.offset
        found = self._let(f"getelementptr i8, ptr {start}, i64 {self._number(offset)}")
        for index, by in place.terms:
            behind = self._let(f"mul i64 {self._operand(index)}, {self._number(by)}")
            found = self._let(f"getelementptr i8, ptr {found}, i64 {behind}")
        return found

    def _operand(self, value: Scalar | Number) -> str:
        """A number of an instruction."""
        if isinstance(value, Scalar):
            return self._let(f"load {value.kind}, ptr %s{value.number}")
        if isinstance(value, bool):
            return "true" if value else "false"
        return self._number(value) if isinstance(value, int) else DOUBLE.literal(value)

    def _store(self, target: Scalar, value: str) -> None:
        self._line(f"store {target.kind} {value}, ptr %s{target.number}")

    # ------------------------------------------------------------------ steps

    def _body(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self._step(step)

    def _step(self, step: Step) -> None:
        match step:
            case Call():
                self._call(step)
            case Compute():
                self._compute(step)
            case Move(target, source):
                self._store(target, self._operand(source))
            case Load(target, place, letter):
                self._store(target, self._loaded(self._address(place), letter, target.kind))
            case Store(place, kind, source):
                value = self._operand(source)
                self._line(f"store {kind} {value}, ptr {self._address(place)}")
            case Copy(to, whence, size):
                given = f"ptr {self._address(to)}, ptr {self._address(whence)}"
                size_text = self._number(size)
                self._line(f"call void @llvm.memmove.p0.p0.i64({given}, i64 {size_text}, i1 false)")
            case Fail(code, condition):
                self._fail(code, None if condition is None else self._operand(condition))
            case Branch():
                self._branch(step)
            case Loop():
                self._loop(step)

    def _compute(self, step: Compute) -> None:
        function = step.function
        given = ["ptr %c"]
        for each in step.operands:
            kind = each.kind if isinstance(each, Scalar) else _kind(each)
            given.append(f"{kind} {self._operand(each)}")
        made = self._let(f"call {function.llvm} @{function.symbol}({', '.join(given)})")
        if function.fails:
            self._fail(step.code, self._let(f"extractvalue {function.llvm} {made}, 1"))
            made = self._let(f"extractvalue {function.llvm} {made}, 0")
        self._store(step.target, made)

    def _fail(self, code: int, condition: str | None) -> None:
        failing, fine = self._new_labels("failing", "fine")
        test = f"i1 {condition}, label %{failing}, label %{fine}"
        self._line(f"br {test}" if condition else f"br label %{failing}")
        self._label(failing)
        self._line(f"ret i32 {code}")
        self._label(fine)

    def _call(self, call: Call) -> None:
        zeroed: list[tuple[str, Zeroed]] = []
        for number, word in enumerate(call.words):
            place = self._let(f"getelementptr i64, ptr %words, i64 {number}")
            self._line(f"store {self._word(word, zeroed)}, ptr {place}")
        symbol, count = self._kernels[call.kernel], self._number(call.count)
        self._line(f"call void @{symbol}(ptr %words, i64 0, i64 {count})")
        for address, word in zeroed:
            if word.code:
                found = self._let(f"load i64, ptr {address}")
                self._fail(word.code, self._let(f"icmp ne i64 {found}, 0"))

    def _word(self, word: Word, zeroed: list[tuple[str, Zeroed]]) -> str:
        if isinstance(word, int):
            return f"i64 {self._number(word)}"
        if isinstance(word, Scalar):
            return f"{word.kind} {self._operand(word)}"
        if isinstance(word, Place):
            return f"ptr {self._address(word)}"
        address = self._address(word.place)
        self._line(f"store i64 0, ptr {address}")
        zeroed.append((address, word))
        return f"ptr {address}"

    def _loaded(self, address: str, letter: str, kind: str) -> str:
        """An element as a number of a kind."""
        element = _ELEMENTS.get(letter, "i64")
        value = self._let(f"load {element}, ptr {address}")
        if element in ("float", "double"):
            if kind == "i1":
                return self._let(f"fcmp une {element} {value}, 0.0")
            return value if element == kind else self._let(f"fpext float {value} to double")
        if kind == "i1":
            return self._let(f"icmp ne {element} {value}, 0")
        widens = "zext" if letter in "?B" else "sext"
        wide = value if element == "i64" else self._let(f"{widens} {element} {value} to i64")
        return wide if kind == "i64" else self._let(f"sitofp i64 {wide} to double")

    def _branch(self, branch: Branch) -> None:
        then, other, end = self._new_labels("then", "other", "end")
        self._line(f"br i1 {self._operand(branch.condition)}, label %{then}, label %{other}")
        for label, steps in ((then, branch.then), (other, branch.other)):
            self._label(label)
            self._body(steps)
            self._line(f"br label %{end}")
        self._label(end)

    def _loop(self, loop: Loop) -> None:
        start, body, end = self._new_labels("round", "body", "behind")
        self._line(f"store i64 0, ptr %s{loop.index.number}")
        self._line(f"br label %{start}")
        self._label(start)
        index, most = self._operand(loop.index), self._operand(loop.most)
        is_within = self._let(f"icmp slt i64 {index}, {most}")
        goes_on = self._let(f"and i1 {is_within}, {self._operand(loop.condition)}")
        self._line(f"br i1 {goes_on}, label %{body}, label %{end}")
        self._label(body)
        self._body(loop.body)
        following = self._let(f"add i64 {self._operand(loop.index)}, 1")
        self._store(loop.index, following)
        self._line(f"br label %{start}")
        self._label(end)


def _kind(number: Number) -> str:
    """LLVM's kind of a number that is known."""
    return "i1" if isinstance(number, bool) else "i64" if isinstance(number, int) else "double"
