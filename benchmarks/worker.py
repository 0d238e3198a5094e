"""The process that runs benchmark programs: `worker.py rushlight|torch FOLDER`.

It is driven over its pipes, one JSON object a line: `{"do": "prepare", "program": ...}`,
`{"do": "batch", "program": ..., "form": "scripted"|"eager", "calls": n}`; `curve` and `memory` in
the place of `batch` ask what the first calls give, or need; `export` and `peak` are for
`networks.py`.  What programs print goes to standard error.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FORMS = ("scripted", "eager")


def library(name: str) -> Any:
    """Import the library under test; programs find it as `rushlight` either way."""
    if name == "torch":
        import torch

        sys.modules["rushlight"] = torch
        return torch
    sys.path.insert(0, str(HERE.parent))
    import rushlight

    return rushlight


def programs(folder: str) -> dict[str, Any]:
    """The functions that make the programs of a folder, by name."""
    found: dict[str, Any] = {}
    for path in sorted((HERE / folder).glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        found.update(getattr(module, "PROGRAMS", {}))
        for name, loop in getattr(module, "LOOPS", {}).items():
            found[name] = partial(both_forms, loop)
    return found


def both_forms(loop: Callable[[Any], Any]) -> tuple[Any, Any, tuple[()]]:
    """A training loop's step with its model as it is, with its model scripted, and no arguments."""
    return loop(lambda model: model), loop(sys.modules["rushlight"].jit.script), ()


def status(name: str) -> int:
    """What the system says of this process, in kB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def numbers(value: Any) -> list[float]:
    """The numbers in a result, in order; a text's are those of its characters."""
    if isinstance(value, (int, float)):
        return [float(value)]
    if isinstance(value, str):
        return [float(ord(letter)) for letter in value]
    if isinstance(value, dict):
        return [n for pair in value.items() for n in numbers(pair)]
    if isinstance(value, (list, tuple)):
        return [n for item in value for n in numbers(item)]
    return numbers(value.detach().tolist())


def digest(value: Any) -> list[float]:
    """A few figures that equal results share: count, sum, weighted sum."""
    flat = numbers(value)
    weighted = sum(n * ((i % 17) - 8) for i, n in enumerate(flat))
    return [float(len(flat)), sum(flat), weighted]


def about(name: str, lib: Any) -> dict[str, Any]:
    """Versions and set-up of this process."""
    found = {"library": name, "python": platform.python_version()}
    if name == "torch":
        found["version"] = lib.__version__
        found["threads"] = lib.get_num_threads()
        return found
    import numpy

    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    found["version"] = str(getattr(lib, "__version__", "checkout"))
    found["numpy"] = numpy.__version__
    found["blas"] = f"{blas.get('name')} {blas.get('version')}"
    found["blas configuration"] = str(blas.get("openblas configuration", "unknown"))
    return found


