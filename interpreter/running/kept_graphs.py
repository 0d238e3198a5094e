"""Graphs of archives' functions that were made ready to run before, kept on disk.

Reading one takes a tenth of the time of making it.  It goes by all that the archive's code files
hold and by the files of this library, as they are told apart by time and size.  What cannot be
read, or holds what is not there, is made again.
"""

from __future__ import annotations

import hashlib
import json
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
from ...ops.kernels.source_stamps import digest_of_times
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Signature

__all__ = ["keep_graph", "kept_graph"]

_ROOMS: Final = ("frontend", "typecheck", "ops", "ir", "interpreter", "serialization")


@uncollected
def kept_graph(function: Function) -> tuple[Graph, Signature] | None:
    """The graph of a function as it is run, with its signature; None if none is kept, or if it
    has been compiled here already."""
    if function.program is None or function.define is None or function.guard is not None:
        return None
    file = _file(function)
    found = read_kept(file)
    if found is None:
        return None
    try:
        return unpacked(json.loads(found), function.program)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None


def keep_graph(function: Function, graph: Graph) -> None:
    """Keep a graph as it is run, where that can be."""
    if function.program is None or graph.guard is not None:
        return
    file = _file(function)
    if file is None:
        return
    with suppress(NotPacked, RecursionError):
        told = packed(graph, function.signature, function.program)
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
    return digest_of_times(PACKAGE / room for room in _ROOMS)
