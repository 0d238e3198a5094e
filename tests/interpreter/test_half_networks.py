"""Convolutions of bfloat16 with what comes after them, and networks of them as one call."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.plans import compiling, networks
from rushlight.ops.kernels import family
from rushlight.ops.table.direct import knows_calls

nn = torch.nn
F = torch.nn.functional
Tensor = torch.Tensor

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "now")
    threads = torch.get_num_threads()
    with torch.no_grad():
        yield
    torch.set_num_threads(threads)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each network has that is looked at."""
    found = list[int]()
    seen = networks.Network.seen

    def noted(self: Any, *given: Any) -> Any:
        made = seen(self, *given)
        if made.notes:
            found.append(len(made.notes))
        return made

    monkeypatch.setattr(networks.Network, "seen", noted)
    return found


def drawn(*shape: int, seed: int = 0, wild: bool = False) -> Tensor:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    if wild:
        made.reshape(-1)[10:80:10] = [np.nan, np.inf, -np.inf, 0, -0.0, 1e-42, 1e30]
    return torch.from_numpy(made).bfloat16()


def bits(x: Tensor) -> Any:
    words = x.view(torch.int16).numpy()
    return x.dtype, x.shape, x.stride(), np.where(x.isnan().numpy(), 0, words).tobytes()


READERS = [
    *(((1, 64, 28, 28), (48, 64, 1, 1), 1, 1), ((3, 64, 16, 16), (96, 64, 1, 1), 1, 1)),
    *(((1, 960, 7, 7), (320, 960, 1, 1), 1, 1), ((2, 600, 7, 7), (48, 600, 1, 1), 1, 1)),
    *(((1, 600, 14, 14), (48, 600, 1, 1), 1, 1), ((1, 34, 9, 2), (50, 34, 1, 1), 1, 1)),
    *(((1, 7, 40, 40), (16, 7, 1, 1), 1, 1), ((1, 600, 14, 14), (3, 600, 1, 1), 1, 1)),
    *(((2, 64, 20, 20), (64, 32, 1, 1), 2, 1), ((1, 64, 28, 28), (48, 64, 1, 1), 1, 2)),
    *(((1, 144, 56, 56), (144, 1, 3, 3), 144, 1), ((1, 144, 56, 57), (144, 1, 3, 3), 144, 2)),
    *(((1, 32, 31, 33), (64, 1, 5, 5), 32, 1), ((1, 64, 7, 7), (64, 1, 3, 3), 64, 1)),
    *(((1, 4, 30, 30), (4, 4, 3, 3), 1, 1), ((2, 16, 20, 20), (24, 16, 3, 3), 1, 1)),
    *(((1, 512, 7, 7), (64, 512, 3, 3), 1, 1), ((1, 7, 40, 40), (16, 7, 3, 3), 1, 2)),
]
"""Shapes of inputs and weights, groups and strides: every kernel, whole vectors and parts."""


def _settings(weight: tuple[int, ...], groups: int, stride: int) -> tuple[Any, ...]:
    return stride, weight[-1] // 2, 1, groups


@pytest.mark.parametrize(("shape", "weight", "groups", "stride"), READERS)
def test_sums_are_rounded_once(
    shape: tuple[int, ...], weight: tuple[int, ...], groups: int, stride: int
) -> None:
    x, w, b = drawn(*shape), drawn(*weight, seed=1), drawn(weight[0], seed=2)
    how = _settings(weight, groups, stride)
    exact = F.conv2d(x.double(), w.double(), b.double(), *how)
    found = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.append(F.conv2d(x, w, b, *how))
    assert found[0].dtype is torch.bfloat16
    torch.testing.assert_close(found[0].double(), exact, rtol=2**-8, atol=2e-4)
    assert len({bits(each) for each in found}) == 1


