"""`rushlight diff`: what differs between two archives."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops.kernels import blas
from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor
from ..serialization.files.container import ArchiveReader
from .archive import open_archive
from .failure import FAILED
from .json_lines import tell_data
from .outline import constants_of
from .progress import progress
from .several import ARCHIVES, each_file, files_in
from .speech import complain, tell

__all__ = ["compare", "execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    first, second = arguments.first, arguments.second
    if not (os.path.isdir(first) and os.path.isdir(second)):
        return _tell(first, second, arguments)
    names = [
        {os.path.relpath(file, side) for file in files_in([side], ARCHIVES)}
        for side in (first, second)
    ]
    status = 0
    for name in sorted(names[0] ^ names[1]):
        complain(f"{name}: only in {first if name in names[0] else second}")
        status = FAILED
    shared = sorted(names[0] & names[1])
    return max(
        status,
        each_file(
            [os.path.join(first, name) for name in shared],
            lambda path: _tell(path, os.path.join(second, os.path.relpath(path, first)), arguments),
            headed=not arguments.json,
        ),
    )


def _tell(first: str, second: str, arguments: argparse.Namespace) -> int:
    found = compare(first, second, arguments.trust)
    if arguments.json:
        tell_data({"first": first, "second": second, **found})
    else:
        tell("\n".join(_text(found)) or "no differences")
    return FAILED if any(found.values()) else 0


def compare(first: str, second: str, trust: str = "none") -> dict[str, list[object]]:
    """The differences: unified diffs of code files, constants, and weights with norms."""
    modules = [open_archive(path, trust, only_here=False) for path in (first, second)]
    return {
        "code": list(_code(first, second)),
        "constants": list(_constants(*map(constants_of, modules))),
        "weights": list(_weights(*(dict(module.state_dict()) for module in modules))),
    }


def _code(first: str, second: str) -> Iterator[dict[str, str]]:
    texts = []
    for path in (first, second):
        with ArchiveReader(path) as archive:
            texts.append(
                {
                    record: archive.read(record).decode("utf-8", "replace").splitlines()
                    for record in archive.records("code/")
                    if record.endswith(".py")
                }
            )
    one, two = texts
    for record in sorted({*one, *two}):
        lines = difflib.unified_diff(
            one.get(record, []),
            two.get(record, []),
            f"{first}:{record}",
            f"{second}:{record}",
            lineterm="",
        )
        text = "\n".join(lines)
        if text:
            yield {"file": record, "diff": text}


def _constants(one: dict[str, str], two: dict[str, str]) -> Iterator[dict[str, str | None]]:
    for name in sorted({*one, *two}):
        if one.get(name) != two.get(name):
            yield {"name": name, "first": one.get(name), "second": two.get(name)}


def _weights(one: dict[str, Tensor], two: dict[str, Tensor]) -> Iterator[dict[str, Any]]:
    for name in progress(sorted({*one, *two}), "comparing"):
        told = {"name": name, "first": _shape(one.get(name)), "second": _shape(two.get(name))}
        if told["first"] != told["second"]:
            yield told
            continue
        a, b = (_numbers(side[name]) for side in (one, two))
        if not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
            with np.errstate(all="ignore"):
                away = np.abs(a - b)
                yield {
                    **told,
                    "norms": [float(blas.norm(a)), float(blas.norm(b))],
                    "norm of difference": float(blas.norm(away)),
                    "largest difference": float(away.max()),
                    "elements": int(np.count_nonzero(away)),
                }


def _shape(tensor: Tensor | None) -> str | None:
    return None if tensor is None else f"{tensor.dtype.name} {list(tensor.shape)}"


def _numbers(tensor: Tensor) -> Array:
    """The values in double precision."""
    plain = tensor.dequantize() if tensor.is_quantized else tensor
    array: Array = plain._array
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _text(found: dict[str, list[Any]]) -> Iterator[str]:
    for change in found["code"]:
        yield change["diff"]
    for change in found["constants"]:
        yield f"constant {change['name']}: {change['first']} -> {change['second']}"
    for change in found["weights"]:
        if "norms" not in change:
            yield f"weight {change['name']}: {change['first']} -> {change['second']}"
            continue
        norms = " -> ".join(f"{norm:.6g}" for norm in change["norms"])
        yield (
            f"weight {change['name']}: norm {norms}, difference {change['norm of difference']:.6g} "
            f"(largest {change['largest difference']:.6g}, in {change['elements']} elements)"
        )
