"""Fourier transforms by kernels, beside NumPy's of twice the precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.memory import warned

pytestmark = pytest.mark.skipif(family("transforms.fourier") is None, reason="no native code here")
SIZES = [1, 2, 3, 5, 7, 8, 16, 30, 49, 60, 64, 97, 100, 121, 254, 500, 512, 1001, 4096, 16384]
"""Powers and products of primes, and sizes that are taken as matrices."""


def _numbers(shape: Any, dtype: Any) -> Any:
    random = np.random.default_rng(shape[-1])
    parts = random.standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1]).astype(dtype)


def _check(made: Any, wanted: Any, dtype: Any) -> None:
    found = made.numpy()
    assert found.shape == wanted.shape
    assert np.dtype(found.dtype).itemsize == np.dtype(dtype).itemsize // (
        2 - (found.dtype.kind == "c")
    )
    nearness = 2e-6 if dtype == np.complex64 else 1e-14
    assert np.abs(found - wanted).max() <= nearness * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("rows", "dtype"), [(3, np.complex64), (18, np.complex64), (18, np.complex128)]
)
def test_like_numpys(size: int, rows: int, dtype: Any) -> None:
    if size > 5000 and rows > 3:
        rows = 1
    c = _numbers((rows, size), dtype)
    given, x = torch.from_numpy(c), torch.from_numpy(np.ascontiguousarray(c.real))
    wide, real = c.astype(np.complex128), c.real.astype(np.float64)
    _check(torch.fft.fft(given), np.fft.fft(wide), dtype)
    _check(torch.fft.ifft(given, norm="ortho"), np.fft.ifft(wide, norm="ortho"), dtype)
    _check(torch.fft.fft(x, norm="forward"), np.fft.fft(real, norm="forward"), dtype)
    _check(torch.fft.rfft(x), np.fft.rfft(real), dtype)
    for made in (2 * size - 1, 2 * size - 2):
        if made:
            _check(torch.fft.irfft(given, n=made), np.fft.irfft(wide, n=made), dtype)
    _check(torch.fft.ifft(given.mT.contiguous(), dim=0), np.fft.ifft(wide.T, axis=0), dtype)
    _check(torch.fft.fft(x.mT.contiguous(), dim=0), np.fft.fft(real.T, axis=0), dtype)


def test_other_layouts_and_later_calls_give_the_same() -> None:
    c = torch.from_numpy(_numbers((3, 20, 24), np.complex64))
    wanted, along = torch.fft.fft2(c), torch.fft.fft(c, dim=1)
    assert along.stride() == (480, 1, 20)
    apart = torch.empty(3, 24, 40, dtype=torch.complex64).mT[:, ::2]
    apart.copy_(c)
    for _ in range(40):
        for each in (c, apart):
            assert torch.equal(torch.fft.fft2(each), wanted)
            assert torch.equal(torch.fft.fft(each, dim=1), along)


def test_a_row_that_is_no_number_leaves_others_alone() -> None:
    x = torch.randn(5, 60)
    wanted = torch.fft.rfft(x)
    x[2, 7] = float("nan")
    found = torch.fft.rfft(x)
    assert torch.equal(found[[0, 1, 3, 4]], wanted[[0, 1, 3, 4]])
    assert found[2].isnan().all()


def test_a_transform_without_a_window_is_told_also_once_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(4):
        monkeypatch.setattr(warned, "GIVEN", set())
        with pytest.warns(UserWarning, match="window was not provided"):
            torch.stft(torch.randn(400), 64, return_complex=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_fft": 4, "hop_length": 0}, "expected hop_length > 0, but got hop_length=0"),
        ({"n_fft": 4, "hop_length": -1}, "expected hop_length > 0, but got hop_length=-1"),
        ({"n_fft": 0, "hop_length": 1}, "expected 0 < n_fft < 8, but got n_fft=0"),
        ({"n_fft": 9}, "expected 0 < n_fft < 8, but got n_fft=9"),
        ({"n_fft": 4, "win_length": 5}, "expected 0 < win_length <= n_fft, but got win_length=5"),
        ({"n_fft": 4, "win_length": 0}, "expected 0 < win_length <= n_fft, but got win_length=0"),
    ],
)
def test_windows_that_cannot_be(options: dict[str, int], said: str) -> None:
    with pytest.raises(RuntimeError, match=f"{said}$"):
        torch.stft(torch.arange(8.0), **options, center=False, return_complex=True)


def test_calls_from_python_try_the_overload_with_a_centre_first() -> None:
    x, window = torch.arange(64.0), torch.ones(16)
    from_python = torch._VF.stft(x, 16, 4, 16, window, return_complex=True)
    by_schemas = torch.ops.aten.stft(x, 16, 4, 16, window, return_complex=True)
    assert (from_python.shape, by_schemas.shape) == ((9, 17), (9, 13))
    assert torch._VF.stft(x, 16, 4, 16, window, False, True, True).shape == (9, 13)


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("points", [1, 2, 3, 5, 16, 17, 33, 100, 127, 254, 1000, 1023])
def test_whole_transforms_of_real_numbers_are_told_by_half_of_them(points: int, name: str) -> None:
    x = torch.randn(3, points, dtype=getattr(torch, name))
    wanted = np.fft.fft(x.double().numpy())
    near = 1e-5 if name == "float32" else 1e-13
    for _ in range(60):
        made, back = torch.fft.fft(x).numpy(), torch.fft.ifft(x).numpy()
        np.testing.assert_allclose(made, wanted, near, near * points)
        np.testing.assert_allclose(back, np.conj(wanted) / points, near, near)
        assert np.array_equal(made[:, 1:], np.conj(made[:, :0:-1]))
        assert np.array_equal(back[:, 1:], np.conj(back[:, :0:-1]))


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("points", [8194, 9000, 15999, 16000, 27 * 625])
def test_long_transforms_of_real_numbers(points: int, name: str) -> None:
    x = torch.randn(2, points, dtype=getattr(torch, name))
    near = 1e-5 if name == "float32" else 1e-13
    made = torch.fft.rfft(x)
    wanted = np.fft.rfft(x.double().numpy())
    assert made.is_contiguous()
    np.testing.assert_allclose(made.numpy(), wanted, near, near * points)
    made[:, 0] += 2j  # which is ignored
    back = torch.fft.irfft(made, points)
    assert back.is_contiguous()
    np.testing.assert_allclose(back.numpy(), x.numpy(), near, near)
    rows = torch.cat([torch.fft.rfft(x[i : i + 1]) for i in range(2)])
    assert torch.equal(torch.fft.rfft(x), rows)
