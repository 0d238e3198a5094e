"""Pointwise operators of plans by their direct forms: the same bits, while it pays."""

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.kernels import family

module = family("prepared")
pytestmark = pytest.mark.skipif(
    module is None or module.CREW is None, reason="there is no native code here"
)


def gate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x * y + 1.0) * torch.tanh(x - 2) / (y.abs() + 0.5)


@pytest.fixture
def scripted(monkeypatch):
    """A new script, whose kernels are there at once."""
    monkeypatch.setattr("rushlight.ops.table.direct._is_there", lambda *_: True)
    unit = torch.jit.CompilationUnit(
        "def gate(x: Tensor, y: Tensor) -> Tensor:\n"
        "    return torch.sigmoid(x * y + 1.0) * torch.tanh(x - 2) / (y.abs() + 0.5)\n"
    )
    return unit.gate


def warm(scripted):
    space = tiers_of(scripted._rushlight_function).way(False).plan.run.__globals__
    return [value for name, value in sorted(space.items()) if name.startswith("warm")]


def random(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def test_calls_one_to_a_hundred_give_the_same_bits(scripted):
    with torch.no_grad():
        for shapes in (((7, 9), (7, 9)), ((7, 9), (9,)), ((1,), (4, 1))):
            x, y = (random(*shape, seed=len(shape)) for shape in shapes)
            wanted = gate(x, y).numpy().tobytes()
            assert {scripted(x, y).numpy().tobytes() for _ in range(100)} == {wanted}
    assert all(warm(scripted))


def test_operands_that_change_all_the_time_cool_down(scripted):
    with torch.no_grad():
        for size in range(1, 200):
            x, y = random(size), random(size, seed=2)
            assert scripted(x, y).numpy().tobytes() == gate(x, y).numpy().tobytes()
    assert not any(warm(scripted))


def test_other_kinds_of_operands_are_as_before(scripted):
    x = random(6, 5)
    with torch.no_grad():
        for _ in range(60):
            scripted(x, x)
        for other in (x.double(), (x * 10).long(), x.t().contiguous().t(), x[:, ::2], x[0, 0]):
            assert scripted(other, other).dtype is gate(other, other).dtype
            assert torch.equal(scripted(other, other), gate(other, other))
        with pytest.raises(RuntimeError, match="must match the size"):
            scripted(x, random(6, 4))
    y = x.clone().requires_grad_()
    scripted(y, x).sum().backward()
    assert y.grad is not None
