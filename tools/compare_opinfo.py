"""Compare rushlight's operators with torch's on the samples that torch's own tests use.

    PYTHONPATH=. PYTHON tools/compare_opinfo.py [--only REGEX] [--split K/N] [--dtypes float32,...]
        [--each 6] [--references] [--layout last|turned] [--known FILE] [--json FILE] [--exact] [-v]

PYTHON is an interpreter that has torch 2.13 beside rushlight's requirements.  Every entry of
`op_db` runs on both sides: as function, method, operator, with `out=`, in place, over samples of
several dtypes (all of float32, `--each` of the others), non-contiguous ones, samples that are
refused, first and second gradients in float64; with `--layout` over dense tensors with channels
last, or with their dimensions stored in the opposite order.  Compared are values, dtypes, shapes,
strides, shared memory, errors.  A child process runs the operators, so that a crash or a hang of
one is a finding.  Lines of the known file (`tools/opinfo_known.txt`) explain what may differ.
Exit status 1 if anything differs that is not explained there.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import select
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import numpy as np
import torch
from opinfo_worlds import (
    Absent,
    Translator,
    Untranslated,
    note,
    outcome,
    own_function,
    rebound,
    seeded,
    tensors,
    values,
)
from torch.testing._internal.common_methods_invocations import op_db

import rushlight

DTYPES = "float32 float64 int64 bool complex64 bfloat16 float16 uint8".split()
_TOLERANCES = {
    "float16": (2**-10, 1e-5),
    "bfloat16": (2**-7, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
}


class Comparer:
    """Runs the samples of one operator on both sides and keeps what differs."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.found: list[dict[str, Any]] = []
        self.samples = self.equal = 0
        self._excuses: dict[str, str] = {}

    # ------------------------------------------------------------------ the samples

    def run(self, op: Any) -> None:
        """All that is compared of an operator."""
        for name in self.options.dtypes.split(","):
            dtype = getattr(torch, name)
            if dtype in op.supported_dtypes("cpu"):
                for number, sample in self._chosen(op, dtype, name):
                    self._sample(op, sample, f"{name} {number}", name)
        if op.error_inputs_func is not None and "errors" not in self.options.without:
            given = outcome(lambda: list(op.error_inputs("cpu")))[0]
            for number, each in enumerate(given or ()):
                self._function(op, each.sample_input, f"error {number}", "refused")
        if op.supports_autograd and "gradients" not in self.options.without:
            self._gradients(op)

    def _chosen(self, op: Any, dtype: Any, name: str) -> Iterator[tuple[str, Any]]:
        most = self.options.all if name == "float32" else self.options.each
        samples = self._samples(op, dtype, False)
        for number in _spread(len(samples), most):
            yield f"{number}", samples[number]
        if self.options.layout:
            return
        samples = self._samples(op, dtype, False)  # calls in place have changed the others
        for number in _spread(len(samples), most if name == "float32" else 1):
            strided, error = outcome(samples[number].noncontiguous)
            if error is None:
                yield f"{number} strided", strided

    def _samples(self, op: Any, dtype: Any, requires_grad: bool) -> list[Any]:
        torch.manual_seed(self.options.seed)
        make = op.reference_inputs if self.options.references else op.sample_inputs
        samples, error = outcome(lambda: list(make("cpu", dtype, requires_grad)))
        lie = LAYOUTS[self.options.layout]
        return [] if error is not None else [sample.transform(lie) for sample in samples]

    # ------------------------------------------------------------------ forward

    def _sample(self, op: Any, sample: Any, place: str, name: str) -> None:
        result = self._function(op, sample, place, "function")
        if op.method_variant is not None:
            self._function(op, sample, place, "method", op.method_variant)
        if op.operator_variant is not None:
            self._function(op, sample, place, "operator", op.operator_variant)
        if op.supports_out and result is not None:
            self._out(op, sample, place, result)
        if op.inplace_variant is not None and not sample.broadcasts_input:
            self._function(op, sample, place, "in place", op.inplace_variant)

    def _function(
        self, op: Any, sample: Any, place: str, variant: str, function: Any = None
    ) -> Any:
        return self._both(op, function or op.op, sample, {}, place, variant)

    def _out(self, op: Any, sample: Any, place: str, result: Any) -> None:
        outs = list(tensors(result))
        if not outs or len(outs) != (1 if isinstance(result, torch.Tensor) else len(result)):
            return
        for variant, make in (("out", torch.empty_like), ("out resized", lambda t: t.new_empty(0))):
            made = [make(each.detach()) for each in outs]
            for each in made:
                each.zero_()
            more = {"out": made[0] if len(outs) == 1 else tuple(made)}
            self._both(op, op.op, sample, more, place, variant)

    def _both(
        self, op: Any, function: Any, sample: Any, more: Any, place: str, variant: str
    ) -> Any:
        """Call both, compare; torch's result."""
        translate = Translator()
        args, kwargs = [sample.input, *sample.args], {**sample.kwargs, **more}
        try:
            own_args, own_kwargs = translate(args), translate(kwargs)
            own = own_function(function)
        except Untranslated:
            return None
        except Absent as error:
            self._differs(op, place, variant, "absent", str(error))
            return None
        wanted, wanted_error = seeded(torch, lambda: function(*args, **kwargs))
        got, got_error = seeded(rushlight, lambda: own(*own_args, **own_kwargs))
        kept = len(self.found)
        try:
            if wanted_error is not None or got_error is not None:
                self._errors(op, place, variant, wanted_error, got_error)
            else:
                given = [a for a, _ in translate.pairs], [b for _, b in translate.pairs]
                self._notes(op, place, variant, note(wanted, given[0]), note(got, given[1]))
                if variant in ("in place", "out", "out resized"):
                    self._notes(op, place, variant, *(note(each, []) for each in given))
        except Untranslated:
            return wanted
        self._excuse(op, sample, place, variant, kept, wanted, got)
        self.samples += 1
        self.equal += kept == len(self.found)
        return wanted

    def _excuse(
        self, op: Any, sample: Any, place: str, variant: str, kept: int, wanted: Any, got: Any
    ) -> None:
        """Values that differ, but need not be equal: they are rounded, or one choice of many."""
        wrong = [each for each in self.found[kept:] if each["what"] == "value"]
        if wrong and (variant == "function" or place not in self._excuses):
            self._excuses[place] = self._excuse_for(op, sample, place, wanted, got)
        for each in wrong:
            each["what"] = self._excuses.get(place, "value")

    def _excuse_for(self, op: Any, sample: Any, place: str, wanted: Any, got: Any) -> str:
        kept = len(self.found)
        process = sample.output_process_fn_grad
        told, _ = outcome(lambda: (process(wanted), rebound(process)(got)))
        if told is not None:
            self._notes(op, place, "", *(note(each, []) for each in told))
            chosen = not any(each["what"] == "value" for each in self.found[kept:])
            del self.found[kept:]
            if chosen:
                return "free choice"
        if op.name in _CHOOSING and same_choice(sample.input, wanted, got):
            return "free choice"
        exact, error = seeded(torch, lambda: _wide(op, sample))
        if error is None and as_near(list(tensors(wanted)), list(tensors(got)), exact):
            return "rounding"
        return "value"

    # ------------------------------------------------------------------ gradients

    def _gradients(self, op: Any) -> None:
        for name in ("float64", "complex128"):
            dtype = getattr(torch, name)
            if dtype not in op.supported_backward_dtypes("cpu"):
                continue
            samples = self._samples(op, dtype, True)
            most = self.options.gradients if name == "float64" else self.options.each
            for number in _spread(len(samples), most):
                self._gradient(op, samples[number], f"{name} {number}")

    def _gradient(self, op: Any, sample: Any, place: str) -> None:
        translate = Translator()
        args = [sample.input, *sample.args]
        try:
            own_args, own_kwargs = translate(args), translate(sample.kwargs)
            own = own_function(op.op)
            process = sample.output_process_fn_grad
            own_process = rebound(process)
        except (Untranslated, Absent):
            return
        for twice in (True, False) if op.supports_gradgrad else (False,):
            wanted, wanted_error = seeded(
                torch,
                lambda twice=twice: gradients(
                    torch, process(op.op(*args, **sample.kwargs)), args, twice
                ),
            )
            if wanted_error is None:
                break
        got, got_error = seeded(
            rushlight,
            lambda: gradients(
                rushlight, own_process(own(*own_args, **own_kwargs)), own_args, twice
            ),
        )
        kept = len(self.found)
        if wanted_error is not None or got_error is not None:
            self._errors(op, place, "gradient", wanted_error, got_error)
        else:
            for order, (a, b) in enumerate(zip(wanted, got, strict=True)):
                what = ("gradient", "second gradient")[order]
                self._notes(op, place, what, note(a, []), note(b, []))
        self.samples += 1
        self.equal += kept == len(self.found)

    # ------------------------------------------------------------------ differences

    def _errors(
        self,
        op: Any,
        place: str,
        variant: str,
        wanted: BaseException | None,
        got: BaseException | None,
    ) -> None:
        if wanted is None:
            kind = "absent" if isinstance(got, AttributeError) else "refuses"
            self._differs(op, place, variant, kind, f"{type(got).__name__}: {_line(got)}")
        elif got is None:
            text = f"torch: {type(wanted).__name__}: {_line(wanted)}"
            self._differs(op, place, variant, "accepts", text)
        elif not isinstance(got, type(wanted)):
            text = f"{type(wanted).__name__}: {_line(wanted)} | {type(got).__name__}: {_line(got)}"
            self._differs(op, place, variant, "error type", text)
        elif _line(wanted) != _line(got):
            self._differs(op, place, variant, "error text", f"{_line(wanted)} | {_line(got)}")

    def _notes(self, op: Any, place: str, variant: str, wanted: Any, got: Any) -> None:
        if "gradient" in variant and _both_nothing(wanted, got):
            return
        if isinstance(wanted, dict) and isinstance(got, dict):
            for what, text in self._tensor(wanted, got, variant):
                self._differs(op, place, variant, what, text)
        elif isinstance(wanted, list) and isinstance(got, list) and wanted[0] == got[0]:
            if wanted[0] in ("number", "other"):
                if not _same_number(wanted, got):
                    self._differs(op, place, variant, "value", f"{wanted} | {got}")
            elif len(wanted) != len(got):
                self._differs(op, place, variant, "count", f"{len(wanted)} | {len(got)}")
            else:
                for a, b in zip(wanted[1:], got[1:], strict=True):
                    self._notes(op, place, variant, a, b)
        else:
            self._differs(op, place, variant, "structure", f"{_kind(wanted)} | {_kind(got)}")

    def _tensor(self, wanted: Any, got: Any, variant: str) -> Iterator[tuple[str, str]]:
        for key in ("dtype", "shape"):
            if wanted[key] != got[key]:
                yield key, f"{wanted[key]} | {got[key]}"
                return
        text = difference(wanted["values"], got["values"], wanted["dtype"], self.options.exact)
        if text:
            yield "value", text
        for key in ("strides", "offset", "requires_grad", "is", "shares"):
            if "gradient" in variant and key != "strides":
                continue
            if wanted[key] != got[key]:
                told = f"{wanted[key]} | {got[key]} of shape {list(wanted['shape'])}"
                reach = key != "strides" or _walked(wanted) != _walked(got)
                yield key if reach else "strides of ones", told

    def _differs(self, op: Any, place: str, variant: str, what: str, text: str) -> None:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        self.found.append(
            {"op": name, "sample": place, "variant": variant, "what": what, "text": text[:400]}
        )


