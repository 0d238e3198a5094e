"""Programs over numbers, strings and containers: their native code as a C function.

The native code is that of `interpreter/native`; `texts.native` takes the place of what it has for
Python's objects.  What a module holds is written beside the code, and read when the function is
called.
"""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ..interpreter.native.externals import EXTERNALS, words_of
from ..interpreter.native.kinds import Kind, NotNative, kind_of
from ..interpreter.native.native_source import NativeSource
from ..interpreter.native.program import library_text, llvm_text
from ..interpreter.native.source import write_native
from ..interpreter.running.invoking import code_of
from ..interpreter.values.objects import ScriptObject
from ..ops.kernels.code.calls.methods import BYTES_BEGIN
from ..ops.kernels.code.language.target import host
from ..typecheck.definitions.functions import Function
from .c_files import Parameter, c_names
from .emit import data_section
from .known import CannotCompile

__all__ = ["TextProgram", "text_program"]

_HERE: Final = Path(__file__).parent
_NUMBERS: Final = {"int": "int64_t", "float": "double", "bool": "int64_t"}


@dataclass(frozen=True)
class TextProgram:
    """The object, and the parameters of the function: first those that are read."""

    object: bytes
    inputs: list[list[Parameter]]
    outputs: list[list[Parameter]]
    constants: int


def text_program(function: Function, owner: ScriptObject, name: str) -> TextProgram:
    """Compile a method without tensors.

    Raises:
        CannotCompile: something has no native form, or no form in C.
    """
    signature = function.signature
    types = [argument.type for argument in signature.arguments]
    code = code_of(function)
    for entry in code.operators:
        if entry.name in ("prim::Print", "aten::warn"):
            raise CannotCompile(f"`{entry.name}` cannot be compiled: there is no output")
    try:
        source = write_native(code, types)
        kinds = [kind_of(type) for type in types]
    except NotNative as error:
        raise CannotCompile(f"`{function.name}` cannot be compiled: {error}") from None
    if source.left_out:
        raise CannotCompile(f"`{function.name}` cannot be compiled: {source.left_out[0]}")
    _refuse_writing(source)
    for word in source.outer:
        if word.startswith("foreign "):
            name = word.partition(" ")[2]
            raise CannotCompile(f"`{name}` cannot be compiled: its code is in this process alone")
    source.kept.clear()
    for word in ("sites", "copies"):
        source.outer.pop(word, None)
    source.lines.append((_HERE / "texts.native").read_text("utf-8"))
    names = c_names([argument.name for argument in signature.arguments], name)
    inputs = [_input(kind, each) for kind, each in zip(kinds[1:], names[1:], strict=True)]
    assert source.result is not None
    outputs = list(_outputs(source.result, "result"))
    data = _written(source, kinds[0], owner)
    made = _object(source, name, inputs, outputs, data, kinds[1:])
    return TextProgram(made, inputs, outputs, len(data))


def _refuse_writing(source: NativeSource) -> None:
    """What the module holds is part of the program."""
    for line in source.lines:
        if "set_attribute(" in line:
            raise CannotCompile("the program changes an attribute of the module")
    for (cls, slot), is_read in source.kept.items():
        if not is_read:
            raise CannotCompile(f"the program changes what attribute {slot} of `{cls}` holds")


# ---------------------------------------------------------------------- parameters


def _input(kind: Kind, name: str) -> list[Parameter]:
    if kind.family in _NUMBERS:
        return [Parameter(_NUMBERS[kind.family], name, kind.family)]
    if kind.family == "str":
        return [
            Parameter("const char *", name, "text in UTF-8"),
            Parameter("int64_t", f"{name}_size", "its bytes"),
        ]
    if kind.family == "list" and kind.parts[0].family in _NUMBERS:
        item = kind.parts[0].family
        return [
            Parameter(f"const {_NUMBERS[item]} *", name, f"a list of {item}"),
            Parameter("int64_t", f"{name}_size", "its elements"),
        ]
    raise CannotCompile(f"the argument `{name}` has no form in C")


