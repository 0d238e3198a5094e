"""Compiling kernels, with a cache on disk.

The cache lies in a folder of the user's own (`RUSHLIGHT_CACHE` names another, `off` switches it
off).  It holds machine code, so a folder that others may write to is not used.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic

from ...memory.allocation import uncounted

__all__ = ["CACHE_VARIABLE", "cache_folder", "compiled", "generated", "inlined", "summing"]

CACHE_VARIABLE = "RUSHLIGHT_CACHE"
# memory that compiled code takes for itself comes from Python's allocator, where it is counted
import_module("numba.core.runtime._nrt_python").memsys_use_cpython_allocator()

FAST = {"contract", "nsz"}
"""Products and sums may be fused; nothing is reordered."""

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


@cache
def cache_folder() -> Path | None:
    """The folder that compiled kernels are kept in; None if there is no safe one."""
    given = os.environ.get(CACHE_VARIABLE, "")
    if given.lower() == "off":
        return None
    if given:
        folder = Path(given)
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "rushlight" / "kernels"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "rushlight" / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_safe(folder) else None
    except OSError:
        return None


def _is_safe(folder: Path) -> bool:
    """Whether the folder is ours and nobody else can write to it."""
    if not hasattr(os, "getuid"):
        return os.access(folder, os.W_OK)
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def _stamp() -> str:
    """What the cached code was made from: kernels call each other, so all of them count."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Cache(FunctionCache):
    """numba's cache of one function, in our folder."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_path = str(folder)
        self._impl.locator.get_cache_path = lambda: str(folder)
        self._impl.locator.get_source_stamp = _stamp
        self._cache_file = IndexDataCacheFile(  # type: ignore[no-untyped-call]
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=_stamp(),
        )


def compiled(function: Compiled) -> Compiled:
    """The function in native code, made for each combination of dtypes when first called."""
    made: Any = numba.njit(function, nogil=True, fastmath=FAST, error_model="numpy")
    folder = cache_folder()
    if folder is not None:
        # without a place to read the sources from there is no cache
        with suppress(OSError, RuntimeError):
            made._cache = _Cache(function, folder)
    compile_now = made._compile_for_args

    def compile_for(*values: Any, **named: Any) -> Any:
        with uncounted():
            return compile_now(*values, **named)

    made._compile_for_args = compile_for
    result: Compiled = made
    return result


def inlined(function: Compiled) -> Compiled:
    """A function for use in kernels, part of the one that calls it."""
    made: Compiled = numba.njit(function, fastmath=FAST, error_model="numpy")
    return made


def summing(function: Compiled) -> Compiled:
    """Like `inlined`; the terms of its sums may be added in any order."""
    made: Compiled = numba.njit(function, fastmath={*FAST, "reassoc"}, error_model="numpy")
    return made


def generated(function: Callable[..., Any]) -> Any:
    """A function for use in kernels that writes its own LLVM code: see numba's `intrinsic`."""
    return intrinsic(function)
