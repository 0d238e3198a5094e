"""The C header of a compiled program, and an example that calls it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .program import Buffer, Program
from .sizes import Described, Size, shown

__all__ = [
    *("Face", "Parameter", "c_name", "c_names", "example_of_tensors", "example_of_texts"),
    "header_text",
]

_TYPES: Final = {
    **{"f": "float", "d": "double", "l": "int64_t", "q": "int64_t", "i": "int32_t"},
    **{"h": "int16_t", "b": "int8_t", "B": "uint8_t", "?": "uint8_t", "e": "uint16_t"},
}
_FORMATS: Final = {"float": "%.9g", "double": "%.17g"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of the C function: its type, name, and what it is."""

    type: str
    name: str
    about: str

    @property
    def declared(self) -> str:
        """As it is written."""
        return self.type + ("" if self.type.endswith("*") else " ") + self.name


_WORDS: Final = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register restrict return short signed sizeof static struct switch typedef"
    " union unsigned void volatile while main workspace".split()
)


def c_name(text: str) -> str:
    """A name of C's for a text."""
    kept = "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
    return kept if kept[:1].isalpha() and kept not in _WORDS else f"the_{kept}"


_RESULT: Final = re.compile(r"result(_\d+)*(_ends)?(_room|_size)?")
_OF_EXAMPLE: Final = frozenset(
    "argc argv at failure file i malloc memory printf sizes stderr".split()
)


def c_names(texts: Sequence[str], function: str) -> list[str]:
    """Names for parameters of a function: none of them twice, and none that results have."""
    found: list[str] = []
    taken = {function, f"{function}_failure", *_OF_EXAMPLE}
    for text in texts:
        name = c_name(text)
        while name in taken or f"{name}_size" in taken or _RESULT.fullmatch(name):
            name += "_given"
        taken |= {name, f"{name}_size"}
        found.append(name)
    return found


def c_type(buffer: Buffer) -> str:
    """The type of a buffer's elements."""
    return _TYPES[buffer.letter]


class Face:
    """What C sees of a program over tensors: sizes, then buffers that are read and written.

    `programs` are those of all values of the `sizes`.  Dimensions are texts, formulas of the sizes
    in C; "" where there is none.
    """

    def __init__(
        self, programs: Sequence[Program], sizes: Sequence[Size], arguments: Sequence[object]
    ) -> None:
        first = programs[0]
        self.sizes = sizes
        self.inputs, self.outputs = first.inputs, first.outputs
        self.dimensions: dict[str, list[str]] = {}
        self.most = {
            each.name: max(program.outputs[n].size for program in programs)
            for n, each in enumerate(first.outputs)
        }
        for buffer, argument in zip(first.inputs, arguments, strict=True):
            given = argument.sizes if isinstance(argument, Described) else buffer.shape
            self.dimensions[buffer.name] = [
                each.name if isinstance(each, Size) else str(each) for each in given
            ]
        for n, buffer in enumerate(first.outputs):
            shapes = zip(*(program.outputs[n].shape for program in programs), strict=True)
            self.dimensions[buffer.name] = [shown(each, sizes) for each in shapes]

    def parameters(self, name: str) -> list[Parameter]:
        """The parameters of the function `name`."""
        found = [Parameter("void *", "workspace", "memory of the call")]
        for size in self.sizes:
            found.append(Parameter("int64_t", size.name, f"from {size.low} to {size.high}"))
        for buffers, kept in ((self.inputs, "const "), (self.outputs, "")):
            for each in buffers:
                found.append(
                    Parameter(f"{kept}{c_type(each)} *", each.name, self._about(each, name))
                )
        return found

    def _about(self, buffer: Buffer, name: str) -> str:
        dimensions = self.dimensions[buffer.name]
        text = c_type(buffer) + "".join(f"[{each or '...'}]" for each in dimensions)
        if not all(dimensions):
            return f"{text}, see {name}_sizes; {self.most[buffer.name]} elements at most"
        return text

    def elements(self, buffer: Buffer) -> str:
        """How many elements a buffer has, in C; of a result that no formula says, the most."""
        dimensions = self.dimensions[buffer.name]
        if not all(dimensions):
            return str(self.most[buffer.name])
        if not self.sizes:
            return str(buffer.size)
        texts = (each if each.isalnum() else f"({each})" for each in dimensions)
        return "(size_t)" + (" * (size_t)".join(texts) or "1")

    @property
    def rank(self) -> int:
        """The dimensions of all results together."""
        return sum(len(each.shape) for each in self.outputs)


