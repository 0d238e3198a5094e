"""Rounds of loops that differ by numbers: each is known by a shape of its own if it comes again."""

from __future__ import annotations

import rushlight as torch
from rushlight.ops.gradients.calls import nodes

Tensor = torch.Tensor


def scanned(x: Tensor, begin: int) -> Tensor:
    h = torch.zeros(2)
    seen: list[Tensor] = []
    for i in range(begin, begin + 45):
        h = torch.tanh(h * 0.5 + x[i] * x[i].cos()) + (h - x[i]).sin() * 0.1
        seen.append(h.exp() * x[i])
    return torch.stack(seen)


def gradient(function: object, x: Tensor, begin: int) -> Tensor:
    own = x.clone().requires_grad_()
    function(own, begin).square().sum().backward()  # type: ignore[operator]
    assert own.grad is not None
    return own.grad


def _replayed(monkeypatch: object) -> list[object]:
    """The notes that are not joined."""
    found = list[object]()
    replay = nodes.Noted.replay

    def noted(self: object, *step: object) -> None:
        found.append(step)
        replay(self, *step)  # type: ignore[arg-type]

    monkeypatch.setattr(nodes.Noted, "replay", noted)  # type: ignore[attr-defined]
    return found


def test_all_rounds_are_joined_once_they_have_come_often(monkeypatch: object) -> None:
    torch.manual_seed(0)
    x, scripted = torch.randn(45, 2), torch.jit.script(scanned)
    wanted = gradient(scanned, x, 0)
    for _ in range(30):
        torch.testing.assert_close(gradient(scripted, x, 0), wanted)
    replayed = _replayed(monkeypatch)
    torch.testing.assert_close(gradient(scripted, x, 0), wanted)
    assert len(replayed) < 8  # which stand alone between others


def test_shapes_that_do_not_come_again_are_few(monkeypatch: object) -> None:
    made = list[tuple[object, ...]]()
    shape_of = nodes.shape_of

    def noted(*given: object) -> object:
        made.append(given)
        return shape_of(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(nodes, "shape_of", noted)  # type: ignore[attr-defined]
    torch.manual_seed(0)
    x, scripted = torch.randn(2000, 2), torch.jit.script(scanned)
    for time in range(40):
        found = gradient(scripted, x, 46 * time)
        if not time % 20:
            torch.testing.assert_close(found, gradient(scanned, x, 46 * time))
    kinds = [tuple(step[0] for step in steps) for steps, *_ in made]  # type: ignore[attr-defined]
    assert max(map(kinds.count, kinds)) <= nodes.MOST
