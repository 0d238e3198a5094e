"""Run the rows of a language checklist and compare with what torch 2.13 made of them.

    python tools/check_language.py FOLDER [--section TEXT] [--row N] [-v] [--diagnostics FILE]

FOLDER holds `features.txt` (one row a line: feature :: example :: arguments :: note) and
`results.json` (row number -> what torch did).  A row passes if it is accepted where torch accepts
it, with the same result, and refused where torch refuses it.  `DEVIATIONS` are the rows where
torch's outcome is a fault of its own, each with the reason.  `import torch` is rushlight here.
`--diagnostics` writes what rushlight says of every refused row into one file, to be read.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.abc
import importlib.util
import io
import json
import linecache
import re
import signal
import sys
import types
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import rushlight

_MODULES = """import torch, math, cmath, io, os, sys, enum, copy, random, time, operator, typing,
warnings, functools, collections, dataclasses""".replace("\n", " ")
PRELUDE = f"""{_MODULES}
import numpy as np
import torch.nn.functional as F
from collections import OrderedDict
from typing import *
S = torch.jit.script
"""


DEVIATIONS = {
    "torch.jit.optimize_for_inference": "PyTorch turns the weights into mkldnn tensors and fails "
    "in a view of them; here the module is frozen, folded and runs",
}
"""Rows that differ on purpose, by feature: why."""

_DEVIATING = "different on purpose"
_FOLDER = "checklist/"
"""Where the rows say they stand."""


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """`torch` and `torch.x` are rushlight and rushlight.x."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name == "torch" or name.startswith("torch."):
            return importlib.util.spec_from_loader(name, self)
        return None

    def create_module(self, spec: Any) -> Any:
        return importlib.import_module("rushlight" + spec.name[len("torch") :])

    def exec_module(self, module: Any) -> None:
        pass


@dataclass(frozen=True)
class Row:
    """One feature."""

    number: int
    section: str
    feature: str
    code: str
    arguments: str

    @property
    def is_script(self) -> bool:
        """Whether the example is a whole script whose `r` counts, not a function."""
        if re.search(r"(^|\n)(try:\n)?r\s*=", self.code):
            return True
        if "\n    r = " in self.code and not self.arguments:
            return True
        if "@torch.jit.script\nclass" in self.code or self.code.startswith("@torch.jit.ignore"):
            return True
        return not self.code.startswith(("def f", "async def f")) and "=>" not in self.code

    @property
    def source(self) -> str:
        code = self.code
        if "=>" in code and not self.is_script and not code.startswith(("def f", "async def f")):
            parameters, _, expression = code.partition("=>")
            code = f"def f({parameters.strip()}):\n    return {expression.strip()}"
        prelude = "" if code.startswith("from __future__") else PRELUDE
        return f"{prelude}{code}\n"


def read_rows(folder: Path) -> list[Row]:
    """The rows of features.txt."""
    rows: list[Row] = []
    section = ""
    for line in (folder / "features.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line and not line.startswith("#"):
            parts = [*re.split(r" ::(?= |$)", line), "", ""]
            code = re.sub(
                r"\\(.)",
                lambda m: "\n" if m[1] == "n" else m[0] if m[1] != "\\" else "\\",
                parts[1],
            )
            rows.append(Row(len(rows), section, parts[0], code.removeprefix(" "), parts[2].strip()))
    return rows


def same(result: str, torchs: str) -> bool:
    """Whether two results are equal but for the numbers of mangled names and the file's folder."""
    one, other = (re.sub(r"mangle_\d+", "mangle", t.replace(_FOLDER, "")) for t in (result, torchs))
    return one == other


def show(value: Any) -> str:
    """A result as the checklist writes it."""
    if isinstance(value, rushlight.Tensor):
        dtype = str(value.dtype)[6:]
        if value.numel() >= 7:
            return f"{dtype} of shape {list(value.shape)}"
        return f"{dtype}{value.tolist()}" if value.dim() else f"{dtype}{value.item()!r}"
    if isinstance(value, tuple):
        name = type(value).__name__ if hasattr(value, "_fields") else ""
        inner = ", ".join(map(show, value)) + ("," if len(value) == 1 else "")
        return f"{name}({inner})"
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(k)}: {show(v)}" for k, v in value.items()) + "}"
    return repr(value)


