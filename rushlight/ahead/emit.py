"""From a program to an object file: a function in LLVM's text, with the kernels that it calls."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..ops.kernels.code import objects
from ..ops.kernels.code.target import host
from ..ops.kernels.code.text import DOUBLE
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
    Output,
    Place,
    Program,
    Scalar,
    Slot,
    Step,
    Word,
    Zeroed,
)
from .scalars import functions

__all__ = ["data_section", "object_file"]


def object_file(program: Program, name: str, constants: int) -> bytes:
    """An object with the function `name` and `name_failure`, for the machine at hand.

    `constants` are the bytes of all constants, whose places have been planned.

    Raises:
        ImportError: llvmlite is not installed.
    """
    llvm: Any = import_module("llvmlite.binding")
    assemble = import_module("..ops.kernels.code.assemble", __package__)
    kernels = {call.kernel: f"rushlight.kernel{n}" for n, call in enumerate(program.calls())}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "constants"
        with data.open("wb") as file:
            _write_constants(file, program, constants)
        text = _Driver(program, name, kernels, constants, str(data)).text()
        whole = llvm.parse_assembly(text)
        for number, kernel in enumerate(kernels):
            whole.link_in(_kernel(llvm, kernel, kernels[kernel], number))
        public = (name, f"{name}_failure")
        for function in whole.functions:
            if not function.is_declaration and function.name not in public:
                function.linkage = "internal"
        made: bytes = assemble.assembled(str(whole), host())
        return made


def _write_constants(file: Any, program: Program, size: int) -> None:
    for constant in program.constants:
        file.seek(constant.offset)
        file.write(constant.data)
    file.truncate(max(size, 1))


def _kernel(llvm: Any, kernel: Kernel, symbol: str, number: int) -> object:
    """The module of a kernel, its names made its own."""
    module = llvm.parse_assembly(objects.text_of(kernel.key)(host()))
    for function in module.functions:
        if function.is_declaration:
            continue
        own = function.name == kernel.function
        function.name = symbol if own else f"{symbol}.{number}.{function.name}"
    for variable in module.global_variables:
        variable.name = f"{symbol}.{number}.{variable.name}"
    return module


def data_section(name: str, path: str, size: int) -> list[str]:
    """The constant `name_constants`, which the assembler takes from a file."""
    symbol, section = f"{name}_constants", ".section .rodata"
    label, hidden = symbol, [f'module asm ".hidden {symbol}"']
    if sys.platform == "darwin":
        label, section, hidden = f"_{symbol}", ".section __TEXT,__const", []
    escaped = path.replace("\\", "/").replace('"', "\\22")
    return [
        f'module asm "{section}"',
        'module asm ".balign 64"',
        f'module asm ".globl {label}"',
        *hidden,
        f'module asm "{label}:"',
        f'module asm ".incbin \\22{escaped}\\22"',
        'module asm ".text"',
        f"@{symbol} = external hidden constant [{max(1, size)} x i8], align 64",
    ]


class _Driver:
    """Writes the text of the function."""

    def __init__(
        self,
        program: Program,
        name: str,
        kernels: dict[Kernel, str],
        constants: int,
        data: str,
    ) -> None:
        self.program = program
        self.name = name
        self.kernels = kernels
        self.constants = constants
        self.data = data
        self.lines: list[str] = []
        self.count = 0
        self.most_words = max((len(call.words) for call in program.calls()), default=0)

    def text(self) -> str:
        """The whole module."""
        self.body(self.program.steps)
        numbers = range(len(self.program.inputs)), range(len(self.program.outputs))
        parameters = ["ptr %workspace"]
        parameters += [f"ptr %in{n}" for n in numbers[0]] + [f"ptr %out{n}" for n in numbers[1]]
        scalars = (f"  %s{s.number} = alloca {s.kind}" for s in self.program.scalars)
        return "\n".join(
            [
                *data_section(self.name, self.data, self.constants),
                "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)",
                "declare double @llvm.sqrt.f64(double)",
                "declare i64 @llvm.smin.i64(i64, i64)",
                "declare i64 @llvm.smax.i64(i64, i64)",
                *(f"declare void @{symbol}(ptr, i64, i64)" for symbol in self.kernels.values()),
                *functions(),
                f"define i32 @{self.name}({', '.join(parameters)}) {{",
                f"  %words = alloca [{max(1, self.most_words)} x i64], align 16",
                *scalars,
                *self.lines,
                "  ret i32 0",
                "}",
                *self.failures(),
                "",
            ]
        )

    def failures(self) -> list[str]:
        """`name_failure(int)`: the text of a number that the function gives; null for others."""
        lines, names = [], ["ptr null"]
        for number, text in enumerate(self.program.failures):
            data = text.encode() + b"\0"
            escaped = "".join(
                chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data
            )
            symbol = f"@{self.name}.failure{number}"
            lines.append(f'{symbol} = internal constant [{len(data)} x i8] c"{escaped}"')
            names.append(f"ptr {symbol}")
        table = f"@{self.name}.failures"
        return [
            *lines,
            f"{table} = internal constant [{len(names)} x ptr] [{', '.join(names)}]",
            f"define ptr @{self.name}_failure(i32 %number) {{",
            f"  %is_one = icmp ult i32 %number, {len(names)}",
            "  %which = select i1 %is_one, i32 %number, i32 0",
            f"  %place = getelementptr [{len(names)} x ptr], ptr {table}, i64 0, i32 %which",
            "  %text = load ptr, ptr %place",
            "  ret ptr %text",
            "}",
        ]

    # ------------------------------------------------------------------ instructions

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def let(self, text: str) -> str:
        """A new value of an instruction."""
        self.count += 1
        self.line(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def new_labels(self, *names: str) -> list[str]:
        self.count += 1
        return [f"{name}{self.count}" for name in names]

    def address(self, place: Place) -> str:
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
                start, offset = f"@{self.name}_constants", offset + base.offset
        found = self.let(f"getelementptr i8, ptr {start}, i64 {offset}")
        for index, by in place.terms:
            bytes_behind = self.let(f"mul i64 {self.operand(index)}, {by}")
            found = self.let(f"getelementptr i8, ptr {found}, i64 {bytes_behind}")
        return found

    def operand(self, value: Scalar | bool | int | float | Place) -> str:
        """A number of an instruction."""
        if isinstance(value, Place):
            return f"ptr {self.address(value)}"
        if isinstance(value, Scalar):
            return self.let(f"load {value.kind}, ptr %s{value.number}")
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if isinstance(value, int) else DOUBLE.literal(value)

    def store(self, target: Scalar, value: str) -> None:
        self.line(f"store {target.kind} {value}, ptr %s{target.number}")

    def body(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        match step:
            case Call():
                self.call(step)
            case Compute(target, text, operands):
                made = text.format(*map(self.operand, operands))
                if made.startswith("store"):
                    self.line(made)
                else:
                    self.store(target, self.let(made))
            case Move(target, source):
                self.store(target, self.operand(source))
            case Load(target, place, letter):
                self.store(target, self.loaded(self.address(place), letter, target.kind))
            case Copy(target, source, size):
                to, whence = self.address(target), self.address(source)
                self.line(
                    f"call void @llvm.memmove.p0.p0.i64(ptr {to}, ptr {whence}, i64 {size}, "
                    "i1 false)"
                )
            case Fail(code, condition):
                self.fail(code, None if condition is None else self.operand(condition))
            case Branch():
                self.branch(step)
            case Loop():
                self.loop(step)

    def fail(self, code: int, condition: str | None) -> None:
        failing, fine = self.new_labels("failing", "fine")
        test = f"i1 {condition}, label %{failing}, label %{fine}"
        self.line(f"br {test}" if condition else f"br label %{failing}")
        self.label(failing)
        self.line(f"ret i32 {code}")
        self.label(fine)

    def call(self, call: Call) -> None:
        zeroed: list[tuple[str, Zeroed]] = []
        for number, word in enumerate(call.words):
            place = self.let(f"getelementptr i64, ptr %words, i64 {number}")
            self.line(f"store {self.word(word, zeroed)}, ptr {place}")
        symbol = self.kernels[call.kernel]
        self.line(f"call void @{symbol}(ptr %words, i64 0, i64 {call.count})")
        for address, word in zeroed:
            if word.code:
                value = self.let(f"load i64, ptr {address}")
                self.fail(word.code, self.let(f"icmp ne i64 {value}, 0"))

    def word(self, word: Word, zeroed: list[tuple[str, Zeroed]]) -> str:
        if isinstance(word, int):
            return f"i64 {word}"
        if isinstance(word, Scalar):
            return f"{word.kind} {self.operand(word)}"
        if isinstance(word, Place):
            return f"ptr {self.address(word)}"
        address = self.address(word.place)
        self.line(f"store i64 0, ptr {address}")
        zeroed.append((address, word))
        return f"ptr {address}"

    def loaded(self, address: str, letter: str, kind: str) -> str:
        """An element as a number of a kind."""
        held = {
            "?": "i8",
            "b": "i8",
            "B": "i8",
            "h": "i16",
            "i": "i32",
            "f": "float",
            "d": "double",
        }
        element = held.get(letter, "i64")
        value = self.let(f"load {element}, ptr {address}")
        if element in ("float", "double"):
            if kind == "i1":
                return self.let(f"fcmp une {element} {value}, 0.0")
            return value if element == kind else self.let(f"fpext float {value} to double")
        if kind == "i1":
            return self.let(f"icmp ne {element} {value}, 0")
        widens = "zext" if letter in "?B" else "sext"
        wide = value if element == "i64" else self.let(f"{widens} {element} {value} to i64")
        return wide if kind == "i64" else self.let(f"sitofp i64 {wide} to double")

    def branch(self, branch: Branch) -> None:
        then, other, end = self.new_labels("then", "other", "end")
        self.line(f"br i1 {self.operand(branch.condition)}, label %{then}, label %{other}")
        for label, steps in ((then, branch.then), (other, branch.other)):
            self.label(label)
            self.body(steps)
            self.line(f"br label %{end}")
        self.label(end)

    def loop(self, loop: Loop) -> None:
        start, body, end = self.new_labels("round", "body", "behind")
        self.store(loop.index, "0")
        self.line(f"br label %{start}")
        self.label(start)
        index, most = self.operand(loop.index), self.operand(loop.most)
        is_within = self.let(f"icmp slt i64 {index}, {most}")
        goes_on = self.let(f"and i1 {is_within}, {self.operand(loop.condition)}")
        self.line(f"br i1 {goes_on}, label %{body}, label %{end}")
        self.label(body)
        self.body(loop.body)
        following = self.let(f"add i64 {self.operand(loop.index)}, 1")
        self.store(loop.index, following)
        self.line(f"br label %{start}")
        self.label(end)
