"""Reductions of `torch.masked` over sparse tensors, and the masks they go by."""

from __future__ import annotations

import itertools

import pytest

import rushlight as torch
from rushlight import masked

NUMBERS = torch.tensor([[0.0, 2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0], [5.0, -6.0, 7.0, 8.0]])
MASK = torch.tensor(
    [[True, True, False, False], [True, False, True, True], [False, True, True, False]]
)


def in_layout(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    if layout == "strided":
        return tensor
    return tensor.to_sparse() if layout == "coo" else tensor.to_sparse_csr()


def drawn(shape: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(len(shape))
    numbers = torch.randint(-3, 4, shape, generator=generator).double()
    held = torch.randint(0, 2, shape, generator=generator)
    return numbers * held, torch.randint(0, 2, shape, generator=generator).bool()


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin"])
@pytest.mark.parametrize(
    ("shape", "sparse"), [((5,), 1), ((3, 4), 2), ((3, 4, 2), 2), ((3, 4, 2), 1), ((2, 3, 2, 2), 2)]
)
def test_the_same_as_of_dense_tensors(name: str, shape: tuple[int, ...], sparse: int) -> None:
    numbers, mask = drawn(shape)
    function = getattr(masked, name)
    for count in range(1, len(shape) + 1):
        for dims in itertools.combinations(range(len(shape)), count):
            for keepdim in (False, True):
                of_dense = function(numbers, dims, keepdim=keepdim, mask=mask)
                counts = masked._output_mask(function, numbers, dims, keepdim=keepdim, mask=mask)
                for given in (mask, mask.to_sparse(sparse)):
                    found = function(numbers.to_sparse(sparse), dims, keepdim=keepdim, mask=given)
                    assert found.layout == torch.sparse_coo
                    assert found.shape == of_dense.shape
                    assert torch.equal(found.to_dense()[counts], of_dense[counts])


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("layout", ["strided", "coo", "csr"])
def test_rows_and_columns(name: str, layout: str) -> None:
    function = getattr(masked, name)
    for dim in (0, 1, -1, (0, 1), None):
        found = function(NUMBERS.to_sparse_csr(), dim, keepdim=True, mask=in_layout(MASK, layout))
        assert found.layout == torch.sparse_csr
        assert torch.equal(found.to_dense(), function(NUMBERS, dim, keepdim=True, mask=MASK))


def test_zeros_that_count_are_held() -> None:
    found = masked.sum(NUMBERS.to_sparse(), 1, mask=MASK).coalesce()
    assert found.indices().tolist() == [[0, 1, 2]]
    assert found.values().tolist() == [2.0, 0.0, 1.0]
    without = masked.sum(NUMBERS.to_sparse(), 1).coalesce()
    assert without.indices().tolist() == [[0, 2]]
    by_rows = masked.prod(NUMBERS.to_sparse_csr(), (0, 1), keepdim=True, mask=MASK)
    assert by_rows.values().tolist() == [0.0]


def test_dtypes_are_those_of_dense_tensors() -> None:
    whole = NUMBERS.int().to_sparse()
    assert masked.sum(whole, 1).dtype == torch.int64
    assert masked.amax(whole, 1, mask=MASK).dtype == torch.int32
    assert masked.prod(whole, 1, mask=MASK, dtype=torch.float64).dtype == torch.float64


def test_places_held_twice_and_tensors_that_hold_nothing() -> None:
    twice = torch.sparse_coo_tensor([[0, 0, 1]], [1.0, 2.0, 3.0], (4,))
    assert masked.sum(twice).to_dense().item() == 6.0
    everywhere = torch.ones(4, dtype=torch.bool)
    assert masked.amax(twice, mask=everywhere).to_dense().item() == 3.0
    nothing = torch.zeros(3, 4).to_sparse()
    assert masked.sum(nothing, 0).to_dense().tolist() == [0.0] * 4
    assert masked.amin(nothing, 0, mask=MASK).to_dense().tolist() == [0.0] * 4


def test_gradients_reach_the_elements_that_count() -> None:
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    given = torch.sparse_coo_tensor([[0, 0, 1], [0, 1, 1]], values, (2, 3))
    mask = torch.tensor([[True, True, False], [True, False, True]])
    masked.prod(given, 1, mask=mask).to_dense().sum().backward()
    assert values.grad.tolist() == [2.0, 1.0, 0.0]


def test_what_is_refused() -> None:
    coordinates, rows = NUMBERS.to_sparse(), NUMBERS.to_sparse_csr()
    for name in ("prod", "amax", "amin"):
        with pytest.raises(ValueError, match=f"masked {name} expects explicit mask for sparse_coo"):
            getattr(masked, name)(coordinates, 1)
    with pytest.raises(ValueError, match="masked mean expects strided or sparse_csr tensor"):
        masked.mean(coordinates, 1, mask=MASK)
    with pytest.raises(ValueError, match="masked std/var expects strided tensor"):
        masked.var(rows, 1, mask=MASK)
    with pytest.raises(ValueError, match=r"sum expects strided, sparse_coo or sparse_csr tensor"):
        masked.sum(NUMBERS.to_sparse_csc(), 1, mask=MASK)
    with pytest.raises(RuntimeError, match=r"on CSR tensors with keepdim=False is unsupported"):
        masked.sum(rows, 1)
    with pytest.raises(AssertionError, match=r"on CSR tensors with keepdim=False is unsupported"):
        masked.amax(rows, 1, mask=MASK)


def test_masks_of_inputs() -> None:
    assert masked._input_mask(NUMBERS, mask=MASK[0]).tolist() == [MASK[0].tolist()] * 3
    assert masked._input_mask(NUMBERS, mask=MASK.to_sparse()).tolist() == MASK.tolist()
    for layout in (torch.sparse_coo, torch.sparse_csr):
        made = masked._input_mask(NUMBERS.to_sparse(layout=layout), mask=MASK)
        assert made.layout == layout
        assert made.to_dense().tolist() == MASK.tolist()
    with pytest.raises(ValueError, match="_input_mask requires explicit mask"):
        masked._input_mask(NUMBERS, mask=None)
    with pytest.raises(IndexError, match="mask dimensionality higher"):
        masked._input_mask(NUMBERS[0], mask=MASK)


def test_masks_of_results() -> None:
    assert masked._output_mask(masked.sum, NUMBERS, 1, mask=MASK).tolist() == [True] * 3
    kept = masked._output_mask(masked.norm, NUMBERS, 2, 1, keepdim=True, mask=MASK)
    assert kept.tolist() == [[True]] * 3
    assert masked._output_mask(masked.amax, NUMBERS, mask=MASK).item() is True
    for function in (masked.softmax, masked.cumsum):
        assert torch.equal(masked._output_mask(function, NUMBERS, 1, mask=MASK), MASK)
    with pytest.raises(ValueError, match=r"expected masked operation .got callable"):
        masked._output_mask(masked.logaddexp, NUMBERS, NUMBERS, mask=MASK)
    with pytest.raises(ValueError, match=r"expected masked operation .got str object"):
        masked._output_mask("sum", NUMBERS, mask=MASK)


def test_dimensions_in_order() -> None:
    found = [masked._canonical_dim(dim, 3) for dim in (None, (), 1, -1, (2, 0))]
    assert found == [(0, 1, 2), (0, 1, 2), (1,), (2,), (0, 2)]
    with pytest.raises(RuntimeError, match="dim=1 appears multiple times"):
        masked._canonical_dim((1, -2), 3)


def test_where() -> None:
    nine = torch.tensor(9.0)
    strided = masked._where(MASK, NUMBERS, nine)
    assert torch.equal(strided, torch.where(MASK, NUMBERS, nine))
    for layout in ("coo", "csr"):
        found = masked._where(in_layout(MASK, layout), in_layout(NUMBERS, layout), nine)
        assert found.values().tolist() == NUMBERS[MASK].tolist()
        assert torch.equal(found.to_dense(), NUMBERS * MASK)
    with pytest.raises(AssertionError, match=r"input.layout must be sparse_coo"):
        masked._where(MASK.to_sparse(), NUMBERS, nine)
