"""Small calls timed in processes of their own, each library's in turn.

CPU time of one thread; the best of the rounds counts, since a busy machine only adds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Call", "Times", "add_options", "both", "is_worker", "measured", "print_table"]

Call = Callable[[], Any]
Times = dict[str, float]


def add_options(parser: argparse.ArgumentParser, *, rounds: int, count: int) -> None:
    """The options of a script that times calls, and the one that makes it a worker."""
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--count", type=int, default=count, help="calls in a round")
    parser.add_argument("--turns", type=int, default=2, help="processes of each library")
    parser.add_argument("--worker", choices=("rushlight", "torch"), help=argparse.SUPPRESS)


def is_worker(arguments: argparse.Namespace) -> bool:
    """Whether this process is a worker; then `import rushlight` gives its library."""
    if arguments.worker == "torch":
        import torch

        sys.modules["rushlight"] = torch
    elif arguments.worker:
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    return arguments.worker is not None


def measured(calls: Mapping[str, Call], arguments: argparse.Namespace, warm: int) -> Times:
    """The nanoseconds of each call, after so many that are not timed."""
    found, count = Times(), arguments.count
    for name, call in calls.items():
        for _ in range(warm):
            call()
        best = float("inf")
        for _ in range(arguments.rounds):
            began = time.thread_time_ns()
            for _ in range(count):
                call()
            best = min(best, (time.thread_time_ns() - began) / count)
        found[name] = best
    return found


def both(script: str, arguments: argparse.Namespace, asked: Sequence[str]) -> tuple[Times, Times]:
    """What workers of a script print: here, and with torch; none of it where no Python has it."""
    ours, theirs = Times(), Times()
    told = ["--rounds", str(arguments.rounds), "--count", str(arguments.count), *asked]
    for _ in range(arguments.turns):
        _keep_best(ours, _in_process(script, sys.executable, "rushlight", told))
        if arguments.torch:
            _keep_best(theirs, _in_process(script, arguments.torch, "torch", told))
    return ours, theirs


def _in_process(script: str, python: str, library: str, asked: list[str]) -> Times:
    command = [python, str(Path(script).resolve()), "--worker", library, *asked]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: Times = json.loads(run.stdout)
    return found


def _keep_best(known: Times, found: Times) -> None:
    for name, time_of in found.items():
        known[name] = min(time_of, known.get(name, time_of))


def print_table(ours: Times, theirs: Times, width: int) -> None:
    """A line for each call; the ratio is torch's time by ours."""
    print(f"{'call':<{width}} {'us':>8} {'torch us':>9} {'ratio':>6}")
    for name, time_of in ours.items():
        beside = theirs.get(name)
        told = f" {beside / 1e3:>9.2f} {beside / time_of:>6.2f}" if beside else ""
        print(f"{name:<{width}} {time_of / 1e3:>8.2f}{told}")
