"""Generated source as live functions, with tracebacks and `inspect.getsource` as for files."""

from __future__ import annotations

import builtins
import linecache
import sys
import traceback
import weakref
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

from ._codegen import _is_from_torch
from ._namespace import _custom_builtins

__all__ = ["execute", "forward_of", "import_block", "import_lines"]

_OWN: Final = __name__.partition(".")[0]
_OPERATORS: Final = f"{__file__.rpartition('fx')[0]}ops"


class _SourceLoader:
    """Gives back the sources that were executed, by the names they were given."""

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}
        self._numbers = count()

    def cache(
        self, src: str, globals: Mapping[str, object], place: Mapping[str, object] | None
    ) -> str:
        """Keep a source; the name under which tracebacks will ask for it."""
        name = f"<eval_with_key>.{next(self._numbers)}"
        if place:
            name += f" from {place['co_filename']}:{place['co_firstlineno']} in {place['co_name']}"
        self._sources[name] = src
        known = {**globals, "__name__": name, "__loader__": self}
        linecache.lazycache(name, known)
        return name

    def forget(self, name: str) -> None:
        """Let go of a source: nothing is left that runs it."""
        self._sources.pop(name, None)
        linecache.cache.pop(name, None)

    def get_source(self, module_name: str) -> str | None:
        """The source of a name."""
        return self._sources.get(module_name)


_LOADER: Final = _SourceLoader()


def _import(name: str, *rest: Any, **options: Any) -> object:
    """`__import__` in which torch is rushlight."""
    root, dot, below = name.partition(".")
    return builtins.__import__(f"{_OWN}{dot}{below}" if root == "torch" else name, *rest, **options)


def execute(src: str, globals: dict[str, object], place: dict[str, object] | None = None) -> str:
    """Run source; what it defines goes into `globals`.

    Args:
        place: where the code was written that it was made from.

    Returns:
        The name under which the source is kept.
    """
    name = _LOADER.cache(src, globals, place)
    globals.setdefault("__name__", name)
    globals.setdefault("__builtins__", {**vars(builtins), "__import__": _import})
    exec(compile(src, name, "exec", dont_inherit=True), globals)
    return name


def forward_of(
    src: str, globals: dict[str, object], place: dict[str, object] | None = None
) -> Callable[..., object]:
    """The function `forward` that a source defines; `globals` stay as they are.

    Its source is kept for as long as it lives.
    """
    own: dict[str, Any] = dict(globals)
    name = execute(src, own, place)
    found: Callable[..., object] = own["forward"]
    weakref.finalize(found, _LOADER.forget, name).atexit = False
    return found


def tell_line(raised: BaseException, function: Callable[..., object]) -> None:
    """Say on stderr which line of a generated function raised, itself or an operator in it."""
    frames = list(traceback.walk_tb(raised.__traceback__))
    while frames and frames[-1][0].f_code.co_filename.startswith(_OPERATORS):
        frames.pop()
    if not frames or frames[-1][0].f_code is not getattr(function, "__code__", None):
        return
    frame, number = frames[-1]
    source = _LOADER.get_source(frame.f_code.co_filename) or ""
    lines = [*source.splitlines(keepends=True), ""]
    line = lines[number - 1]
    before, after = "".join(lines[max(number - 3, 0) : number]), "".join(lines[number : number + 2])
    print(
        f"Call using an FX-traced Module, line {number} of the traced Module's generated forward "
        f"function:\n{before}\n{'~' * len(line.rstrip())} <--- HERE\n{after}",
        file=sys.stderr,
    )


# --------------------------------------------------------------------------------- imports


NameOf = Callable[[Any], tuple[str, str]]
"""The module and the name that something is imported by."""


def _own_name(thing: Any) -> tuple[str, str]:
    return thing.__module__, thing.__name__


def import_block(globals: Mapping[str, object], name_of: NameOf = _own_name) -> str:
    """The lines that import what generated code refers to."""
    return "\n".join(sorted(import_lines(globals, name_of)))


def import_lines(globals: Mapping[str, object], name_of: NameOf = _own_name) -> list[str]:
    """The same in the order in which the code needs them."""
    lines = (_import_line(name, thing, name_of) for name, thing in globals.items())
    return list(dict.fromkeys(lines))


def _import_line(name: str, thing: object, name_of: NameOf) -> str:
    if name in _custom_builtins:
        return _custom_builtins[name].import_str
    if _is_from_torch(thing):
        return "import torch"
    module, title = name_of(thing)
    return f"from {module} import {title} as {name}"
