"""Networks of convolutions as one call of native code, and batches that go through it in parts."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.plans import compiling, networks, replaying
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.kernels import family
from rushlight.ops.table.direct import knows_calls

nn = torch.nn
F = torch.nn.functional
Tensor = torch.Tensor

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "now")
    with torch.no_grad():
        yield


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """How many runs each network has that is looked at, and how many bytes it makes on the way."""
    found = list[tuple[int, int]]()
    seen = networks.Network.seen

    def noted(self: Any, *given: Any) -> Any:
        made = seen(self, *given)
        if made.notes:
            found.append((len(made.notes), made.scratch.nbytes))
        return made

    monkeypatch.setattr(networks.Network, "seen", noted)
    return found


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int, groups: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride, 1, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.norm(self.conv(x)))


class Network(nn.Module):
    """Convolutions of four kernels, a branch that joins again, pools and a product."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Block(3, 24, 2)
        self.deep = Block(24, 24, 1, 24)
        self.wide = nn.Conv2d(24, 40, 1)
        self.narrow = Block(40, 24, 1)
        self.head = nn.Linear(24, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(self.stem(x), 3, 2, 1)
        x = x + self.narrow(F.silu(self.wide(self.deep(x))))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def drawn(*shape: int, seed: int = 0) -> Tensor:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return torch.from_numpy(made)


def network() -> Any:
    """One of a class of its own, whose scripts have nothing in common with others'."""

    class Own(Network):
        pass

    torch.manual_seed(3)
    made = Own().eval()
    for module in made.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 1.5)
    return made


def replay_of(scripted: Any, name: str = "forward") -> Any:
    """What a script's only stretch is, which its plan has by now."""
    function = scripted._script_method(name)._rushlight_function
    (found,) = tiers_of(function).way(False).plan.replays
    return found


def learned(scripted: Any, *given: Tensor) -> Any:
    """Call a script until its plan knows what calls like this one run."""
    until = time.monotonic() + 60
    for calls in itertools.count():
        scripted(*given)
        if calls > 10:
            replay = replay_of(scripted)
            if replay.learned:
                return replay
            assert time.monotonic() < until, f"it is not known: {replay.why_not}"
        if calls > 50:
            time.sleep(0.005)  # kernels are being compiled


def bits(x: Tensor) -> Any:
    return x.shape, x.stride(), x.numpy().tobytes()


def test_frozen_networks_are_one_call(runs: list[tuple[int, int]]) -> None:
    model, x = network(), drawn(1, 3, 64, 64)
    frozen = torch.jit.freeze(torch.jit.script(model))
    before = bits(frozen(x))
    learned(frozen, x)
    assert len(runs) == 1
    assert bits(frozen(x)) == before
    other = drawn(1, 3, 64, 64, seed=5)
    wanted = torch.jit.freeze(torch.jit.script(model))(other)
    assert bits(frozen(other)) == bits(wanted)


def test_traced_networks_are_one_call(runs: list[tuple[int, int]]) -> None:
    model, x = network(), drawn(1, 3, 64, 64)
    wanted = bits(model(x))
    traced = torch.jit.trace(model, x)
    learned(traced, x)
    assert len(runs) == 1
    assert bits(traced(x)) == wanted


@pytest.mark.parametrize("batch", [1, 8])
def test_networks_with_channels_last_are_one_call(batch: int, runs: list[tuple[int, int]]) -> None:
    model = network().to(memory_format=torch.channels_last)
    x = drawn(batch, 3, 64, 64).contiguous(memory_format=torch.channels_last)
    wanted = bits(model(x))
    scripted = torch.jit.script(model)
    learned(scripted, x)
    assert len(runs) == 1
    assert bits(scripted(x)) == wanted
    other = drawn(batch, 3, 64, 64, seed=5).contiguous(memory_format=torch.channels_last)
    assert bits(scripted(other)) == bits(model(other))
    features = torch.jit.script(nn.Sequential(model.stem, model.deep, model.wide))
    wanted = bits(nn.Sequential(model.stem, model.deep, model.wide)(x))
    learned(features, x)
    assert bits(features(x)) == wanted


def test_networks_of_numbers_that_are_not_finite(runs: list[tuple[int, int]]) -> None:
    model, x = network(), drawn(2, 3, 64, 64)
    scripted = torch.jit.script(model)
    learned(scripted, x)
    assert runs
    for number in (torch.inf, torch.nan, 3e38):
        other = x.clone()
        other[1, 2, 40, 33] = number
        assert bits(scripted(other)) == bits(model(other))
        assert bits(scripted(other)[:1]) == bits(scripted(x)[:1])


