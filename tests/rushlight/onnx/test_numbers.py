"""Numbers, lists of them, ranges and lists of tensors in exported programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch

pytest.importorskip("onnx.reference")

from tests.rushlight.onnx.test_export import run

X, N = torch.tensor([1.5, -2.0, 3.0]), torch.tensor([3, 1, 2])
BODIES: list[tuple[str, tuple[Any, ...]]] = [
    *(
        (f"x + torch.arange({numbers})", (X,))
        for numbers in ("3", "1, 4", "1, 7, 2", "0.5, 3", "3, 0, -1", "1, 2.5, 0.5", "3.0")
    ),
    *(
        (f"torch.arange({numbers})", (X,))
        for numbers in (
            *("3", "3.0", "1, 4", "0, 1, 0.25", "5, 0, -2", "3, dtype=torch.int32"),
            *(
                "3, dtype=torch.float64",
                "0.5, 3, dtype=torch.float16",
                "0, 3, 2, dtype=torch.uint8",
            ),
        )
    ),
    *((f"torch.arange(x.size(0){more})", (X,)) for more in ("", " + 1, 9", ", 0, -1")),
    ("torch.arange(x[0].item())", (N,)),
    ("torch.arange(float(x[0]), 7.0)", (N,)),
    *(
        (f"torch.tensor({content})", (X,))
        for content in (
            *("[1, 2]", "[True, False]", "3", "2.5", "True", "[[1, 2], [3, 4]]"),
            *("[[1.0], [2.0]]", "[1, 2], dtype=torch.float32", "[1.5], dtype=torch.int64"),
            *("[[1], [0]], dtype=torch.bool", "[x.size(0), 4]", "[float(x[0]), 2.0]", "x.size(0)"),
            *("[int(x[2])]", "[[x.size(0), 1], [2, 3]]", "float(x[1])", "[[[1, 2]], [[3, 4]]]"),
        )
    ),
    *((f"x * {text}", (X,)) for text in ("int(x[2])", "float(x[0])", "x[2].item()")),
    *((f"x * {text}", (N,)) for text in ("int(x[2])", "float(x[0])", "x[2].item()")),
    *((f"x + {name}(x.size(0), 2)", (N,)) for name in ("min", "max")),
    *((f"x + {name}(int(x[0]), int(x[1]))", (N,)) for name in ("min", "max")),
    *((f"x + {name}([int(x[0]), 2, int(x[1])])", (N,)) for name in ("min", "max")),
    *((f"x + {name}([float(x[0]), 2.0])", (X,)) for name in ("min", "max")),
    *((f"torch.linspace({text})", (X,)) for text in ("0, 1, 5", "2, -1.5, 4", "1, 2, 1")),
    ("torch.linspace(0, 6, 4, dtype=torch.int64)", (X,)),
    *((f"torch.full({text})", (X,)) for text in ("[2, 3], 7", "[2], 0.5", "[2], True")),
    *((f"torch.full_like(x, {text})", (N,)) for text in ("7", "2.5", "1, dtype=torch.float64")),
    *((f"torch.zeros({text})", (X,)) for text in ("2", "[x.size(0)], dtype=torch.int64")),
    *((f"x.clone().{text}", (X,)) for text in ("fill_(3)", "zero_()", "copy_(x[0])", "copy_(-x)")),
    ("x.clone().copy_(torch.arange(3))", (X,)),
    *((f"x.new_zeros({text})", (N,)) for text in ("[2]", "[2], dtype=torch.float32")),
    *((f"x + x.size({dim})", (torch.ones(2, 3),)) for dim in (0, 1, -1)),
    *((f"x[0] * {text}", (X,)) for text in ("len(x)", "x.dim()", "x.numel()")),
]
LOOPS = {
    "range(n)": "for i in range(n):",
    "range with a start": "for i in range(1, n):",
    "range downwards": "for i in range(n, 0, -1):",
    "range by two": "for i in range(1, n + 3, 2):",
    "range of nothing": "for i in range(n, 0):",
}


def _same(found: list[Any], wanted: Any) -> None:
    wanted = wanted if isinstance(wanted, (list, tuple)) else (wanted,)
    for one, other in zip(found, wanted, strict=True):
        array = other.numpy() if isinstance(other, torch.Tensor) else np.asarray(other)
        assert (one.dtype, one.shape) == (array.dtype, array.shape)
        np.testing.assert_allclose(one, array, 1e-6)


@pytest.mark.parametrize(("body", "given"), BODIES, ids=[body for body, _ in BODIES])
def test_numbers_become_tensors_of_the_same_dtype(body: str, given: Any) -> None:
    program = torch.jit.CompilationUnit(f"def f(x):\n    return {body}, x.sum()\n").f
    _same(run(program, given), program(*given))


@pytest.mark.parametrize("head", LOOPS.values(), ids=LOOPS)
def test_rounds_of_loops(head: str) -> None:
    text = f"def f(x, n: int):\n    {head}\n        x = x * 2 + i\n    return x\n"
    program = torch.jit.CompilationUnit(text).f
    for count in (0, 1, 3):
        _same(run(program, (X, 3), (X, count), dynamic_axes={"n": {}}), program(X, count))


LISTS = """
def f(x, n: int):
    found = [x]
    found.pop()
    for i in range(n):
        found.append(x + i)
        if i == 3:
            found.clear()
    if n > 2:
        found = found + [x]
    return torch.cat(found + [x])
"""


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_lists_are_empty_or_hold_tensors(count: int) -> None:
    program = torch.jit.CompilationUnit(LISTS).f
    _same(run(program, (X, 2), (X, count), dynamic_axes={"n": {}}), program(X, count))
