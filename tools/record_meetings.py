"""Record what torch makes of tensors that meet 0-d tensors and numbers: `tools/record_meetings.py`.

Run with a Python that has torch.  It writes tests/ops/data/meetings.json: for each operator a list
of [dtype, values] or error class, in the order of `cases`, which the test reads too.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parent.parent / "tests" / "ops" / "data" / "meetings.json"

VALUES: dict[str, list[Any]] = {
    "bool": [True, False],
    "uint8": [3, 200],
    "int8": [-128, 5],
    "int64": [-3, 2**53 + 1],
    "float16": [0.1, -2.5],
    "bfloat16": [0.1, 300.0],
    "float32": [0.1, 1e30],
    "float64": [-0.1, 3.0],
}
ALONE: dict[str, list[Any]] = {
    **{"bool": [True], "uint8": [200], "int8": [-3], "int64": [-3, 2**31 + 5]},
    **{"float16": [0.1], "bfloat16": [-2.5], "float32": [0.1], "float64": [0.1, 1e300]},
}
NUMBERS: list[Any] = [True, -3, 300, 2**40, 0.1, -2.5]
OPERATORS = (
    "add sub mul div floor_divide remainder fmod pow eq lt ge maximum bitwise_and "
    "bitwise_left_shift atan2 copysign xlogy ldexp gcd clamp_min where add_half lerp mul_"
).split()

Call = Callable[[Any, Any, Any], Any]


def call(name: str) -> Call:
    """The operator as a function of a torch module and two operands."""
    special: dict[str, Call] = {
        "where": lambda t, a, b: t.where(t.tensor([True, False]), a, b),
        "add_half": lambda t, a, b: t.add(a, b, alpha=2),
        "lerp": lambda t, a, b: t.lerp(a, a + 1, b),
        "mul_": lambda t, a, b: a.mul_(b),
    }
    return special.get(name) or (lambda t, a, b: getattr(t, name)(a, b))


def cases(torch: Any) -> Iterator[tuple[str, Any, Any]]:
    """All pairs: a word for the pair, a tensor with dimensions, and what it meets."""
    for left, values in VALUES.items():
        for right, alone in ALONE.items():
            for value in alone:
                first = torch.tensor(values, dtype=getattr(torch, left))
                yield (
                    f"{left} {right}({value})",
                    first,
                    torch.tensor(value).to(getattr(torch, right)),
                )
        for number in NUMBERS:
            yield f"{left} {number}", torch.tensor(values, dtype=getattr(torch, left)), number


def outcome(torch: Any, function: Call, a: Any, b: Any) -> Any:
    """[dtype, elements as text], or the class of the error."""
    try:
        found = function(torch, a, b)
    except Exception as error:
        return type(error).__name__.lstrip("_")
    name = str(found.dtype).removeprefix("torch.")
    return [name, " ".join(f"{x:.6g}" for x in found.reshape(-1).double().tolist())]


def main() -> None:
    """Write the file."""
    import torch

    warnings.simplefilter("ignore")
    recorded = {
        name: [outcome(torch, call(name), a, b) for _, a, b in cases(torch)] for name in OPERATORS
    }
    lines = (f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in recorded.items())
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
