"""Complex tensors and Fourier transforms in exported programs: floats with a last axis of two."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import onnx
import pytest

import rushlight as torch
from rushlight import nn

reference = pytest.importorskip("onnx.reference")


def as_floats(value: Any) -> np.ndarray:
    array = np.asarray(value.detach().resolve_conj().numpy())
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def check(program: Any, *given: torch.Tensor, other: Any = None, **options: Any) -> None:
    """The exported program gives what the program gives, of `other` tensors if there are any; and
    so does what comes back."""
    file = io.BytesIO()
    torch.onnx.export(program, given, file, **options)
    onnx.checker.check_model(file.getvalue(), full_check=True)
    model = onnx.load_from_string(file.getvalue())
    given = given if other is None else other
    names = [each.name for each in model.graph.input]
    arrays = dict(zip(names, map(as_floats, given), strict=True))
    found = reference.ReferenceEvaluator(model).run(None, arrays)
    file.seek(0)
    again = torch.onnx.load(file)(*(torch.as_tensor(array) for array in arrays.values()))
    with torch.no_grad():
        wanted = program(*(each.clone() for each in given))
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    again = again if isinstance(again, tuple) else (again,)
    for one, two, three in zip(found, again, map(as_floats, wanted), strict=True):
        assert (one.shape, one.dtype) == (three.shape, three.dtype)
        np.testing.assert_allclose(one, three, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(as_floats(two), three, rtol=1e-4, atol=1e-5)


def real(*sizes: int) -> torch.Tensor:
    return torch.rand(*sizes, generator=torch.Generator().manual_seed(sum(sizes))) - 0.5


def numbers(*sizes: int) -> torch.Tensor:
    return torch.complex(real(*sizes), real(*sizes, 1).flip(0)[..., 0])


CALLS = [
    ("torch.fft.fft(x, 5, 0)", numbers(3, 4)),
    ("torch.fft.fft(x, norm='forward')", real(4)),
    ("torch.fft.ifft(x, norm='ortho')", numbers(2, 5)),
    ("torch.fft.rfft(x, 9, dim=1)", real(2, 7, 3)),
    ("torch.fft.irfft(x)", numbers(2, 4)),
    ("torch.fft.irfft(x, 5, norm='ortho')", numbers(2, 5)),
    ("torch.fft.irfft(x, 11, 0)", numbers(4, 2)),
    ("torch.fft.ifft2(x, s=[3, 5])", numbers(2, 4, 4)),
    ("torch.fft.irfft2(torch.fft.rfft2(x, norm='ortho'), s=[4, 5], norm='ortho')", real(2, 4, 5)),
    ("torch.fft.hfft(x, 6) + torch.fft.ihfft(x.real, 11).abs()", numbers(2, 6)),
    ("torch.fft.fftshift(x, dim=[1]), torch.fft.ifftshift(x)", numbers(2, 5)),
    ("x * y + x / y - (1 + 2j) * x + 1j", numbers(2, 3), numbers(3)),
    ("x * y, x / y, y / x, y - x", numbers(2, 3), real(1, 3)),
    ("x.abs(), x.angle(), x.real, x.imag, x.conj(), x.sgn()", numbers(2, 3)),
    ("torch.exp(x), torch.log(x), torch.sqrt(x), x ** 2, x ** -1.5", numbers(4)),
    ("torch.conj(x) @ y, x.mH, torch.einsum('ab,bc->ca', x, y)", numbers(2, 3), numbers(3, 2)),
    ("torch.cat([x, y + 0j]), torch.stack([x, x.conj()], 1)", numbers(2, 3), real(1, 3)),
    ("x.transpose(0, 1).reshape(-1)[1:4], x.sum(0), x.flip([0])", numbers(2, 3)),
    ("torch.where(x.real > 0, x, y), x == y, x != x", numbers(2, 3), real(3)),
    ("torch.polar(x, y), torch.complex(x, y), torch.angle(y)", real(2, 1), real(3)),
    ("torch.view_as_real(torch.view_as_complex(x) * 1j)", real(3, 2)),
    ("x.to(torch.complex128) * x.size(-1), torch.tensor(x.is_complex())", numbers(2, 3)),
    ("torch.zeros_like(x) + x.size(-1), x.norm(), torch.nn.functional.pad(x, [1, 0])", numbers(3)),
    ("torch.stft(x, 8, 3, 6, torch.hann_window(6), return_complex=True)", real(2, 20)),
    ("torch.stft(x, 8, center=False, onesided=False, return_complex=False)", real(1, 20)),
    ("torch.istft(x, 8, 2, window=torch.ones(8), normalized=True, length=14)", numbers(1, 5, 9)),
]


@pytest.mark.parametrize(("body", "given"), [(body, given) for body, *given in CALLS])
@pytest.mark.filterwarnings("ignore:A window was not provided")
def test_calls(body: str, given: list[torch.Tensor]) -> None:
    text = f"def f({', '.join('xy'[: len(given)])}):\n    return {body}\n"
    opset = 17 if body < "torch.fft.j" else 20
    check(torch.jit.CompilationUnit(text).f, *given, opset_version=opset)


class Spectral(nn.Module):
    """A layer that filters by complex weights, as neural operators do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(numbers(2, 3, 2, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spectrum = torch.fft.rfft2(x)
        kept = torch.zeros(x.size(0), 3, x.size(2), x.size(3) // 2 + 1, dtype=torch.cfloat)
        kept[:, :, :2, :2] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :2, :2], self.weight)
        kept[:, :, -1, 0] = 0.5
        return torch.fft.irfft2(kept, s=[x.size(2), x.size(3)])


def test_a_layer_with_complex_weights_and_sizes_that_vary() -> None:
    axes = {"x": {0: "batch"}}
    check(torch.jit.script(Spectral()), real(2, 2, 4, 6), input_names=["x"], dynamic_axes=axes)
    check(
        Spectral(), real(2, 2, 4, 6), other=[real(5, 2, 4, 6)], input_names=["x"], dynamic_axes=axes
    )


def turned(x: torch.Tensor) -> torch.Tensor:
    for i in range(3):
        x = x * torch.polar(torch.ones(3), torch.full((3,), float(i)))
    if x.real.sum() > 0:  # noqa: SIM108
        x = x + 1
    else:
        x = x.conj()
    return x


def changed(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x.clone()
    y.real.add_(1)
    y.imag[0] = 5.0
    torch.view_as_real(y)[1, 0] = 7.0
    z = torch.view_as_complex(torch.view_as_real(x).clone())
    z[2] = 1j
    z *= 2
    return y, z


def test_branches_loops_and_changes_in_place() -> None:
    check(torch.jit.script(turned), numbers(3))
    check(torch.jit.script(changed), numbers(3))


def test_exported_programs_are_called() -> None:
    def program(x: torch.Tensor, n: int, y: torch.Tensor) -> torch.Tensor:
        return x * n + y

    x, y = numbers(3), real(3)
    made = torch.onnx.export(torch.jit.script(program), (x, 2, y))
    wanted = as_floats(program(x, 2, y))
    for found in (made.call_reference(x, 2, y), made.call_reference(x, y=y)):
        np.testing.assert_allclose(found[0].numpy(), wanted, rtol=1e-6)
    for given, named in (((x,), {}), ((x, y), {"z": x}), ((x, y, y), {})):
        with pytest.raises(TypeError, match="the inputs x, y"):
            made.call_reference(*given, **named)


def test_lengths_that_vary() -> None:
    @torch.jit.script
    def spectrum(x: torch.Tensor) -> torch.Tensor:
        frames = torch.stft(x, 8, 2, window=torch.hann_window(8), return_complex=True)
        return torch.istft(frames, 8, 2, window=torch.hann_window(8)) + torch.fft.irfft(
            torch.fft.rfft(x, norm="ortho"), x.size(-1), norm="ortho"
        )

    axes = {"x": {1: "time"}}
    check(spectrum, real(1, 20), other=[real(1, 32)], input_names=["x"], dynamic_axes=axes)


@pytest.mark.parametrize("body", ["torch.tanh(x)", "torch.sort(x)[0]", "x.sum().item()"])
def test_what_has_no_form_is_told_where_it_stands(body: str) -> None:
    program = torch.jit.CompilationUnit(f"def f(x):\n    y = x + 1\n    return {body}\n").f
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match=r"(?s)complex.*>:3:"):
        torch.onnx.export(program, (numbers(3),), "never.onnx")


def test_what_goes_wrong_in_a_loop_is_told() -> None:
    @torch.jit.script
    def program(x: torch.Tensor, dims: list[int]) -> torch.Tensor:
        for dim in dims:
            x = torch.tanh(torch.fft.fft(x, dim=dim))
        return x

    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="tanh"):
        torch.onnx.export(program, (numbers(3, 3), [0, 1]), io.BytesIO())
