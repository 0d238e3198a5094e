"""16-bit floats and short whole numbers that are combined at places which indices name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

TIMES = 60
"""Calls after which what they run is known beforehand."""

MANY = torch.zeros(40, dtype=torch.int64)
"""All of them name the first place."""

ONCE: dict[str, Callable[[Any, Any], Any]] = {
    "scatter_add": lambda x, s: x.scatter_add(1, MANY.expand(3, 40), s),
    "scatter_add of slices": lambda x, s: x.t().scatter_add(0, MANY[:, None].expand(40, 3), s.t()),
    "scatter_reduce": lambda x, s: x.scatter_reduce(1, MANY.expand(3, 40).clone(), s, "sum"),
    "index_add": lambda x, s: x.index_add(1, MANY, s),
    "of all": lambda x, s: x.t().contiguous().index_add(0, MANY, s.t().contiguous()),
}
EACH: dict[str, Callable[[Any, Any], Any]] = {
    "index_add of a vector": lambda x, s: x[0].index_add(0, MANY, s[0]),
    "index_add times": lambda x, s: x.index_add(1, MANY, s, alpha=1.5),
    "index_add of int32": lambda x, s: x.index_add(1, MANY.int(), s),
    "index_add between": lambda x, s: x[:, :, None].index_add(1, MANY, s[:, :, None]),
    "index_put": lambda x, s: x.index_put((MANY, MANY), s[0], accumulate=True),
    "put": lambda x, s: x.put(MANY, s[0], accumulate=True),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", [*ONCE, *EACH])
def test_sums_are_rounded_once_or_after_each_as_torch_rounds_them(name: str, dtype: Any) -> None:
    large = 256.0 if dtype is torch.bfloat16 else 2048.0  # so that each of the others is lost
    x, source = torch.full((3, 4), large, dtype=dtype), torch.full((3, 40), 0.6, dtype=dtype)
    run = (ONCE | EACH)[name]
    want = large + 24 if name in ONCE else large
    for _ in range(TIMES):
        made = run(x, source)
        assert float(made.reshape(-1)[0]) == want
        assert x.eq(large).all()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("count", [3, 120])
def test_what_is_known_beforehand_is_what_the_first_call_gave(
    dtype: Any, reduce: str, count: int
) -> None:
    torch.manual_seed(0)
    x = (torch.rand(count, 20) * 9).to(dtype)
    index = torch.randint(20, (count, 30))
    source = (torch.rand(count, 30) * 9).to(dtype)
    first = x.scatter_reduce(1, index, source, reduce)
    for _ in range(TIMES):
        again = x.scatter_reduce(1, index, source, reduce)
    assert torch.equal(again, first)
    other = (torch.rand(count, 20) * 9).to(dtype)
    rows = [other[row].scatter_reduce(0, index[row], source[row], reduce) for row in range(count)]
    assert torch.equal(other.scatter_reduce(1, index, source, reduce), torch.stack(rows))


def test_a_place_that_is_not_there_is_refused_and_nothing_is_written() -> None:
    x = torch.ones(2, 3, dtype=torch.bfloat16)
    index, source = torch.tensor([[0, 1], [2, 0]]), torch.ones(2, 2, dtype=torch.bfloat16)
    for _ in range(TIMES):
        x.clone().scatter_add_(1, index, source)
    index[1, 1] = 3
    with pytest.raises(RuntimeError, match="index 3 is out of bounds for dimension 1 with size 3"):
        x.scatter_add_(1, index, source)
    assert x.eq(1).all()
