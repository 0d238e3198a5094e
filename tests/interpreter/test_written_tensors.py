"""Islands that write tensors number by number."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import is_native_possible
from tests.interpreter.test_islands import DTYPES, fresh, numbers, outcome, space_of

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor


def followed(x: Tensor, out: Tensor, rise: float, fall: float):
    """An envelope of the last column."""
    level, total = 0.0, 0.0
    for i in range(x.size(0)):
        value = abs(float(x[i, -1]))
        level = rise * level + value if value > level else fall * level
        out[i] = level
        total += float(out[i]) * 0.5
    return x.sum(), total


def squares(x: Tensor, out: Tensor, rise: float, fall: float):
    for i in range(x.size(0)):
        for j in range(x.size(1)):
            out[i, j] = i - j
            if x[i, j] > 1.0:
                out[i, j] = 7
            if i == j:
                out[i, j] = x[j, i]
    return x.sum(), out


def rows(x: Tensor, out: Tensor, rise: float, fall: float):
    for i in range(x.size(0)):
        if i % 2 == 0:
            out[i] = x[i]
        else:
            out[i] = True
    out[0, 0] = rise
    return out + x


def cells(x: Tensor, out: Tensor):
    for i in range(x.size(0)):
        for j in range(x.size(1)):
            out[i, j, 0] = float(x[i, j])
            out[0, j, i] = i * j
    return x.sum()


def changed_in_place(x: Tensor, out: Tensor, rise: float, fall: float):
    for i in range(x.size(0)):
        k = i % out.size(0)
        out[k] += x[i]
        out[k, 0] -= 2
        out[-1, k % out.size(1)] *= x[i, 0]
        if i > 1:
            out[0, 0] += 1
    return x.sum(), out


CALLS = [followed, squares, rows, changed_in_place]


def places(function: Any, x: Tensor) -> list[Tensor]:
    """What may be written, lying in different ways."""
    out = torch.ones(3, dtype=x.dtype) if function is followed else torch.ones(3, 3).to(x.dtype)
    wide = torch.ones(3, 6).to(x.dtype)
    found = [out, wide[:, 0] if function is followed else wide[:, ::2], out[:2], out.double()]
    if function is not followed:
        found += [wide.t()[:3], out[0].expand(3, 3), out.long(), out.bool(), out[None]]
    return found


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_written_is_what_lines_write(
    function: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = numbers(getattr(torch, dtype))
    calls = [(x, out, 0.5, -0.25) for out in places(function, x)]
    calls += [(x, places(function, x)[0], float("nan"), 1e300)]
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    plain = torch.jit.script(fresh(function))
    wanted = [outcome(plain, each) for each in calls]
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(function))
    assert [outcome(scripted, each) for each in calls] == wanted
    if dtype in ("float32", "float64"):
        values = [each.numpy() if isinstance(each, Tensor) else each for each in calls[0]]
        assert made(scripted, *values) is not None


def made(scripted: Any, *values: Any) -> Any:
    """What the island of a plan makes of values, in the order that it takes them in."""
    space = space_of(scripted)
    part = space["i0"]
    types = [str(each) for each in part._native._arguments]
    arrays = [each for each in values if not isinstance(each, float)]
    floats = [each for each in values if isinstance(each, float)] + [0.0] * 3
    return part(*((arrays if each == "Tensor" else floats).pop(0) for each in types))


def test_tensors_of_three_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    x, wanted = numbers(torch.float32), torch.zeros(3, 3, 4)
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    torch.jit.script(fresh(cells))(x, wanted)
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted, whole = torch.jit.script(fresh(cells)), torch.zeros(3, 4, 3)
    scripted(x, whole.transpose(1, 2))
    assert torch.equal(whole.transpose(1, 2), wanted)
    assert made(scripted, x.numpy(), whole.transpose(1, 2).numpy()) is not None


def wholes(xs: list[int], out: Tensor):
    for i in range(len(xs)):
        out[i] = xs[i]
    return out.sum()


def test_whole_numbers_are_rounded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted, out = torch.jit.script(fresh(wholes)), torch.zeros(3)
    large = 2**60 + 2**36 + 1  # half way between two of 32 bits, and 1
    scripted([3, -7, large], out)
    assert out.tolist() == [3.0, -7.0, 2.0**60 + 2.0**37]


def shifted(x: Tensor, out: Tensor):
    for i in range(x.size(0)):
        out[i] = float(x[i]) + 1.0
    return x.sum()


def test_tensors_that_share_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number that is read was written before."""
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted, line = torch.jit.script(fresh(shifted)), torch.zeros(6)
    scripted(line[:-1], line[1:])
    assert line.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    scripted(line, line)
    assert line.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def halves(out: Tensor, begin: int, end: int, value: float):
    for i in range(begin, end):
        out[i] = value
    return out.sum()


def test_numbers_beside_those_that_are_written_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted, out = torch.jit.script(fresh(halves)), torch.zeros(2000)
    scripted(out, 0, 1, 0.0)
    failures = list[int]()

    def write(begin: int, end: int) -> None:
        for value in range(1, 200):
            scripted(out, begin, end, float(value))
            if not bool((out[begin:end] == value).all()):
                failures.append(value)

    threads = [threading.Thread(target=write, args=each) for each in ((0, 1000), (1000, 2000))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures


def test_nothing_is_half_written_and_errors_are_those_of_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted, out = torch.jit.script(fresh(halves)), torch.zeros(3)
    with pytest.raises(RuntimeError, match="out of range"):
        scripted(out, 1, 5, 2.0)
    assert out.tolist() == [0.0, 2.0, 2.0]  # as eager calls leave it


def test_gradients_hear_of_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted, out = torch.jit.script(fresh(halves)), torch.ones(3)
    leaf = torch.ones(3, requires_grad=True)
    product = (leaf * out).sum()
    scripted(out, 0, 3, 2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
