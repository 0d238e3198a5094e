"""Run every archive of a folder with one module, torch or rushlight, and write down what came out.

    python tools/run_archives.py MODULE FOLDER OUT [options]

FOLDER/NAME.pt is an archive, FOLDER/NAME.calls what `torch.save` wrote of a list of
`{"method": name, "args": tuple}`.  OUT/NAME.results then is what `save` of MODULE wrote of a dict
from variant to its record, OUT/NAME.pt (`--resave`) the archive saved again.  Used by
`compare_archives.py`; needs nothing but MODULE.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
warnings.simplefilter("ignore")

Variant = Callable[[Any, Any], Any]

VARIANTS: dict[str, Variant] = {
    "plain": lambda module, loaded: loaded,
    "freeze": lambda module, loaded: module.jit.freeze(loaded.eval()),
    "optimized": lambda module, loaded: module.jit.optimize_for_inference(loaded.eval()),
    "double": lambda module, loaded: loaded.double(),
    "half": lambda module, loaded: loaded.half(),
    "bfloat16": lambda module, loaded: loaded.bfloat16(),
}
"""What is done to a loaded module before it is called."""

WARM_UP = 3
"""Calls before the timed ones: torch compiles for the kinds of arguments it saw in two calls."""


def plain(module: Any, value: Any) -> Any:
    """A result as `save` takes it: named tuples are tuples, quantized tensors their numbers."""
    if isinstance(value, module.Tensor):
        value = value.detach()
        return value.dequantize() if value.is_quantized else value.contiguous()
    if isinstance(value, tuple | list):
        items = [plain(module, item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: plain(module, item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    return f"an object of {type(value).__name__}"


def cast(module: Any, value: Any, dtype: Any) -> Any:
    """Arguments with the floating-point tensors among them in another dtype."""
    if isinstance(value, module.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, tuple | list):
        return type(value)(cast(module, item, dtype) for item in value)
    if isinstance(value, dict):
        return {key: cast(module, item, dtype) for key, item in value.items()}
    return value


def call(module: Any, loaded: Any, what: dict[str, Any]) -> Any:
    """One call, with the generator set back."""
    module.manual_seed(0)
    return getattr(loaded, what["method"])(*what["args"])


def timed(module: Any, loaded: Any, what: dict[str, Any], seconds: float) -> list[float]:
    """Seconds of the second call and of the fastest one after a few, each at least once."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < WARM_UP + 3 or (time.perf_counter() < until and len(times) < 200):
        start = time.process_time()  # another program's share of the processor is not counted
        call(module, loaded, what)
        times.append(time.process_time() - start)
    return [times[0], min(times[WARM_UP:])]


def record(module: Any, archive: Path, variant: str, options: argparse.Namespace) -> dict[str, Any]:
    """What one variant of one archive does; `error` says why if it does nothing."""
    calls = module.load(str(archive.with_suffix(".calls")))
    if hasattr(module, variant):
        calls = [{**c, "args": cast(module, c["args"], getattr(module, variant))} for c in calls]
    start = time.perf_counter()
    loaded = module.jit.load(str(archive))
    found: dict[str, Any] = {"load": time.perf_counter() - start}
    if variant == "plain" and options.resave:
        loaded.save(str(options.out / archive.name))
    loaded = VARIANTS[variant](module, loaded)
    if variant == "plain" and options.texts:
        found |= {"code": loaded.code, "graph": str(loaded.inlined_graph)}
    with module.no_grad():
        start = time.perf_counter()
        results = [plain(module, call(module, loaded, what)) for what in calls]
        found |= {"results": results, "first": time.perf_counter() - start}
        if options.seconds:
            second, best = timed(module, loaded, calls[0], options.seconds)
            found |= {"second": second, "best": best}
    return found


def guarded(
    module: Any, archive: Path, variant: str, options: argparse.Namespace
) -> dict[str, Any]:
    """`record`, where whatever fails is part of the record."""
    signal.alarm(options.limit)
    try:
        return record(module, archive, variant, options)
    except Exception as error:
        text = str(error).strip().split("\n")
        return {"error": f"{type(error).__name__}: {text[0]} … {text[-1]}"[:600]}
    finally:
        signal.alarm(0)


def late(_number: int, _frame: Any) -> None:
    """What the alarm does."""
    raise TimeoutError("took too long")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="archives whose names contain this")
    parser.add_argument("--variants", default="plain", help=f"of {', '.join(VARIANTS)}")
    parser.add_argument("--resave", action="store_true", help="write OUT/NAME.pt")
    parser.add_argument("--texts", action="store_true", help="note code and graphs")
    parser.add_argument("--seconds", type=float, default=0.0, help="time calls for so long")
    parser.add_argument("--keep", action="store_true", help="leave results newer than archives")
    parser.add_argument("--limit", type=int, default=120, help="seconds a variant may take")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    module = importlib.import_module(options.module)
    module.set_num_threads(1)
    signal.signal(signal.SIGALRM, late)
    for archive in sorted(options.folder.glob("*.pt")):
        results = options.out / f"{archive.stem}.results"
        if options.only not in archive.name or not archive.with_suffix(".calls").exists():
            continue
        if options.keep and results.exists() and results.stat().st_mtime > archive.stat().st_mtime:
            continue
        names = options.variants.split(",")
        module.save({n: guarded(module, archive, n, options) for n in names}, str(results))


if __name__ == "__main__":
    main()
