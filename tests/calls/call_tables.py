"""Tables of calls and what torch 2.13 answers, which `tools/record_calls.py` writes.

A table is a setup in Python, a line `---`, and two lines for each call: an expression, and behind
`=> ` its answer as JSON (see `answer`).
"""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Table", "answer", "read", "same"]


@dataclass
class Table:
    """The text of a setup, and expressions with their answers."""

    setup: str
    rows: list[tuple[str, Any]]

    def names(self, library: ModuleType) -> dict[str, Any]:
        """What expressions can name."""
        names = {"torch": library, "F": library.nn.functional, "nan": math.nan, "inf": math.inf}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(self.setup, names)
        return names


def read(file: Path) -> Table:
    """A table of a file; a row that has no answer yet gets None."""
    setup, _, rest = file.read_text(encoding="utf-8").partition("\n---\n")
    rows: list[tuple[str, Any]] = []
    for line in filter(None, rest.splitlines()):
        if line.startswith("=> "):
            rows[-1] = rows[-1][0], json.loads(line[3:])
        else:
            rows.append((line, None))
    return Table(setup, rows)


def answer(expression: str, names: dict[str, Any]) -> Any:
    """What a library makes of an expression, in lists, numbers and texts: a tensor as dtype, sizes
    and numbers, an error as `!`, its class and the first line of its text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _plain(eval(expression, names), names["torch"])
        except Exception as error:
            first = str(error).strip().split("\n")[0].strip()
            return f"!{type(error).__name__}: {first}"


def _plain(value: Any, torch: Any) -> Any:
    if isinstance(value, torch.Tensor):
        dense = value.detach()
        if dense.is_quantized:
            dense = dense.dequantize()
        if dense.layout is not torch.strided:
            dense = dense.to_dense()
        if dense.dtype in (torch.bfloat16, torch.float16):
            dense = dense.double()
        numbers = _plain(dense.reshape(-1).tolist(), torch)
        return [str(value.dtype).removeprefix("torch."), list(value.shape), numbers]
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, complex):
        return [_plain(value.real, torch), _plain(value.imag, torch)]
    if isinstance(value, (list, tuple)):
        return [_plain(each, torch) for each in value]
    return value if isinstance(value, (int, str, type(None))) else str(value)


def same(found: Any, wanted: Any) -> bool:
    """Whether an answer is one that was written down, up to the last digits of numbers; of an error
    without text the class counts alone."""
    if isinstance(wanted, list):
        is_list = isinstance(found, list) and len(found) == len(wanted)
        return is_list and all(map(same, found, wanted))
    if isinstance(wanted, float) and isinstance(found, float):
        is_close = math.isclose(found, wanted, rel_tol=2e-5, abs_tol=2e-6)
        return is_close or (math.isnan(found) and math.isnan(wanted))
    if isinstance(wanted, str) and wanted.startswith("!") and wanted.endswith(": "):
        return isinstance(found, str) and found.startswith(wanted)
    return type(found) is type(wanted) and found == wanted