def _walked(tensor: Any) -> list[Any]:
    """The strides that reach an element: those of sizes above 1, of tensors with elements."""
    sizes, strides = tensor["shape"], tensor["strides"]
    walked = [stride for size, stride in zip(sizes, strides, strict=True) if size > 1]
    return walked if 0 not in sizes else []


def _last(value: Any) -> Any:
    """A tensor of images or volumes with its channels last; other values as they are."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    if not _may_lie_otherwise(value) or value.ndim not in formats:
        return value
    moved = value.detach().contiguous(memory_format=formats[value.ndim])
    return moved.requires_grad_(value.requires_grad)


def _turned(value: Any) -> Any:
    """A tensor stored with its last dimension outermost; other values as they are."""
    if not _may_lie_otherwise(value) or value.ndim < 2:
        return value
    dims = range(value.ndim)[::-1]
    moved = value.detach().permute(*dims).contiguous().permute(*dims)
    return moved.requires_grad_(value.requires_grad)


def _may_lie_otherwise(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


LAYOUTS = {"": lambda value: value, "last": _last, "turned": _turned}


def _spread(count: int, most: int) -> list[int]:
    """At most so many of the numbers below `count`, evenly spread."""
    if count <= most:
        return list(range(count))
    return [n * count // most for n in range(most)]


def _line(error: BaseException | None) -> str:
    """What an error says, without the lines that C++ adds."""
    text = str(error)
    text = text.split("\nException raised from")[0]
    return " ".join(text.split()).replace("rushlight", "torch")


def _kind(noted: Any) -> str:
    return "Tensor" if isinstance(noted, dict) else " ".join(map(str, noted))[:80]


def _both_nothing(wanted: Any, got: Any) -> bool:
    """Whether one gradient is None and the other holds zeros: what is not asked may be either."""
    none = [each for each in (wanted, got) if each == ["number", "NoneType", None]]
    zeros = [
        each
        for each in (wanted, got)
        if isinstance(each, dict) and not (abs(each["values"]) > 1e-12).any()
    ]
    return len(none) == len(zeros) == 1


def _same_number(wanted: list[Any], got: list[Any]) -> bool:
    if wanted[1] != got[1] and wanted[0] == "number":
        return False
    if isinstance(wanted[-1], float):
        return bool(np.isclose(wanted[-1], got[-1], 1e-6, 1e-6, equal_nan=True))
    return bool(wanted == got)


def difference(
    wanted: np.ndarray[Any, Any], got: np.ndarray[Any, Any], dtype: str, exact: bool
) -> str:
    """What to say of two arrays of the same shape that are not equal; "" if they are."""
    if wanted.dtype.kind not in "fc":
        same = wanted == got
    else:
        name = dtype.removeprefix("torch.")
        relative, absolute = (0.0, 0.0) if exact else _TOLERANCES.get(name, (1e-7, 1e-7))
        same = np.isclose(got, wanted, relative, absolute, equal_nan=True)
    if same.all():
        return ""
    first = np.unravel_index(int(np.argmin(same)), same.shape)
    count = f"{same.size - int(same.sum())} of {same.size}"
    return f"{count}, at {[int(n) for n in first]}: {wanted[first]!r} | {got[first]!r}"


_CHOOSING = "argsort sort msort kthvalue topk median nanmedian mode".split()


def same_choice(input: Any, wanted: Any, got: Any) -> bool:
    """Whether indices on both sides choose equal elements of the input, along any dimension."""
    for a, b in zip(tensors(wanted), tensors(got), strict=True):
        if a.dtype == torch.int64 and not np.array_equal(values(a), values(b)):
            b = torch.from_numpy(values(b))
            dims = range(-1, input.ndim)
            if not any(_gathers_same(input, a, b, dim, keep) for dim in dims for keep in (0, 1)):
                return False
    return True


def _gathers_same(input: Any, a: Any, b: Any, dim: int, keep: int) -> bool:
    if keep and dim >= 0:
        a, b = a.unsqueeze(dim), b.unsqueeze(dim)
    source, dim = (input.reshape(-1), 0) if dim < 0 else (input, dim)
    found, error = outcome(lambda: source.gather(dim, a).equal(source.gather(dim, b)))
    return error is None and bool(found)


def _wide(op: Any, sample: Any) -> list[Any]:
    """torch's results of a sample in float64 or complex128."""

    def widened(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
            return value.to(torch.complex128 if value.is_complex() else torch.float64)
        wide = {torch.float32: torch.float64, torch.complex64: torch.complex128}
        return wide.get(value, value) if isinstance(value, torch.dtype) else value

    wide = sample.transform(widened)
    return list(tensors(op.op(wide.input, *wide.args, **wide.kwargs)))


def as_near(wanted: list[Any], got: list[Any], exact: list[Any]) -> bool:
    """Whether results are about as near to exact ones as torch's: four times its distance at most,
    or four units in the last place of the largest element.
    """
    return all(map(_as_near, wanted, got, exact))


def _as_near(wanted: Any, got: Any, exact: Any) -> bool:
    if not (wanted.is_floating_point() or wanted.is_complex()) or wanted.shape != exact.shape:
        return bool(np.array_equal(values(wanted), values(got)))
    a, b, c = values(wanted), values(got), values(exact)
    finite = np.isfinite(a) & np.isfinite(c)
    if not finite.any():
        return bool(np.array_equal(a, b, equal_nan=True))
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    unit = torch.finfo(wanted.dtype).eps * np.abs(c[finite]).max()
    distance = np.abs(a - c)[finite].max()
    return bool(np.abs(b - c)[finite].max() <= 4 * distance + 4 * unit)


def gradients(world: Any, result: Any, args: list[Any], twice: bool) -> list[list[Any]]:
    """The gradients of a result under fixed weights, and theirs if `twice`."""
    leaves = [each for each in tensors(args) if each.requires_grad]
    outs = [each for each in tensors(result) if each.requires_grad]
    weights = [_weights(world, each) for each in outs]
    more = {"allow_unused": True, "create_graph": twice}
    first = world.autograd.grad(outs, leaves, weights, **more) if outs else ()
    if not twice:
        return [list(first)]
    again = [each for each in first if each is not None and each.requires_grad]
    weights = [_weights(world, each) for each in again]
    second = (
        world.autograd.grad(again, leaves, weights, allow_unused=True)
        if again
        else [None] * len(leaves)
    )
    return [list(first), list(second)]


def _weights(world: Any, tensor: Any) -> Any:
    drawn = np.random.default_rng(5).standard_normal(tuple(tensor.shape))
    return world.tensor(drawn.reshape(-1)).reshape(tuple(tensor.shape)).to(tensor.dtype)


# --------------------------------------------------------------------------- children


def child(options: argparse.Namespace) -> None:
    """Run the operators whose numbers come on standard input; a line of JSON for each."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.cuda.manual_seed_all = lambda seed: None  # else each draw of samples notes its callers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        comparer = Comparer(options)
        started = time.monotonic()
        try:
            comparer.run(op_db[int(line)])
        except Exception:
            comparer._differs(op_db[int(line)], "", "", "tool", traceback.format_exc()[-300:])
        told = {"found": comparer.found, "samples": comparer.samples, "equal": comparer.equal}
        told["seconds"] = round(time.monotonic() - started, 2)
        print(json.dumps(told), file=answers, flush=True)


class Runner:
    """A child that runs one operator after another, and another one when it dies."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.child: subprocess.Popen[str] | None = None

    def run(self, number: int) -> dict[str, Any]:
        """What the child tells of an operator, or how it ended."""
        if self.child is None:
            command = [sys.executable, __file__, "--child", *sys.argv[1:]]
            pipe = subprocess.PIPE
            quiet = subprocess.DEVNULL if "--noise" not in sys.argv else None
            self.child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, text=True)
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(f"{number}\n")
        self.child.stdin.flush()
        ready = select.select([self.child.stdout], [], [], self.seconds)[0]
        line = self.child.stdout.readline() if ready else ""
        if line:
            return dict(json.loads(line))
        what = "crash" if ready else "hang"
        self.child.kill()
        text = f"status {self.child.wait()}"
        self.child = None
        finding = {"sample": "", "variant": "", "what": what, "text": text}
        return {"found": [finding], "samples": 0, "equal": 0, "seconds": self.seconds}


