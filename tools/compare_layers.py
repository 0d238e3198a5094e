"""Compare rushlight's layers with those of real torch 2.13, row by row of the tables.

    python tools/compare_layers.py PYTHON [TABLES] [--only TEXT] [-v]

PYTHON is an interpreter that has torch; TABLES is tests/rushlight/layers unless said otherwise
(`layer_rows.py` says what a row is).  Compared are parameters drawn, texts, results of both modes
in eager and scripted form, schemas, rushlight's archives run by torch and torch's by rushlight.
`--record` writes what torch found to TABLES/recorded, for the tests.
Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import difflib
import json
import pickle
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import layer_rows
import numpy as np

import rushlight


def faults(wanted: dict[str, Any], got: dict[str, Any]) -> list[tuple[str, str]]:
    """What differs, and the difference; what torch refuses to script is not compared there."""
    found = []
    for name, value in wanted.items():
        if name in ("archive", "refused") or ("refused" in wanted and name.startswith("script")):
            continue
        if name not in got:
            found.append((name, got.get("refused", "missing")))
        elif not layer_rows.same(value, got[name]):
            found.append((name, _difference(value, got[name])))
    return found


def _difference(wanted: Any, got: Any) -> str:
    if isinstance(wanted, str) and isinstance(got, str):
        lines = wanted.splitlines(), got.splitlines()
        return "\n".join(difflib.unified_diff(*lines, "torch", "rushlight", lineterm=""))
    return f"torch     {_short(wanted)}\nrushlight {_short(got)}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    if isinstance(value, np.ndarray):
        flat = [f"{v:.7g}" if value.dtype.kind == "f" else str(v) for v in value.reshape(-1)[:6]]
        return f"{value.dtype}{list(value.shape)} {' '.join(flat)}"
    return str(value)


def compared(row: layer_rows.Row, recorded: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The faults found without torch, and rushlight's own results."""
    own = layer_rows.run(rushlight, row)
    found = faults(recorded, own)
    if "archive" in recorded:
        theirs = layer_rows.replay(rushlight, row, recorded["archive"])
        found += [(f"torch's archive: {n}", d) for n, d in _replayed(recorded, theirs)]
    return found, own


def _replayed(recorded: dict[str, Any], results: dict[str, Any]) -> list[tuple[str, str]]:
    wanted = {name: recorded[name] for name in results if name in recorded}
    return faults(wanted or recorded, results)


def record(folder: Path, results: dict[int, dict[str, Any]]) -> None:
    """Keep the results of both modes, the texts, and sums of the parameters drawn.

    Every table whose rows were all run gets a file of texts and one of arrays.
    """
    rows = layer_rows.rows(folder)
    (folder / "recorded").mkdir(exist_ok=True)
    for family in dict.fromkeys(row.family for row in rows):
        numbers = [n for n, row in enumerate(rows) if row.family == family]
        if not all(n in results for n in numbers):
            continue
        texts: dict[str, Any] = {}
        arrays: dict[str, Any] = {}
        for number in numbers:
            key = f"{rows[number].constructor} => {rows[number].inputs}"
            texts[key] = _record_of(results[number], f"{len(texts)}", arrays)
        text = json.dumps(texts, indent=0)
        (folder / "recorded" / f"{family}.json").write_text(text + "\n", encoding="utf-8")
        np.savez_compressed(folder / "recorded" / f"{family}.npz", **arrays)


def _record_of(found: dict[str, Any], key: str, arrays: dict[str, Any]) -> dict[str, Any]:
    kept = {n: found[n] for n in ("construction", "repr", "script schema") if n in found}
    if "refused" in found:  # what torch cannot save, though it may compile it
        kept.pop("script schema", None)
    if "state" in found:
        kept["state"] = [layer_rows.summary(leaf) for leaf in found["state"]]
    names = [name for name in ("eager eval", "eager train") if name in found]
    for mode in ("eval", "train"):  # scripts of torch that compute something else
        eager, scripted = found.get(f"eager {mode}"), found.get(f"script {mode}")
        if isinstance(eager, list) and isinstance(scripted, list):
            names += [] if layer_rows.same(eager, scripted) else [f"script {mode}"]
    kept.update((name, _kept(found[name], f"{key} {name}", arrays)) for name in names)
    return kept


def _kept(result: Any, key: str, arrays: dict[str, Any]) -> Any:
    if isinstance(result, str):
        return result
    names = []
    for place, leaf in enumerate(result):
        if isinstance(leaf, np.ndarray):
            arrays[f"{key} {place}"] = leaf
            names.append({"array": f"{key} {place}"})
        else:
            names.append(leaf)
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    tables = ROOT / "tests" / "rushlight" / "layers"
    parser.add_argument("tables", nargs="?", type=Path, default=tables)
    parser.add_argument("--only", default="", help="rows whose family and constructor hold this")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the differences")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = layer_rows.rows(options.tables)
    script = [options.python, str(ROOT / "tools" / "layer_rows.py"), str(options.tables)]
    with tempfile.TemporaryDirectory() as work:
        recorded, own, replayed = (Path(work, name) for name in ("torch", "own", "replayed"))
        own.mkdir()
        subprocess.run([*script, str(recorded), "--only", options.only], check=True)
        results = pickle.loads((recorded / "results.pickle").read_bytes())
        if options.record:
            record(options.tables, results)
        found = {}
        for number, wanted in results.items():
            found[number], made = compared(rows[number], wanted)
            if "archive" in made:
                (own / f"{number}.pt").write_bytes(made["archive"])
        again = [*script, str(replayed), "--only", options.only, "--replay", str(own)]
        subprocess.run(again, check=True)
        for number, result in pickle.loads((replayed / "results.pickle").read_bytes()).items():
            if "archive" in results[number]:
                wrong = _replayed(results[number], result)
                found[number] += [(f"archive in torch: {n}", d) for n, d in wrong]
    return report(rows, found, options.verbose)


def report(rows: list[layer_rows.Row], found: dict[int, list[Any]], verbose: bool) -> int:
    """One line for each row that differs, then how many do not."""
    wrong = 0
    for number, differences in found.items():
        if differences:
            wrong += 1
            print(f"{rows[number].constructor}: {', '.join(name for name, _ in differences)}")
        for name, text in differences if verbose else ():
            print(f"  -- {name}\n     " + text.replace("\n", "\n     "))
    print(f"{len(found) - wrong} of {len(found)} layers equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
