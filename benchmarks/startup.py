"""What `import rushlight` costs beside `import numpy`, in fresh processes.

Exit status 1 if it is more than twice NumPy's, or if numba or lark come with it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 2.0
CACHE = tempfile.TemporaryDirectory(prefix="rushlight-startup-")
"""Byte code, so that both are measured as installed packages are, compiled before."""

UNWANTED = ("numba", "lark", "llvmlite")

CLOCKED = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"
LOADED = "import rushlight, sys; print(*(n for n in {0!r} if n in sys.modules))"


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh Python in which the checkout can be imported."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": CACHE.name}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, text=True, capture_output=True, check=True
    )


def clocked(module: str) -> float:
    """Milliseconds of importing a module, by the process's own clock."""
    return float(python("-c", CLOCKED.format(module)).stdout) * 1e3


def import_time(module: str) -> float:
    """Milliseconds of importing a module and all it imports, by `-X importtime`."""
    lines = python("-X", "importtime", "-c", f"import {module}").stderr.splitlines()
    for line in reversed(lines):
        _, cumulative, name = line.removeprefix("import time:").split("|")
        if name.strip() == module:
            return int(cumulative) / 1e3
    raise RuntimeError(f"-X importtime does not show {module}")


def main() -> int:
    """Measure in turn, print medians, check the limits."""
    parser = argparse.ArgumentParser(description="Time importing rushlight and NumPy.")
    parser.add_argument("--rounds", type=int, default=11, help="fresh processes for each figure")
    rounds = parser.parse_args().rounds
    modules = ("numpy", "rushlight")
    for module in modules:
        clocked(module)  # fills the caches of byte code and files
    worst = 0.0
    for name, measure in (("clock", clocked), ("-X importtime", import_time)):
        times: dict[str, list[float]] = {module: [] for module in modules}
        for _ in range(rounds):
            for module in modules:
                times[module].append(measure(module))
        numpy, rushlight = (statistics.median(times[module]) for module in modules)
        ratio = rushlight / numpy
        worst = max(worst, ratio)
        figures = f"numpy {numpy:7.1f} ms   rushlight {rushlight:7.1f} ms   ratio {ratio:5.2f}"
        print(f"{name:<14} {figures}")
    loaded = python("-c", LOADED.format(UNWANTED)).stdout.split()
    print(f"imported along: {', '.join(loaded) or 'none of ' + ', '.join(UNWANTED)}")
    return 1 if loaded or worst > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
