"""Time training loops beside torch: `python benchmarks/training.py --torch PYTHON [--only NAME]`.

Each loop of `training_loops/` first runs anew in both libraries, with its model as it is and
scripted, and the losses of the first steps are compared; then steps are timed in turn.  Scripted
models draw other random numbers in torch than they do unscripted, so what is compared with is
torch's loop with the model as it is.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from typing import Any

from run import FORMS, THREADS, Worker, WorkerError, head

FOLDER = "training_loops"


def apart(ours: list[float], theirs: list[float]) -> float:
    """How far two curves lie apart, beside the size of their numbers where that is above one."""
    pairs = zip(ours, theirs, strict=True)
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in pairs)


def curves(program: str, workers: list[Worker], steps: int) -> dict[tuple[str, str], list[float]]:
    """The losses of the first steps, by library and form."""
    found = {}
    for worker in workers:
        for form in FORMS:
            asked: dict[str, Any] = {"program": program, "form": form, "calls": steps}
            found[worker.library, form] = worker.ask(do="curve", **asked)
    return found


def times(program: str, workers: list[Worker], arguments: argparse.Namespace) -> dict[Any, float]:
    """The seconds of a step: medians over rounds, by library and form."""
    clock = "cpu" if arguments.cpu else "seconds"
    found: dict[Any, list[float]] = {}
    asked: dict[str, Any] = {"program": program, "seconds": arguments.seconds}
    plans = {worker.library: worker.ask(do="prepare", **asked) for worker in workers}
    for _ in range(arguments.rounds):
        for form in FORMS:
            for worker in workers:
                calls = plans[worker.library][form]["calls"]
                took = worker.ask(do="batch", program=program, form=form, calls=calls)
                found.setdefault((worker.library, form), []).append(took[clock])
    return {key: statistics.median(each) for key, each in found.items()}


def row(program: str, far: dict[str, float], took: dict[Any, float]) -> str:
    """One line of the table."""
    cells = [f"{program:<20}"]
    for form in FORMS:
        ours, theirs = took["rushlight", form] * 1e6, took.get(("torch", form), 0.0) * 1e6
        cells += [f"{ours:>10.0f}", f"{theirs:>10.0f}", f"{theirs / ours:>7.2f}"]
        cells.append(f"{far.get(form, 0.0):>9.1e}")
    return " ".join(cells)


def titles() -> str:
    """The table's first line."""
    cells = [f"{'loop':<20}"]
    for form in FORMS:
        cells += [
            f"{form + ' us':>10}"[-11:],
            f"{'torch us':>10}",
            f"{'ratio':>7}",
            f"{'apart':>9}",
        ]
    return " ".join(cells)


def main() -> int:
    """Compare the curves, time the steps, print the table; 1 where a loop fails or differs."""
    parser = argparse.ArgumentParser(description="Time training loops, and torch beside them.")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--only", metavar="NAME", action="append", help="this loop (repeatable)")
    parser.add_argument("--rounds", type=int, default=7, help="batches in each process")
    parser.add_argument("--seconds", type=float, default=0.1, help="length of a batch")
    parser.add_argument("--steps", type=int, default=20, help="steps whose losses are compared")
    parser.add_argument("--cpu", action="store_true", help="the processes' CPU time, one thread")
    arguments = parser.parse_args()
    if arguments.cpu:
        os.environ.update(dict.fromkeys(THREADS[:3], "1"))
    workers = [Worker(sys.executable, "rushlight", FOLDER)]
    failed = False
    try:
        if arguments.torch:
            workers.append(Worker(arguments.torch, "torch", FOLDER))
        print(head(workers), titles(), sep="\n\n")
        for program in arguments.only or workers[0].about["programs"]:
            try:
                lost = curves(program, workers, arguments.steps)
                far = {
                    form: apart(lost["rushlight", form], lost["torch", "eager"])
                    for form in FORMS
                    if arguments.torch
                }
                print(row(program, far, times(program, workers, arguments)), flush=True)
                failed |= any(each > 1e-4 for each in far.values())
            except WorkerError as error:
                print(f"{program:<20} {error}", flush=True)
                failed = True
    finally:
        for worker in workers:
            worker.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
