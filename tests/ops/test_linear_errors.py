"""`linear` refuses what torch refuses, in its words, and adds a bias as torch does."""

from __future__ import annotations

import pytest

import rushlight as torch

Sizes = tuple[int, ...]
_TURNED = "t() expects a tensor with <= 2 dimensions, but self is 3D"
_NO_MATRIX = "mat2 must be a matrix, got 1-D tensor"
_NEEDS_DIMENSIONS = "both arguments to linear need to be at least 1D, but they are {}"
_WIDER = (
    "The expanded size of the tensor (4) must match the existing size (2) at non-singleton "
    "dimension 1.  Target sizes: [{}, 4].  Tensor sizes: [2]"
)


@pytest.mark.parametrize(
    ("given", "weight", "bias", "told"),
    [
        ((2, 3), (2, 2, 3), None, _TURNED),
        ((3,), (2, 2, 3), (4,), _TURNED),
        ((2, 3), (3,), (2,), _NO_MATRIX),
        ((3,), (3,), (4,), _NO_MATRIX),
        ((3,), (3,), (2, 4), "output with shape [] doesn't match the broadcast shape [2, 4]"),
        ((3,), (4, 3), (2,), _WIDER.format(1)),
        ((2, 2, 3), (4, 3), (2,), _WIDER.format(4)),
        ((3,), (4, 3), (2, 4), "output with shape [4] doesn't match the broadcast shape [2, 4]"),
        ((), (3,), (2,), _NEEDS_DIMENSIONS.format("0D and 1D")),
        ((2, 3), (), None, _NEEDS_DIMENSIONS.format("2D and 0D")),
        ((2, 0), (4, 3), None, "mat1 and mat2 shapes cannot be multiplied (2x0 and 3x4)"),
    ],
)
def test_refuses_in_the_words_of_torch(
    given: Sizes, weight: Sizes, bias: Sizes | None, told: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.nn.functional.linear(
            torch.ones(given), torch.ones(weight), None if bias is None else torch.ones(bias)
        )
    assert str(caught.value).split("\n")[0] == told


def test_stack_looks_at_its_dimension_before_it_looks_at_sizes() -> None:
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        torch.stack([torch.ones(4), torch.ones(3)], 2)