def _outputs(kind: Kind, name: str) -> Iterator[list[Parameter]]:
    if kind.family in _NUMBERS:
        yield [Parameter(f"{_NUMBERS[kind.family]} *", name, kind.family)]
    elif kind.family == "tuple":
        for place, part in enumerate(kind.parts):
            yield from _outputs(part, f"{name}_{place}")
    elif kind.family == "str":
        yield list(_buffer("char *", name, "text in UTF-8", "bytes"))
    elif kind.family == "list" and kind.parts[0].family in _NUMBERS:
        item = kind.parts[0].family
        yield list(_buffer(f"{_NUMBERS[item]} *", name, f"a list of {item}", "elements"))
    elif kind.family == "list" and kind.parts[0].family == "str":
        yield [
            *_buffer("char *", name, "texts, one behind the other", "bytes"),
            *_buffer("int64_t *", f"{name}_ends", "where each text ends", "texts"),
        ]
    elif kind.family != "none":
        raise CannotCompile(f"the result `{name}` has no form in C")


def _buffer(type: str, name: str, about: str, unit: str) -> Iterator[Parameter]:
    yield Parameter(type, name, about)
    yield Parameter("int64_t", f"{name}_room", f"how many {unit} there is room for")
    yield Parameter("int64_t *", f"{name}_size", f"how many {unit} there are")


# ---------------------------------------------------------------------- what the module holds


class _Writer:
    """Values as `texts.native` reads them."""

    def __init__(self, source: NativeSource) -> None:
        self.source = source
        self.data = bytearray()
        self.waiting: list[tuple[int, bytes | list[tuple[Kind, object]]]] = []

    def word(self, value: int) -> None:
        self.data += struct.pack("<q", value)

    def value(self, kind: Kind, value: Any) -> None:
        """Append a value; what it holds comes later."""
        match kind.family:
            case "int" | "bool":
                self.word(int(value))
            case "float":
                self.data += struct.pack("<d", value)
            case "none":
                return
            case "str":
                text = value.encode()
                self.held(len(text), text)
            case "list":
                self.held(len(value), [(kind.parts[0], each) for each in value])
            case "dict":
                pairs = [p for item in value.items() for p in zip(kind.parts, item, strict=True)]
                self.held(len(value), pairs)
            case "tuple":
                for part, each in zip(kind.parts, value, strict=True):
                    self.value(part, each)
            case "optional":
                self.word(int(value is not None))
                if value is not None:
                    self.value(kind.parts[0], value)
            case "object":
                self.object(kind, value)
            case _:
                raise CannotCompile(f"what the module holds has no form in C: a {kind.family}")

    def object(self, kind: Kind, value: ScriptObject) -> None:
        kinds = self.source.objects[kind.name]
        for slot in sorted(self.source.slots.get(kind.name, ())):
            self.value(kinds[slot], value.slots[slot])

    def held(self, count: int, values: bytes | list[tuple[Kind, Any]]) -> None:
        self.word(count)
        self.waiting.append((len(self.data), values))
        self.word(0)

    def finish(self) -> bytes:
        """All bytes, once what is held is there."""
        for place, values in self.waiting:  # which grows
            self.data += bytes(-len(self.data) % 8)
            self.data[place : place + 8] = struct.pack("<q", len(self.data) - place)
            if isinstance(values, bytes):
                self.data += values
                continue
            for kind, value in values:
                self.value(kind, value)
        return bytes(self.data)


def _written(source: NativeSource, kind: Kind, owner: ScriptObject) -> bytes:
    writer = _Writer(source)
    writer.value(kind, owner)
    return writer.finish()


# ---------------------------------------------------------------------- the object


def _object(
    source: NativeSource,
    name: str,
    inputs: list[list[Parameter]],
    outputs: list[list[Parameter]],
    data: bytes,
    kinds: list[Kind],
) -> bytes:
    assemble = import_module("..ops.kernels.code.loading.assemble", __package__)
    words = words_of(library_text(), source.text, source.outer)
    try:
        program = llvm_text(source)
    except NotNative as error:
        raise CannotCompile(f"the program has no native form: {error}") from None
    table = _table(words)
    if re.search(rf"@{name}\b", program + "\n".join(table)):
        raise CannotCompile(f"`{name}` is the name of another function; -o can give another one")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "constants"
        path.write_bytes(data or b"\0")
        lines = [
            *data_section(name, str(path), len(data)),
            program.replace("define ptr @program", "define internal ptr @program"),
            *table,
            *_function(name, inputs, outputs, kinds),
        ]
        made: bytes = assemble.assembled("\n".join(lines), host())
        return made


