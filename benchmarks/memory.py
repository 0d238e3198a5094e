"""Peak memory of training steps beside torch: `python benchmarks/memory.py --torch PYTHON`.

Each loop of a folder runs in a process of its own, in each library and form.  What is compared is
how far the process's resident memory rose above what it was before the loop was made: parameters,
state, data and all that steps need, and what the library loads for them.  A first run fills caches
of kernels.  Linux tells the peak (`VmHWM`); elsewhere there is none to read.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys

from run import FORMS, THREADS, Worker, WorkerError, head

FOLDER = "large_loops"


def peak(python: str, library: str, folder: str, program: str, form: str, steps: int) -> float:
    """How many megabytes a loop's process rose."""
    worker = Worker(python, library, folder)
    try:
        found = worker.ask(do="memory", program=program, form=form, calls=steps)
    finally:
        worker.close()
    return (found["peak"] - found["start"]) / 1024.0


def row(program: str, found: dict[tuple[str, str], float]) -> str:
    """One line of the table."""
    cells = [f"{program:<20}"]
    for form in FORMS:
        ours, theirs = found["rushlight", form], found.get(("torch", form), 0.0)
        cells += [f"{ours:>12.1f}", f"{theirs:>10.1f}", f"{ours / theirs if theirs else 0:>7.2f}"]
    return " ".join(cells)


def main() -> int:
    """Run the loops, print the table; 1 where one fails."""
    parser = argparse.ArgumentParser(description="Compare peak memory of training with torch's.")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--folder", default=FOLDER, help="where loops are: or `training_loops`")
    parser.add_argument("--only", metavar="NAME", action="append", help="this loop (repeatable)")
    parser.add_argument("--steps", type=int, default=8, help="steps of a loop")
    parser.add_argument("--rounds", type=int, default=2, help="processes of which the least counts")
    arguments = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS[:3], "1"))
    workers = [Worker(sys.executable, "rushlight", arguments.folder)]
    chosen = arguments.only or workers[0].about["programs"]
    print(head(workers), end="\n\n")
    workers[0].close()
    titles = [f"{name:>12} {'torch MB':>10} {'ratio':>7}" for name in ("script MB", "eager MB")]
    print(f"{'loop':<20}", *titles)
    pythons = {"rushlight": sys.executable, "torch": arguments.torch}
    ratios: dict[str, list[float]] = {form: [] for form in FORMS}
    failed = False
    for program in chosen:
        found: dict[tuple[str, str], float] = {}
        try:
            for library, python in pythons.items():
                for form in FORMS if python else ():
                    asked = library, arguments.folder, program, form, arguments.steps
                    found[library, form] = min(
                        peak(python, *asked) for _ in range(arguments.rounds)
                    )
        except WorkerError as error:
            print(f"{program:<20} {error}", flush=True)
            failed = True
            continue
        print(row(program, found), flush=True)
        for form in FORMS if arguments.torch else ():
            ratios[form].append(found["rushlight", form] / found["torch", form])
    for form, each in ratios.items():
        if each:
            print(f"geometric mean, {form}: {statistics.geometric_mean(each):.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
