"""Chains in plans: convolutions and normalisations give the same bits with what comes after."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.frontend.foundations import beside
from rushlight.interpreter.plans import compiling
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops import kernels
from rushlight.ops.kernels.code.convolutions.convolutions import Convolution
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.layers import convolution
from rushlight.ops.memory.remembered import Recent
from rushlight.ops.table import direct

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "now")
    with torch.no_grad():
        yield


def drawn(*shape: int, seed: int = 0) -> Any:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * 3
    if made.size > 1000:
        made.reshape(-1)[100:800:100] = [np.nan, np.inf, -np.inf, 0, -0.0, 1e-42, 1e30]
    return torch.from_numpy(made)


def bits(x: Any) -> Any:
    array = x.numpy()
    return x.stride(), np.where(np.isnan(array), np.float32(np.nan), array).tobytes()


PARAMETERS = "x, other, w, b, m, v"
CONVOLUTIONS = {
    "torch.conv2d(x, w, b, [1, 1], [1, 1])": ((2, 20, 23, 29), (20, 20, 3, 3)),
    "torch.conv2d(x, w, None, [1, 1], [2, 2], [2, 2], 20)": ((2, 20, 23, 29), (20, 1, 3, 3)),
    "torch.conv1d(x, w, b, [2], [3])": ((3, 5, 1000), (37, 5, 7)),
    "torch.conv3d(x, w, b)": ((1, 4, 7, 14, 15), (70, 4, 2, 1, 3)),
    'torch.conv2d(x, w, b, [1, 1], "same", [2, 1])': ((2, 20, 23, 29), (20, 20, 4, 3)),
    "torch.convolution(x, w, b, [2], [1, 0], [1], False, [0], 2)": ((2, 8, 23, 29), (24, 4, 3, 3)),
    "torch._convolution(x, w, b, [1], [1, 1], [1], False, [0], 1, False, False, True, True)": (
        *((2, 20, 23, 29), (20, 20, 3, 3)),
    ),
}
NORMAL = "torch.batch_norm({}, v, b, m, v, False, 0.1, 1e-5, True)"
AFTER = {
    "torch.relu({})": 1,
    NORMAL: 1,
    f"torch.relu({NORMAL} + other)": 3,
    f"torch.nn.functional.hardtanh_({NORMAL}, 0.0, 6.0)": 2,
    f"other.add(torch.nn.functional.silu({NORMAL}))": 3,
    f"torch.nn.functional.hardswish({NORMAL}.mul_(2).add_(other)) - 1": 5,
    "torch.sigmoid(torch.nn.functional.relu6({} * 0.5))": 3,
    "torch.nn.functional.gelu({}).tanh()": 2,
}


def check(expression: str, *given: Any) -> None:
    source = f"def f({PARAMETERS}):\n  return {expression}\n"
    with np.errstate(all="ignore"):
        function = torch.jit.CompilationUnit(source).f
        wanted = bits(function(*given))  # by the machine
        for _ in range(3):
            assert bits(function(*given)) == wanted


def operands(head: str) -> tuple[Any, ...]:
    shape, weights = CONVOLUTIONS[head]
    x, w, vector = drawn(*shape), drawn(*weights, seed=1), drawn(weights[0], seed=2)
    made = eval(head, {"torch": torch}, {"x": x, "w": w, "b": vector})
    return x, drawn(*made.shape, seed=3), w, vector, drawn(weights[0], seed=4), vector.abs()


TWO, OTHERS = list(CONVOLUTIONS)[:2], list(CONVOLUTIONS)[2:]
PAIRS = [*((head, after) for head in TWO for after in AFTER), *((head, NORMAL) for head in OTHERS)]


@pytest.mark.parametrize(("head", "after"), PAIRS)
def test_convolutions(head: str, after: str, joined: list[int]) -> None:
    check(after.format(head), *operands(head))
    assert joined[-1] == max(joined) == AFTER[after]


@pytest.mark.parametrize(
    "asked", ["y.dim() == 3", "y.size(0) == 7", "y.dtype == 7", "y.is_complex()"]
)
def test_what_a_result_is_may_be_asked_before_it_is_there(asked: str, joined: list[int]) -> None:
    source = (
        f"def f({PARAMETERS}):\n  y = {TWO[0]}\n  said = {asked}\n  return torch.relu(y), said\n"
    )
    function, given = torch.jit.CompilationUnit(source).f, operands(TWO[0])
    with np.errstate(all="ignore"):
        wanted, said = function(*given)  # by the machine
        for _ in range(3):
            made, again = function(*given)
            assert (bits(made), again) == (bits(wanted), said)
    assert joined == [1] * 3


LAST = {
    "torch.conv2d(x, w, b)": ((2, 20, 13, 11), (24, 20, 1, 1)),
    "torch.conv2d(x, w, None, [2], [1])": ((2, 20, 13, 11), (24, 20, 3, 3)),
    "torch.conv2d(x, w, b, [1], [1], [1], 20)": ((2, 20, 13, 11), (20, 1, 3, 3)),
    "torch.conv3d(x, w, b)": ((1, 4, 6, 18, 16), (17, 4, 1, 1, 1)),
}


def with_channels_last(x: Any) -> Any:
    known = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.contiguous(memory_format=known[x.dim()]) if x.dim() in known else x


@pytest.mark.parametrize("after", list(AFTER)[1:4])
@pytest.mark.parametrize("head", LAST)
def test_channels_may_come_last(head: str, after: str, joined: list[int]) -> None:
    shape, weights = LAST[head]
    x, w, vector = drawn(*shape), drawn(*weights, seed=1), drawn(weights[0], seed=2)
    plain = eval(head, {"torch": torch}, {"x": x, "w": w, "b": vector})
    other = with_channels_last(drawn(*plain.shape, seed=3))
    given = with_channels_last(x), other, w, vector, vector, vector.abs()
    made = eval(head, {"torch": torch}, {"x": given[0], "w": w, "b": vector})
    assert made.stride() == other.stride()
    np.testing.assert_allclose(made.numpy(), plain.numpy(), rtol=1e-4, atol=1e-4)
    check(after.format(head), *given)
    assert joined[-1] == max(joined) == AFTER[after]
    check(after.format(head), x, other, with_channels_last(w), *given[3:])


@pytest.mark.parametrize("after", AFTER)
def test_normalisations(after: str, joined: list[int]) -> None:
    x, other, vector = drawn(2, 20, 31, 17), drawn(2, 20, 31, 17, seed=1), drawn(20, seed=2)
    check(after.format(NORMAL.format("x")), x, other, x, vector, vector, vector.abs())
    assert max(joined) == AFTER[after] + 1


def network() -> Any:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = torch.nn.Conv2d(16, 16, 3, padding=1), torch.nn.BatchNorm2d(16)
            self.act = torch.nn.ReLU(inplace=True)

        def forward(self, x):  # type: ignore[no-untyped-def]
            y = self.act(self.norm(self.conv(x)))
            y = self.norm(self.conv(y))
            y += x
            return self.act(y)

    torch.manual_seed(0)
    return Net().requires_grad_(False)


def test_modules_without_freezing_and_in_training(joined: list[int]) -> None:
    plain, x = network().eval(), drawn(2, 16, 24, 24)
    scripted = torch.jit.script(plain)
    for _ in range(3):
        assert bits(scripted(x)) == bits(plain(x))
    assert joined[-2:] == [2, 3]
    plain.conv.weight.mul_(0.5)  # nothing of it was kept
    assert bits(scripted(x)) == bits(plain(x))
    del joined[:]
    scripted.train()
    other = network()
    other.conv.weight.mul_(0.5)
    for _ in range(2):
        assert bits(scripted(x)) == bits(other(x))
    assert bits(scripted.norm.running_var) == bits(other.norm.running_var)
    assert set(joined) == {0}


def test_arrays_that_are_read_twice_are_whole() -> None:
    head = "torch.conv2d(x, w, b, [1, 1], [1, 1])"
    source = f"""
