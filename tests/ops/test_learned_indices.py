"""Index tensors and lists of tensors in calls that native code learns, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels.code.calls.run import CREW

OFTEN = 120
"""Calls after which what can be learned has been."""


def read(x: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> list[torch.Tensor]:
    return [x[i], x[:, i], x[i, j], x[i, :, j], x[..., i, j], x[i[:, None], j]]


def test_reading_is_numpys_for_any_places() -> None:
    random = np.random.default_rng(1)
    x = random.standard_normal((5, 5, 5)).astype(np.float32)
    for _ in range(OFTEN):
        i, j = random.integers(-5, 5, (2, 7))
        made = read(*map(torch.from_numpy, (x, i, j)))
        want = read(x, i, j)  # type: ignore[arg-type]
        assert all(map(np.array_equal, [each.numpy() for each in made], want))


def test_places_that_are_not_there_are_told_however_often_it_went_well() -> None:
    x, i, j = torch.zeros(4, 6), torch.tensor([0, 3]), torch.tensor([5, 1])
    for _ in range(OFTEN):
        assert x[i, j].shape == (2,)
        x[i, j] = 1.0
    j[1] = 6
    with pytest.raises(IndexError, match="index 6 is out of bounds for dimension 1 with size 6"):
        x[i, j]
    with pytest.raises(IndexError, match="index 6 is out of bounds for dimension 1 with size 6"):
        x[i, j] = 2.0
    assert sorted(x.unique().tolist()) == [0.0, 1.0]


def test_a_number_is_written_where_any_mask_says() -> None:
    random = np.random.default_rng(3)
    x = torch.zeros(4, 6)
    for number in range(OFTEN):
        m = random.random((4, 6)) > 0.5
        want = np.where(m, np.float32(number), x.numpy())
        x[torch.from_numpy(m)] = number
        assert np.array_equal(x.numpy(), want)
        x[x > number / 2] = torch.tensor(float(number))
        assert np.array_equal(x.numpy(), np.where(want > number / 2, np.float32(number), want))
    bits = torch.tensor([True, False])
    bits[bits] = False
    assert not bits.any()
    with pytest.raises(IndexError, match="shape of the mask"):
        x[torch.zeros(4, 5, dtype=torch.bool)] = 1.0


def test_keys_that_mix_numbers_slices_and_tensors() -> None:
    random = np.random.default_rng(4)
    x = random.standard_normal((4, 5, 6)).astype(np.float32)
    for _ in range(OFTEN):
        i, m = random.integers(0, 4, 3), random.random(5) > 0.4
        for key in [
            (slice(None), i),
            (i, slice(1, 3)),
            (1, i),
            (i, 1),
            (None, i),
            (slice(None), m),
        ]:
            parts = tuple(torch.from_numpy(k) if isinstance(k, np.ndarray) else k for k in key)
            assert np.array_equal(torch.from_numpy(x)[parts].numpy(), x[key])
            y = torch.from_numpy(x.copy())
            y[parts] = 3.0
            want = x.copy()
            want[key] = 3.0
            assert np.array_equal(y.numpy(), want)
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 1 with size 5"):
        torch.from_numpy(x)[torch.tensor([0]), 9]


def masked(x: torch.Tensor, m: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x.clone()
    y[m] = 7.0
    return x[m], torch.index_put(y, [m], x[0])


def test_masks_are_never_learned() -> None:
    random = np.random.default_rng(2)

    scripted = torch.jit.script(masked)
    x = random.standard_normal((6, 4)).astype(np.float32)
    for _ in range(OFTEN):
        m = random.random(6) > 0.5
        want = x.copy()
        want[m] = x[0]
        for made in (masked, scripted):
            taken, put = made(torch.from_numpy(x), torch.from_numpy(m))
            assert np.array_equal(taken.numpy(), x[m])
            assert np.array_equal(put.numpy(), want)


def test_writing_is_numpys_for_any_places() -> None:
    random = np.random.default_rng(3)
    for _ in range(OFTEN):
        i, j = random.integers(-4, 4, (2, 6))
        x = random.integers(0, 9, (4, 4, 3)).astype(np.float32)
        values = random.integers(0, 9, (6, 3)).astype(np.float32)
        a, v, places = torch.from_numpy(x), torch.from_numpy(values), torch.from_numpy(i)
        want = x.copy()
        np.add.at(want, (i, j), values)
        made = torch.index_put(a, [places, torch.from_numpy(j)], v, True)
        assert np.array_equal(made.numpy(), want)
        want = x.copy()
        want[i] = 3
        made = a.clone()
        made[places] = 3
        assert np.array_equal(made.numpy(), want)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.bfloat16])
def test_tensors_are_joined_and_stacked(dim: int, dtype: torch.dtype) -> None:
    random = np.random.default_rng(4)
    for rows in (2, 3, 70):
        parts = [random.integers(0, 5, (rows, rows)) for _ in range(3)]
        tensors = [torch.from_numpy(each).to(dtype) for each in parts]
        for _ in range(OFTEN if rows == 2 else 1):
            made, stacked = torch.cat(tensors, dim), torch.stack(tensors, dim)
        kept = [each.long().numpy() for each in tensors]
        assert np.array_equal(made.long().numpy(), np.concatenate(kept, dim))
        assert np.array_equal(stacked.long().numpy(), np.stack(kept, dim))
        assert made.is_contiguous()
        assert stacked.is_contiguous()
        assert made.dtype == stacked.dtype == dtype
    same = torch.cat([tensors[0]] * 3)
    assert torch.equal(same[: len(same) // 3], tensors[0])


@pytest.mark.skipif(CREW is None, reason="no calls are known beforehand here")
def test_a_list_that_grows_is_joined_rightly() -> None:
    parts: list[torch.Tensor] = []
    for number in range(OFTEN):
        parts.append(torch.full((2,), float(number)))
        assert torch.cat(parts).tolist() == [float(n) for n in range(number + 1) for _ in "ab"]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_edges_are_read_alike_however_often(mode: str) -> None:
    names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    x = np.random.default_rng(5).standard_normal((2, 3, 5, 4)).astype(np.float32)
    for _ in range(OFTEN):
        x += 1
        made = torch.nn.functional.pad(torch.from_numpy(x), (2, 1, 0, 3), mode)
        want = np.pad(x, ((0, 0), (0, 0), (0, 3), (2, 1)), names[mode])  # type: ignore[call-overload]
        assert np.array_equal(made.numpy(), want)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_images_are_resized_alike_however_often(mode: str) -> None:
    x = torch.from_numpy(np.random.default_rng(6).standard_normal((1, 2, 5, 4)).astype(np.float32))
    found = set()
    for _ in range(OFTEN):
        made = torch.nn.functional.interpolate(x, size=(7, 8), mode=mode)
        again = torch.nn.functional.interpolate(x + 0, size=(7, 8), mode=mode)
        found |= {made.numpy().tobytes(), again.numpy().tobytes()}
    assert len(found) == 1
    doubled = torch.nn.functional.interpolate(2 * x, size=(7, 8), mode=mode)
    assert torch.equal(doubled, 2 * made)


def test_elements_are_taken_by_any_places() -> None:
    random = np.random.default_rng(7)
    x = random.standard_normal((5, 6)).astype(np.float32)
    for number in range(OFTEN):
        low = -30 if number % 2 else 0
        places = random.integers(low, 30, (4, 7))
        made = torch.take(torch.from_numpy(x), torch.from_numpy(places))
        assert np.array_equal(made.numpy(), x.take(places))
        along = random.integers(low // 5, 6, (5, 3))
        made = torch.take_along_dim(torch.from_numpy(x), torch.from_numpy(along), 1)
        assert np.array_equal(made.numpy(), np.take_along_axis(x, along, 1))


def test_what_is_written_lies_as_it_did_and_what_is_taken_in_one_piece() -> None:
    x = torch.arange(12.0).view(3, 4).t()
    i, j = torch.tensor([0, 3]), torch.tensor([2, 2])
    assert torch.index_put(x, [i, j], torch.zeros(2)).stride() == x.stride()
    assert torch.index_put(x, [x > 5], torch.tensor(0.0)).stride() == x.stride()
    assert torch.take_along_dim(x, (x.long() % 3), 1).stride() == (3, 1)


@pytest.mark.parametrize("is_wanted", [False, True])
def test_lists_and_tuples_of_places_name_what_tensors_do(is_wanted: bool) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_(is_wanted)
    places, rows = torch.tensor([1, 0, 1]), torch.tensor([2, 0, 1])
    for _ in range(3):
        assert torch.equal(x[[1, 0]], torch.stack([x[1], x[0]]))
        assert torch.equal(x[places, rows], torch.stack([x[1, 2], x[0, 0], x[1, 1]]))
        assert torch.equal(x[:, rows], torch.stack([x[:, 2], x[:, 0], x[:, 1]], 1))
        assert torch.equal(x[:, :, [0, -1]], x[..., ::3])
        assert torch.equal(x[..., 0, None], x.select(2, 0).unsqueeze(2))
    with pytest.raises(IndexError, match="out of bounds"):
        x[[0, 2]]
    with pytest.raises(IndexError, match="out of bounds"):
        x[places, rows + 1]
    with pytest.raises(IndexError, match="too many indices"):
        x[places, places, places, places]


def test_places_are_written_to() -> None:
    x, places = torch.zeros(4, 4), torch.tensor([0, 3])
    x[places] = 1.0
    x[places, places] = torch.tensor([5.0, 6.0])
    x[:, [1, 2]] = 2.0
    assert x.tolist() == [[5, 2, 2, 1], [0, 2, 2, 0], [0, 2, 2, 0], [1, 2, 2, 6]]
    with pytest.raises(IndexError, match="out of bounds"):
        x[[4]] = 1.0
