"""Arithmetic of complex numbers in script, and signs of zeros and NaN, as torch has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

INF, NAN = math.inf, math.nan


def scripted(function: Callable[..., Any]) -> Any:
    return torch.jit.script(function)


def test_a_real_operand_has_no_imaginary_part() -> None:
    def f(x: complex, y: float):  # type: ignore[no-untyped-def]
        return x + y, y + x, x - y, y - x, x * y, y * x

    found = scripted(f)(complex(INF, -0.0), -0.0)
    assert repr(found) == "((inf-0j), (inf-0j), (inf-0j), (-inf+0j), (nan+0j), (nan+0j))"


@pytest.mark.parametrize(
    ("a", "b", "quotient"),
    [
        (1j, 0j, "(nan+infj)"),
        (complex(-0.0, -2.5), complex(-0.0, -0.0), "(nan-infj)"),
        (complex(1.5, INF), complex(INF, 2.0), "(nan+nanj)"),
        (complex(1, 2), complex(-3, 4), "(0.2-0.4j)"),
        (complex(1, 2), complex(3, 0.1), "(0.3551609322974473+0.6548279689234184j)"),
    ],
)
def test_quotients(a: complex, b: complex, quotient: str) -> None:
    def f(x: complex, y: complex):  # type: ignore[no-untyped-def]
        return x / y

    assert repr(scripted(f)(a, b)) == quotient


@pytest.mark.parametrize(
    ("a", "b", "power"),
    [
        (complex(0.0, 1.5), complex(1.5, 0.0), "(-1.299038105676658+1.299038105676658j)"),
        (0j, complex(-2.5, 1.0), "(inf+nanj)"),
        (0j, complex(2.0, 1.0), "-0j"),
        (complex(0.0, 1.5), complex(INF, 0.0), "(inf+nanj)"),
    ],
)
def test_powers_are_the_c_librarys(a: complex, b: complex, power: str) -> None:
    def f(x: complex, y: complex):  # type: ignore[no-untyped-def]
        return x**y

    assert repr(scripted(f)(a, b)) == power


def test_powers_with_a_real_operand() -> None:
    def f(x: complex, y: float):  # type: ignore[no-untyped-def]
        return x**y, y**x

    assert repr(scripted(f)(complex(1.5, -0.0), -2.5)) == (
        "((0.36288736930121157+0j), (-7.261262277263226e-16-3.9528470752104745j))"
    )


def test_functions_round_as_the_c_library_does() -> None:
    import cmath

    def f(x: complex):  # type: ignore[no-untyped-def]
        return cmath.sqrt(x)

    assert repr(scripted(f)(1j)) == "(0.7071067811865476+0.7071067811865476j)"


def test_texts_of_complex_numbers() -> None:
    def f(x: float, y: float) -> str:
        return str(complex(x, y))

    assert scripted(f)(1.0, -0.0) == "1.+0.j"
    assert scripted(f)(NAN, NAN) == "nan-nanj"


def test_a_nan_shows_its_sign() -> None:
    def f(x: float, y: float) -> str:
        return f"{x} {-x} {[-x]}" + str(complex(-x, 1.0)) + str(math.fmod(y, 0.0))

    assert scripted(f)(NAN, NAN) == "nan -nan [-nan]-nan+1.jnan"


def test_the_sign_of_a_nan_is_the_processors() -> None:
    invalid = "-nan" if math.copysign(1.0, INF - INF) < 0 else "nan"

    def f(x: float, y: float) -> str:
        return f"{x / y} {y % x} {y - y} {math.sqrt(-y)} {math.fmod(y, x)} {x**y}"

    assert scripted(f)(0.0, INF) == f"0. {invalid} {invalid} {invalid} {invalid} 0."


def test_zero_to_any_negative_power_is_refused() -> None:
    def f(x: float, y: float) -> float:
        return x**y

    with pytest.raises(RuntimeError, match=r"0\.0 cannot be raised to a negative power"):
        scripted(f)(0.0, -INF)


def test_sums_of_complex_tensors_multiply_the_second_one() -> None:
    def f(x: torch.Tensor, y: torch.Tensor, z: float) -> list[complex]:
        return [complex(each[0].item()) for each in [x + y, y + x, x - y, x + z, z - x, y - 1]]

    x, y = torch.zeros(2, dtype=torch.complex64), torch.tensor([complex(INF, 1)] * 2)
    told = "[(inf+nanj), (inf+1j), (-inf+nanj), (inf+nanj), (inf+nanj), (inf+1j)]"
    assert repr(scripted(f)(x, y, INF)) == told
    x += y
    assert repr(x[0].item()) == "(inf+nanj)"


def test_a_real_number_less_a_complex_one() -> None:
    def f(x: float, n: int, y: complex):  # type: ignore[no-untyped-def]
        return x - y, n - y

    assert repr(scripted(f)(1.0, 2, 0j)) == "((1-0j), (2-0j))"
