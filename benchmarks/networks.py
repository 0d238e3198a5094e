"""Time whole networks beside other libraries, and the machine's peak in the same run:
`python benchmarks/networks.py [--torch PYTHON] [--served PYTHON] [--cpu]`.

`--served` is a Python that has onnxruntime, OpenVINO or both; what it lacks is left out.  Each
library runs in a process of its own, and a round is a batch of calls in each, in turn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from run import THREADS, Worker, WorkerError, head

NETWORKS = tuple(
    f"{name}_b{batch}" for name in ("resnet18", "mobilenetv2", "vit", "bert") for batch in (1, 8)
)
FORMS = ("eager", "scripted", "frozen")
ALONE = {"short": ("medium",), "half": ("bfloat16",)}
"""Run in processes of their own: who changes the precision forgets what calls are known.  The last
is a frozen network whose parameters and inputs are bfloat16."""
SERVED = ("onnxruntime", "openvino", "openvino-short")
SHORT = {"rushlight": "ours", "torch": "torch", "onnxruntime": "ort", "openvino": "ov"}


class Runs:
    """The workers, and what they can run of a network."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.seconds, self.threads = arguments.seconds, 1 if arguments.cpu else arguments.threads
        self.workers: dict[str, Worker] = {}
        for library, python in (("rushlight", sys.executable), ("torch", arguments.torch)):
            names = library, *(f"{library} {each}" for each in ALONE)
            for name in names if python else ():
                self.workers[name] = Worker(python, library)
        for library in SERVED if arguments.served else ():
            try:
                self.workers[library] = Worker(arguments.served, library, script="served.py")
            except WorkerError as error:
                print(f"left out: {error}")

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Libraries and forms."""
        return [(name, form) for name in self.workers for form in _forms(name)]

    def prepared(self, network: str, folder: Path) -> tuple[dict[tuple[str, str], int], float]:
        """How many calls each column makes in a batch, and the operations of one call.

        Raises:
            WorkerError: something fails, or results differ.
        """
        files = {"path": str(folder / f"{network}.onnx"), "inputs": str(folder / f"{network}.npz")}
        told = self.workers["rushlight"].ask(do="export", program=network, **files)
        calls, digests = {}, {}
        asked: dict[str, Any] = {"do": "prepare", "program": network, "seconds": self.seconds}
        for name, worker in self.workers.items():
            if name in SERVED:
                answers = {"": worker.ask(**asked, **files, threads=self.threads)}
            else:
                answers = worker.ask(**asked, forms=_forms(name))
            for form, answer in answers.items():
                calls[name, form] = answer["calls"]
                digests[name, form] = answer["digest"]
        _compare(network, digests)
        return calls, told["operations"]

    def batch(self, network: str, column: tuple[str, str], calls: int, clock: str) -> float:
        """The seconds of a call."""
        name, form = column
        asked = {"do": "batch", "program": network, "calls": calls}
        found = self.workers[name].ask(**asked, **({"form": form} if form else {}))
        return float(found[clock])


def _forms(name: str) -> tuple[str, ...]:
    if name in SERVED:
        return ("",)
    return ALONE.get(name.partition(" ")[2], FORMS)


def _compare(network: str, digests: dict[tuple[str, str], list[float]]) -> None:
    """Raise where results in float32 differ, by more than 1e-3 of what they sum up to."""
    expected = digests["rushlight", "eager"]
    for column, digest in digests.items():
        if {"medium", "bfloat16", "openvino-short"} & set(column):
            continue
        if any(
            abs(a - b) > 1e-3 * (abs(a) + expected[0])
            for a, b in zip(expected, digest, strict=True)
        ):
            raise WorkerError(f"{network}: {' '.join(column)} gives {digest}, not {expected}")


def row(network: str, medians: dict[tuple[str, str], float], operations: float, peak: float) -> str:
    """One line of the table: milliseconds, and of the frozen network what others take beside it."""
    frozen = medians["rushlight", "frozen"]
    cells = [f"{network:<15}", *(f"{figure * 1e3:>12.2f}" for figure in medians.values())]
    cells.append(f"{operations / frozen / 1e9 / peak:>9.2f}")
    others = [("torch", "frozen"), ("onnxruntime", ""), ("openvino", "")]
    cells += [f"{medians[each] / frozen:>9.2f}" for each in others if each in medians]
    if ("openvino-short", "") in medians:
        medium = medians["rushlight short", "medium"]
        cells.append(f"{medians['openvino-short', ''] / medium:>9.2f}")
    return " ".join(cells)


def titles(columns: list[tuple[str, str]]) -> str:
    """The table's first line."""
    names = [f"{SHORT.get(name.split()[0], 'ov-short')} {form}".strip() for name, form in columns]
    cells = [f"{'network':<15}", *(f"{name:>12}" for name in names), f"{'of peak':>9}"]
    others = {"torch": "torch /", "onnxruntime": "ort /", "openvino": "ov /"}
    known = {library for library, _ in columns}
    cells += [f"{title:>9}" for library, title in others.items() if library in known]
    return " ".join(cells + [f"{'short /':>9}"] * ("openvino-short" in known))


def main() -> int:
    """Run the networks and print the table."""
    parser = argparse.ArgumentParser(description="Time networks beside other libraries.")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--served", metavar="PYTHON", help="one with onnxruntime or OpenVINO")
    parser.add_argument("--only", metavar="NAME", action="append", help="this one (repeatable)")
    parser.add_argument("--rounds", type=int, default=9, help="batches in each process")
    parser.add_argument("--seconds", type=float, default=0.1, help="length of a batch")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of each library")
    parser.add_argument("--cpu", action="store_true", help="the processes' CPU time, one thread")
    arguments = parser.parse_args()
    threads = 1 if arguments.cpu else arguments.threads
    os.environ.update(dict.fromkeys(THREADS[:3], str(threads)))
    clock = "cpu" if arguments.cpu else "seconds"
    try:
        runs = Runs(arguments)
        peak = runs.workers["rushlight"].ask(do="peak", threads=threads)
        print(head([worker for name, worker in runs.workers.items() if " " not in name]))
        print(f"peak of {threads} thread(s), GFLOP/s:", *(f"{k} {v:.0f}" for k, v in peak.items()))
        print("\nmilliseconds of a call, medians; then of the peak, and of others' times by ours")
        print(titles(runs.columns))
        with tempfile.TemporaryDirectory() as folder:
            for network in arguments.only or NETWORKS:
                calls, operations = runs.prepared(network, Path(folder))
                took: dict[tuple[str, str], list[float]] = {each: [] for each in calls}
                for _ in range(arguments.rounds):
                    for column, times in took.items():
                        times.append(runs.batch(network, column, calls[column], clock))
                medians = {each: statistics.median(times) for each, times in took.items()}
                print(row(network, medians, operations, peak["float32"]), flush=True)
    except WorkerError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
