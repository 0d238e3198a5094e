"""Check the gradients of every operator of the table against differences, first and second ones.

    python tools/check_gradients.py                             # some calls of each overload
    python tools/check_gradients.py --only '^aten::lerp' --calls 50 --seed 3

Each overload that has a row in the table of gradients is called with small float64 tensors
(`tame_values.py`) until it takes some.  Of each such call the gradient in one direction must be the
difference of values, the gradient of that the difference of gradients, and what is computed for
gradients that are differentiated themselves equal to what is computed for others.  Where values
bend between the two points nothing is compared.  Lines of `gradients_known.txt` say of which
overloads that cannot hold, and why.  Printed are faults, and at the end the overloads that took
nothing; the exit status says whether there was a fault.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tame_values import TameValues

import rushlight
from rushlight.ops.eager.calls import run, tensors_in
from rushlight.ops.gradients.recording.tape import gradients_of
from rushlight.ops.gradients.table.families import row_of
from rushlight.ops.table.table import TABLE, Operator
from rushlight.ops.tensors.tensor import Tensor

__all__ = ["Call", "drawn", "fault_of", "operators"]

_KNOWN = [
    re.compile(line.partition("::")[0].strip())
    for line in Path(__file__).with_name("gradients_known.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]

_STEP = 1e-6
_LEFT_OUT = re.compile(r"aten::(empty.*|new_empty.*|resize.*|set_.*|from_file|_.*quant.*)$")
"""What gives memory that nobody has written, or makes other memory of a tensor."""
_SYMMETRIC = re.compile(r"aten::(.*cholesky.*|.*eigh|.*eigvalsh)$")
"""What reads half of a matrix, which is to be positive definite."""
_CONSTANT = frozenset({"running_mean", "running_var", "noise", "samples"})
"""Arguments that have no gradients."""
_UNLIKE = frozenset({"index", "indices"})


def operators(pattern: str = "") -> Iterator[Operator]:
    """The overloads with gradients whose full name the pattern is found in, by name."""
    for name in sorted(TABLE.names()):
        for entry in TABLE.operators(name):
            row = row_of(entry)
            if row is None or row.is_constant or entry.is_out_form or _LEFT_OUT.match(name):
                continue
            short = entry.full_name.removeprefix("aten::")
            if re.search(pattern, entry.full_name) and not any(
                each.fullmatch(short) for each in _KNOWN
            ):
                yield entry


class Call:
    """A call of an operator as a function of its float64 tensors."""

    def __init__(self, entry: Operator, values: list[Any]) -> None:
        self.entry = entry
        self.values = values
        names = [argument.name for argument in entry.signature.arguments]
        free = [value for name, value in zip(names, values, strict=True) if name not in _CONSTANT]
        self.points = [each for each in _arrays(free) if each.dtype == np.float64]
        self._taken = set(map(id, self.points))
        self._numbers = np.random.default_rng(1)
        self._ways: dict[str, list[Any]] = {}

    def __call__(self, points: list[Any]) -> list[Tensor]:
        """The results that have gradients; `points` are tensors."""
        rushlight.manual_seed(0)
        left = iter(points)

        def filled(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return next(left) if id(value) in self._taken else Tensor._of(value.copy())
            return [filled(each) for each in value] if isinstance(value, list) else value

        handles = [filled(each) for each in self.values]
        if _SYMMETRIC.match(self.entry.name):
            eye = Tensor._of(np.eye(handles[0].shape[-1]))
            handles[0] = handles[0] @ handles[0].mT + eye
        if self.entry.is_in_place:
            handles[0] = handles[0].clone()
        made = run(self.entry, [_bare(each) for each in handles], handles)
        return [t for t in tensors_in(made) if t._array.dtype == np.float64 and t.requires_grad]

    def leaves(self, away: float = 0.0) -> list[Tensor]:
        """New tensors at the points, or away from them in the direction."""
        ways = self.direction("points", self.points)
        pairs = zip(self.points, ways, strict=True)
        return [Tensor._of(np.asarray(at + away * way), True) for at, way in pairs]

    def direction(self, name: str, like: list[Any]) -> list[Any]:
        """Some numbers of the sizes of arrays, the same for each name."""
        if name not in self._ways:
            made = [np.asarray(self._numbers.standard_normal(each.shape)) for each in like]
            self._ways[name] = made
        return self._ways[name]

    def value(self, points: list[Tensor]) -> Tensor | None:
        """One number made of all results."""
        made = self(points)
        ways = self.direction("results", [each._array for each in made])
        return _joined(made, ways)

    def slope(self, points: list[Tensor], create: bool) -> list[Tensor | None] | None:
        """The gradients of that number."""
        total = self.value(points)
        if total is None:
            return None
        return gradients_of([total], points, [None], keep=None, create=create, allow_unused=True)


def _joined(tensors: list[Any], ways: list[Any]) -> Tensor | None:
    parts = [
        (each * Tensor._of(way)).sum()
        for each, way in zip(tensors, ways, strict=True)
        if each is not None and each.requires_grad
    ]
    return sum(parts[1:], parts[0]) if parts else None


def _arrays(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, list):
            yield from _arrays(value)


def _bare(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array
    return [_bare(each) for each in value] if isinstance(value, list) else value


# --------------------------------------------------------------------------- one call


def drawn(entry: Operator, seed: str, tries: int) -> Call | None:
    """A call that an operator takes, of results that are finite; None if there was none."""
    for number in range(tries):
        values = TameValues(random.Random(f"{seed}/{number}"))
        given = [
            a.default
            if a.has_default and values.draw.random() < 0.5
            else values.value(a.type, a.name)
            for a in entry.signature.arguments
        ]
        given = [list(each) if isinstance(each, tuple) else each for each in given]
        if any(a.name in _UNLIKE for a in entry.signature.arguments) and not _are_unlike(given):
            continue
        call = Call(entry, given)
        if not call.points:
            continue
        try:
            made = call(call.leaves())
        except Exception:
            continue
        if made and all(np.isfinite(each._array).all() and each.numel() for each in made):
            return call
    return None


def _are_unlike(given: list[Any]) -> bool:
    """Whether no index comes twice: which of two values is written is anyone's choice then."""
    wholes = [each for each in _arrays(given) if each.dtype == np.int64]
    return all(len(set(each.reshape(-1).tolist())) == each.size for each in wholes)


