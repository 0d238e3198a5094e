"""Compiling kernels by numba, with a cache on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from ...memory.allocation import uncounted
from ..cache_folder import cache_folder

__all__ = ["compiled", "inlined"]

# memory that compiled code takes for itself comes from Python's allocator, where it is counted
import_module("numba.core.runtime._nrt_python").memsys_use_cpython_allocator()

FAST = {"contract", "nsz"}
"""Products and sums may be fused; nothing is reordered."""

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


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