def test_networks_notice_other_weights(runs: list[tuple[int, int]]) -> None:
    model, x = network(), drawn(1, 3, 64, 64)
    scripted = torch.jit.script(model)
    learned(scripted, x)
    assert runs
    assert bits(scripted(x)) == bits(model(x))
    model.wide.weight.mul_(2.0)
    model.stem.norm.running_var.add_(1.0)
    assert bits(scripted(x)) == bits(model(x))
    model.deep.conv.weight.data = drawn(24, 1, 3, 3, seed=9)
    assert bits(scripted(x)) == bits(model(x))
    scripted.narrow.conv.weight = nn.Parameter(drawn(24, 40, 3, 3, seed=8))
    model.narrow.conv.weight = scripted.narrow.conv.weight
    assert bits(scripted(x)) == bits(model(x))
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("precision", "threads"), [("highest", 1), ("highest", 2), ("highest", 3), ("medium", 2)]
)
def test_batches_go_through_in_parts(
    monkeypatch: pytest.MonkeyPatch, runs: list[tuple[int, int]], precision: str, threads: int
) -> None:
    """Those of words of bfloat16, too."""
    model, x = network(), drawn(6, 3, 48, 48)
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        wanted = bits(model(x))
        torch.set_num_threads(threads)
        whole = torch.jit.script(model)
        learned(whole, x)
        monkeypatch.setattr(family("calls.samples"), "FAR", 1 << 17)
        parted = torch.jit.script(network())
        learned(parted, x)
        (count, made), (more, less) = runs
        assert more > count
        assert less < made
        for scripted in (whole, parted):
            assert bits(scripted(x)) == wanted
        one = drawn(1, 3, 48, 48, seed=2)
        assert bits(parted(one)) == bits(model(one))
    finally:
        torch.set_num_threads(before[0])
        torch.set_float32_matmul_precision(before[1])


def test_a_part_has_as_many_samples_as_stay_near(
    monkeypatch: pytest.MonkeyPatch, runs: list[tuple[int, int]]
) -> None:
    model, x = network(), drawn(6, 3, 48, 48)
    counts = []
    largest = 24 * 24 * 24 * 4
    for far in (6 * largest + 1, 3 * largest, largest):
        monkeypatch.setattr(family("calls.samples"), "FAR", far)
        scripted = torch.jit.script(network())
        learned(scripted, x)
        assert bits(scripted(x)) == bits(model(x))
        counts.append(runs[-1][0])
    none, three, single = counts
    assert none < three < single


def test_neither_a_network_nor_its_parts_have_too_many_runs(
    monkeypatch: pytest.MonkeyPatch, runs: list[tuple[int, int]]
) -> None:
    model, x = network(), drawn(6, 3, 48, 48)
    learned(torch.jit.script(network()), x)
    (whole, _) = runs[-1]
    monkeypatch.setattr(family("calls.samples"), "FAR", 1 << 17)
    monkeypatch.setattr(networks, "MOST_RUNS", whole)  # as many as it has, and fewer than parts
    scripted = torch.jit.script(network())
    learned(scripted, x)
    assert runs[-1][0] == whole
    assert bits(scripted(x)) == bits(model(x))
    monkeypatch.setattr(networks, "MOST_RUNS", whole - 1)
    longer, known = torch.jit.script(network()), len(runs)
    until = time.monotonic() + 60
    for calls in itertools.count():
        assert bits(longer(x)) == bits(model(x))
        if calls > 10 and replay_of(longer).why_not == "it is too long":
            break
        assert time.monotonic() < until
        time.sleep(0.005)
    assert (replay_of(longer).learned, len(runs)) == (0, known)


