"""Time the benchmark programs: `python benchmarks/run.py [--torch PYTHON] [--only NAME]`.

Each library runs in a process of its own.  After a warm-up, a round is one batch of calls in each
process, one after the other, so that a busy machine slows both alike; the figures are medians over
rounds of the time of one call.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FORMS = ("scripted", "eager")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE")


class WorkerError(Exception):
    """A worker could not do what it was asked."""


class Worker:
    """A process that runs programs with one library."""

    def __init__(
        self, python: str, library: str, folder: str = "programs", script: str = "worker.py"
    ) -> None:
        self.library = library
        command = [python, str(HERE / script), library, folder]
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise WorkerError(f"{python}: {error.strerror}") from None
        self.about: dict[str, Any] = self.ask(do="about")

    def ask(self, **question: Any) -> Any:
        """Send one line, read one line.

        Raises:
            WorkerError: the process ended, or says what went wrong.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerError(f"the {self.library} process ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(f"{self.library}: {answer['error']}")
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Times:
    """The seconds a call took, by library and form, a figure a round."""

    first: dict[tuple[str, str], float] = field(default_factory=dict)
    rounds: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def median(self, library: str, form: str) -> float:
        """The median over rounds; NaN if it was not measured."""
        found = self.rounds.get((library, form))
        return statistics.median(found) if found else math.nan


def measure(
    program: str, workers: list[Worker], rounds: int, seconds: float, clock: str = "seconds"
) -> Times:
    """Warm up, then time both forms of a program in all workers in turn.

    `clock` is `seconds`, or `cpu` for the processor's time of the worker alone.

    Raises:
        WorkerError: it fails, or the libraries' results differ.
    """
    times = Times()
    prepared = {w.library: w.ask(do="prepare", program=program, seconds=seconds) for w in workers}
    digests = [p[form]["digest"] for p in prepared.values() for form in FORMS]
    for other in digests[1:]:
        if not all(map(_close, digests[0], other)):
            raise WorkerError(f"{program}: results differ: {digests[0]} and {other}")
    for _ in range(rounds):
        for form in FORMS:
            for worker in workers:
                key, plan = (worker.library, form), prepared[worker.library][form]
                times.first[key] = plan["first"]
                asked = {"program": program, "form": form, "calls": plan["calls"]}
                took = worker.ask(do="batch", **asked)[clock]
                times.rounds.setdefault(key, []).append(took)
    return times


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-3)


def head(workers: list[Worker]) -> str:
    """What the figures depend on."""
    lines = [f"machine: {_cpu()}, {os.cpu_count()} CPUs, {platform.system()}"]
    settings = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    lines.append(f"environment: {' '.join(settings) or 'no thread or BLAS settings'}")
    for worker in workers:
        facts = {k: v for k, v in worker.about.items() if k not in ("programs", "library")}
        listed = ", ".join(f"{key} {value}" for key, value in facts.items() if key != "version")
        lines.append(f"{worker.library} {worker.about['version']}: {listed}")
    return "\n".join(lines)


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return models[0] if models else platform.machine()


def row(program: str, times: Times, with_torch: bool) -> str:
    """One line of the table, times in microseconds."""
    figures = [times.median("rushlight", form) * 1e6 for form in FORMS]
    first = times.first["rushlight", "scripted"] * 1e3
    cells = [f"{program:<12}", *(f"{figure:>11.1f}" for figure in figures), f"{first:>9.1f}"]
    if with_torch:
        theirs = [times.median("torch", form) * 1e6 for form in FORMS]
        cells.extend(f"{figure:>11.1f}" for figure in theirs)
        cells.extend(f"{b / a:>9.2f}" for a, b in zip(figures, theirs, strict=True))
    return " ".join(cells)


def titles(with_torch: bool) -> str:
    """The table's first line."""
    cells = [f"{'program':<12}", f"{'script us':>11}", f"{'eager us':>11}", f"{'first ms':>9}"]
    if with_torch:
        cells += [f"{'jit us':>11}", f"{'torch us':>11}"]
        cells += [f"{'jit ratio':>9}", f"{'eager r.':>9}"]
    return " ".join(cells)


def main() -> int:
    """Run the programs and print the table."""
    parser = argparse.ArgumentParser(description="Time rushlight, and torch beside it.")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--only", metavar="NAME", action="append", help="this program (repeatable)")
    parser.add_argument("--rounds", type=int, default=15, help="batches in each process")
    parser.add_argument("--seconds", type=float, default=0.05, help="length of a batch")
    parser.add_argument("--cpu", action="store_true", help="the processes' CPU time, one thread")
    parser.add_argument("--folder", default="programs", help="where programs are: or `operators`")
    parser.add_argument("--has", metavar="TEXT", action="append", default=[], help="in the name")
    arguments = parser.parse_args()
    if arguments.cpu:
        os.environ.update(dict.fromkeys(THREADS[:3], "1"))
    clock = "cpu" if arguments.cpu else "seconds"
    workers: list[Worker] = []
    try:
        workers.append(Worker(sys.executable, "rushlight", arguments.folder))
        if arguments.torch:
            workers.append(Worker(arguments.torch, "torch", arguments.folder))
        known = workers[0].about["programs"]
        chosen = arguments.only or known
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise WorkerError(f"no program {unknown[0]!r}; there are: {', '.join(known)}")
        chosen = [name for name in chosen if all(text in name for text in arguments.has)]
        print(head(workers), titles(bool(arguments.torch)), sep="\n\n")
        for program in chosen:
            times = measure(program, workers, arguments.rounds, arguments.seconds, clock)
            print(row(program, times, bool(arguments.torch)), flush=True)
    except WorkerError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    finally:
        for worker in workers:
            worker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
