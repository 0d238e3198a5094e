"""Functions of `torch.functional` in script: several signatures, several kinds of results."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

X = torch.tensor([[3.0, 1.0, 2.0], [1.0, 5.0, 2.0], [0.0, 1.0, 3.0]])


def frobenius(x: torch.Tensor) -> torch.Tensor:
    return torch.norm(x, "fro")


def nuclear(x: torch.Tensor) -> torch.Tensor:
    return torch.norm(x, "nuc", [0, 1], keepdim=True)


def euclidean(x: torch.Tensor) -> torch.Tensor:
    return torch.norm(x, dim=1)


def of_order_three(x: torch.Tensor) -> torch.Tensor:
    return torch.functional.norm(x, 3, 1, dtype=torch.float64)


def contracted(x: torch.Tensor) -> torch.Tensor:
    return torch.tensordot(x, x, dims=2)


def contracted_over_pairs(x: torch.Tensor) -> torch.Tensor:
    return torch.tensordot(x, x, dims=([0], [1]))


def spectrum(x: torch.Tensor) -> torch.Tensor:
    return torch.stft(x.flatten(), 4, return_complex=True)


def different(x: torch.Tensor) -> torch.Tensor:
    return torch.unique(x)


def different_and_places(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.unique(x, return_inverse=True)


def different_rows_and_counts(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.unique(x, True, False, True, dim=0)


def all_three(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.unique_consecutive(x, return_inverse=True, return_counts=True)


def factors(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.lu(x)


def factors_and_info(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.lu(x, get_infos=True)


CALLED = {
    frobenius: "norm",
    nuclear: "norm",
    euclidean: "norm",
    of_order_three: "norm",
    contracted: "tensordot",
    contracted_over_pairs: "tensordot",
    spectrum: "stft",
    different: "_return_output",
    different_and_places: "_return_inverse",
    different_rows_and_counts: "_return_counts",
    all_three: "_consecutive_return_inverse_and_counts",
    factors: "_lu_no_infos",
    factors_and_info: "_lu_with_infos",
}


def _parts(value: Any) -> list[torch.Tensor]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("function", CALLED, ids=lambda f: f.__name__)
def test_script_calls_a_function_and_gets_what_eager_gets(function: Any) -> None:
    scripted = torch.jit.script(function)
    assert f'prim::Constant[name="{CALLED[function]}"]' in str(scripted.graph)
    found, wanted = _parts(scripted(X)), _parts(function(X))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b)


def test_a_count_that_is_too_large_is_refused_in_script() -> None:
    @torch.jit.script
    def much(x: torch.Tensor) -> torch.Tensor:
        return torch.tensordot(x, x, dims=3)

    with pytest.raises(torch.jit.Error, match="tensordot expects dims < ndim_a or ndim_b"):
        much(X)
