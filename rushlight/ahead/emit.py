"""From programs to an object file: a function in LLVM's text, with the kernels that it calls."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from ..ops.kernels.code.language.target import host
from ..ops.kernels.code.loading import objects
from .driver import Driver, filled
from .known import CannotCompile
from .program import Kernel, Program
from .sizes import Size
from .writing import Pool

__all__ = ["data_section", "object_file"]


def object_file(
    programs: Sequence[Program], sizes: Sequence[Size], pool: Pool, name: str, constants: int
) -> bytes:
    """An object with the function `name`, `name_failure` and, where there are sizes, `name_sizes`,
    for the machine at hand.

    `programs` are those of all values of the sizes, the last of which changes first; their slots,
    and the `constants` bytes of all constants, have been placed.

    Raises:
        CannotCompile: the name is another function's.
        ImportError: llvmlite is not installed.
    """
    llvm: ModuleType = import_module("llvmlite.binding")
    assemble = import_module("..ops.kernels.code.loading.assemble", __package__)
    called = dict.fromkeys(call.kernel for program in programs for call in program.calls())
    kernels = {kernel: f"rushlight.kernel{n}" for n, kernel in enumerate(called)}
    modules = [_kernel(llvm, each, symbol, n) for n, (each, symbol) in enumerate(kernels.items())]
    public = [name, f"{name}_failure", f"{name}_sizes"]
    taken = {each.name for module in modules for each in module.functions}
    if taken & set(public) or f"m_{name}" in pool.scalars.words:
        raise CannotCompile(f"`{name}` is the name of another function; -o can give another one")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "constants"
        with data.open("wb") as file:
            _write_constants(file, pool, constants)
        lines = [
            *data_section(name, str(data), constants),
            "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)",
            *(f"declare void @{symbol}(ptr, i64, i64)" for symbol in kernels.values()),
            *pool.scalars.text(),
            *_functions(programs, sizes, pool, name, kernels),
            *_failures(pool.failures, name),
            "",
        ]
        whole = llvm.parse_assembly("\n".join(lines))
        for module in modules:
            whole.link_in(module)
        for function in whole.functions:
            if not function.is_declaration and function.name not in public:
                function.linkage = "internal"
        made: bytes = assemble.assembled(str(whole), host())
        return made


def _write_constants(file: IO[bytes], pool: Pool, size: int) -> None:
    for constant in pool.constants.values():
        file.seek(constant.offset)
        file.write(constant.data)
    file.truncate(max(size, 1))


def _kernel(llvm: ModuleType, kernel: Kernel, symbol: str, number: int) -> Any:
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


def _failures(failures: Sequence[str], name: str) -> list[str]:
    """`name_failure(int)`: the text of a number that the function gives; null for others."""
    lines, names = [], ["ptr null"]
    for number, text in enumerate(failures):
        data = text.encode() + b"\0"
        escaped = "".join(
            chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data
        )
        symbol = f"@{name}.failure{number}"
        lines.append(f'{symbol} = internal constant [{len(data)} x i8] c"{escaped}"')
        names.append(f"ptr {symbol}")
    table = f"@{name}.failures"
    return [
        *lines,
        f"{table} = internal constant [{len(names)} x ptr] [{', '.join(names)}]",
        f"define ptr @{name}_failure(i32 %number) {{",
        f"  %is_one = icmp ult i32 %number, {len(names)}",
        "  %which = select i1 %is_one, i32 %number, i32 0",
        f"  %place = getelementptr [{len(names)} x ptr], ptr {table}, i64 0, i32 %which",
        "  %text = load ptr, ptr %place",
        "  ret ptr %text",
        "}",
    ]


# ---------------------------------------------------------------------- one body for many sizes


@dataclass
class _Family:
    """Programs that differ in numbers alone: their lines, and for each its place and numbers."""

    lines: list[str]
    rows: dict[int, list[int]] = field(default_factory=dict)


def _families(programs: Sequence[Program], name: str, kernels: dict[Kernel, str]) -> list[_Family]:
    found: dict[str, _Family] = {}
    for place, program in enumerate(programs):
        driver = Driver(program, f"@{name}_constants", kernels)
        family = found.setdefault("\n".join(driver.lines), _Family(driver.lines))
        family.rows[place] = driver.numbers
    return list(found.values())


def _functions(
    programs: Sequence[Program],
    sizes: Sequence[Size],
    pool: Pool,
    name: str,
    kernels: dict[Kernel, str],
) -> Iterator[str]:
    """The function, and those for the programs of each family."""
    families = _families(programs, name, kernels)
    ends = [f"%in{n}" for n in range(len(programs[0].inputs))]
    ends += [f"%out{n}" for n in range(len(programs[0].outputs))]
    buffers = ", ".join(f"ptr {each}" for each in ("%workspace", *ends))
    rows = [""] * len(programs)
    for number, family in enumerate(families):
        table = f"@{name}.numbers{number}"
        columns = list(zip(*family.rows.values(), strict=True))
        kept = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
        yield from _table(table, list(zip(*kept, strict=True)))
        for at, place in enumerate(family.rows):
            rows[place] = f"ptr getelementptr (i64, ptr {table}, i64 {at * len(kept)})"
        yield f"define internal i32 @{name}.body{number}(ptr %row, {buffers}) {{"
        yield from filled(family.lines, _Numbers(columns, kept))
        yield "}"
    if not sizes:
        yield f"define i32 @{name}({buffers}) {{"
        yield f"  %code = call i32 @{name}.body0(ptr null, {buffers})"
        yield from ("  ret i32 %code", "}")
        return
    count = len(programs)
    yield f"@{name}.rows = internal constant [{count} x ptr] [{', '.join(rows)}]"
    bodies = {place: n for n, family in enumerate(families) for place in family.rows}
    which = ", ".join(f"ptr @{name}.body{bodies[place]}" for place in range(count))
    yield f"@{name}.bodies = internal constant [{count} x ptr] [{which}]"
    given = ", ".join(f"i64 %size{n}" for n in range(len(sizes)))
    yield f"define i32 @{name}(ptr %workspace, {given}, {', '.join(f'ptr {e}' for e in ends)}) {{"
    yield from _chosen(sizes, pool.failures)
    yield f"  %row.at = getelementptr ptr, ptr @{name}.rows, i64 %chosen"
    yield f"  %body.at = getelementptr ptr, ptr @{name}.bodies, i64 %chosen"
    yield from ("  %row = load ptr, ptr %row.at", "  %body = load ptr, ptr %body.at")
    yield f"  %code = call i32 %body(ptr %row, {buffers})"
    yield from ("  ret i32 %code", "}")
    yield from _sizes_function(programs, sizes, pool.failures, name, given)


class _Numbers:
    """What stands in the places of numbers: literals, or words of the row."""

    def __init__(self, columns: list[tuple[int, ...]], kept: list[tuple[int, ...]]) -> None:
        self._columns = columns
        self._places = {column: place for place, column in enumerate(kept)}
        self._count = 0

    def __call__(self, number: int) -> tuple[str, Sequence[str]]:
        column = self._columns[number]
        place = self._places.get(column)
        if place is None:
            return str(column[0]), ()
        self._count += 1
        at, value = f"%n{self._count}.at", f"%n{self._count}"
        return value, (
            f"  {at} = getelementptr i64, ptr %row, i64 {place}",
            f"  {value} = load i64, ptr {at}, !invariant.load !9999",
        )


def _table(symbol: str, rows: list[tuple[int, ...]]) -> Iterator[str]:
    """A constant of whole numbers, row after row."""
    values = [number for row in rows for number in row] or [0]
    listed = ", ".join(f"i64 {number}" for number in values)
    yield f"{symbol} = internal constant [{len(values)} x i64] [{listed}]"


def _chosen(sizes: Sequence[Size], failures: Sequence[str]) -> Iterator[str]:
    """`%chosen`, the place of the program for the sizes; the function ends where one is out of
    bounds."""
    place = "0"
    for n, size in enumerate(sizes):
        code = failures.index(size.refusal) + 1
        yield f"  %behind{n} = sub i64 %size{n}, {size.low}"
        yield f"  %fits{n} = icmp ult i64 %behind{n}, {size.count}"
        yield f"  br i1 %fits{n}, label %fine{n}, label %failing{n}"
        yield from (f"failing{n}:", f"  ret i32 {code}", f"fine{n}:")
        yield f"  %further{n} = mul i64 {place}, {size.count}"
        yield f"  %place{n} = add i64 %further{n}, %behind{n}"
        place = f"%place{n}"
    yield f"  %chosen = add i64 {place}, 0"


def _sizes_function(
    programs: Sequence[Program],
    sizes: Sequence[Size],
    failures: Sequence[str],
    name: str,
    given: str,
) -> Iterator[str]:
    """`name_sizes`, which writes the sizes of all results' dimensions."""
    rows = [tuple(n for each in program.outputs for n in each.shape) for program in programs]
    count = len(rows[0])
    yield from _table(f"@{name}.sizes", rows)
    yield f"define i32 @{name}_sizes({given}, ptr %sizes) {{"
    yield from _chosen(sizes, failures)
    yield f"  %begin = mul i64 %chosen, {count}"
    yield f"  %row = getelementptr i64, ptr @{name}.sizes, i64 %begin"
    yield (f"  call void @llvm.memmove.p0.p0.i64(ptr %sizes, ptr %row, i64 {8 * count}, i1 false)")
    yield from ("  ret i32 0", "}", "!9999 = !{}")
