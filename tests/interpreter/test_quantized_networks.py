"""Networks of bytes as one call of native code, with the results of their operators one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.plans import compiling, replaying
from rushlight.ops.kernels import family
from rushlight.ops.table.direct import knows_calls

nn = torch.nn
Tensor = torch.Tensor

_INTEGERS = family("quantized.integers")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        not knows_calls() or _INTEGERS is None or not _INTEGERS.requantizes(),
        reason="there is no native code for bytes here",
    ),
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "now")
    with torch.no_grad():
        yield


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each stretch has that is known."""
    found = list[int]()
    look = replaying.Replay.look

    def noted(self: Any, values: Any) -> Any:
        made = look(self, values)
        if made.notes:
            found.append(len(made.notes))
        return made

    monkeypatch.setattr(replaying.Replay, "look", noted)
    return found


class Network(nn.Module):
    """Layers of bytes, and operators over what they give that look numbers up, join and pool."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1)
        self.deep = nn.Conv2d(16, 16, 3, 1, 1, groups=16)
        self.left, self.right = nn.Conv2d(16, 16, 1), nn.Conv2d(16, 24, 3, 1, 1, groups=2)
        self.act = nn.Hardswish()
        self.head = nn.Linear(40, 5)

    def forward(self, x):  # type: ignore[no-untyped-def]  # tracing writes types of its own
        x = torch.max_pool2d(torch.relu(self.stem(x)), 3, 2, 1)
        x = x + self.act(self.deep(x))
        x = torch.cat([self.left(x), torch.sigmoid(self.right(x))], 1)
        x = x * torch.nn.functional.hardsigmoid(torch.nn.functional.adaptive_avg_pool2d(x, 1))
        return self.head(torch.nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


def drawn(*shape: int, seed: int = 0) -> Tensor:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return torch.from_numpy(made)


@pytest.fixture
def quantized() -> Any:
    torch.manual_seed(5)
    fx = torch.ao.quantization.quantize_fx
    x = drawn(2, 3, 20, 20)
    settings = torch.ao.quantization.get_default_qconfig_mapping("fbgemm")
    prepared = fx.prepare_fx(Network().eval(), settings, (x,))
    prepared(x)
    return fx.convert_fx(prepared)


def same(one: Tensor, other: Tensor) -> bool:
    return bool(one.numpy().tobytes() == other.numpy().tobytes())


def settled(learned: list[int], scripted: Any, *given: Any) -> Tensor:
    """Call a function until native code knows it; the last result."""
    until = time.monotonic() + 60
    while not learned:
        assert time.monotonic() < until, "native code has not taken over"
        scripted(*given)
        time.sleep(0.001)
    return scripted(*given)


@pytest.mark.parametrize("frozen", [False, True])
def test_whole_networks_are_one_call(quantized: Any, frozen: bool, learned: list[int]) -> None:
    scripted = torch.jit.script(quantized)
    if frozen:
        scripted = torch.jit.freeze(scripted)
    settled(learned, scripted, drawn(2, 3, 20, 20))
    given = [drawn(2, 3, 20, 20, seed=seed) for seed in range(4)]
    assert all(same(scripted(x), quantized(x)) for x in given)
    assert max(learned) > 12  # all of its operators


def test_scales_may_change_between_calls(quantized: Any, learned: list[int]) -> None:
    scripted = torch.jit.script(quantized)
    x = drawn(2, 3, 20, 20, seed=1)
    before = settled(learned, scripted, x)
    scripted.stem_input_scale_0.mul_(2.0)
    after = scripted(x)
    assert not same(before, after)
    scripted.stem_input_scale_0.mul_(0.5)
    assert same(scripted(x), before)


def test_weights_may_be_others_in_the_next_call(quantized: Any, learned: list[int]) -> None:
    scripted, x = torch.jit.script(quantized), drawn(2, 3, 20, 20, seed=1)
    before = settled(learned, scripted, x)
    weight = torch.quantize_per_tensor(drawn(5, 40, seed=2), 0.02, 0, torch.qint8)
    packed = torch.ops.quantized.linear_prepack(weight, torch.zeros(5))
    for each in (scripted, quantized):
        each.head._packed_params._packed_params = packed
    assert not same(scripted(x), before)
    assert same(scripted(x), quantized(x))


def test_what_is_written_in_place_is_a_part_of_the_call(learned: list[int]) -> None:
    @torch.jit.script
    def net(x: Tensor, scale: float) -> Tensor:
        y = torch.quantize_per_tensor(x, scale, 100, torch.quint8)
        z = torch.relu(y)
        torch.relu_(y)
        y = torch.nn.functional.hardtanh(y, -0.5, 1.0, True)
        return torch.dequantize(y) * torch.dequantize(z)

    settled(learned, net, drawn(300).abs(), 0.02)
    for x in (drawn(300, seed=99), drawn(300, seed=98)):
        y = torch.quantize_per_tensor(x, 0.02, 100, torch.quint8)
        wanted = torch.nn.functional.hardtanh(torch.relu(y), -0.5, 1.0).dequantize()
        assert same(net(x, 0.02), wanted * torch.relu(y).dequantize())


def test_elements_of_arguments_are_read_anew() -> None:
    @torch.jit.script
    def net(x: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
        y = torch.quantize_per_tensor(x, scale, zero, torch.quint8)
        return torch.dequantize(torch.relu(y)) * 2.0 + 1.0

    x = drawn(100)
    for number in range(10):
        scale, zero = torch.tensor(0.01 * (1 + number % 3)), torch.tensor(3 + number % 2)
        y = torch.quantize_per_tensor(x, scale.item(), zero.item(), torch.quint8)
        assert same(net(x, scale, zero), torch.relu(y).dequantize() * 2.0 + 1.0)
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted"):
        net(x, torch.ones(2), torch.tensor(3))


def test_dynamic_layers_are_one_call(learned: list[int]) -> None:
    layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    dynamic = torch.ao.quantization.quantize_dynamic(layers.eval())
    frozen = torch.jit.freeze(torch.jit.script(dynamic))
    settled(learned, frozen, drawn(4, 8))
    for seed in range(3):
        x = drawn(4, 8, seed=seed) * (1 + seed)
        assert same(frozen(x), dynamic(x))
    with pytest.raises(RuntimeError, match="NaN"):
        frozen(drawn(4, 8) * float("nan"))
