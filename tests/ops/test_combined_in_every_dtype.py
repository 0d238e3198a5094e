"""Numbers that are added at places: of few bits, of 16-bit floats and complex ones, and what index
tensors name of tensors that do not lie in one piece."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch

WHOLE = "int64 int32 int16 int8 uint8".split()
ROWS, COLUMNS = torch.arange(90) * 7 % 40, torch.arange(90) * 5 % 3


def _numbers(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    random = np.random.default_rng(len(name))
    x = random.standard_normal(shape) * 50
    if name.startswith("complex"):
        return torch.from_numpy(x + 1j * random.standard_normal(shape)).to(getattr(torch, name))
    return torch.from_numpy(np.abs(x) if name == "uint8" else x).to(getattr(torch, name))


@pytest.mark.parametrize("name", [*WHOLE, "float16", "bfloat16", "complex64", "complex128"])
def test_places_that_come_again_are_added_in_order(name: str) -> None:
    x, more = _numbers(name, (40, 300)), _numbers(name, (90,))
    wanted = x.clone()
    for row, column, each in zip(ROWS.tolist(), COLUMNS.tolist(), more, strict=True):
        wanted[row, column] = wanted[row, column] + each
    for _ in range(60):
        made = x.clone().index_put_((ROWS, COLUMNS), more, accumulate=True)
        assert torch.equal(made, wanted)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
@pytest.mark.parametrize("dim", [0, 1])
def test_parts_of_complex_numbers_are_added(name: str, dim: int) -> None:
    x, more = _numbers(name, (30, 20)), _numbers(name, (30, 20)).flip(0)
    places = (torch.arange(600) * 13 % 20).view(30, 20)
    made = x.scatter_add(dim, places, more)
    real, imag = (
        torch.zeros(30, 20, dtype=x.real.dtype).copy_(a).scatter_add(dim, places, b)
        for a, b in ((x.real, more.real), (x.imag, more.imag))
    )
    assert torch.equal(made, torch.complex(real, imag))
    vector = places[0] if dim else places[:, 0]
    added = x.index_add(dim, vector, more)
    assert torch.equal(added.real, x.real.clone().index_add(dim, vector, more.real.clone()))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "bool", "complex64"])
def test_what_is_named_of_a_tensor_in_pieces(name: str) -> None:
    numbers, places = torch.arange(90 * 200) % 3 > 0, torch.arange(70) * 11 % 80
    whole = numbers.view(90, 200) if name == "bool" else _numbers(name, (90, 200))
    for x in (whole.t(), whole[:, ::2], whole.t()[::2], whole.view(90, 2, 100).permute(1, 2, 0)):
        for key in ((slice(None), places), (places % 2,), (slice(None), places.view(7, 10))):
            made = x[key]
            assert torch.equal(made, x.contiguous()[key])
            assert all(torch.equal(x[key], made) for _ in range(55))
            assert x[key].stride() == made.stride()