def _table(words: list[str]) -> list[str]:
    """The table of outer functions; those of Python's are never called."""
    symbols = []
    for word in words:
        if word.startswith("PyEval_"):
            symbols.append("@nothing")
        elif word.startswith("m_") or (word in EXTERNALS and not word.startswith("Py")):
            symbols.append("@" + word.removeprefix("m_"))
        else:
            symbols.append("null")
    outer = sorted({each for each in symbols if each not in ("null", "@nothing")})
    listed = ", ".join(f"ptr {each}" for each in symbols)
    kind = f"{{[{BYTES_BEGIN} x i8], [{len(symbols)} x ptr]}}"
    return [
        *(f"declare void {each}()" for each in outer),
        "define internal ptr @nothing() {",
        "  ret ptr null",
        "}",
        f"@table = internal constant {kind} {{[{BYTES_BEGIN} x i8] zeroinitializer, "
        f"[{len(symbols)} x ptr] [{listed}]}}, align 16",
    ]


def _function(
    name: str, inputs: list[list[Parameter]], outputs: list[list[Parameter]], kinds: list[Kind]
) -> list[str]:
    """The function that C calls: it puts its arguments where the program looks for them."""
    every = [each for group in (*inputs, *outputs) for each in group]
    typed = ", ".join(f"{_llvm(each)} %{each.name}" for each in every)
    results = [each for group in outputs for each in group]
    lines = [
        f"define i32 @{name}({typed}) {{",
        f"  %cells.all = alloca [{len(inputs) + 4} x ptr], align 16",
        f"  %records.all = alloca [{2 * len(inputs) + 1} x i64], align 16",
        f"  %results.all = alloca [{len(results) + 1} x i64], align 16",
        "  %stop.word = alloca i64",
        "  store i64 0, ptr %stop.word",
        "  store ptr %stop.word, ptr %cells.all",
    ]

    def put(what: str, whole: str, place: int) -> None:
        lines.append(f"  %at{len(lines)} = getelementptr i64, ptr %{whole}.all, i64 {place}")
        lines.append(f"  store {what}, ptr %at{len(lines) - 1}")

    put("ptr %results.all", "cells", 1)
    put(f"ptr @{name}_constants", "cells", 3)
    for number, (group, kind) in enumerate(zip(inputs, kinds, strict=True)):
        value, at = f"%{group[0].name}", f"%record{number}"
        lines.append(f"  {at} = getelementptr i64, ptr %records.all, i64 {2 * number}")
        if kind.family == "bool":
            lines.append(f"  {at}.truth = icmp ne i64 {value}, 0")
            lines.append(f"  {at}.word = zext i1 {at}.truth to i64")
            put(f"i64 {at}.word", "records", 2 * number)
        elif len(group) == 1:
            put(f"{_llvm(group[0])} {value}", "records", 2 * number)
        else:
            put(f"i64 %{group[1].name}", "records", 2 * number)
            lines += [
                f"  {at}.begins = getelementptr i64, ptr {at}, i64 1",
                f"  {at}.own = ptrtoint ptr {at}.begins to i64",
                f"  {at}.there = ptrtoint ptr {value} to i64",
                f"  {at}.behind = sub i64 {at}.there, {at}.own",
            ]
            put(f"i64 {at}.behind", "records", 2 * number + 1)
        put(f"ptr {at}", "cells", 4 + number)
    for place, each in enumerate(results):
        put(f"{_llvm(each)} %{each.name}", "results", place)
    return [
        *lines,
        "  %found.all = call ptr @program(ptr @table, ptr %cells.all, i64 0)",
        "  %number.all = ptrtoint ptr %found.all to i64",
        "  %code.all = trunc i64 %number.all to i32",
        "  ret i32 %code.all",
        "}",
    ]


def _llvm(parameter: Parameter) -> str:
    if parameter.type.endswith("*"):
        return "ptr"
    return "double" if parameter.type == "double" else "i64"
