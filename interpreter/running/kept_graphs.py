"""Graphs of archives' functions that were made ready to run before, kept on disk.

Reading one takes a tenth of the time of making it.  It goes by all that the archive's code files
hold and by the files of this library, as they are told apart by time and size.  What cannot be
read, or holds what is not there, is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from ...frontend.diagnostics.paths import PACKAGE
from ...frontend.foundations.garbage import uncollected
from ...ir.graphs.graph import Graph
from ...ir.text.pack import NotPacked, packed, unpacked
from ...ops.kernels.cache_folder import cache_folder
from ...ops.kernels.kept_files import keep, read_kept
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Signature

__all__ = ["keep_graph", "kept_graph"]

_LEAST: Final = 100
"""Nodes of a graph that is kept; smaller ones that call nothing are made as quickly as a file is
found."""
_CALLS: Final = frozenset(("prim::CallFunction", "prim::CallMethod"))
_MOST: Final = 1000
"""Graphs that are kept; those that have not been used for longest go."""
_ROOMS: Final = ("frontend", "typecheck", "ops", "ir", "interpreter", "serialization")


@uncollected
def kept_graph(function: Function) -> tuple[Graph, Signature] | None:
    """The graph of a function as it is run, with its signature; None if none is kept, or if it
    has been compiled here already."""
    if function.program is None or function.define is None or function.guard is not None:
        return None
    file = _file(function)
    found = read_kept(file)
    if file is None or found is None:
        return None
    try:
        made = unpacked(json.loads(found), function.program)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    with suppress(OSError):
        os.utime(file)
    return made


def keep_graph(function: Function, graph: Graph) -> None:
    """Keep a graph as it is run, where that can be."""
    if function.program is None or graph.guard is not None:
        return
    file = _file(function)
    kinds = [node.kind for node in graph.all_nodes]
    if file is None or (len(kinds) < _LEAST and _CALLS.isdisjoint(kinds)):
        return
    with suppress(NotPacked, RecursionError):
        told = packed(graph, function.signature, function.program)
        _make_room(file.parent)
        keep(file, json.dumps(told, separators=(",", ":")).encode())


def _file(function: Function) -> Path | None:
    assert function.program is not None
    folder = _folder()
    if folder is None or not function.program.digest:
        return None
    words = "\0".join((_stamp(), function.program.digest, function.qualified_name))
    return folder / f"{hashlib.sha256(words.encode()).hexdigest()[:32]}.json"


@cache
def _folder() -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    with suppress(OSError):
        (folder / "graphs").mkdir(mode=0o700, exist_ok=True)
        return folder / "graphs"
    return None


@cache
def _stamp() -> str:
    """What all graphs depend on beside the program."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        for folder, inner, files in os.walk(PACKAGE / room):
            inner.sort()
            for name in sorted(files):
                if name.endswith(".py"):
                    found = os.stat(os.path.join(folder, name))
                    digest.update(f"{name} {found.st_size} {found.st_mtime_ns} ".encode())
    return digest.hexdigest()


def _make_room(folder: Path) -> None:
    """Let those go that have not been used for longest, half of all, where there are too many."""
    with suppress(OSError):
        found = [each for each in os.scandir(folder) if each.name.endswith(".json")]
        if len(found) >= _MOST:
            for each in sorted(found, key=lambda each: each.stat().st_mtime)[: _MOST // 2]:
                os.unlink(each)