def header_text(
    name: str,
    source: str,
    parameters: Sequence[Parameter],
    workspace: int | None,
    about: str,
    more: str = "",
) -> str:
    """The header; `about` says what failures mean, `more` are further declarations."""
    upper = name.upper()
    rows = "".join(f" *   {each.name}: {each.about}\n" for each in parameters)
    typed = ", ".join(each.declared for each in parameters)
    memory = ""
    if workspace is not None:
        memory = f"""
/* Bytes of memory, at a multiple of 64, that a call needs for itself. */
#define {upper}_WORKSPACE {workspace}
"""
    failure = "" if workspace is None else f"\n\nconst char *{name}_failure(int number);"
    return f"""/* {source}, compiled ahead of time by rushlight. */

#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif
{memory}
/*
{rows} *
 * {about} */
int {name}({typed});{failure}
{more}
#ifdef __cplusplus
}}
#endif

#endif
"""


def sizes_declared(face: Face, name: str) -> str:
    """The declaration of `name_sizes`; "" where all sizes are fixed."""
    if not face.sizes:
        return ""
    typed = ", ".join(f"int64_t {size.name}" for size in face.sizes)
    return f"""
/* Writes the sizes of all dimensions of all results, one behind the other: {face.rank} numbers. */
int {name}_sizes({typed}, int64_t *sizes);
"""


def example_of_tensors(face: Face, name: str) -> str:
    """A program that reads the arguments from files, calls the function, and prints the results."""
    count = len(face.sizes)
    words = "".join(
        f"    int64_t {size.name} = read_whole(&argv[{n}], 0);\n"
        for n, size in enumerate(face.sizes, 1)
    )
    checked = "".join(f"{size.name}, " for size in face.sizes)
    if count:
        words += (
            f"    int64_t sizes[{max(1, face.rank)}];\n"
            f"    int failure = {name}_sizes({checked}sizes);\n"
        ) + _REFUSED.format(name=name)
    inputs = "".join(
        f"    {_declared(b)} = read_elements(argv[{n}], {face.elements(b)}, sizeof({c_type(b)}));\n"
        for n, b in enumerate(face.inputs, count + 1)
    )
    outputs = "".join(
        f"    {_declared(b)} = malloc({face.elements(b)} * sizeof({c_type(b)}));\n"
        for b in face.outputs
    )
    prints = "".join(
        _print(c_type(b), b.name, total)
        for b, total in zip(face.outputs, _totals(face), strict=True)
    )
    arguments = checked + ", ".join(b.name for b in [*face.inputs, *face.outputs])
    usage = " ".join(name.upper() for name in _names(face))
    assigned = "failure" if count else "int failure"
    return f"""/* cc {name}_example.c {name}.o -lm -o {name}_example
 * ./{name}_example {usage}
 *
 * Each argument is a file with the elements of one input as they lie in memory. */

{_INCLUDED}
#include "{name}.h"
{_reader("int64_t") if count else ""}
static void *read_elements(const char *path, size_t count, size_t size) {{
    void *elements = malloc(count * size + 1);
    FILE *file = fopen(path, "rb");
    if (!file || !elements || fread(elements, size, count, file) != count || fgetc(file) != EOF) {{
        fprintf(stderr, "%s: not a file of %zu elements of %zu bytes\\n", path, count, size);
        exit(2);
    }}
    fclose(file);
    return elements;
}}

int main(int argc, char **argv) {{
    if (argc != {count + len(face.inputs) + 1}) {{
        fprintf(stderr, "usage: %s {usage}\\n", argv[0]);
        return 2;
    }}
    char *memory = malloc({name.upper()}_WORKSPACE + 64);
    void *workspace = memory + (64 - (uintptr_t)memory % 64) % 64;
{words}{inputs}{outputs}    {assigned} = {name}(workspace, {arguments});
{_REFUSED.format(name=name)}{prints}    return 0;
}}
"""


def _names(face: Face) -> list[str]:
    """The sizes and the arguments."""
    return [*(size.name for size in face.sizes), *(buffer.name for buffer in face.inputs)]


_REFUSED: Final = """    if (failure) {{
        fprintf(stderr, "%s\\n", {name}_failure(failure));
        return 1;
    }}
"""


def _totals(face: Face) -> list[str]:
    """How many elements of each result there are, in C, once `sizes` are known."""
    found, place = [], 0
    for buffer in face.outputs:
        rank = len(buffer.shape)
        asked = " * ".join(f"sizes[{place + n}]" for n in range(rank))
        found.append(f"({asked})" if face.sizes and rank else str(buffer.size))
        place += rank
    return found


def _declared(buffer: Buffer) -> str:
    return f"{c_type(buffer)} *{buffer.name}"