AFTER = {
    "torch.relu({})": 1,
    "torch.nn.functional.hardtanh({}, 0.0, 6.0)": 1,
    "torch.nn.functional.silu({}) + 0.3": 2,
    "torch.relu({} + other)": 2,
    "{} * 1.7 * other": 2,
}


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize(("shape", "weight", "groups", "stride"), READERS[::2])
def test_chains_round_every_step(
    joined: list[int],
    after: str,
    shape: tuple[int, ...],
    weight: tuple[int, ...],
    groups: int,
    stride: int,
) -> None:
    x, w, b = drawn(*shape, wild=True), drawn(*weight, seed=1), drawn(weight[0], seed=2)
    how = _settings(weight, groups, stride)
    head = f"torch.conv2d(x, w, b, {', '.join(map(str, how))})"
    other = drawn(*F.conv2d(x, w, b, *how).shape, seed=3, wild=True)
    source = f"def f(x, other, w, b):\n  return {after.format(head)}\n"
    function = torch.jit.CompilationUnit(source).f
    names = {"torch": torch, "x": x, "other": other, "w": w, "b": b}
    with np.errstate(all="ignore"):
        wanted = bits(eval(after.format(head), names))
        assert {bits(function(x, other, w, b)) for _ in range(5)} == {wanted}
    assert joined[-1] == max(joined) == AFTER[after]


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int, groups: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride, 1, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu6(self.norm(self.conv(x)))


class Network(nn.Module):
    """Convolutions of all kernels, a branch that joins again, pools and a product."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Block(3, 24, 2)
        self.deep = Block(24, 24, 1, 24)
        self.wide = nn.Conv2d(24, 40, 1)
        self.small = Block(40, 40, 2, 40)
        self.narrow = Block(40, 64, 1)
        self.head = nn.Linear(64, 70)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(self.stem(x), 3, 2, 1)
        x = self.wide(x + self.deep(x))
        x = self.narrow(self.small(F.relu(x)))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def network() -> Any:
    class Own(Network):
        pass

    torch.manual_seed(3)
    made = Own().eval()
    for module in made.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 1.5)
    return made


def called_until_learned(frozen: Any, x: Tensor, runs: list[int]) -> None:
    until = time.monotonic() + 60
    while not runs:
        frozen(x)
        assert time.monotonic() < until, "it is no network"
        time.sleep(0.005)


@pytest.mark.parametrize("batch", [1, 5])
def test_networks_of_bfloat16_are_one_call(
    runs: list[int], batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family("calls.samples"), "FAR", 1 << 17)
    model, x = network().bfloat16(), drawn(batch, 3, 64, 64)
    frozen = torch.jit.freeze(torch.jit.script(model))
    exact = torch.jit.freeze(torch.jit.script(network().bfloat16().double()))(x.double())
    found = [bits(frozen(x))]
    called_until_learned(frozen, x, runs)
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found += [bits(frozen(x)) for _ in range(3)]
    assert len(set(found)) == 1
    torch.testing.assert_close(frozen(x).double(), exact, rtol=0.02, atol=0.01)
    frozen.save(str(tmp_path / "kept.pt"))
    assert bits(torch.jit.load(str(tmp_path / "kept.pt"))(x)) == found[0]
    other = drawn(batch, 3, 64, 64, seed=7)
    wanted = bits(torch.jit.freeze(torch.jit.script(model))(other))
    assert bits(frozen(other)) == wanted


def test_scripts_of_bfloat16_give_what_modules_give(runs: list[int]) -> None:
    model, x = network().bfloat16(), drawn(2, 3, 64, 64)
    scripted = torch.jit.script(model)
    called_until_learned(scripted, x, runs)
    assert bits(scripted(x)) == bits(model(x))
    model.narrow.norm.running_var.mul_(3.0)
    model.wide.weight.mul_(-2.0)
    other = drawn(2, 3, 64, 64, seed=7, wild=True)
    assert bits(scripted(other)) == bits(model(other))


def test_normalisations_of_bfloat16_are_those_of_their_factors() -> None:
    x, mean, bias = drawn(2, 24, 9, 11, wild=True), drawn(24, seed=1), drawn(24, seed=2)
    weight, variance = drawn(24, seed=3), drawn(24, seed=4).abs()
    factor = (1 / (variance.double() + 1e-5).sqrt()).float() * weight.float()
    term = bias.float() - mean.float() * factor
    wide = x.double() * factor.double()[:, None, None] + term.double()[:, None, None]
    found = F.batch_norm(x, mean, variance, weight, bias)
    assert bits(found) == bits(wide.float().bfloat16())


def test_pools_of_bfloat16_are_those_of_their_numbers() -> None:
    x = drawn(2, 24, 33, 40, wild=True)
    wanted = F.max_pool2d(x.float(), 3, 2, 1).bfloat16()
    assert bits(F.max_pool2d(x, 3, 2, 1)) == bits(wanted)
    assert bits(F.adaptive_avg_pool2d(x[1:], 1)) == bits(x[1:].mean((2, 3), keepdim=True))
