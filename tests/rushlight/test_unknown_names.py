"""Names that do not exist: the error says which, and what may have been meant."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import rushlight as torch


@pytest.mark.parametrize(
    ("owner", "name", "text"),
    [
        (
            torch,
            "tahn",
            "module 'rushlight' has no attribute 'tahn'. Did you mean: 'tan' or 'tanh'?",
        ),
        (torch, "qqqqqq", "module 'rushlight' has no attribute 'qqqqqq'"),
        (
            torch.ones(1),
            "relu__",
            "'Tensor' object has no attribute 'relu__'. Did you mean: 'relu_' or 'relu'?",
        ),
        (
            torch.nn.Parameter(torch.ones(1)),
            "softmaxx",
            "'Parameter' object has no attribute 'softmaxx'. Did you mean: 'softmax'?",
        ),
        (torch.fft, "rrft", "module 'rushlight.fft' has no attribute 'rrft'. Did you mean: "),
        (torch.linalg, "chollesky", "Did you mean: 'cholesky'"),
        (torch.special, "erff", "Did you mean: 'erf'"),
    ],
)
def test_the_error_names_the_nearest(owner: Any, name: str, text: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert text in str(caught.value)
    assert caught.value.name == name
    assert not hasattr(owner, name)


def test_private_names_are_not_guessed() -> None:
    with pytest.raises(AttributeError) as caught:
        torch.ones(1)._aray  # noqa: B018
    assert str(caught.value) == "'Tensor' object has no attribute '_aray'"


def test_the_error_survives_pickling_and_tensors_are_copied_as_before() -> None:
    with pytest.raises(AttributeError) as caught:
        torch.ones(1).tahn()
    assert "Did you mean: 'tan' or 'tanh'?" in str(pickle.loads(pickle.dumps(caught.value)))
    original = torch.ones(2)
    original.mark = "kept"
    assert copy.copy(original).mark == "kept"


def misspelt_function(x: torch.Tensor) -> torch.Tensor:
    return torch.tahn(x)


def misspelt_method(x: torch.Tensor) -> torch.Tensor:
    return x.tahn()


@pytest.mark.parametrize("function", [misspelt_function, misspelt_method])
def test_script_names_it_too(function: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(function)
    assert "tahn" in str(caught.value)
    assert "tanh" in "".join(caught.value.__notes__)