def fault_of(call: Call) -> str:
    """What is wrong with the gradients of a call; "" for nothing."""
    fault, create = "", call.slope(call.leaves(), True)
    plain = call.slope(call.leaves(), False)
    if create is None or plain is None:
        return ""
    for one, other in zip(create, plain, strict=True):
        if (one is None) != (other is None):
            return "gradients that are differentiated are there where others are not"
        if one is not None and other is not None:
            fault = fault or _apart("gradients that are differentiated", one._array, other._array)
    steps = call.direction("points", call.points)
    fault = fault or _differs("gradient", call, lambda at: _number(call.value(at)), plain, steps)
    ways = call.direction("gradients", call.points)
    leaves = call.leaves()
    total = _joined(call.slope(leaves, True) or [], ways)
    if fault or total is None:
        return fault
    second = gradients_of([total], leaves, [None], keep=None, create=False, allow_unused=True)

    def first(at: list[Tensor]) -> float:
        pairs = zip(call.slope(at, False) or [], ways, strict=True)
        return sum(float((each._array * way).sum()) for each, way in pairs if each is not None)

    return _differs("second gradient", call, first, second, steps)


def _number(value: Tensor | None) -> float:
    return 0.0 if value is None else float(value._array)


def _differs(
    what: str,
    call: Call,
    function: Callable[[list[Tensor]], float],
    grads: list[Tensor | None],
    steps: list[Any],
) -> str:
    """Whether gradients are not the difference of values, where these do not bend."""
    at, above, below = (function(call.leaves(away)) for away in (0.0, _STEP, -_STEP))
    pairs = zip(grads, steps, strict=True)
    found = sum(float((g._array * way).sum()) for g, way in pairs if g is not None)
    wanted = (above - below) / (2 * _STEP)
    size = 1 + abs(wanted) + abs(at)
    if abs((above - at) - (at - below)) / _STEP > 1e-3 * size or not np.isfinite(wanted):
        return ""
    if abs(found - wanted) <= 1e-4 * size:
        return ""
    return f"{what} {found:.8g}, by differences {wanted:.8g}"


def _apart(what: str, one: Any, other: Any) -> str:
    if one.shape == other.shape and np.allclose(one, other, 1e-7, 1e-9, equal_nan=True):
        return ""
    return f"{what}: {one.tolist()}, others {other.tolist()}"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.char}{list(value.shape)}" + ("" if value.size > 4 else f"{value}")
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, list) else repr(value)


# --------------------------------------------------------------------------- all


def _checked(entry: Operator, options: argparse.Namespace) -> tuple[int, set[str]]:
    """How many calls of an overload were compared, and what is wrong, each once."""
    count, faults = 0, set[str]()
    for number in range(options.calls):
        call = drawn(entry, f"{options.seed}/{entry.full_name}/{number}", options.tries)
        if call is None:
            break
        try:
            fault = fault_of(call)
        except NotImplementedError:  # the table says that there is no gradient
            fault = ""
        except Exception as error:
            fault = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        count += 1
        kind = re.sub(r"[-+.\de\[\], ]+", " ", fault)
        if fault and kind not in faults:
            faults.add(kind)
            given = ", ".join(map(_shown, call.values))
            print(f"{entry.full_name}({given}): {fault[:300]}", flush=True)
    return count, faults


def main() -> int:
    """Check all; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Check gradients against differences.")
    parser.add_argument("--only", default="", metavar="PATTERN", help="overloads by full name")
    parser.add_argument("--calls", type=int, default=5, help="calls of an overload")
    parser.add_argument("--tries", type=int, default=300, help="arguments until one is taken")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    calls = wrong = 0
    idle = []
    for entry in operators(options.only):
        count, faults = _checked(entry, options)
        calls += count
        wrong += len(faults)
        if not count:
            idle.append(entry.full_name)
    print(f"{calls} calls, {wrong} faults; {len(idle)} overloads took nothing: {' '.join(idle)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
