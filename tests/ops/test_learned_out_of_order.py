"""Calls whose operands do not lie in order are known beforehand, too, with the same bits."""

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.table.table import TABLE

module = family("calls.prepared")
pytestmark = pytest.mark.skipif(
    module is None or module.CREW is None, reason="there is no native code here"
)


def turned(*shape: int) -> torch.Tensor:
    return torch.randn(*reversed(shape)).permute(*reversed(range(len(shape))))


def column(length: int) -> torch.Tensor:
    return torch.randn(length, 3)[:, 1]


def places(length: int, most: int) -> torch.Tensor:
    return torch.randint(0, most, (length, 3))[:, 1]


CALLS: dict[str, Callable[[], tuple[object, ...]]] = {
    "aten::embedding": lambda: (torch.randn(6, 8), places(4, 6), -1, False, False),
    "aten::linear": lambda: (turned(6, 8), turned(5, 8), column(5)),
    "aten::mv": lambda: (turned(6, 8), column(8)),
    "aten::gru_cell": lambda: (
        *(turned(2, 8), turned(2, 6), turned(18, 8), turned(18, 6), column(18), column(18)),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_copies_in_order_are_made_by_kernels(name: str) -> None:
    entry, calls = TABLE.operator(name), []
    assert entry is not None

    def counted(*values: object) -> object:
        calls.append(values)
        return entry.forward(*values)

    known = module.prepared(counted)
    for _ in range(4):
        given = [each._array if isinstance(each, torch.Tensor) else each for each in CALLS[name]()]
        assert known(*given).tobytes() == entry.forward(*given).tobytes()
    assert len(calls) == 1


@pytest.mark.parametrize("strides", [(1, 2, 2), (1, 7, 1), (1, 1, 100)])
def test_products_take_any_strides_of_dimensions_of_one(strides):
    a, b = torch.arange(35.0).reshape(5, 7, 1), torch.arange(5.0).reshape(5, 1, 1)
    lying = torch.as_strided(torch.arange(5.0), (5, 1, 1), strides)
    assert torch.equal(torch.matmul(a, lying), torch.matmul(a, b))
    assert torch.equal(torch.matmul(lying, a.mT), torch.matmul(b, a.mT))