def f({PARAMETERS}):
  y = {head}
  z = torch.relu(y)
  if y.dim() == 4:
    z = z + y.sum()
  u = torch.relu_({head})
  w.mul_(2)
  return y, z, u, torch.relu({head}), torch.relu({head} + other[0])
"""
    given = [torch.nan_to_num(each, 1.0, 2.0, 3.0) for each in operands(head)]
    found = []
    function = torch.jit.CompilationUnit(source).f
    for _ in range(3):
        copies = [each.clone() for each in given]
        found.append([bits(each) for each in function(*copies)])
    assert found[1:] == found[:1] * 2


def test_no_operand_is_kept() -> None:
    head = "torch.conv2d(x, w, b, [1, 1], [1, 1])"
    function = torch.jit.CompilationUnit(f"def f({PARAMETERS}):\n  return torch.relu({head})\n").f
    given = operands(head)
    for _ in range(3):
        function(*given)
    known = weakref.ref(given[0]._array)
    assert known() is not None
    del given
    gc.collect()
    assert known() is None


def test_what_is_refused_is_refused_at_its_place() -> None:
    function = torch.jit.CompilationUnit(
        "def f(x, w, b):\n  y = torch.conv2d(x, w)\n  z = torch.relu(y)\n  return y + b\n"
        "def g(x, w, b):\n  return torch.relu(torch.conv2d(x, w) + b)\n"
    )
    x, w = drawn(1, 8, 40, 40), drawn(8, 8, 3, 3)
    for _ in range(4):
        function.g(x, w, drawn(38))
        with pytest.raises(RuntimeError, match=r"must match the size of tensor b \(37\)"):
            function.g(x, w, drawn(37))
        with pytest.raises(RuntimeError, match="to have 7 channels, but got 8"):
            function.g(x, drawn(8, 7, 3, 3), drawn(38))


@pytest.mark.parametrize("is_there", [True, False])
def test_meanwhile_operators_are_called_if_their_kernels_are_there(
    is_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "")
    monkeypatch.setattr(Convolution, "is_at_hand", lambda *_: False)
    monkeypatch.setattr(Convolution, "is_alone_at_hand", is_there)
    monkeypatch.setattr(beside, "Thread", lambda **_: Idle())
    head = "torch.conv2d(x, w, b, [1, 1], [1, 1])"
    check(f"torch.relu_({NORMAL.format(head)} + other) + 1", *operands(head))
    assert bool(compiling._UNDER_WAY) is is_there
    for each in (compiling._UNDER_WAY, direct._KERNELS.under_way):
        each.forget()


class Idle:
    """A thread that does nothing yet."""

    def start(self) -> None:
        pass


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64 with FMA")
@pytest.mark.parametrize("head", TWO)
def test_cpus_with_shorter_vectors_give_the_same_bits(
    head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushlight.ops.kernels.code.convolutions import convolutions, square_plans
    from rushlight.ops.kernels.code.convolutions import plans as convolution_plans
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    target = Target("haswell", True, False, False, "haswell", "")

    def address(self: Any, after: Any) -> int:
        form = self.settled.form
        return placed(assembled(form.text(target, after), target), (form.NAME,))[form.NAME]

    expression = f"torch.relu({NORMAL} + other)".format(head)
    source = f"def f({PARAMETERS}):\n  return {expression}\n"
    function, given = torch.jit.CompilationUnit(source).f, operands(head)
    wanted = bits(function(*given))
    monkeypatch.setattr(Convolution, "_kernel", address)
    for plans in (convolution_plans, square_plans):
        monkeypatch.setattr(plans, "host", lambda: target)
    monkeypatch.setattr(convolutions, "settled", convolutions.settled._make)
    monkeypatch.setattr(convolution, "_SETTLED", Recent(200))
    assert bits(function(*given)) == wanted


NORM = """
def norm(x: Tensor, m: Tensor, v: Tensor, training: bool) -> Tensor:
    y = torch.batch_norm(x, None, None, m, v, training, 0.1, 1e-5, False)
    return torch.relu(y + x)