class Worker:
    """The programs of this process, made when first asked for."""

    def __init__(self, name: str, folder: str) -> None:
        self.library = library(name)
        self.about = about(name, self.library)
        self.makers = programs(folder)
        self.made: dict[str, tuple[dict[str, Any], Any]] = {}

    def target(self, program: str, form: str) -> tuple[Any, Any]:
        """The callable and its arguments."""
        if program not in self.made:
            eager, scripted, arguments = self.makers[program]()
            self.made[program] = {"eager": eager, "scripted": scripted}, arguments
        forms, arguments = self.made[program]
        if form not in forms:
            jit = self.library.jit
            if form == "bfloat16":
                forms[form] = jit.freeze(jit.script(deepcopy(forms["eager"]).bfloat16()))
            else:
                forms[form] = jit.freeze(forms["scripted"])  # "medium" has one of its own
        if form == "bfloat16":
            arguments = [
                each.bfloat16() if each.is_floating_point() else each for each in arguments
            ]
        return forms[form], arguments

    def prepare(
        self, program: str, seconds: float, forms: tuple[str, ...] = FORMS
    ) -> dict[str, Any]:
        """Warm up the forms; say how many calls fill the time, and what they return."""
        answer: dict[str, Any] = {}
        for form in forms:
            target, arguments = self.target(program, form)
            self.allow(form)
            began = time.perf_counter()
            result = target(*arguments)
            first = time.perf_counter() - began
            for _ in range(3):  # later calls may run optimised code
                target(*arguments)
            calls = self.filling(program, form, seconds)
            self.batch(program, form, max(1, calls // 4))
            answer[form] = {"calls": calls, "first": first, "digest": digest(result)}
        return answer

    def filling(self, program: str, form: str, seconds: float) -> int:
        """How many calls fill the time, found by batches that double, until one takes a good part
        of it: a single call may be one that the machine had something else to do in."""
        calls, once = 1, float("inf")
        while True:
            once = min(once, self.batch(program, form, calls)["seconds"])
            if calls * once * 3 > seconds or calls >= 100_000:
                return max(1, min(100_000, int(seconds / max(once, 1e-7))))
            calls *= 2

    def batch(self, program: str, form: str, calls: int) -> dict[str, float]:
        """The time of one call, averaged over a batch: by the clock, and of this process."""
        target, arguments = self.target(program, form)
        self.allow(form)
        return timed(target, arguments, calls)

    def allow(self, form: str) -> None:
        """Let the form "medium" compute in bfloat16, and no other."""
        asked = "medium" if form == "medium" else "highest"
        if self.library.get_float32_matmul_precision() != asked:
            self.library.set_float32_matmul_precision(asked)

    def export(self, program: str, path: str, inputs: str) -> dict[str, float]:
        """Write a network as an ONNX file, and beside it what it is given; say how many operations
        it takes, multiplications and additions counted each."""
        import numpy

        model, arguments = self.target(program, "eager")
        self.library.onnx.export(model, arguments, path, external_data=False, opset_version=18)
        names = (f"{place:02}" for place in range(len(arguments)))
        arrays = (each.numpy() for each in arguments)
        numpy.savez(inputs, **dict(zip(names, arrays, strict=True)))
        with self.library.utils.flop_counter.FlopCounterMode(display=False) as counter:
            model(*arguments)
        return {"operations": counter.get_total_flops()}

    def peak(self, threads: int) -> dict[str, float]:
        """GFLOP/s that so many threads reach at most, in float32 and in bfloat16."""
        from peak import peak

        return {"float32": peak(threads), "bfloat16": peak(threads, in_pairs=True)}

    def curve(self, program: str, form: str, calls: int) -> list[float]:
        """What the first calls of a program that is made anew give."""
        self.made.pop(program, None)
        target, arguments = self.target(program, form)
        return [target(*arguments).item() for _ in range(calls)]

    def memory(self, program: str, form: str, calls: int) -> dict[str, int]:
        """The resident memory, in kB, before a loop is made anew, and the most of its steps."""
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
        start = status("VmRSS")
        script = self.library.jit.script
        step = self.makers[program].args[0](script if form == "scripted" else lambda model: model)
        for _ in range(calls):
            step()
        return {"start": start, "peak": status("VmHWM")}

    def answer(self, question: dict[str, Any]) -> Any:
        """What one line of the driver asks for."""
        do = question.pop("do")
        if do == "about":
            return {**self.about, "programs": list(self.makers)}
        actions: dict[str, Any] = {
            "prepare": self.prepare,
            "batch": self.batch,
            "curve": self.curve,
            "memory": self.memory,
            "export": self.export,
            "peak": self.peak,
        }
        return actions[do](**question)


def timed(call: Callable[..., Any], arguments: Sequence[Any], calls: int) -> dict[str, float]:
    """The time of one call, averaged over a batch: by the clock, and of this process."""
    repeat = range(calls)
    began, used = time.perf_counter(), time.process_time()
    for _ in repeat:
        call(*arguments)
    used = time.process_time() - used
    return {"seconds": (time.perf_counter() - began) / calls, "cpu": used / calls}


def serve(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answer the driver until its pipe ends; what is printed meanwhile goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            told = answer(json.loads(line))
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    serve(Worker(sys.argv[1], sys.argv[2]).answer)
