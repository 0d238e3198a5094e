"""Record what torch makes of calls with other arguments: `python tools/record_perturbed.py FILE`.

Run with a Python that has torch, it writes FILE.  `tools/record_perturbed.py --compare FILE`,
run with rushlight, prints where rushlight does something else, and writes what both say to
tests/ops/data/perturbed.json.gz: of each function its outcomes, and the calls that have each.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests" / "ops"
OUT = TESTS / "data" / "perturbed.json.gz"
Sample = dict[str, Any]
Found = dict[str, dict[str, str]]
"""Of each function what its calls give, by their names."""


def in_child(name: str, samples: list[Sample]) -> dict[str, str]:
    """What the calls of a function give in a process of its own, as far as it lived: some crash
    torch."""
    from perturbed import outcomes

    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            for call, told in outcomes(name, samples):
                print(json.dumps([call, told]), file=pipe, flush=True)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().splitlines()
    if os.waitpid(child, 0)[1]:
        print(f"{name}: the process ended after {len(lines)} calls", file=sys.stderr)
    return dict(json.loads(line) for line in lines)


def here(name: str, samples: list[Sample]) -> dict[str, str]:
    """The same in this process."""
    from perturbed import outcomes

    return dict(outcomes(name, samples))


def found(run: Callable[[str, list[Sample]], dict[str, str]]) -> Found:
    """What all functions give."""
    from recorded_operators import entries

    warnings.simplefilter("ignore")
    return {name: run(name, samples) for name, samples in dict(entries()).items()}


def compare(theirs: Found, ours: Found) -> Found:
    """What both say; prints the rest."""
    both: Found = {}
    for name, calls in theirs.items():
        for call, told in calls.items():
            if ours[name].get(call) == told:
                both.setdefault(name, {})[call] = told
            else:
                print(f"{name}, {call}\n  torch     {told}\n  rushlight {ours[name].get(call)}")
    return both


def write(both: Found) -> None:
    """The file that the tests read."""
    packed: dict[str, list[list[object]]] = {}
    for name, calls in both.items():
        by_outcome: dict[str, list[str]] = {}
        for call, told in calls.items():
            by_outcome.setdefault(told, []).append(call)
        packed[name] = [[told, where] for told, where in by_outcome.items()]
    text = json.dumps(packed, separators=(",", ":"), sort_keys=True)
    OUT.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(sum(map(len, both.values())), "calls in", len(both), "functions", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--compare", action="store_true")
    args = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    if args.compare:
        write(compare(json.loads(args.file.read_text()), found(here)))
        return
    import torch

    sys.modules["rushlight"] = torch  # by which name the tests import what they call
    args.file.write_text(json.dumps(found(in_child)))


if __name__ == "__main__":
    main()
