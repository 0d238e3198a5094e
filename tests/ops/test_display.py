"""The text of tensors and values against torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recorded import NAMES, TORCH, load

from rushlight.ops.memory.dtype import DTYPES
from rushlight.ops.python_values.display_aten import format_for_print


def opts(show: Any, **options: Any) -> Any:
    TORCH.set_printoptions(**options)
    try:
        return show()
    finally:
        TORCH.set_printoptions(profile="default")


@pytest.mark.parametrize(("expression", "expected"), load("printing.json"))
def test_repr_is_torchs(expression: str, expected: str) -> None:
    found = eval(expression, {**NAMES, "opts": opts})
    assert (found if isinstance(found, str) else repr(found)) == expected


@pytest.mark.parametrize("row", load("script_printing.json"), ids=lambda row: row[0])
def test_printed_tensors_are_torchs(row: list[Any]) -> None:
    _, dtype, shape, data, expected = row
    array = np.array(eval(data, dict(NAMES))).reshape(shape).astype(DTYPES[dtype].numpy)
    assert format_for_print(array) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1."),
        (0.1, "0.10000000000000001"),
        (-0.0, "0."),
        (1e16, "10000000000000000."),
        (1e20, "1e+20"),
        (1e-5, "1.0000000000000001e-05"),
        (float("inf"), "inf"),
        (1 - 2j, "1.-2.j"),
        ([1.5, 3.0], "[1.5, 3.]"),
        (["a", "b"], "[a, b]"),
        ((1.0, "a"), "(1., a)"),
        ((1,), "(1,)"),
        ((), "()"),
        ({"a": [1.0]}, "{a: [1.]}"),
        ([True, None], "[True, None]"),
        ([np.ones(2, np.float32)], "[ 1\n 1\n[ CPUFloatType{2} ]]"),
    ],
)
def test_values_look_as_in_script(value: Any, expected: str) -> None:
    assert format_for_print(value) == expected


def test_complex_numbers_of_16_bits_are_shown_as_others() -> None:
    x = TORCH.zeros(2, dtype=TORCH.complex32)
    assert repr(x) == "tensor([0.+0.j, 0.+0.j], dtype=torch.complex32)"
    assert repr(x[0]) == "tensor(0.+0.j, dtype=torch.complex32)"
