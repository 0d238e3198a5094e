"""Long scripted calls most of whose operators have nothing to do with gradients."""

from __future__ import annotations

import rushlight as torch
from rushlight.ops.gradients.calls import nodes

Tensor = torch.Tensor


def farthest(points: Tensor, weight: Tensor, count: int) -> Tensor:
    found = torch.zeros(count, dtype=torch.int64)
    distance = torch.full((points.size(0),), 1e10)
    last = torch.zeros(1, dtype=torch.int64)
    for i in range(count):
        found[i] = last[0]
        distance = torch.minimum(distance, ((points - points[last]) ** 2).sum(1))
        last = distance.argmax(0, keepdim=True)
    return torch.tanh(points[found] @ weight)


def drawn(points: Tensor, weight: Tensor, count: int) -> Tensor:
    out = torch.zeros(count, 2)
    for i in range(count):
        at = (points.abs().sum(1) * float(i)).argmax(0)
        row = out[i]
        row.copy_((points[at] @ weight).cos())
    return out * weight.sum()


def gradients(function: object, points: Tensor, count: int) -> list[Tensor]:
    weight = torch.linspace(-1, 1, 6).reshape(3, 2).requires_grad_()
    made = function(points, weight, count)  # type: ignore[operator]
    made.square().sum().backward()
    assert weight.grad is not None
    return [made.detach(), weight.grad]


def test_what_has_no_gradients_hinders_no_call(monkeypatch: object) -> None:
    torch.manual_seed(0)
    points, joined = torch.randn(200, 3), list[int]()
    attach = nodes._attach

    def noted(*given: object) -> None:
        joined.append(len(given[0].shape.steps))  # type: ignore[attr-defined]
        attach(*given)

    monkeypatch.setattr(nodes, "_attach", noted)  # type: ignore[attr-defined]
    scripted = torch.jit.script(farthest)
    for _ in range(6):
        for got, wanted in zip(
            gradients(scripted, points, 80), gradients(farthest, points, 80), strict=True
        ):
            assert torch.equal(got, wanted)
    assert joined
    assert max(joined) < 400


def test_what_is_written_to_keeps_its_notes() -> None:
    torch.manual_seed(0)
    points, scripted = torch.randn(40, 3), torch.jit.script(drawn)
    for _ in range(6):
        for got, wanted in zip(
            gradients(scripted, points, 70), gradients(drawn, points, 70), strict=True
        ):
            assert torch.equal(got, wanted)
