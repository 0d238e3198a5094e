"""Export programs to ONNX, check them, run them by onnxruntime and compare with their own results.

    python tools/check_onnx.py [layers] [examples] [programs] [operators] [--only TEXT] [--all]
        [--opset NUMBER] [--functions]

`layers` are the rows of `tests/rushlight/layers`, scripted, in evaluation; `examples` the models of
`examples/`; `programs` functions with branches and loops (`onnx_programs.py`); `operators` calls of
single operators (`onnx_operators.txt`).  Needs `onnx` and `onnxruntime`; what does not agree is
listed, and counts close the report.
"""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools"), str(ROOT / "examples")]

import layer_rows
import onnx
import onnxruntime

import rushlight as torch

Case = tuple[str, Any, tuple[Any, ...], dict[str, Any]]


def leaves(value: Any, lists: bool = False) -> Iterator[np.ndarray]:
    """The tensors and numbers of a result, in order; None is left out.  Lists of numbers, whose
    length only a run knows, are one array if `lists`."""
    if lists and isinstance(value, list) and value and isinstance(value[0], int | float):
        yield np.asarray(value)
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        for each in value:
            yield from leaves(each, lists)
    elif value is not None:
        array = value.detach().resolve_conj().numpy() if isinstance(value, torch.Tensor) else value
        yield as_floats(np.asarray(array))


def as_floats(array: np.ndarray) -> np.ndarray:
    """What stands for an array in ONNX: complex numbers are two floats along a last axis."""
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def flat_inputs(value: Any) -> Iterator[Any]:
    """The tensors of arguments, and the numbers that are inputs."""
    if isinstance(value, tuple | list):
        for each in value:
            yield from flat_inputs(each)
    elif isinstance(value, torch.Tensor | bool | int | float):
        yield value


def outcome(program: Any, given: tuple[Any, ...], options: dict[str, Any]) -> str:
    """`agrees`, or what went wrong."""
    torch.manual_seed(2)
    with torch.no_grad():  # as what is exported computes
        result = program(*_copies(given))
    file = io.BytesIO()
    try:
        torch.onnx.export(program, given, file, **options)
    except torch.onnx.errors.UnsupportedOperatorError as error:
        first = error.diagnostics[0].message if error.diagnostics else str(error).splitlines()[0]
        return f"refused: {first}"
    except torch.onnx.OnnxExporterError as error:
        return f"refused: {str(error).splitlines()[0][:300]}"
    except Exception as error:
        return f"FAILED to export: {type(error).__name__}: {str(error).splitlines()[0][:300]}"
    try:
        onnx.checker.check_model(file.getvalue(), full_check=True)
    except Exception as error:
        return f"FAILED the checker: {str(error)[:300]}"
    return compared(file.getvalue(), given, result)


def _copies(given: Any) -> Any:
    if isinstance(given, tuple | list):
        copies = [_copies(each) for each in given]
        return type(given)(*copies) if hasattr(given, "_fields") else type(given)(copies)
    return given.clone() if isinstance(given, torch.Tensor) else given


def compared(data: bytes, given: Any, result: Any) -> str:
    """Run by onnxruntime and compare."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(data, settings)
    except Exception as error:
        return f"not taken by onnxruntime: {str(error)[:300]}"
    names = [each.name for each in session.get_inputs()]
    arrays = [
        as_floats(np.asarray(v.numpy() if isinstance(v, torch.Tensor) else v))
        for v in flat_inputs(given)
    ]
    if len(arrays) != len(names):
        arrays = [
            a
            for a, v in zip(arrays, flat_inputs(given), strict=True)
            if isinstance(v, torch.Tensor)
        ]
    kept = {each.name for each in onnx.load_from_string(data).graph.input}
    feeds = {name: array for name, array in zip(names, arrays, strict=False) if name in kept}
    try:
        found = list(leaves(session.run(None, feeds)))
    except Exception as error:
        return f"FAILED to run: {str(error)[:300]}"
    wanted = list(leaves(result))
    if len(found) != len(wanted):
        wanted = list(leaves(result, lists=True))
    if len(found) != len(wanted):
        return f"DIFFERS: {len(found)} results for {len(wanted)}"
    for a, b in zip(found, wanted, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"DIFFERS: {a.dtype}{a.shape} for {b.dtype}{b.shape}"
        if not np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=a.dtype.kind in "fc"):
            return f"DIFFERS by {np.max(np.abs(a.astype(float) - b.astype(float))):.3g}"
    return "agrees"


def layers() -> Iterator[Case]:
    """The rows of the layer tables; not those that are there since the layer refuses its inputs."""
    for row in layer_rows.rows(ROOT / "tests" / "rushlight" / "layers"):
        try:
            layer = row.layer(torch)
            layer.eval()(*row.arguments(torch))
            program = torch.jit.script(layer.eval())
            program = program if hasattr(program, "forward") else layer
        except Exception:
            continue
        yield row.constructor, program, row.arguments(torch), {}


def programs() -> Iterator[Case]:
    """Functions with control flow; a `dynamic` one is exported with axes and numbers that vary."""
    for name, function, given in import_module("onnx_programs").CASES:
        yield name, torch.jit.script(function), given, {}
        axes = {
            a.name: (
                {} if not isinstance(v, torch.Tensor) else {0: f"{a.name}0"} if v.dim() else {}
            )
            for a, v in zip(torch.jit.script(function).schema.arguments, given, strict=False)
            if isinstance(v, torch.Tensor | bool | int | float)
        }
        yield f"{name} (sizes vary)", torch.jit.script(function), given, {"dynamic_axes": axes}


def examples() -> Iterator[Case]:
    """The models of the examples."""
    yield from import_module("onnx_programs").examples()


def operators() -> Iterator[Case]:
    """Single calls: a lambda over tensors, traced or scripted from its text."""
    names: dict[str, Any] = {
        "torch": torch,
        **{n: getattr(torch, n) for n in ("rand", "randn", "tensor")},
    }
    lines = (ROOT / "tools" / "onnx_operators.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line or line.startswith("#"):
            continue
        body, _, inputs = line.partition(" => ")
        torch.manual_seed(1)
        given = eval(f"({inputs},)", names)
        letters = "xyzuv"[: len(given)]
        unit = torch.jit.CompilationUnit(f"def f({', '.join(letters)}):\n    return {body}\n")
        yield body, unit.f, given, {}


KINDS = {"layers": layers, "examples": examples, "programs": programs, "operators": operators}


def main() -> int:
    """Compare what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", help=", ".join(KINDS))
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--opset", type=int, help="of the files")
    parser.add_argument("--functions", action="store_true", help="modules become functions")
    parser.add_argument("--all", action="store_true", help="tell of what agrees as well")
    wishes = parser.parse_args()
    warnings.simplefilter("ignore")
    more = {"opset_version": wishes.opset, "export_modules_as_functions": wishes.functions}
    wrong = 0
    for kind in wishes.kinds or KINDS:
        counts: Counter[str] = Counter()
        for name, program, given, options in KINDS[kind]():
            if wishes.only not in name:
                continue
            try:
                told = outcome(program, given, {**options, **more})
            except Exception as error:
                told = f"does not run: {type(error).__name__}: {str(error).splitlines()[0]}"
            counts[told.split(":")[0].split(" by ")[0]] += 1
            if told != "agrees" or wishes.all:
                print(f"{kind}: {name[:110]}\n    {told}", flush=True)
        wrong += sum(n for told, n in counts.items() if told[:3].isupper())
        print(f"== {kind}: {sum(counts.values())}:", dict(counts), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
