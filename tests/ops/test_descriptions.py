"""Docstrings of what users call: made of the operator table where operators are called."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

import rushlight as torch

FACES = (
    "nn nn.functional nn.init optim optim.lr_scheduler jit linalg special fft utils.data".split()
)


def undescribed(space: object) -> Iterator[str]:
    for name in dir(space):
        member = getattr(space, name)
        is_own = getattr(member, "__module__", "") not in ("collections.abc", "typing")
        is_public = is_own and not name.startswith("_") and not isinstance(member, ModuleType)
        if is_public and callable(member) and not member.__doc__:
            yield name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("face", ["", "Tensor", *FACES])
def test_what_users_call_has_a_docstring(face: str) -> None:
    space = torch.Tensor if face == "Tensor" else import_module(f"rushlight.{face}".rstrip("."))
    assert [*undescribed(space)] == []


def test_an_operator_is_described_by_its_record() -> None:
    assert (torch.atan2.__doc__ or "").splitlines()[:5] == [
        "Shape: that of self, other broadcast.",
        "Dtype: kept of float16, bfloat16, float32, float64.",
        "Dtype: float32 of bool, uint8, int8, int16, int32, int64.",
        "Raises NotImplementedError: of complex64, complex128.",
        "",
    ]


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (torch.sum, "Shape: `self`'s without `dim`, or with 1 there if `keepdim`."),
        (torch.Tensor.relu_, "Writes `self`, and returns it."),
        (torch.transpose, "The result shares the memory of `self`."),
        (torch.multinomial, "Draws from the generator that is given, or from the default one."),
        (torch.masked_select, "Sizes of the result follow from elements: tensors on `meta` raise."),
        (torch.empty, "What the elements hold is left open."),
        (torch.mm, "Under autocast it computes in the dtype of autocast."),
        (torch.diagonal_scatter, "aten::diagonal_scatter(Tensor self, Tensor src,"),
        (torch.polar, "The complex numbers of these sizes and angles."),
    ],
)
def test_facts(function: object, sentence: str) -> None:
    assert sentence in (function.__doc__ or "")
