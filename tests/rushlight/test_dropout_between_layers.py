"""Dropout between recurrent layers in training: draws and gradients as torch 2.13 has them."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.nn.utils.rnn import pack_padded_sequence

# sums of the gradients of the input and of a weight, and what is drawn next
RECORDED = {
    ("LSTM", False): (0.018109, 0.000237, 0.441534),
    ("LSTM", True): (0.015647, -0.000181, 0.092209),
    ("GRU", False): (0.664117, -0.014206, 0.355818),
    ("GRU", True): (0.467122, -0.015946, 0.140742),
    ("RNN", False): (-0.063911, 0.138185, 0.099229),
    ("RNN", True): (-0.007416, 0.234441, 0.575907),
}


def made(kind: str) -> Any:
    torch.manual_seed(3)
    options = {"num_layers": 2, "dropout": 0.5, "bidirectional": True, "batch_first": True}
    return getattr(nn, kind)(2, 2, dtype=torch.float64, **options)


def leaf() -> torch.Tensor:
    numbers: torch.Tensor = torch.arange(12.0, dtype=torch.float64)
    return numbers.reshape(2, 3, 2).div(6).requires_grad_()


@pytest.mark.parametrize(("kind", "packed"), RECORDED)
def test_gradients_and_draws(kind: str, packed: bool) -> None:
    net, x = made(kind), leaf()
    out = net(pack_padded_sequence(x, [3, 2], batch_first=True) if packed else x)[0]
    (out.data if packed else out).sum().backward()
    found = x.grad.sum().item(), net.weight_hh_l0.grad.sum().item(), torch.rand(1).item()
    assert found == pytest.approx(RECORDED[kind, packed], abs=1e-6)


def test_gradients_are_slopes_and_have_gradients() -> None:
    net = made("LSTM")

    def run(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(1)
        return net(x)[0]  # type: ignore[no-any-return]

    assert gradcheck(run, leaf())
    assert gradgradcheck(run, leaf()[:1, :1].detach().requires_grad_())


class Wrapper(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = made("LSTM")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out, (h, c) = self.inner(x)
        return out.sum() + (h * c).sum()


def test_script_draws_and_differentiates_as_eager() -> None:
    results = []
    for net in (Wrapper(), torch.jit.script(Wrapper())):
        torch.manual_seed(5)
        x = leaf()
        net(x).backward()
        results.append((x.grad.tolist(), torch.rand(1).item()))
    assert results[0] == results[1]


def test_no_gradients_are_recorded_in_evaluation() -> None:
    net = made("GRU")
    with torch.no_grad():
        assert not net(leaf())[0].requires_grad
    net.eval()
    first, second = (net(leaf())[0] for _ in range(2))
    assert first.equal(second)
