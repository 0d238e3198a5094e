"""What one operator costs in scripted code: `python benchmarks/one_operator.py [--torch PYTHON]`.

Each row is an expression, put into a loop of a scripted function; the figure is the time of one
turn, the empty loop taken off.  Small inputs show what calling an operator costs, large ones
(`--large`) what its kernel does.  Processes, rounds and clocks are those of `run.py`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys

from run import THREADS, Worker, WorkerError, head

TURNS = {"small": 100, "large": 2}


def measure(
    name: str, workers: list[Worker], rounds: int, seconds: float, clock: str, turns: int
) -> list[float]:
    """Seconds of one turn in each worker, medians over rounds."""
    asked = {"program": name, "seconds": seconds, "forms": ["scripted"]}
    plans = [w.ask(do="prepare", **asked)["scripted"] for w in workers]
    took: list[list[float]] = [[] for _ in workers]
    for _ in range(rounds):
        for i, (worker, plan) in enumerate(zip(workers, plans, strict=True)):
            batch = {"program": name, "form": "scripted", "calls": plan["calls"]}
            took[i].append(worker.ask(do="batch", **batch)[clock] / turns)
    return [statistics.median(each) for each in took]


def main() -> int:
    """Time the rows and print the table."""
    parser = argparse.ArgumentParser(description="Time operators in scripted loops.")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--only", metavar="NAME", action="append", help="this row (repeatable)")
    parser.add_argument("--large", action="store_true", help="inputs of 1e5 to 1e6 elements")
    parser.add_argument("--rounds", type=int, default=7, help="batches in each process")
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a batch")
    parser.add_argument("--cpu", action="store_true", help="the processes' CPU time, one thread")
    parser.add_argument("--worst", action="store_true", help="sort rows by their ratio")
    options = parser.parse_args()
    if options.cpu:
        os.environ.update(dict.fromkeys(THREADS[:3], "1"))
    clock, size = "cpu" if options.cpu else "seconds", "large" if options.large else "small"
    workers: list[Worker] = []
    try:
        workers.append(Worker(sys.executable, "rushlight", "operators"))
        if options.torch:
            workers.append(Worker(options.torch, "torch", "operators"))
        known = [name for name in workers[0].about["programs"] if name.startswith(size)]
        chosen = [f"{size} {name}" for name in options.only] if options.only else known
        if unknown := [name for name in chosen if name not in known]:
            raise WorkerError(f"no row {unknown[0]!r}; there are: {', '.join(known)}")
        print(head(workers), end="\n\n")
        scale, unit = (1e9, "ns") if size == "small" else (1e6, "us")
        print(f"{'operator':<24}{unit:>10}{'jit ' + unit:>10}{'ratio':>8}")
        fixed = [0.0] * len(workers)
        lines: list[tuple[float, str]] = []
        for name in [f"{size} empty", *(n for n in chosen if n != f"{size} empty")]:
            turn = measure(name, workers, options.rounds, options.seconds, clock, TURNS[size])
            if name == f"{size} empty":
                fixed = turn
            else:
                turn = [max(t - f, 1e-9) for t, f in zip(turn, fixed, strict=True)]
            ratio = turn[-1] / turn[0]
            figures = "".join(f"{t * scale:>10.1f}" for t in turn)
            lines.append((ratio, f"{name.partition(' ')[2]:<24}{figures}{ratio:>8.2f}"))
            if not options.worst:
                print(lines[-1][1], flush=True)
        if options.worst:
            print(*(line for _, line in sorted(lines)), sep="\n")
    except WorkerError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    finally:
        for worker in workers:
            worker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
