"""The memory of slices: `as_strided` is at the places of each, and of no other; nor is it
exchanged; and what is a view of a single tensor is one of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.func import grad, vmap

X = torch.arange(24.0).view(2, 3, 4)


def of_two(size: tuple[int, ...], stride: tuple[int, ...], at: int | None = None) -> torch.Tensor:
    """What each of two slices of twelve elements gives."""
    return vmap(lambda x: x.as_strided(size, stride, at))(X)


def test_the_offset_is_that_of_the_first_slice() -> None:
    assert of_two((2,), (2,), 1).tolist() == [[1, 3], [13, 15]]
    assert of_two((2, 2), (4, 1)).tolist() == [[[0, 1], [4, 5]], [[12, 13], [16, 17]]]
    assert of_two((), (), 11).tolist() == [11, 23]
    assert of_two((0,), (1,), 99).shape == (2, 0)


def test_slices_along_other_dimensions_and_of_slices() -> None:
    columns = vmap(lambda x: torch.as_strided(x, (2,), (4,), 0), in_dims=1)(X[0])
    assert columns.tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]
    rows = vmap(vmap(lambda x: x.as_strided((2,), (1,), 2)))(X)
    assert torch.equal(rows, X[..., 2:])
    assert torch.equal(vmap(lambda x: x.as_strided((2,), (1,), 12))(X[1:]), X[1:, 0, :2])


def test_what_was_cut_begins_later() -> None:
    cut = vmap(lambda x: x[1:].as_strided((3,), (1,), 4))(X)
    assert torch.equal(cut, X[:, 1, :3])


@pytest.mark.parametrize(
    ("call", "how", "range_of_result", "range_of_slice"),
    [
        (lambda x: x.as_strided((13,), (1,), 0), "[13], [1], 0", (0, 13), (0, 12)),
        (lambda x: x.as_strided((13,), (1,)), "[13], [1], 0", (0, 13), (0, 12)),
        (lambda x: x[1:].as_strided((3,), (1,), 0), "[3], [1], 0", (0, 3), (4, 12)),
        (lambda x: x[1:].as_strided((2,), (8,), 4), "[2], [8], 4", (4, 13), (4, 12)),
    ],
)
def test_memory_of_other_slices_is_refused(
    call: Callable[[torch.Tensor], torch.Tensor],
    how: str,
    range_of_result: tuple[int, int],
    range_of_slice: tuple[int, int],
) -> None:
    with pytest.raises(RuntimeError) as caught:
        vmap(call)(X)
    assert str(caught.value) == (
        f"result = tensor.as_strided({how}) can access memory outside of `tensor`. `result` can "
        f"access some memory in range {[*range_of_result]}, but `tensor` can only access some "
        f"memory in range {[*range_of_slice]}. This is not supported inside of vmap, please try to "
        "rewrite the `as_strided` call as a sequence of PyTorch view operations"
    )


def test_gradients_go_to_each_slice() -> None:
    found = vmap(grad(lambda x: x.as_strided((2,), (2,), 1).pow(2).sum()))(X)
    expected = torch.zeros(2, 12)
    expected[:, 1:4:2] = 2 * X.reshape(2, 12)[:, 1:4:2]
    assert torch.equal(found, expected.view(2, 3, 4))


def test_copies_and_what_is_put_there() -> None:
    copied = vmap(lambda x: torch.as_strided_copy(x, (2,), (2,), 1))(X)
    assert copied.tolist() == [[1, 3], [13, 15]]
    with pytest.raises(RuntimeError, match="as_strided_scatter requires special handling, and"):
        vmap(lambda x: torch.as_strided_scatter(x, torch.ones(2), (2,), (2,), 1))(X)
    with pytest.raises(RuntimeError, match=r"the same length! Got size \[2\] and stride \[1, 2\]"):
        of_two((2,), (1, 2), 0)


def test_the_memory_of_slices_is_not_exchanged() -> None:
    def exchanged(x: torch.Tensor) -> torch.Tensor:
        x.data = torch.zeros(3, 4)
        return x * 1

    with pytest.raises(RuntimeError, match=r"mutating directly with `.data` under vmap transform"):
        vmap(exchanged)(X)
    with pytest.raises(RuntimeError, match="accessing `data` under vmap transform is not allowed"):
        vmap(lambda x: x.data + 1)(X)
    assert torch.equal(vmap(lambda x: x.detach() + torch.ones(4).data)(X), X + 1)


@pytest.mark.parametrize(
    "part",
    [
        lambda x: x.split(2)[0],
        lambda x: x.split([1, 2], 1)[1],
        lambda x: torch.tensor_split(x, (1,), dim=1)[1],
        lambda x: torch.unsafe_chunk(x, 2)[0],
        lambda x: torch.linalg.diagonal(x),
        torch.atleast_1d,
        torch.atleast_2d,
        torch.atleast_3d,
    ],
)
def test_what_is_written_to_a_part_of_a_slice_shows_in_it(
    part: Callable[[torch.Tensor], torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(x: torch.Tensor) -> torch.Tensor:
        part(x).add_(1)
        return x

    wanted = [written(each.clone()) for each in X.unbind(2)]
    assert torch.equal(vmap(written, in_dims=2)(X.clone()), torch.stack(wanted))
    monkeypatch.setattr(torch.Tensor.split, "__module__", "torch._tensor")  # as users may see it
    assert torch.equal(vmap(written, in_dims=2)(X.clone()), torch.stack(wanted))


def test_slices_get_ones_in_front_and_behind_as_single_tensors_do() -> None:
    for made in (torch.atleast_1d, torch.atleast_2d, torch.atleast_3d):
        for whole in (X, X[0], X[0, 0]):
            wanted = torch.stack([made(each) for each in whole])
            assert torch.equal(vmap(made)(whole), wanted)
