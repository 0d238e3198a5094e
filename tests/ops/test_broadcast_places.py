"""Index tensors of several shapes, which name many places when they are broadcast to each other."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family

SIZES = (4, 6, 9, 11)


def places() -> list[torch.Tensor]:
    """Of each dimension some, from either end."""
    torch.manual_seed(0)
    rows, columns = torch.randint(-9, 9, (4, 1, 20, 1)), torch.randint(-11, 11, (4, 1, 1, 30))
    return [torch.arange(4)[:, None, None, None], torch.arange(6)[:, None, None], rows, columns]


def test_places_are_joined_across_shapes() -> None:
    native = family("indexing.places")
    if native is None:
        pytest.skip("there is no native code here")
    indices = [each.contiguous().numpy() for each in places()]
    wanted = np.ravel_multi_index(
        tuple(np.broadcast_arrays(*[i % n for i, n in zip(indices, SIZES, strict=True)])), SIZES
    )
    assert np.array_equal(native.joined(indices, SIZES), wanted)
    assert native.joined([indices[2], indices[3] + 1], SIZES[2:]) is None


def test_elements_are_taken_and_added_up() -> None:
    x, where = torch.randn(*SIZES, requires_grad=True), tuple(places())
    key = tuple(each.numpy() for each in where)
    taken = x[where]
    assert np.array_equal(taken.detach().numpy(), x.detach().numpy()[key])
    weight = torch.randn_like(taken)
    (taken * weight).sum().backward()
    sums = np.zeros(SIZES, np.float32)
    np.add.at(sums, key, weight.numpy())
    assert x.grad is not None
    assert np.array_equal(x.grad.numpy(), sums)
    last = x.detach()[:, :, where[2][0, 0] % 9, where[3][0, 0].repeat(30, 1)[:20]]
    assert last.shape == (4, 6, 20, 30)


def test_what_is_not_there_is_told_as_ever() -> None:
    x, (a, b, c, d) = torch.randn(*SIZES), places()
    with pytest.raises(IndexError, match="is out of bounds for dimension 2 with size 9"):
        x[a, b, c + 9, d]
    with pytest.raises(IndexError, match="shape mismatch"):
        x[a, b, c, d[:3]]