"""


def test_a_chain_is_one_call_that_follows_its_operands() -> None:
    unit = torch.jit.CompilationUnit(NORM)
    for seed in range(100):
        x, m = drawn(2, 20, 15, 9, seed=seed), drawn(20, seed=seed)
        made = unit.norm(x, m, m.abs() + 1, False)
        plain = torch.batch_norm(x, None, None, m, m.abs() + 1, False, 0.1, 1e-5, False)
        assert bits(made) == bits(torch.relu(plain + x))
    names = tiers_of(unit.norm._rushlight_function).way(False).plan.run.__globals__
    assert [names[name] for name in names if name.startswith("warmh")] == [True]
    with pytest.raises(RuntimeError, match="running_mean should contain 20 elements not 19"):
        unit.norm(x, m[:19], m.abs() + 1, False)


def test_a_convolution_with_what_follows_is_one_call(joined: list[int]) -> None:
    source = "def f(x, w, b):\n  return torch.relu(torch.conv2d(x, w, b, [1, 1], [1, 1]) + x)\n"
    function = torch.jit.CompilationUnit(source).f
    w, b = drawn(20, 20, 3, 3), drawn(20)
    for seed in range(100):
        x = drawn(2, 20, 15, 9, seed=seed)
        assert bits(function(x, w, b)) == bits(torch.relu(torch.conv2d(x, w, b, 1, 1) + x))
        w *= 1.01
    names = tiers_of(function._rushlight_function).way(False).plan.run.__globals__
    assert [names[name] for name in names if name.startswith("warmh")] == [True]
    assert 0 < len(joined) < 80, "most calls are native code's"
    with pytest.raises(RuntimeError, match="expected bias to be 1-dimensional with 20 elements"):
        function(x, w, b[:19])


def test_statistics_move_in_every_training_call() -> None:
    unit, x = torch.jit.CompilationUnit(NORM), drawn(2, 20, 15, 9, seed=1).nan_to_num(0, 0, 0)
    m, v, wanted_m, wanted_v = torch.zeros(20), torch.ones(20), torch.zeros(20), torch.ones(20)
    for call in range(100):
        unit.norm(x, m, v, call % 3 > 0)
        torch.batch_norm(x, None, None, wanted_m, wanted_v, call % 3 > 0, 0.1, 1e-5, False)
        assert torch.equal(m, wanted_m)
        assert torch.equal(v, wanted_v)


def test_what_is_known_of_a_convolution_follows_the_precision() -> None:
    weight, x = torch.randn(16, 16, 5, 5), torch.randn(1, 16, 40, 40)
    F = torch.nn.functional
    plain = F.conv2d(x, weight)
    assert torch.equal(F.conv2d(x, weight), plain)
    rounded = F.conv2d(x.bfloat16().float(), weight.bfloat16().float())
    torch.set_float32_matmul_precision("medium")
    try:
        near = F.conv2d(x, weight)
    finally:
        torch.set_float32_matmul_precision("highest")
    assert min(float((near - each).abs().max()) for each in (plain, rounded)) < 1e-4
    assert torch.equal(F.conv2d(x, weight), plain)
    with pytest.raises(RuntimeError, match="expected bias to be 1-dimensional"):
        F.conv2d(x, weight, torch.randn(15))


def test_loops_behind_a_chain_read_what_a_module_holds() -> None:
    class Decoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.places = torch.nn.Parameter(torch.randn(4, 8))
            self.first = torch.nn.Conv1d(8, 8, 3, padding=1)

        def forward(self, x: torch.Tensor, steps: int) -> torch.Tensor:
            x = torch.nn.functional.gelu(self.first(x)).mean(2)
            made: list[torch.Tensor] = []
            for i in range(steps):
                made.append(x + self.places[i] * x.sum())
            return torch.stack(made)

    model, x = Decoder(), torch.randn(2, 8, 200)
    scripted = torch.jit.script(model)
    with torch.no_grad():
        wanted = model(x, 3)
        for _ in range(40):
            assert torch.equal(scripted(x, 3), wanted)
