"""New memory while equal results are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import rushlight as torch


@pytest.fixture(autouse=True)
def determined() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


MAKERS: list[Callable[[torch.dtype], torch.Tensor]] = [
    lambda dtype: torch.empty(2, 3, dtype=dtype),
    lambda dtype: torch.empty_like(torch.zeros(4, dtype=dtype)),
    lambda dtype: torch.empty_strided((2, 2), (1, 2), dtype=dtype),
    lambda dtype: torch.zeros(2, dtype=dtype).new_empty(3),
    lambda dtype: torch.empty_permuted((2, 3), (1, 0), dtype=dtype),
    lambda dtype: torch.zeros(2, dtype=dtype).resize_(5)[2:],
]


@pytest.mark.parametrize("make", MAKERS)
def test_memory_is_filled(make: Callable[[torch.dtype], torch.Tensor]) -> None:
    assert make(torch.float32).isnan().all()
    assert make(torch.bfloat16).isnan().all()
    assert make(torch.complex64).real.isnan().all()
    assert (make(torch.int16) == 32767).all()
    assert make(torch.bool).all()


def test_filling_can_be_switched_off() -> None:
    torch.utils.deterministic.fill_uninitialized_memory = False
    assert torch.zeros(1, dtype=torch.int32).resize_(3).tolist() == [0, 0, 0]
    with pytest.raises(TypeError):
        torch.utils.deterministic.fill_uninitialized_memory = 1
