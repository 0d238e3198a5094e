"""The samples of tests/ops/data/operators.npz: arguments made anew, results compared."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rushlight

TOLERANCES = {"float16": 4e-3, "bfloat16": 2e-2, "float32": 1e-5, "complex64": 1e-5}
Sample = dict[str, Any]


@cache
def _file() -> tuple[list[tuple[str, list[Sample]]], bytes]:
    found = np.load(Path(__file__).parent / "data" / "operators.npz")
    return json.loads(found["text"].tobytes()), found["bytes"].tobytes()


def entries() -> list[tuple[str, list[Sample]]]:
    """All functions (`nn.functional.relu`, `Tensor.view`) with their samples."""
    return _file()[0]


def resolve(name: str) -> Any:
    """The function of that name."""
    found: Any = rushlight
    for part in name.split("."):
        found = getattr(found, part)
    return found


def elements(record: list[Any]) -> np.ndarray:
    """The elements of a recorded tensor; those of bfloat16 as whole numbers of the same bits."""
    name, shape, start, _ = record
    dtype = np.dtype("uint16" if name == "bfloat16" else name)
    count = int(np.prod(shape, dtype=int))
    return np.frombuffer(_file()[1], dtype, count, start).reshape(shape)


def tensor(record: list[Any]) -> Any:
    """A recorded tensor in memory of its own, with its strides."""
    name, shape, _, strides = record
    given = elements(record)
    array = given.copy()
    if strides is not None:
        size = (
            1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if given.size else 1
        )
        pool = np.zeros(size, given.dtype)
        steps = [s * given.itemsize for s in strides]
        array = np.lib.stride_tricks.as_strided(pool, shape, steps)
        array[...] = given
    if name == "bfloat16":
        return rushlight.from_numpy(array.view(np.int16)).view(rushlight.bfloat16)
    return rushlight.from_numpy(array)


def value(record: Any) -> Any:
    """The Python value of a record."""
    if not isinstance(record, dict):
        return record
    ((kind, inner),) = record.items()
    if kind == "t":
        return tensor(inner)
    if kind == "f":
        return float(inner)
    if kind == "c":
        return complex(*inner)
    if kind == "n":
        return getattr(rushlight, inner)
    parts = [value(each) for each in inner]
    return parts if kind == "l" else tuple(parts)


def arguments(sample: Sample) -> tuple[list[Any], dict[str, Any]]:
    """Fresh arguments."""
    return [value(a) for a in sample["a"]], {key: value(a) for key, a in sample["k"].items()}


def assert_same(found: Any, record: Any, factor: float = 1) -> None:
    """Compare a result with what torch made: dtype, shape and values, elements within tolerance."""
    if isinstance(record, dict) and "t" in record:
        name, shape = record["t"][:2]
        assert str(found.dtype) == f"torch.{name}"
        assert list(found.shape) == shape
        wanted = tensor([*record["t"][:3], None])
        if name in ("bfloat16", "float16"):
            found, wanted = found.float(), wanted.float()
        a, b = found.detach().resolve_conj().numpy(), wanted.numpy()
        if a.dtype.kind not in "fc":
            np.testing.assert_array_equal(a, b)
            return
        tolerance = factor * TOLERANCES.get(name, 1e-7)
        finite = np.abs(b[np.isfinite(b)])
        scale = max(1.0, float(finite.max(initial=0)))
        np.testing.assert_allclose(a, b, tolerance, tolerance * scale)
    elif isinstance(record, dict) and next(iter(record)) in "lu":
        (parts,) = record.values()
        assert len(found) == len(parts)
        for each, part in zip(found, parts, strict=True):
            assert_same(each, part, factor)
    elif isinstance(record, (dict, float)):
        np.testing.assert_allclose(found, value(record), 1e-5, 1e-6)
    else:
        assert found == record
        assert type(found) is type(record)