def test_networks_with_several_results_keep_them_apart(
    monkeypatch: pytest.MonkeyPatch, runs: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(family("calls.samples"), "FAR", 1 << 16)

    class Several(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = nn.Conv2d(3, 16, 3, padding=1)
            self.two = nn.Conv2d(16, 16, 3, padding=1)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            y = F.relu(self.one(x))
            z = self.two(y)
            return y, torch.cat([z, y], 1), z

    model, x = Several().eval(), drawn(4, 3, 32, 32)
    scripted = torch.jit.script(model)
    learned(scripted, x)
    for seed in (1, 2):
        other = drawn(4, 3, 32, 32, seed=seed)
        found, wanted = scripted(other), model(other)
        assert [bits(each) for each in found] == [bits(each) for each in wanted]
        found[0].zero_()
        assert bits(found[2]) == bits(wanted[2])


def test_networks_that_train_write_their_statistics_once() -> None:
    model, other = network().train(), network().train()
    scripted = torch.jit.script(model)
    for step in range(70):
        x = drawn(2, 3, 40, 40, seed=step)
        assert bits(scripted(x)) == bits(other(x))
    for one, wanted in zip(model.buffers(), other.buffers(), strict=True):
        assert one.numpy().tobytes() == wanted.numpy().tobytes()


def test_networks_write_once_to_what_they_are_given() -> None:
    def written(x: Tensor, w: Tensor) -> Tensor:
        y = F.relu(F.conv2d(x, w, None, 1, 1))
        x.add_(1.0)
        return F.conv2d(y, w, None, 1, 1) + x

    scripted, w = torch.jit.script(written), drawn(8, 8, 3, 3) * 0.1
    for step in range(70):
        x = drawn(1, 8, 40, 40, seed=step)
        y = x.clone()
        assert bits(scripted(x, w)) == bits(written(y, w))
        assert bits(x) == bits(y)


def test_networks_may_write_to_what_they_make_of_numbers(runs: list[tuple[int, int]]) -> None:
    class Painted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(drawn(8, 8, 3, 3) * 0.1)

        def forward(self, x: Tensor) -> Tensor:
            y = F.relu(F.conv2d(x, self.w, None, 1, 1))
            made = torch.zeros(8, 40, 40)
            for i in range(8):
                made[i] = y[0, i] * float(i)
            return F.conv2d(y + made, self.w, None, 1, 1)

    model = Painted()
    scripted = torch.jit.script(model)
    learned(scripted, drawn(1, 8, 40, 40))
    for seed in range(1, 4):
        x = drawn(1, 8, 40, 40, seed=seed)
        assert bits(scripted(x)) == bits(model(x))
    assert len(runs) == 1


def test_threads_look_at_a_network_one_at_a_time() -> None:
    model, inputs = network(), [drawn(2, 3, 40, 40, seed=seed) for seed in range(4)]
    wanted, scripted = [bits(model(x)) for x in inputs], torch.jit.script(model)
    found = list[bool]()
    gate = threading.Barrier(4)

    def serve(x: Tensor, bits_of: Any) -> None:
        gate.wait()
        with torch.no_grad():
            found.extend(bits(scripted(x)) == bits_of for _ in range(30))

    pairs = zip(inputs, wanted, strict=True)
    threads = [threading.Thread(target=serve, args=each) for each in pairs]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(found) == 120
    assert all(found)


def test_networks_that_raise_do_so_where_they_always_did() -> None:
    def two(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
        return F.conv2d(F.relu(F.conv2d(x, w, None, 1, 1)), v)

    scripted, w = torch.jit.script(two), drawn(8, 8, 3, 3)
    x = drawn(1, 8, 40, 40)
    for _ in range(40):
        scripted(x, w, w)
    with pytest.raises(RuntimeError, match="expected input"):
        scripted(x, w, drawn(8, 7, 3, 3))
    assert bits(scripted(x, w, w)) == bits(two(x, w, w))


class Up(nn.Module):
    def __init__(self, inputs: int, outputs: int, size: int, stride: int, padding: int) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose2d(inputs, outputs, size, stride, padding)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.norm(self.conv(x)))


class Decoder(nn.Module):
    """Transposed convolutions of both kinds, between others that see what came before."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Block(3, 16, 1)
        self.down = Block(16, 32, 2)
        self.up = Up(32, 16, 2, 2, 0)
        self.wide = Up(32, 24, 4, 2, 1)
        self.last = nn.ConvTranspose2d(24, 3, 3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        first = self.stem(x)
        x = torch.cat([first, self.up(self.down(first))], 1)
        return torch.tanh(self.last(self.wide(x)))


@pytest.mark.parametrize("is_last", [False, True])
def test_networks_with_transposed_convolutions_are_one_call(
    is_last: bool, runs: list[tuple[int, int]]
) -> None:
    torch.manual_seed(3)
    model, x = Decoder().eval(), drawn(2, 3, 32, 32)
    if is_last:
        model = model.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    wanted = bits(model(x))
    scripted = torch.jit.script(model)
    learned(scripted, x)
    assert len(runs) == 1
    assert bits(scripted(x)) == wanted


class Normed(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.one, self.two = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return x + self.two(F.gelu(self.one(y)))


class Mixed(nn.Module):
    """A sum of what lies with channels last and what does not, which no chain can take along."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 3, 3, padding=1)
        self.blocks = nn.Sequential(Normed(16), Normed(16))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.last(self.blocks(self.stem(x)))


@pytest.mark.parametrize("norm", [None, nn.InstanceNorm2d(16, affine=True)])
def test_networks_whose_sums_do_not_lie_alike_are_one_call(
    norm: Any, runs: list[tuple[int, int]]
) -> None:
    torch.manual_seed(3)
    model, x = Mixed().eval(), drawn(2, 3, 32, 32)
    if norm is not None:
        model.blocks = nn.Sequential(norm, nn.ReLU(), Normed(16))
    wanted = bits(model(x))
    scripted = torch.jit.script(model)
    learned(scripted, x)
    assert len(runs) == 1
    assert bits(scripted(x)) == wanted


class Resized(nn.Module):
    """Resizing, whose loops go over numbers, and sizes that are computed with."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.next = Block(3, 16, 2), Block(16, 16, 2)
        self.last = nn.Conv2d(16, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        low = self.stem(x)
        high = F.interpolate(low, scale_factor=[2.0, 2.0], mode="nearest")
        high = high + F.interpolate(self.next(high), size=high.shape[-2:], mode="bilinear")
        made = self.last(F.interpolate(high, scale_factor=1.5))
        n, c, h, w = made.shape
        return made.reshape(n, c // 4, 4, h * w).sum(2)


def test_networks_that_resize_are_one_call(runs: list[tuple[int, int]]) -> None:
    torch.manual_seed(3)
    model, x = Resized().eval(), drawn(1, 3, 32, 32)
    wanted = bits(model(x))
    scripted = torch.jit.script(model)
    learned(scripted, x)
    assert len(runs) == 1
    assert bits(scripted(x)) == wanted
    assert bits(scripted(drawn(1, 3, 40, 32))) == bits(model(drawn(1, 3, 40, 32)))


def test_traced_networks_that_compute_with_sizes_are_one_call(runs: list[tuple[int, int]]) -> None:
    torch.manual_seed(3)
    model, x = Resized().eval(), drawn(1, 3, 32, 32)
    wanted = bits(model(x))
    traced = torch.jit.trace(model, x)
    learned(traced, x)
    assert len(runs) == 1
    assert bits(traced(x)) == wanted
    wide = drawn(1, 3, 40, 32)
    assert bits(traced(wide)) == bits(model(wide))


def test_networks_of_volumes_are_one_call(runs: list[tuple[int, int]]) -> None:
    torch.manual_seed(3)
    convolutions = nn.Conv3d(1, 16, 3, padding=1), nn.ConvTranspose3d(16, 8, 2, 2)
    model = nn.Sequential(convolutions[0], nn.ReLU(), nn.MaxPool3d(2), convolutions[1]).eval()
    x = drawn(1, 1, 8, 16, 16)
    wanted = bits(model(x))
    scripted = torch.jit.script(model)
    learned(scripted, x)
    assert len(runs) == 1
    assert bits(scripted(x)) == wanted


def test_a_look_in_which_a_kernel_comes_to_be_there_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, x, rounds = network(), drawn(1, 3, 64, 64), list[object]()
    told = networks.Network._told

    def without_kernel(self: Any, *given: Any) -> Any:
        found = told(self, *given)
        if len(rounds) < networks.WARMING + 4:
            under_way = compiling._UNDER_WAY
            under_way.begin(compiling.Compiling((), bool, list), lambda: rounds.append(self))
            while compiling.is_under_way():
                time.sleep(0.001)
            self._calls.cause = networks.Unforeseen("its kernel was not there")
        return found

    monkeypatch.setattr(networks.Network, "_told", without_kernel)
    failed = list[object]()
    monkeypatch.setattr(replaying.Replay, "_failed", lambda self, *cause: failed.append(cause))
    scripted = torch.jit.freeze(torch.jit.script(model))
    wanted = bits(scripted(x))
    learned(scripted, x)
    assert not [each for each in failed if not isinstance(each[0], replaying._OverLarge)]
    assert bits(scripted(x)) == wanted
