"""Odd arguments of smaller operators: what they give and how they are refused, as in torch 2.13."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import rushlight as torch

REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "whole frequencies": (
        lambda: torch.fft.rfftfreq(4, dtype=torch.int64),
        RuntimeError,
        "rfftfreq requires a floating point or complex dtype",
    ),
    "a transform of no points": (
        lambda: torch._fft_c2r(torch.ones(3, dtype=torch.complex64), [0], 0, 0),
        RuntimeError,
        "Invalid number of data points (0) specified",
    ),
    "fewer frequencies than none": (
        lambda: torch.fft.fftfreq(-1),
        RuntimeError,
        "Trying to create tensor with negative dimension -1: [-1]",
    ),
    "gamma of whole numbers": (
        lambda: torch._standard_gamma(torch.tensor([1])),
        NotImplementedError,
        "\"gamma_cpu\" not implemented for 'Long'",
    ),
    "norms of whole numbers": (
        lambda: torch.norm_except_dim(torch.tensor([[1]]), 2, 0),
        RuntimeError,
        "norm(): input dtype should be either floating point or complex. Got Long instead.",
    ),
    "norms beside a dimension of none": (
        lambda: torch.norm_except_dim(torch.tensor(1.0), 2, 0),
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    "whole numbers rounded to no decimals": (
        lambda: torch.round(torch.tensor([1]), decimals=0),
        NotImplementedError,
        "\"round_vml_cpu\" not implemented for 'Long'",
    ),
    "whole numbers rounded to a decimal": (
        lambda: torch.tensor([1]).round_(decimals=1),
        NotImplementedError,
        "\"round_cpu\" not implemented for 'Long'",
    ),
    "a table of one dimension": (
        lambda: torch.embedding_renorm_(torch.ones(3), torch.tensor([0]), 0.5, 2.0),
        RuntimeError,
        "Expected 2-dimensional tensor, but got 1-dimensional tensor for argument #1 'self'",
    ),
    "a row that a table has not": (
        lambda: torch.embedding_renorm_(torch.ones(3, 2), torch.tensor([5]), 0.5, 2.0),
        IndexError,
        "select(): index 5 out of range for tensor of size [3, 2] at dimension 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_quantiles_between_infinities_are_no_numbers() -> None:
    x = torch.tensor([0.0, 1.0, 2.0, math.inf])
    assert torch.quantile(x, 0.75).item() == math.inf
    assert math.isnan(torch.quantile(x, 1.0).item())
    assert math.isnan(torch.quantile(x, 0.75, interpolation="midpoint").item())
    assert torch.quantile(x, 1.0, interpolation="higher").item() == math.inf


def test_frequencies_of_no_spacing() -> None:
    found = torch.fft.fftfreq(4, 0.0).tolist()
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf, -math.inf]
    assert torch.fft.rfftfreq(0).isnan().all()


def test_gamma_numbers_of_odd_shapes() -> None:
    torch.manual_seed(1)
    shapes = torch.tensor([0.0, -1.0, -0.5, math.nan, math.inf, 1e30])
    least = 1.1754943508222875e-38
    found = torch._standard_gamma(shapes).tolist()
    assert found == pytest.approx([least, least, 3.3926498889923096, least, math.inf, 1e30])
    assert torch._sample_dirichlet(torch.zeros(2)).tolist() == [0.5, 0.5]


def test_a_row_counted_from_the_end_is_shortened() -> None:
    table = torch.ones(2, 2)
    torch.embedding_renorm_(table, torch.tensor([-1]), 0.5, 2.0)
    assert table.tolist() == [[1, 1], [0.3535533845424652] * 2]


def test_what_says_whether_gradients_are_wanted_is_a_bool() -> None:
    x = torch.ones(2)
    for value in (1, "yes", np.bool_(True)):
        with pytest.raises(RuntimeError, match=r"^requires_grad must be a bool$"):
            x.requires_grad = value
        with pytest.raises(TypeError, match=r"'requires_grad' \(position 1\) must be bool, not "):
            x.requires_grad_(value)
    with pytest.raises(RuntimeError, match=r"^only Tensors of floating point and complex dtype"):
        torch.arange(2).requires_grad = True
    assert not x.requires_grad


@pytest.mark.parametrize("seed", [1.5, True, "a", None])
def test_seeds_of_generators_are_whole_numbers(seed: Any) -> None:
    said = f"^manual_seed expected a long, but got {type(seed).__name__}$"
    with pytest.raises(RuntimeError, match=said):
        torch.Generator().manual_seed(seed)


def test_states_of_generators_are_bytes() -> None:
    for call in (torch.set_rng_state, torch.Generator().set_state):
        with pytest.raises(TypeError, match=r"^RNG state must be a torch\.ByteTensor$"):
            call(torch.zeros(5056))
        with pytest.raises(TypeError, match=r"^expected a torch\.ByteTensor, but got int$"):
            call(3)


@pytest.mark.parametrize("name", ["cuda:01", "cuda:00", ":0", "cuda:1a", "cpu:"])
def test_texts_that_name_no_device(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"^Invalid device string: '{name}'$"):
        torch.device(name)


def test_other_odd_words() -> None:
    with pytest.raises(RuntimeError, match=r"^Device string must not be empty$"):
        torch.device("")
    with pytest.raises(TypeError, match=r"^torch\.bool is not supported by torch\.iinfo$"):
        torch.iinfo(torch.bool)
    with pytest.raises(RuntimeError, match=r"For batches of matrices, consider using tensor\.mH$"):
        _ = torch.ones(2, 2, 2).H


def test_words_about_how_new_tensors_lie() -> None:
    flat = torch.ones(2, 3)
    for call, said in (
        (
            lambda: flat.clone(memory_format=torch.channels_last),
            "required rank 4 tensor to use channels_last format",
        ),
        (
            lambda: torch.empty(2, memory_format=torch.channels_last_3d),
            "required rank 5 tensor to use channels_last_3d format",
        ),
        (
            lambda: torch.empty_strided((2,), (1, 2)),
            "dimensionality of sizes (1) must match dimensionality of strides (2)",
        ),
        (
            lambda: torch.linspace(torch.tensor([0]), 1, 3),
            "linspace only supports 0-dimensional start and end tensors, but got start with 1 dim",
        ),
    ):
        with pytest.raises(RuntimeError, match=re.escape(said)):
            call()