def _module(row: Row) -> types.ModuleType:
    name = f"e{row.number}"
    filename = f"{_FOLDER}{name}.py"
    linecache.cache[filename] = (len(row.source), None, row.source.splitlines(True), filename)
    module = types.ModuleType(name)
    module.__file__ = filename
    sys.modules[name] = module
    exec(compile(row.source, filename, "exec", dont_inherit=True), module.__dict__)
    return module


def run(row: Row) -> Any:
    """The row's result; raises what the row raises."""
    module = _module(row)
    if row.is_script:
        return getattr(module, "r", "(compiles)")
    scripted = rushlight.jit.script(module.f)
    return scripted(*eval(f"({row.arguments},)" if row.arguments else "()", module.__dict__))


def outcome(row: Row) -> tuple[bool, str]:
    """Whether the row was accepted, and its result or the error."""
    try:
        return True, show(run(row))
    except TimeoutError:
        return False, "TIMEOUT"
    except Exception as error:
        lines = str(error).strip().split("\n")
        return False, f"{type(error).__name__}: {lines[0]} ... {lines[-1]}"


def told(row: Row) -> str:
    """What a user reads when the row is refused; empty if it is not."""
    try:
        run(row)
    except Exception as error:
        notes = "\n".join(getattr(error, "__notes__", [])).strip("\n")
        return notes or f"(no diagnostic) {type(error).__name__}: {error}"
    return ""


def write_diagnostics(rows: Sequence[Row], file: Path) -> None:
    """Write the texts of all refused rows."""
    with file.open("w", encoding="utf-8") as out:
        for row in rows:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = told(row)
            if text:
                out.write(f"{'=' * 20} {row.number}: {row.feature}\n{row.code}\n\n{text}\n\n")


def _alarm(*_: object) -> None:
    raise TimeoutError


def check(rows: Sequence[Row], wanted: dict[str, Any], verbose: bool) -> Counter[str]:
    """Run rows, print those that differ, count by section."""
    counts: Counter[str] = Counter()
    for row in rows:
        torchs = wanted[str(row.number)]
        signal.signal(signal.SIGALRM, _alarm)
        signal.alarm(20)
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            accepted, result = outcome(row)
        signal.alarm(0)
        good = accepted == torchs["ok"] and (not accepted or same(result, torchs["val"]))
        if not good and row.feature in DEVIATIONS:
            counts[_DEVIATING] += 1
            print(f"{row.number} {row.feature} differs on purpose: {DEVIATIONS[row.feature]}")
            continue
        counts[row.section] += good
        if not good or verbose:
            print(f"{'ok  ' if good else 'DIFF'} {row.number} [{row.section}] {row.feature}")
            print(f"     {row.code!r}  # {row.arguments}")
            print(f"     torch:     {torchs.get('val') or torchs.get('why')}")
            print(f"     rushlight: {result}")
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--section", default="", help="rows of sections whose title has this text")
    parser.add_argument("--row", type=int, action="append", help="this row alone (repeatable)")
    parser.add_argument("--diagnostics", type=Path, help="write what is said of refused rows")
    parser.add_argument("-v", "--verbose", action="store_true", help="show passing rows too")
    options = parser.parse_args()
    sys.meta_path.insert(0, _Alias())
    rows = [
        row
        for row in read_rows(options.folder)
        if options.section in row.section and (not options.row or row.number in options.row)
    ]
    if options.diagnostics:
        write_diagnostics(rows, options.diagnostics)
        return 0
    wanted = json.loads((options.folder / "results.json").read_text(encoding="utf-8"))
    counts = check(rows, wanted, options.verbose)
    totals = Counter(row.section for row in rows)
    deviating = counts.pop(_DEVIATING, 0)
    for section, total in totals.items():
        print(f"{section:55} {counts[section]:4} of {total}")
    agreeing = sum(counts.values())
    print(f"{agreeing} of {len(rows)} rows as torch has them, {deviating} different on purpose")
    return 0 if agreeing + deviating == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
