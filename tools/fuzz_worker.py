"""Run programs in one library and write down what they did; started by tools/fuzz_programs.py.

    PYTHON tools/fuzz_worker.py torch|rushlight PROGRAMS.json RESULTS.json

Every program is compiled and called, in every way that the library has.  A result is the value, its
types, what was printed, the arguments as the call left them, or the error's class and text.
"""

from __future__ import annotations

import copy
import enum
import io
import json
import linecache
import os
import re
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import programs

SECONDS = 5
CHANGED = ("frozen", "prepared")
"""Ways that leave something else than a module with all its parts."""

Result = dict[str, Any]


def main() -> None:
    library, given, wanted = sys.argv[1:]
    os.environ["RUSHLIGHT_PLAN"] = "now"
    module: Any = __import__(library)
    sys.modules.setdefault("torch", module)
    warnings.simplefilter("ignore")
    if library != "torch":  # whose endless loops are in C++: the process ends
        signal.signal(signal.SIGPROF, _stop)
    os.chdir(Path(given).parent)
    texts: list[str] = json.loads(Path(given).read_text(encoding="utf-8"))
    with open(wanted, "w", encoding="utf-8") as out:
        for number, text in enumerate(texts):
            found = run(module, library, text, number)
            out.write(json.dumps(found) + "\n")
            out.flush()


class _Endless(BaseException):
    """A program has run for too long."""


def _stop(*_: object) -> None:
    raise _Endless


def run(library: Any, name: str, text: str, number: int) -> dict[str, Any]:
    """What each way to run a program gave: `{way: [result of each call]}`."""
    file = f"program{number}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType(file[:-3])
    module.__dict__.update(__file__=file, torch=library)
    sys.modules[file[:-3]] = module
    source = text if name == "torch" else re.sub(r"^from torch\b", f"from {name}", text, flags=re.M)
    try:
        exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    except Exception as error:
        return {"scripted": [{"refused": shown_error(error)}]}
    found: dict[str, Any] = {}
    for way, make in ways(library, name, module):
        signal.setitimer(signal.ITIMER_PROF, 4 * SECONDS)
        try:
            target = make()
        except Exception as error:
            found[way] = [{"refused": shown_error(error)}]
            if way == "scripted":
                break
            continue
        found[way] = [call(target, arguments) for arguments in module.calls()]
        if isinstance(module.target, type) and way not in CHANGED:
            found[way].append({"state": encode(dict(target.state_dict()))})
    return found


def ways(
    library: Any, name: str, module: types.ModuleType
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The ways a program is run; a second call of all is what plans and profilers begin with."""

    def fresh() -> Any:
        target = module.target() if isinstance(module.target, type) else module.target
        return library.jit.script(target)

    def anew() -> Any:
        """`fresh`, without what was made of a function to run it."""
        scripted = fresh()
        if hasattr(scripted, "_debug_flush_compilation_cache"):
            scripted._debug_flush_compilation_cache()
        return scripted

    def again(scripted: Any) -> Any:
        buffer = io.BytesIO()
        library.jit.save(scripted, buffer)
        buffer.seek(0)
        return library.jit.load(buffer)

    def loaded() -> Any:
        return again(fresh())

    yield "scripted", fresh
    yield "again", fresh
    if name == "torch":  # its optimizer leaves out what fails and is not used
        library._C._set_graph_executor_optimize(False)
        yield "not optimized", anew
        library._C._set_graph_executor_optimize(True)
    if name == "rushlight":
        for variable, value in (("RUSHLIGHT_PLAN", "off"), ("RUSHLIGHT_NATIVE", "now")):
            usual = os.environ.get(variable, "")
            os.environ[variable] = value
            yield f"{variable}={value}", anew
            os.environ[variable] = usual
    yield "loaded", loaded
    if name == "torch":
        library._C._set_graph_executor_optimize(False)
        yield "loaded, not optimized", loaded
        library._C._set_graph_executor_optimize(True)
    if isinstance(module.target, type | library.nn.Module):  # a class is made anew for each way
        yield "loaded twice", lambda: again(loaded())
        yield "copied", lambda: copy.deepcopy(fresh())
        yield "frozen", lambda: library.jit.freeze(fresh().eval())
        yield "prepared", lambda: library.jit.optimize_for_inference(fresh().eval())


def call(target: Any, arguments: tuple[Any, ...]) -> Result:
    """One call."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor: others may be at work
    with programs.capture() as printed:
        try:
            value = target(*arguments)
            found: Result = {"out": encode(value)}
        except _Endless:
            found = {"raises": "endless"}
        except Exception as error:
            found = {"raises": shown_error(error)}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return {**found, "stdout": printed(), "left": [encode(a) for a in arguments]}


def shown_error(error: Exception) -> list[str]:
    """The class of an error, its first line, and its last, which says what is wrong."""
    lines = [line for line in str(error).strip().split("\n") if line.strip()] or [""]
    return [type(error).__name__, lines[0], lines[-1]]


def encode(value: Any) -> Any:
    """A value as JSON that tells all of it."""
    if isinstance(value, enum.Enum):
        return {"t": "enum", "v": value.name}
    if isinstance(value, float | complex):
        return {"t": type(value).__name__, "v": list(repr(value))}  # told exactly
    if isinstance(value, tuple):
        name = type(value).__name__ if hasattr(value, "_fields") else "tuple"
        return {"t": name, "v": [encode(v) for v in value]}
    if isinstance(value, list):
        return {"t": "list", "v": [encode(v) for v in value]}
    if isinstance(value, dict):
        return {"t": "dict", "v": [[encode(k), encode(v)] for k, v in value.items()]}
    if hasattr(value, "dtype") and hasattr(value, "detach"):
        flat = " ".join(repr(v) for v in value.detach().reshape(-1).tolist())
        kind = str(value.dtype).partition(".")[2]
        facts = {"dtype": kind, "shape": [int(n) for n in value.shape], "v": flat}
        # NumPy keeps no strides of arrays without elements
        known = {"grad": encode(value.grad)} if value.requires_grad and value.is_leaf else {}
        known |= {"requires_grad": True} if value.requires_grad else {}
        return {"t": "tensor", **facts, "stride": list(value.stride()) if flat else [], **known}
    if value is None or isinstance(value, bool | int | str):
        return {"t": type(value).__name__, "v": value}
    return {"t": type(value).__name__}


if __name__ == "__main__":
    main()
