"""Compare rushlight with real torch 2.13, program by program; one line each.

    python tools/compare_with_torch.py PYTHON [PROGRAMS]

PYTHON is an interpreter that has torch.  For every program of the folder (tests/programs unless
said otherwise) this compares printed code and graphs, results, rushlight's reading of torch's
archive and torch's reading of rushlight's.  Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import programs

import rushlight


class Comparison:
    """The checks of one program; `faults` says what differs and shows the difference."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.faults: list[tuple[str, str]] = []

    def text(self, name: str, wanted: str, got: str) -> None:
        """Compare two texts."""
        if wanted == got:
            self.passed.append(name)
            return
        lines = difflib.unified_diff(
            wanted.splitlines(), got.splitlines(), "torch", "rushlight", lineterm=""
        )
        self.faults.append((name, "\n".join(lines)))

    def calls(self, name: str, wanted: list[Any], got: list[Any]) -> None:
        """Compare the results of the same calls."""
        if programs.same(wanted, got):
            self.passed.append(name)
        else:
            self.faults.append(
                (name, f"torch     {json.dumps(wanted)}\nrushlight {json.dumps(got)}")
            )


def texts_of(scripted: Any) -> dict[str, str]:
    """The same texts as the record has."""
    found = {
        "code": scripted.code,
        "graph": programs.normalized(str(scripted.graph)),
        "inlined_graph": programs.normalized(str(scripted.inlined_graph)),
    }
    if hasattr(scripted, "code_with_constants"):
        found["code_with_constants"] = scripted.code_with_constants[0]
    return found


def compare(
    program: programs.Program, record: dict[str, Any], archive: Path, out: Path
) -> Comparison:
    """Everything that can be compared without torch; saves rushlight's archive in `out`."""
    found = Comparison()
    try:
        scripted = program.make()[1]
    except Exception as error:
        refusal = str(error).strip().split("\n")[0]
        found.text("refusal", record.get("refused", "accepted"), refusal)
        return found
    if "refused" in record:
        found.text("refusal", record["refused"], "accepted")
        return found
    for name, text in texts_of(scripted).items():
        if name not in record:  # torch's functions have no code_with_constants
            continue
        wanted = record[name]
        found.text(name, programs.normalized(wanted) if "graph" in name else wanted, text)
    scripted.save(str(out / f"{program.name}.pt"))
    found.calls("results", record["calls"], [programs.call(scripted, a) for a in program.inputs()])
    loaded = rushlight.jit.load(str(archive))
    found.calls(
        "torch's archive", record["calls"], [programs.call(loaded, a) for a in program.inputs()]
    )
    return found


def attempt(program: programs.Program, recorded: Path, out: Path) -> Comparison:
    """`compare`, with a failure of rushlight's as a fault."""
    record = json.loads((recorded / f"{program.name}.json").read_text(encoding="utf-8"))
    try:
        return compare(program, record, recorded / f"{program.name}.pt", out)
    except Exception as error:
        found = Comparison()
        found.faults.append(("failed", f"{type(error).__name__}: {error}"))
        return found


def add_replay(found: Comparison, name: str, recorded: Path, replayed: Path) -> None:
    """Compare what torch got from rushlight's archive."""
    record = json.loads((recorded / f"{name}.json").read_text(encoding="utf-8"))
    if not (replayed / f"{name}.json").exists():
        return
    result = json.loads((replayed / f"{name}.json").read_text(encoding="utf-8"))
    if "load_error" in result:
        found.faults.append(("archive in torch", result["load_error"]))
    else:
        found.calls("archive in torch", record["calls"], result["calls"])


def report(name: str, found: Comparison, verbose: bool) -> None:
    words = "ok" if not found.faults else "DIFFERS in " + ", ".join(n for n, _ in found.faults)
    print(f"{name:24} {words}  ({len(found.passed)} equal)")
    for what, difference in found.faults if verbose else []:
        print(f"  -- {what}\n     " + difference.replace("\n", "\n     "))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("programs", nargs="?", type=Path, default=ROOT / "tests" / "programs")
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("-q", "--quiet", action="store_true", help="no differences, only the lines")
    options = parser.parse_args()
    folder = options.programs.resolve()
    with tempfile.TemporaryDirectory() as work:
        recorded, own, replayed = (Path(work, n) for n in ("recorded", "own", "replayed"))
        own.mkdir()
        recorder = [options.python, str(ROOT / "tools" / "record_torch.py"), str(folder)]
        subprocess.run([*recorder, str(recorded)], check=True)
        wanted = options.only.split(",") if options.only else None
        found = {
            p.name: attempt(p, recorded, own)
            for p in programs.load(folder)
            if not wanted or p.name in wanted
        }
        subprocess.run([*recorder, str(replayed), "--replay", str(own)], check=True)
        for name, comparison in found.items():
            add_replay(comparison, name, recorded, replayed)
            report(name, comparison, not options.quiet)
    wrong = sum(bool(c.faults) for c in found.values())
    print(f"{len(found) - wrong} of {len(found)} programs equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
