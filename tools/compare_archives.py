"""Compare rushlight with real torch on a folder of archives, such as models in daily use.

    python tools/compare_archives.py FOLDER PYTHON [options]

PYTHON is an interpreter that has torch.  For every archive of FOLDER with its calls (see
`run_archives.py`) both load and run it; rushlight saves it again, and torch runs that too.  Results
must agree within a small part of the largest number of each tensor.  `--variants` names what is
done to a module before it is called (plain, freeze, optimized, double, half, bfloat16);
`--seconds` times calls, one thread both; `--texts` compares code and inlined graphs.  With `--work`
what torch made of archives is kept there for the next time.  Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

import rushlight

TOLERANCES = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
"""How far a number may be off, as a part of the largest one of its tensor."""


def numbers(value: rushlight.Tensor) -> np.ndarray[Any, Any]:
    """A tensor's elements in the widest type of its kind."""
    if value.is_complex():
        return value.to(rushlight.complex128).numpy()
    return value.to(rushlight.float64).numpy() if value.is_floating_point() else value.numpy()


def tensor_difference(wanted: rushlight.Tensor, got: rushlight.Tensor, scale: float) -> str | None:
    """What differs between two tensors."""
    for what in ("dtype", "shape"):
        if getattr(wanted, what) != getattr(got, what):
            return f"{what} {getattr(got, what)}, not {getattr(wanted, what)}"
    ours, theirs = numbers(got), numbers(wanted)
    if not ours.size or np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fc"):
        return None
    if ours.dtype.kind not in "fc":
        return f"{np.count_nonzero(ours != theirs)} of {ours.size} integers differ"
    fine = np.isfinite(theirs)
    if not np.array_equal(ours[~fine], theirs[~fine], equal_nan=True):
        return "other infinities or NaNs"
    off = np.abs(ours[fine] - theirs[fine]).max() / max(np.abs(theirs[fine]).max(), 1e-30)
    name = str(wanted.dtype).rpartition(".")[2]
    allowed = scale * TOLERANCES.get(name, TOLERANCES["float32"])
    return None if off <= allowed else f"off by {off:.2g}"


def differences(wanted: Any, got: Any, scale: float, place: str = "") -> Iterator[str]:
    """Where two results differ, and how."""
    if isinstance(wanted, rushlight.Tensor) and isinstance(got, rushlight.Tensor):
        found = tensor_difference(wanted, got, scale)
        if found:
            yield f"result{place}: {found}"
    elif type(wanted) is not type(got):
        yield f"result{place}: a {type(got).__name__}, not a {type(wanted).__name__}"
    elif isinstance(wanted, list | tuple | dict):
        if len(wanted) != len(got):
            yield f"result{place}: {len(got)} items, not {len(wanted)}"
            return
        for key in wanted if isinstance(wanted, dict) else range(len(wanted)):
            yield from differences(wanted[key], got[key], scale, f"{place}[{key!r}]")
    elif wanted != got and not (
        isinstance(wanted, float) and np.isclose(wanted, got, rtol=1e-5, equal_nan=True)
    ):
        yield f"result{place}: {got!r}, not {wanted!r}"


def text_difference(name: str, wanted: str, got: str) -> Iterator[str]:
    """The first lines in which two texts differ."""
    if wanted != got:
        lines = difflib.unified_diff(
            wanted.splitlines(), got.splitlines(), "torch", "rushlight", "", "", 0, ""
        )
        yield f"{name}:\n    " + "\n    ".join([line[:200] for line in lines][2:8])


def faults(wanted: dict[str, Any], got: dict[str, Any], scale: float) -> Iterator[str]:
    """What differs between the records of one variant."""
    if "error" in wanted or "error" in got:
        if "error" not in wanted:
            yield f"fails: {got['error']}"
        elif "error" not in got:
            yield f"runs, where torch fails: {wanted['error']}"
        return
    yield from differences(wanted["results"], got["results"], scale)
    for name in ("code", "graph"):
        if name in wanted:
            yield from text_difference(name, wanted[name], got[name])


def times(wanted: dict[str, Any], got: dict[str, Any]) -> str:
    """The fastest calls, and how often torch's time it is; first calls."""
    if "best" not in wanted or "best" not in got:
        return ""
    ratio = got["best"] / wanted["best"]
    first = f"first {got['first']:.2f} s ({wanted['first']:.2f})"
    return f"  {got['best'] * 1e3:.2f} ms, {ratio:.2f} of torch's; {first}"


def run(python: str, module: str, folder: Path, out: Path, more: list[str]) -> None:
    """`run_archives.py` in a process of its own."""
    script = str(ROOT / "tools" / "run_archives.py")
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([python, script, module, str(folder), str(out), *more], check=True, env=alone)


def compare(options: argparse.Namespace, work: Path) -> int:
    """Run everything, print a line for each archive and variant; how many have faults."""
    some = ["--only", options.only]
    both = [*some, "--variants", options.variants, "--seconds", str(options.seconds)]
    both += ["--texts"] * options.texts
    run(options.python, "torch", options.folder, work / "torch", [*both, "--keep"])
    run(sys.executable, "rushlight", options.folder, work / "rushlight", [*both, "--resave"])
    for calls in options.folder.glob("*.calls"):
        link = work / "rushlight" / calls.name
        if not link.exists():
            link.symlink_to(calls.resolve())
    run(options.python, "torch", work / "rushlight", work / "again", some)
    bad = 0
    for path in sorted((work / "torch").glob("*.results")):
        wanted = rushlight.load(path)
        if options.only not in path.name:
            continue
        got = rushlight.load(work / "rushlight" / path.name)
        for variant, theirs in wanted.items():
            found = list(faults(theirs, got[variant], options.tolerance))
            again = work / "again" / path.name
            if variant == "plain" and again.exists():
                resaved = rushlight.load(again)[variant]
                theirs = {k: v for k, v in theirs.items() if k not in ("code", "graph")}
                found += [f"saved again, {fault}" for fault in faults(theirs, resaved, 1e-2)]
            bad += bool(found)
            print(
                f"{'BAD ' if found else 'ok  '}{path.stem} {variant}{times(theirs, got[variant])}"
            )
            print("".join(f"  {fault}\n" for fault in found[:6]), end="", flush=True)
    return bad


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("python")
    parser.add_argument("--only", default="", help="archives whose names contain this")
    parser.add_argument("--variants", default="plain")
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--tolerance", type=float, default=1.0, help="a factor to the tolerances")
    parser.add_argument("--work", type=Path, help="a folder for results, kept")
    options = parser.parse_args()
    if options.work:
        return 1 if compare(options, options.work) else 0
    with tempfile.TemporaryDirectory() as work:
        return 1 if compare(options, Path(work)) else 0


if __name__ == "__main__":
    sys.exit(main())
