"""What frames hold of what lies within goes back to it, by a form beside the formula."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from rushlight.ops.gradients.direct import frames

FRAMES = {1: (2, 9), 2: (1, 0, 2, 3), 3: (0, 2, 3, 1, 1, 1)}
MODES = ["reflect", "replicate", "circular"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", FRAMES)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_sides_are_added_where_they_came_from(
    mode: str, count: int, batch: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = (*batch, 3, *(4, 5, 12)[-count:])
    x = torch.randn(*sizes, dtype=torch.float64, requires_grad=True)
    made = F.pad(x, FRAMES[count], mode=mode)
    g = torch.randn_like(made)
    expected = torch.autograd.grad(made, x, g, create_graph=True)[0]
    calls: list[str] = []
    own = frames._folded

    def heard(array: object, frame: object, mode: str) -> object:
        calls.append(mode)
        return own(array, frame, mode)  # type: ignore[arg-type]

    monkeypatch.setattr(frames, "_folded", heard)
    (found,) = torch.autograd.grad(made, x, g)
    assert calls
    torch.testing.assert_close(found, expected)


def test_what_is_cut_off_and_halves_go_by_the_formula() -> None:
    x = torch.ones(1, 1, 5, requires_grad=True)
    F.pad(x, (-1, 2), mode="replicate").sum().backward()
    assert x.grad.flatten().tolist() == [0, 1, 1, 1, 3]
    half = torch.ones(1, 1, 3, dtype=torch.bfloat16, requires_grad=True)
    F.pad(half, (2, 2), mode="reflect").sum().backward()
    assert half.grad.flatten().tolist() == [2, 3, 2]


def test_borders_that_meet() -> None:
    x = torch.zeros(1, 1, 12, requires_grad=True)
    F.pad(x, (11, 11), mode="reflect").sum().backward()
    assert x.grad.flatten().tolist() == [2, *[3] * 10, 2]


def test_gradients_lie_as_images() -> None:
    x = torch.randn(2, 3, 4, 12).contiguous(memory_format=torch.channels_last).requires_grad_()
    made = F.pad(x, (1, 1, 1, 1), mode="reflect")
    made.backward(torch.ones_like(made))
    plain = x.detach().clone(memory_format=torch.contiguous_format).requires_grad_()
    F.pad(plain, (1, 1, 1, 1), mode="reflect").sum().backward()
    assert torch.equal(x.grad, plain.grad)
