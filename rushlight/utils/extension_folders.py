"""Where torch's extensions in C++ are built, of which rushlight builds none.

Packages keep files of their own there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["CUDA_HOME", "ROCM_HOME", "SYCL_HOME", "_get_build_directory", "get_default_build_root"]

CUDA_HOME = ROCM_HOME = SYCL_HOME = None
"""Where compilers for GPUs lie: none is looked for."""


def get_default_build_root() -> str:
    """The folder for all of them, in the user's folder for what can be made anew."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return str(Path(caches) / "torch_extensions")


def _get_build_directory(name: str, verbose: bool) -> str:
    """The folder of one, which is made: in `TORCH_EXTENSIONS_DIR` if that is set."""
    del verbose  # torch would log it
    given = os.environ.get("TORCH_EXTENSIONS_DIR")
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    root = Path(given) if given else Path(get_default_build_root()) / f"{version}_cpu"
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)
