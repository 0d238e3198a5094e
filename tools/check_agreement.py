"""Random well-typed programs, run in every way there is: all must agree.

    python tools/check_agreement.py [--count N] [--objects N] [--seed S]

Each program of tools/fuzz_flow.py is run as Python, scripted, scripted without passes, on the
bare machine without plans, and saved and loaded, each time three calls with each input, from the
first of which plans learn; N of each fifty are over objects.  Where
Python and TorchScript differ by design (text of floats, errors, 64-bit wrapping) the other four
still must agree.  Prints what disagrees.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import rushlight
from rushlight.ir import passes
from tools import fuzz_flow, fuzz_native_objects, fuzz_objects, programs
from tools.fuzz_stretches import learn_at_once

A_FILE = 50
"""Programs a file holds."""

OVER_OBJECTS = (fuzz_objects.object_function, fuzz_native_objects.closed_function)

MOST_PRINTED, MOST_MEMORY = 2**24, 2**33
"""Bytes: some programs double a string in a loop, and print it."""
SECONDS = 10
"""Of the processor: a busy machine must not end programs."""


@contextmanager
def without_passes() -> Iterator[None]:
    """Graphs stay as they are lowered."""
    kept = passes.PASSES
    passes.PASSES = ()
    try:
        yield
    finally:
        passes.PASSES = kept


@contextmanager
def without_plans() -> Iterator[None]:
    kept = os.environ["RUSHLIGHT_PLAN"]
    os.environ["RUSHLIGHT_PLAN"] = "off"
    try:
        yield
    finally:
        os.environ["RUSHLIGHT_PLAN"] = kept


class _Endless(BaseException):
    """A program has run for `SECONDS`: in Python a loop over a list that it appends to has no end,
    in script it goes over what was there."""


def _stop(*_: object) -> None:
    raise _Endless


def outcome(target: Any, arguments: tuple[Any, ...]) -> Any:
    """The result and what was printed; of an error, only that there was one."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        found = programs.call(target, arguments)
    except MemoryError:
        return "raised"
    except _Endless:
        return "endless"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if "raises" in found:
        return "raised"
    # `x + 0` is `x` after passes, as in torch, which keeps the sign of zeros
    return json.dumps(found["out"]).replace("-0.0", "0.0"), found["stdout"]


def results(module: Any, name: str, target: Any) -> list[Any]:
    """What the program gives for each of its inputs; all that its calls give where that changes."""
    calls = [[outcome(target, arguments) for arguments in module.INPUTS[name]()] for _ in range(3)]
    return calls[0] if all(each == calls[0] for each in calls) else calls


def loaded(scripted: Any) -> Any:
    buffer = io.BytesIO()
    rushlight.jit.save(scripted, buffer)
    buffer.seek(0)
    return rushlight.jit.load(buffer)


def check_file(text: str, name: str, counts: Counter[str]) -> None:
    """Run the programs of one file in every way."""
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    module = programs.run_file(path)
    with without_passes():
        plain = programs.run_file(path)
        bare = {n: _scripted(plain, n) for n in plain.PROGRAMS}
    for program in module.PROGRAMS:
        scripted = _scripted(module, program)
        if scripted is None or bare[program] is None:
            counts["refused"] += 1
            if (scripted is None) != (bare[program] is None):
                print(f"{name}: {program}: refused only with passes on or off")
            continue
        counts["programs"] += 1
        wanted = results(module, program, scripted)
        ways = {"without passes": results(plain, program, bare[program])}
        with without_plans():
            ways["without plans"] = results(module, program, _scripted(module, program))
        ways["saved and loaded"] = results(module, program, loaded(scripted))
        # What fails and is not used is removed by passes, as by torch's: then nothing fails.
        plain_ways = zip(ways["without passes"], wanted, strict=True)
        ways["without passes"] = [w if f == "raised" else f for f, w in plain_ways]
        for way, found in ways.items():
            if found != wanted:
                counts[f"differ {way}"] += 1
                print(f"{name}: {program} {way}:\n  {found}\n  {wanted}")
        if results(module, program, getattr(module, program)) == wanted:
            counts["equal to Python"] += 1


def _scripted(module: Any, name: str) -> Any:
    try:
        return module.PROGRAMS[name]()[1]
    except RuntimeError:
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--objects", type=int, default=10, help="of fifty, over objects")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _stop)
    for kind, limit in ((resource.RLIMIT_FSIZE, MOST_PRINTED), (resource.RLIMIT_AS, MOST_MEMORY)):
        resource.setrlimit(kind, (limit, resource.RLIM_INFINITY))
    learn_at_once()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number in range(0, options.count, A_FILE):
            seed = options.seed + number // A_FILE
            rest = max(0, min(A_FILE, options.count - number) - options.objects)
            text = fuzz_flow.program_file(seed, rest, options.objects, OVER_OBJECTS)
            check_file(text, f"agree_{seed}.py", counts)
    print(", ".join(f"{key}: {count}" for key, count in sorted(counts.items())))
    return 1 if any(key.startswith("differ") for key in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
