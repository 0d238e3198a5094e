"""A short sample of `tools/fuzz_operators.py`, and what it found."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.errors import IndexOutOfRange, OperatorError
from rushlight.ops.quantized_tensors.arrays import Quantizer
from rushlight.ops.quantized_tensors.packed_weights import PACKED_CLASSES

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fuzz_operators import faults_of, operators


def test_wild_arguments_end_in_results_or_in_errors_of_torch() -> None:
    chosen = list(operators(r"^aten::[a-p].*_$"))
    assert len(chosen) > 80
    assert [f"{e.full_name}: {f}" for e in chosen if (f := faults_of(e, 5, 0))] == []


@pytest.mark.parametrize("shape", [(3, 1, 2, 0, 2), (9, 9, 9, 9), (5, 4, 9)])
def test_values_of_more_dimensions_than_places_are_refused(shape: tuple[int, ...]) -> None:
    x, places = torch.ones(5, 2), [None, torch.zeros(4, dtype=torch.int64)]
    put = torch.ops.aten.index_put
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor"):
        put(x, places, torch.ones(shape), True)


def test_what_stumbles_over_an_index_is_an_error_of_indices() -> None:
    with pytest.raises(IndexOutOfRange):
        torch.ops.aten._dim_arange(torch.tensor(1.0), 0)
    with pytest.raises(OperatorError, match="0 dims"):
        torch.tensor_split(torch.tensor(1.0), [1])


def test_quantizers_of_channels_are_compared_whole() -> None:
    scales = [np.array([0.5, 0.25]), np.array([0.5, 0.25]), np.array([0.5, 1.0])]
    first, same, other = (Quantizer(scale, np.zeros(2, np.int64), 0) for scale in scales)
    assert first == same
    assert first != other


_WEIGHT, _ONE = np.ones((2, 1, 3, 3), np.int8), np.ones(1, np.int64)


@pytest.mark.parametrize(
    "state",
    [
        (_WEIGHT, None, [1, None], [_ONE] * 2, [_ONE] * 2, _ONE),
        (_WEIGHT, None, [_ONE], [_ONE], [_ONE], _ONE),
        (_WEIGHT, None, [_ONE] * 2, [_ONE] * 2, [_ONE] * 2, "1"),
        (_WEIGHT, None, [_ONE] * 2, [_ONE] * 2, [np.ones(3, np.int64)] * 2, _ONE),
        ("2", [np.ones(4, np.int16), _WEIGHT], [None]),
        ("2", [np.ones(11, np.int16), _WEIGHT], [3]),
        (3, [2, *[1] * 9], [None, _WEIGHT, None]),
    ],
)
def test_packed_parameters_of_wrong_lengths_or_kinds_are_refused(state: object) -> None:
    with pytest.raises(OperatorError, match="unknown form"):
        PACKED_CLASSES["quantized.Conv2dPackedParamsBase"](state)


def test_packed_parameters_as_they_were_once_written() -> None:
    old = (_WEIGHT, None, [_ONE] * 2, [_ONE] * 2, [_ONE] * 2, _ONE)
    made = PACKED_CLASSES["quantized.Conv2dPackedParamsBase"](old)
    assert made.state[1][0].tolist() == [2, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0]