# --------------------------------------------------------------------------- reports


def explanations(path: Path) -> list[tuple[list[re.Pattern[str]], str]]:
    """The rows of the known file: patterns of op, variant, sample, what; then the reason."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            *patterns, reason = [part.strip() for part in line.split(" :: ", 4)]
            rows.append(([re.compile(each) for each in patterns], reason))
    return rows


def reason(finding: dict[str, Any], known: list[tuple[list[re.Pattern[str]], str]]) -> str | None:
    """Why a difference is no fault, if the known file says so."""
    told = [finding[key] for key in ("op", "variant", "sample", "what")]
    for patterns, why in known:
        if all(p.fullmatch(text) for p, text in zip(patterns, told, strict=True)):
            return why
    return None


def report(results: dict[str, dict[str, Any]], options: argparse.Namespace) -> int:
    """A line for each operator and kind of difference; the number not explained."""
    known = explanations(options.known)
    kinds: collections.Counter[str] = collections.Counter()
    explained = 0
    for name, result in results.items():
        grouped: dict[tuple[str, str], list[Any]] = {}
        for finding in result["found"]:
            finding["known"] = reason(finding, known)
            explained += finding["known"] is not None
            if finding["known"] is None:
                grouped.setdefault((finding["what"], finding["variant"]), []).append(finding)
                kinds[finding["what"]] += 1
        for (what, variant), group in grouped.items():
            first = group[0]
            print(f"{name}: {what} ({variant}) x{len(group)}  [{first['sample']}] {first['text']}")
    samples = sum(each["samples"] for each in results.values())
    equal = sum(each["equal"] for each in results.values())
    print(f"{equal} of {samples} calls of {len(results)} operators agree in everything")
    print(f"{explained} differences explained, {sum(kinds.values())} not: {dict(kinds)}")
    return sum(kinds.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="operators whose name this is found in")
    parser.add_argument("--split", default="0/1", help="part K of N, from 0")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--each", type=int, default=6, help="samples of dtypes besides float32")
    parser.add_argument("--all", type=int, default=200, help="samples of float32, at most")
    parser.add_argument("--gradients", type=int, default=40, help="samples of gradients, at most")
    parser.add_argument("--without", default="", help="errors, gradients")
    parser.add_argument("--references", action="store_true", help="take the reference samples")
    parser.add_argument("--layout", default="", choices=LAYOUTS, help="how tensors lie")
    parser.add_argument("--seed", type=int, default=7, help="of the samples' elements")
    parser.add_argument("--exact", action="store_true", help="no tolerance of values")
    parser.add_argument("--known", type=Path, default=ROOT / "tools" / "opinfo_known.txt")
    parser.add_argument("--json", type=Path, help="where to keep what differs, a line for each")
    parser.add_argument("--seconds", type=float, default=120, help="an operator may take")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--noise", action="store_true", help="show what children print")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each operator")
    options = parser.parse_args()
    if options.child:
        child(options)
        return 0
    part, parts = map(int, options.split.split("/"))
    runner = Runner(options.seconds)
    kept = open(options.json, "w", encoding="utf-8") if options.json else None  # noqa: SIM115
    results = {}
    for number, op in enumerate(op_db):
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if number % parts == part and re.search(options.only, name):
            while name in results:
                name += "'"
            results[name] = runner.run(number)
            for each in results[name]["found"]:
                each.setdefault("op", name)
            if kept:
                print(json.dumps({"op": name, **results[name]}), file=kept, flush=True)
            if options.verbose:
                told = results[name]
                print(
                    f"{name}: {told['equal']}/{told['samples']} in {told['seconds']} s", flush=True
                )
    wrong = report(results, options)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
