"""Program files, and how their inputs and results are written down.

A program file is a Python file over `import rushlight as torch` with two tables: `PROGRAMS`, name
-> function making (eager, scripted), and `INPUTS`, name -> function making a list of argument
tuples.  The same file runs in torch when `rushlight` in `sys.modules` is torch.

Values are written as JSON: `{"t": "tensor", "dtype": ..., "shape": [...], "v": [...]}` and the
like; this module works with either library and needs neither.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import math
import os
import re
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "Program",
    "call",
    "capture",
    "encode",
    "load",
    "normalized",
    "run_file",
    "same",
]


@dataclass(frozen=True)
class Program:
    """One program: `make()` gives (eager or None, scripted), `inputs()` argument tuples."""

    name: str
    file: str
    make: Callable[[], tuple[Any, Any]]
    inputs: Callable[[], list[tuple[Any, ...]]]


def run_file(path: Path) -> types.ModuleType:
    """Run a file of the working directory as a module, its source known by the bare file name."""
    text = path.read_text(encoding="utf-8")
    module = types.ModuleType(path.stem)
    module.__file__ = path.name
    sys.modules[path.stem] = module
    linecache.cache[path.name] = (len(text), None, text.splitlines(True), path.name)
    exec(compile(text, path.name, "exec", dont_inherit=True), module.__dict__)
    return module


def load(folder: Path) -> Iterator[Program]:
    """The programs of every file in a folder, by file name.

    The files are run under their bare names, so that no recorded text holds a path of the machine;
    the working directory becomes the folder, where those names can be found again.
    """
    os.chdir(folder)
    for path in sorted(Path().glob("*.py")):
        module = run_file(path)
        for name, make in module.PROGRAMS.items():
            yield Program(name, path.name, make, module.INPUTS[name])


@contextlib.contextmanager
def capture() -> Iterator[Callable[[], str]]:
    """Collect what is written to standard output, by Python or by C++; call the result for it.

    A file takes it, not a pipe: a pipe that nobody empties stops the writer when it is full.
    """
    sys.stdout.flush()
    saved = os.dup(1)
    text: list[str] = []
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), 1)
        python_side = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), write_through=True)
        try:
            with contextlib.redirect_stdout(python_side):
                yield lambda: "".join(text)
        finally:
            python_side.flush()
            os.dup2(saved, 1)
            os.close(saved)
            written.seek(0)
            text.append(written.read().decode())


def call(target: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """What a call returned and printed, or the first line of its error, as JSON."""
    with capture() as printed:
        try:
            result: dict[str, Any] = {"out": encode(target(*arguments))}
        except Exception as error:
            result = {"raises": type(error).__name__, "last": str(error).strip().split("\n")[-1]}
    return {**result, "stdout": printed()}


def encode(value: Any) -> Any:
    """A value as JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"t": "float", "v": repr(value)}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {"t": kind, "v": [encode(v) for v in value]}
    if isinstance(value, dict):
        return {"t": "dict", "v": [[encode(k), encode(v)] for k, v in value.items()]}
    if hasattr(value, "dtype") and hasattr(value, "detach"):
        flat = value.detach().reshape(-1).tolist()
        if flat and isinstance(flat[0], float):
            flat = [repr(v) for v in flat]
        shape = [int(n) for n in value.shape]
        return {"t": "tensor", "dtype": str(value.dtype), "shape": shape, "v": flat}
    raise TypeError(f"cannot write down a {type(value).__name__}")


def same(one: Any, other: Any, tolerance: float = 1e-5) -> bool:
    """Whether two encoded values agree: floats within a relative tolerance, all else exactly."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.get("t") in ("float", "tensor") and one.keys() == other.keys():
            rest = {k: v for k, v in one.items() if k != "v"}
            if rest != {k: v for k, v in other.items() if k != "v"}:
                return False
            return _close(one["v"], other["v"], tolerance)
        return one.keys() == other.keys() and all(same(one[k], other[k], tolerance) for k in one)
    if isinstance(one, str) and isinstance(other, str):
        return _same_text(one, other, tolerance)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?")


def _same_text(one: str, other: str, tolerance: float) -> bool:
    """Whether printed texts agree: floats in them within the tolerance, all else exactly."""
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    return _close(_NUMBER.findall(one), _NUMBER.findall(other), tolerance)


def _close(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(
            _close(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    if not isinstance(one, str):
        return bool(one == other)
    a, b = float(one), float(other)
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-7)


def normalized(graph: str) -> str:
    """Graph text with its values renumbered in order of appearance, keeping their base names."""
    seen: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        name = match.group(1)
        base = re.sub(r"\.\d+$", "", name)
        base = "" if base.isdigit() else base
        return seen.setdefault(name, f"%{base}#{len(seen)}")

    return re.sub(r"%([\w.]+)", rename, graph)
