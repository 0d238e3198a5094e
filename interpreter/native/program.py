"""From the text of native code to a function of Python's."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from ...ops.kernels.code.calls.methods import BYTES_BEGIN, method
from ...ops.kernels.code.loading.objects import is_kept, native_addresses
from ...ops.kernels.source_stamps import digest_of_contents
from .dict_versions import VERSION_AT
from .emitter import ALIASES, CONTEXT, Value
from .externals import table_of, words_of
from .kinds import ADDRESS
from .lowering import Module
from .source import NativeSource

__all__ = [
    *("FAILED", "STOPPED", "compile_native", "is_compiled", "library_function", "library_text"),
    "llvm_text",
]

_HERE: Final = Path(__file__).parent
_STACK: Final = 4096
"""Bytes that a call has before it asks for memory."""


class _Ending:
    """What a call gives that could not be finished."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}>"


FAILED: Final = _Ending("failed")
"""An operator would fail, there is no native form of a value, or memory ran out."""

STOPPED: Final = _Ending("stopped")
"""It had its share of rounds, or was told to stop."""


@cache
def library_text() -> str:
    """The library, in the language that programs are written in."""
    files = sorted((_HERE / "library").glob("*.native"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@cache
def _texts_of_library() -> dict[str, str]:
    """The text of each function of the library: most programs need few of them parsed."""
    texts = re.split(r"(?m)^(?=def )", library_text())[1:]
    return {text[len("def ") : text.index("(")]: text for text in texts}


@cache
def library_function(name: str) -> ast.FunctionDef | None:
    """A function of the library by its name."""
    text = _texts_of_library().get(name)
    return None if text is None else _functions(text)[name]


def _functions(text: str) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}


@cache
def _stamp() -> str:
    """What all programs depend on."""
    return digest_of_contents(_HERE)


def compile_native(source: NativeSource, *, quickly: bool = False) -> Callable[..., object]:
    """The function of a source; if that is to be made `quickly`, it is slower itself.

    Its first arguments are how many rounds of loops may run, the address of a number (what is not 0
    there stops it), and 1 if the others come straight from a caller in Python, unchecked, where
    lists are copied for each place, 0 if they are the machine's, 2 if these are to be checked.  It
    gives `FAILED` or `STOPPED` where the call is not done.

    Raises:
        NotNative: the library has no function for some values.
        OSError: the system lets no memory of ours be executed.
        AttributeError: this system's C library lacks a function.
    """
    found = native_addresses(
        *_key(source, quickly),
        ("program",),
        lambda _: llvm_text(source),
        "little" if quickly else "much",
    )
    words = words_of(library_text(), source.text, source.outer)
    return method("native", found["program"], table_of(words, FAILED, STOPPED, source.outer))


def is_compiled(source: NativeSource, *, quickly: bool = False) -> bool:
    """Whether a source has been compiled in that way before, here or by another process."""
    return is_kept(*_key(source, quickly))


def _key(source: NativeSource, quickly: bool) -> tuple[str, tuple[str, ...]]:
    """What tells a source from all others."""
    slots = {name: sorted(places) for name, places in source.slots.items()}
    told = (source.names, source.objects, slots, source.sites)
    key = (_stamp(), BYTES_BEGIN, VERSION_AT, source.text, *map(repr, told), *source.outer)
    digest = hashlib.sha256("\0".join(map(str, key)).encode()).hexdigest()
    return "draft" if quickly else "program", (digest,)


def llvm_text(source: NativeSource) -> str:
    """LLVM's text of a program.

    Raises:
        NotNative: the library has no function for some values.
    """
    own = _functions(source.text)
    words = words_of(library_text(), source.text, source.outer)
    module = Module(
        lambda name: own.get(name) or library_function(name),
        words,
        source.names,
        source.objects,
        source.slots,
        source.sites,
    )
    start = module.instance("outermost", [Value(ADDRESS, "%arguments")])
    known = {"table": "%table", "top": "%stack", "end": "%end", "scratch": "%scratch"}
    lines = []
    for name, (place, kind) in CONTEXT.items():
        value = known.get(name, "zeroinitializer")
        lines += [
            f"  %{name}.place = getelementptr i64, ptr %c, i64 {place}",
            f"  store {kind.llvm} {value}, ptr %{name}.place",
        ]
    return "\n".join(
        [
            *module.texts_around("native"),
            "declare double @llvm.sqrt.f64(double)",
            "declare double @llvm.fabs.f64(double)",
            "define ptr @program(ptr %self, ptr %arguments, i64 %count) #0 {",
            f"  %c = alloca [{len(CONTEXT)} x i64], align 16",
            f"  %stack = alloca [{_STACK} x i8], align 16",
            "  %scratch = alloca [8 x i64], align 16",
            f"  %end = getelementptr i8, ptr %stack, i64 {_STACK}",
            f"  %table = getelementptr i8, ptr %self, i64 {BYTES_BEGIN}",
            *lines,
            f"  %found = call ptr @{start.symbol}(ptr %c, ptr %arguments)",
            "  ret ptr %found",
            "}",
            'attributes #0 = { nounwind "no-builtins" }',
            ALIASES,
            "",
        ]
    )