def _print(kind: str, name: str, count: str) -> str:
    form = _FORMATS.get(kind, "%lld")
    value = f"{name}[i]" if kind in _FORMATS else f"(long long){name}[i]"
    return f'    for (size_t i = 0; i < (size_t){count}; i++) printf("{form}\\n", {value});\n'


_ROOM: Final = 1 << 12


def example_of_texts(
    inputs: Sequence[Sequence[Parameter]], outputs: Sequence[Sequence[Parameter]], name: str
) -> str:
    """A program that takes the arguments from its command line; numbers of a list have commas."""
    before = "".join(_taken(group, n) for n, group in enumerate(inputs, 1))
    room = "".join(_room(group) for group in outputs)
    shown = "".join(_shown(group) for group in outputs)
    arguments = [p.name for group in inputs for p in group]
    for group in outputs:
        for each in group:
            is_one = each.name.endswith("_size") or len(group) == 1
            arguments.append(f"&{each.name}" if is_one else each.name)
    usage = " ".join(group[0].name.upper() for group in inputs)
    kinds = {_number(group[0]) for group in inputs if group[0].type != "const char *"}
    readers = "".join(map(_reader, sorted(kinds)))
    return f"""/* cc {name}_example.c {name}.o -lm -o {name}_example
 * ./{name}_example {usage} */

{_INCLUDED}
#include "{name}.h"
{readers}
int main(int argc, char **argv) {{
    if (argc != {len(inputs) + 1}) {{
        fprintf(stderr, "usage: %s {usage}\\n", argv[0]);
        return 2;
    }}
{before}{room}    int failure = {name}({", ".join(arguments)});
    if (failure) {{
        fprintf(stderr, failure == 2 ? "there is too little room\\n" : "the program failed\\n");
        return 1;
    }}
{shown}    return 0;
}}
"""


def _taken(group: Sequence[Parameter], number: int) -> str:
    first, given = group[0], f"argv[{number}]"
    if first.type == "const char *":
        return (
            f"    const char *{first.name} = {given};\n"
            f"    int64_t {group[1].name} = (int64_t)strlen({given});\n"
        )
    kind = _number(first)
    read = _READERS[kind][0]
    if len(group) == 1:
        return f"    {kind} {first.name} = {read}(&{given}, 0);\n"
    return (
        f"    {kind} *{first.name} = malloc((strlen({given}) + 1) * sizeof({kind}));\n"
        f"    int64_t {group[1].name} = 0;\n"
        f"    for (char *at = {given}; *at; at += *at == ',')\n"
        f"        {first.name}[{group[1].name}++] = {read}(&at, 1);\n"
    )


def _number(parameter: Parameter) -> str:
    return "double" if "double" in parameter.type else "int64_t"


_INCLUDED: Final = """#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
_READERS: Final = {
    "int64_t": ("read_whole", "strtoll(*at, &end, 10)", "errno == ERANGE"),
    "double": ("read_real", "strtod(*at, &end)", "0"),
}


def _reader(kind: str) -> str:
    """What reads a number of a kind from the command line, or the next one of a list."""
    name, read, too_large = _READERS[kind]
    return f"""
static {kind} {name}(char **at, int in_list) {{
    char *end;
    errno = 0;
    {kind} number = {read};
    if (end == *at || {too_large} || !(*end == 0 || (in_list && *end == ','))) {{
        fprintf(stderr, "not a number: %s\\n", *at);
        exit(2);
    }}
    *at = end;
    return number;
}}
"""


def _room(group: Sequence[Parameter]) -> str:
    lines = ""
    for each in group:
        kind = each.type.removesuffix("*").strip()
        if len(group) == 1:
            lines += f"    {kind} {each.name};\n"
        elif each.name.endswith("_size"):
            lines += f"    int64_t {each.name};\n"
        elif each.name.endswith("_room"):
            lines += f"    int64_t {each.name} = {_ROOM};\n"
        else:
            lines += f"    {kind} *{each.name} = malloc({_ROOM} * sizeof({kind}));\n"
    return lines


def _shown(group: Sequence[Parameter]) -> str:
    first = group[0]
    kind = first.type.removesuffix("*").strip()
    if len(group) == 1:
        return _print(kind, f"(&{first.name})", "1")
    if len(group) == 6:
        start = f"(i ? {first.name}_ends[i - 1] : 0)"
        return (
            f"    for (int64_t i = 0; i < {first.name}_ends_size; i++)\n"
            f'        printf("%.*s\\n", (int)({first.name}_ends[i] - {start}), '
            f"{first.name} + {start});\n"
        )
    if kind == "char":
        return f'    printf("%.*s\\n", (int){first.name}_size, {first.name});\n'
    return _print(kind, first.name, f"{first.name}_size")
