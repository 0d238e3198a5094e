"""The out= forms of operators that make tensors, in script; the numbers are torch's."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import rushlight as torch

CASES = {
    "zeros([2, 2], out=o)": ([[0, 0], [0, 0]], "float32"),
    "ones([3], out=o)": ([1, 1, 1], "int64"),
    "full([2], 3.5, out=o)": ([3, 3], "int64"),
    "eye(2, 3, out=o)": ([[1, 0, 0], [0, 1, 0]], "float64"),
    "linspace(0, 10, 5, out=o)": ([0, 2, 5, 7, 10], "int64"),
    "logspace(0, 2, 3, out=o)": ([1, 10, 100], "float32"),
    "arange(4, out=o)": ([0, 1, 2, 3], "float64"),
    "arange(1, 9, 2, out=o)": ([1, 3, 5, 7], "int64"),
    "range(1, 4, out=o)": ([1, 2, 3, 4], "float32"),
    "rand([2], out=o)": ([0.49625658988952637, 0.7682217955589294], "float32"),
    "randn([2], out=o)": ([1.5409961082440433, -0.2934289057609464], "float64"),
    "randint(2, 5, [3], out=o)": ([4, 2, 4], "float32"),
    "randperm(4, out=o)": ([0, 1, 3, 2], "int64"),
}


def compiled(call: str) -> Any:
    return torch.jit.CompilationUnit(f"def f(o: Tensor):\n    return torch.{call}\n").f


@pytest.mark.parametrize("call", list(CASES))
def test_values_go_into_out(call: str) -> None:
    wanted, dtype = CASES[call]
    out = torch.ones(2, dtype=getattr(torch, dtype))
    torch.manual_seed(0)
    result = compiled(call)(out)
    assert result.tolist() == wanted
    assert out.tolist() == wanted
    assert str(out.dtype) == f"torch.{dtype}"


def test_empty_keeps_what_out_holds() -> None:
    out = torch.tensor([1.0, 2.0])
    assert compiled("empty([2], out=o)")(out).tolist() == [1.0, 2.0]
    assert compiled("empty([3, 1], out=o)")(out).shape == (3, 1)
    assert out.shape == (3, 1)


def test_what_out_cannot_hold() -> None:
    with pytest.raises(RuntimeError, match="not implemented for 'Long'"):
        compiled("rand([2], out=o)")(torch.ones(2, dtype=torch.int64))


def test_subtracting_a_multiple() -> None:
    code = "def f(a: Tensor, b: Tensor, n: float):\n    return torch.{}(a, b, n)\n"
    name = "_test_serialization_subcmul"
    call = torch.jit.CompilationUnit(code.format(name)).f
    assert call(torch.tensor([4, 8]), torch.tensor([3, 1]), 1.5).tolist() == [-0.5, 6.5]


def _quietly(call: str, names: dict[str, Any]) -> Any:
    """What a call gives; `range` warns that it is an old name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return eval(call, {"torch": torch, **names})


@pytest.mark.parametrize("call", ["linspace(0, 3, 4", "logspace(0, 3, 4", "range(0, 3", "arange(4"])
def test_sequences_go_into_tensors_of_as_many_elements_as_they_lie(call: str) -> None:
    whole = torch.zeros(2, 3)
    part = whole.narrow(1, 1, 2)
    made = _quietly(f"torch.{call}, out=part)", {"part": part})
    assert made is part
    assert part.shape == (2, 2)
    assert part.stride() == (3, 1)
    expected = _quietly(f"torch.{call})", {}).float()
    assert whole[:, 1:].reshape(-1).tolist() == expected.tolist()
    assert whole[:, 0].tolist() == [0, 0]
