"""Stretches of code that are done again by the kernels that they ran."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.plans import replaying
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.table import direct
from rushlight.ops.table.direct import knows_calls
from rushlight.ops.table.table import TABLE

nn = torch.nn
Tensor = torch.Tensor

pytestmark = [
    pytest.mark.skipif(not knows_calls(), reason="there is no native code here"),
    pytest.mark.usefixtures("without_gradients"),
]


@pytest.fixture
def without_gradients():
    with torch.no_grad():
        yield


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


class Spy:
    """What `ds0` of a plan gave, call by call: whether it did them."""

    def __init__(self, call: Any) -> None:
        self.call, self.done = call, list[bool]()

    def __call__(self, *given: Any) -> Any:
        found = self.call(*given)
        self.done.append(found is not None)
        return found


def space_of(scripted: Any) -> dict[str, Any]:
    function = scripted._rushlight_function if hasattr(scripted, "_rushlight_function") else None
    function = function or scripted._script_method("forward")._rushlight_function
    plan = tiers_of(function).way(False).plan
    assert plan is not None
    return plan.run.__globals__


def replayed(scripted: Any, *args: Any) -> Spy:
    """Call a function until native code does it; what listens from then on."""
    for _ in range(60):
        scripted(*args)
    space = space_of(scripted)
    assert space["warms0"], "there is no stretch"
    spy = space["ds0"] = Spy(space["ds0"])
    until = time.monotonic() + 60
    while not (len(spy.done) > 5 and all(spy.done[-3:])):
        assert time.monotonic() < until, "native code has not taken over"
        scripted(*args)
        time.sleep(0.001)
    spy.done.clear()
    return spy


def same(found: Any, wanted: Any) -> bool:
    """Whether two results hold the same bits, lying alike."""
    if isinstance(wanted, (tuple, list)):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if not isinstance(wanted, Tensor):
        return bool(found == wanted)
    alike = (found.dtype, found.shape, found.stride()) == (
        *(wanted.dtype, wanted.shape),
        wanted.stride(),
    )
    return alike and found.contiguous().numpy().tobytes() == wanted.contiguous().numpy().tobytes()


# --------------------------------------------------------------------------- loops over tensors


def recurrent(x: Tensor, h: Tensor, w: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    outputs: list[Tensor] = []
    for t in range(x.size(0)):
        h = torch.tanh(x[t] @ w + h @ u)
        outputs.append(h)
    return torch.stack(outputs), h


def best_path(emissions: Tensor, transitions: Tensor) -> list[int]:
    score = emissions[0]
    history: list[Tensor] = []
    for t in range(1, emissions.size(0)):
        best, index = torch.max(score.unsqueeze(1) + transitions, 0)
        score = best + emissions[t]
        history.append(index)
    last = int(score.argmax().item())
    path = [last]
    for t in range(len(history)):
        last = int(history[len(history) - 1 - t][last].item())
        path.append(last)
    return path


def filled(x: Tensor, rows: int) -> Tensor:
    out = torch.zeros(rows, x.size(0))
    total = torch.zeros_like(x)
    for i in range(rows):
        total = total * 0.5 + x
        out[i] = total
    return out * 2.0 + x


def indexed(table: Tensor, places: Tensor) -> Tensor:
    found = table[places]
    for _ in range(3):
        found = torch.cat([found[1:], table[places[:1]]]) * 1.5
    return found


def chosen(table: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    total = table[rows, columns]
    for i in range(3):
        total = total * 0.5 + table[rows + i, columns]
    return total


def trees(x: Tensor, choice: Tensor, codes: Tensor) -> Tensor:
    features = torch.clamp(torch.einsum("bi,itd->btd", x, choice), 0.0, 1.0)
    both = torch.stack([1 - features, features], -1)
    return torch.einsum("btds,dcs->btdc", both, codes).prod(2).sum(-1)


def halved(x: Tensor, w: Tensor, n: int) -> Tensor:
    y = w
    while n > 0:
        y = torch.tanh(y * 0.5) @ x
        n = n // 2
    return y


def leaves_early(x: Tensor, n: int) -> list[Tensor]:
    for i in range(2):
        if n > 5 or bool((x > 100.0).any()):  # what asks for elements is no part of a stretch
            return [x + float(i)]
    return [torch.tanh(x) @ x for _ in range(3)]


def test_a_list_that_may_be_there_before() -> None:
    scripted = torch.jit.script(leaves_early)
    for n in [4] * 80 + [6] * 80 + [4, 6] * 20:
        x = random(5, 5, seed=n)
        assert same(scripted(x, n), leaves_early(x, n))


MAKERS = {
    "halved": (halved, lambda s, n: (random(5, 5, seed=s), random(5, 5, seed=s + 1), n)),
    "recurrent": (
        recurrent,
        lambda s, n: tuple(random(*size, seed=s) for size in ((n, 4), (6,), (4, 6), (6, 6))),
    ),
    "best_path": (best_path, lambda s, n: (random(n, 5, seed=s), random(5, 5, seed=s + 1))),
    "filled": (filled, lambda s, n: (random(7, seed=s), n)),
    "indexed": (
        indexed,
        lambda s, n: (random(9, n, seed=s), torch.tensor([s % 9, 3, (s * 5) % 9])),
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_calls_have_the_bits_of_eager_ones(name: str) -> None:
    function, arguments = MAKERS[name]
    scripted = torch.jit.script(function)
    for size in (4, 6):
        spy = replayed(scripted, *arguments(0, size))
        kept = [(scripted(*arguments(s, size)), arguments(s, size)) for s in range(12)]
        assert spy.done == [True] * 12
        for found, given in kept:  # none shares memory with another
            assert same(found, function(*given))
    assert same(scripted(*arguments(3, 5)), function(*arguments(3, 5)))


def test_numbers_that_are_not_finite_are_as_ever() -> None:
    scripted = torch.jit.script(recurrent)
    given = MAKERS["recurrent"][1](0, 4)
    replayed(scripted, *given)
    for value in (float("nan"), float("inf"), -0.0):
        given[0][1, 2] = value
        assert same(scripted(*given), recurrent(*given))


def test_operands_that_share_memory() -> None:
    scripted = torch.jit.script(recurrent)
    x, h, w, u = MAKERS["recurrent"][1](0, 4)
    replayed(scripted, x, h, w, u)
    whole = random(8, 6)
    for given in ((x, u[0], w, u), (x, whole[2], whole[:4], whole[2:8]), (x, h, w, u.t())):
        assert same(scripted(*given), recurrent(*given))


def test_threads_share_no_memory() -> None:
    scripted = torch.jit.script(recurrent)
    replayed(scripted, *MAKERS["recurrent"][1](0, 6))
    wrong: list[int] = []

    def work(seed: int) -> None:
        with torch.no_grad():
            given = MAKERS["recurrent"][1](seed, 6)
            wanted = recurrent(*given)
            wrong.extend(seed for _ in range(200) if not same(scripted(*given), wanted))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ------------------------------------------------------------------------- what modules hold


class Cell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(random(5, 5))
        self.register_buffer("shift", random(5, seed=1))
        self.steps = 3

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.steps):
            x = torch.tanh(x @ self.weight + self.shift)
        return x


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = Cell()

    def forward(self, x: Tensor) -> Tensor:
        return self.cell(x) * 2.0


@pytest.mark.parametrize("count", [1, 2, 5])
def test_places_by_several_tensors_are_known_however_few(count: int) -> None:
    table, scripted = random(7, 4), torch.jit.script(chosen)
    rows, columns = torch.arange(count) % 4, torch.arange(count) % 3
    replayed(scripted, table, rows, columns)
    assert same(scripted(table, rows + 1, columns), chosen(table, rows + 1, columns))


def test_products_of_permuted_operands_are_known() -> None:
    choice, codes = random(20, 64, 6), random(6, 64, 2)
    scripted = torch.jit.script(trees)
    replayed(scripted, random(1, 20), choice, codes)
    x = random(1, 20, seed=3)
    assert same(scripted(x, choice, codes), trees(x, choice, codes))


def test_what_a_module_holds_may_change() -> None:
    model = Net()
    scripted = torch.jit.script(model)
    x = random(5)
    spy = replayed(scripted, x)
    scripted.cell.weight = nn.Parameter(random(5, 5, seed=7))
    model.cell.weight = nn.Parameter(random(5, 5, seed=7))
    assert same(scripted(x), model(x))
    scripted.cell.shift.mul_(-3.0)
    model.cell.shift.copy_(scripted.cell.shift)
    assert same(scripted(x), model(x))
    assert spy.done == [True, True]
    scripted.cell.steps = model.cell.steps = 5
    assert same(scripted(x), model(x))
    scripted.cell.weight = nn.Parameter(random(5, 5, seed=8).t())
    model.cell.weight = nn.Parameter(random(5, 5, seed=8).t())
    assert same(scripted(x), model(x))


class Scored(nn.Module):
    """Its stretch ends inside of a layer of a sequence, whose rest is read behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(9, 8)
        self.layers = nn.Sequential(nn.Linear(12, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))

    def forward(self, i: Tensor, x: Tensor) -> Tensor:
        rows = self.table(i)
        return (rows * 2).sum(-1) + self.layers(torch.cat([rows, x], 1)).squeeze(1)


def test_modules_that_a_stretch_reads_are_there_behind_it() -> None:
    model = Scored().eval()
    scripted = torch.jit.script(model)
    i, x = torch.arange(5), random(5, 4)
    spy = replayed(scripted, i, x)
    assert torch.allclose(scripted(i, x), model(i, x))
    assert spy.done == [True]


class Checked(nn.Module):
    """What is read of it last is needed behind a check, whose failing way has no need of it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.last = nn.Sequential(nn.Upsample(scale_factor=2.0), nn.Conv1d(3, 2, 1))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(self.first(x)) * 2 + x
        return self.last(y - 1)


def test_registers_of_a_way_that_raises_are_needed_behind_it() -> None:
    model = Checked().eval()
    scripted = torch.jit.script(model)
    x = random(2, 3, 4)
    spy = replayed(scripted, x)
    assert torch.allclose(scripted(x), model(x))
    assert spy.done == [True]


# --------------------------------------------------------------- what is none of native code's


def test_an_operator_that_fails_is_told_by_the_plan() -> None:
    scripted = torch.jit.script(indexed)
    table, places = MAKERS["indexed"][1](0, 4)
    spy = replayed(scripted, table, places)
    with pytest.raises(RuntimeError, match="index 9 is out of bounds") as told:
        scripted(table, torch.tensor([0, 9, 2]))
    assert "found = table[places]" in str(told.value)
    assert same(scripted(table, places), indexed(table, places))
    assert spy.done == [False, True]


@torch.jit.script
def writing(x: Tensor, n: int) -> Tensor:
    y = x * 0.0
    for _ in range(n):
        x.add_(1.0)
        y = y + x * 2.0
    return y


@torch.jit.script
def asking(x: Tensor, n: int) -> Tensor:
    y = x
    for _ in range(n):
        y = y * 2.0 + x
        if bool((y.sum() > 10.0).item()):
            y = y - 100.0
    return y


@torch.jit.script
def drawing(x: Tensor, n: int) -> Tensor:
    y = x
    for _ in range(n):
        y = torch.nn.functional.dropout(y * 2.0 + x, 0.5, True)
    return y


@torch.jit.script
def noting(x: Tensor, seen: list[int], n: int) -> Tensor:
    y = x
    for i in range(n):
        y = y * 2.0 + x
        seen.append(i)
    return y + float(len(seen))


def test_what_is_outside_is_written_once_a_call() -> None:
    x, y = random(6), random(6)
    for call in range(1, 200):
        writing(x, 3)
        y = y + 1.0 + 1.0 + 1.0
        assert call < 150 or same(x, y)


def test_ways_by_what_is_in_tensors() -> None:
    for call in range(200):
        x = random(6, seed=call)
        y = x
        for _ in range(4):
            y = y * 2.0 + x
            y = y - 100.0 if float(y.sum()) > 10 else y
        assert same(asking(x, 4), y)


def test_random_numbers_are_drawn_anew() -> None:
    x = random(50)
    torch.manual_seed(0)
    found = {drawing(x, 3).numpy().tobytes() for _ in range(120)}
    assert len(found) == 120


def test_lists_of_the_caller_stay() -> None:
    x, seen = random(6), [5]
    wanted = noting(x, seen, 3)
    for _ in range(150):
        assert same(noting(x, seen, 3), wanted)
    assert seen == [5]


@torch.jit.script
def made(x: Tensor, n: int) -> Tensor:
    y = torch.ones(3)
    for _ in range(n):
        y = y * 2.0 + x.sum()
    return torch.zeros(3) + y


def test_the_default_dtype_may_change() -> None:
    x = random(4).double()
    spy = replayed(made, x, 3)
    torch.set_default_dtype(torch.float64)
    try:
        assert made(x, 3).dtype == torch.float64
        assert spy.done == [False]
    finally:
        torch.set_default_dtype(torch.float32)
    assert made(x, 3).dtype == torch.float32


@torch.jit.script
def stepping(x: Tensor, n: int) -> Tensor:
    y = x @ x
    for _ in range(n):
        y = torch.tanh(y) + x.sum()
    return y


def test_sizes_that_change_all_the_time_cool_down() -> None:
    for size in range(1, 4 * replaying.FRUITLESS):
        stepping(random(size), 2)
    assert not space_of(stepping)["warms0"]


def test_few_sizes_of_many_are_learned() -> None:
    scripted = torch.jit.script(filled)
    for call in range(600):
        size = 1 + call % 40
        x = random(5, seed=call)
        assert same(scripted(x, size), filled(x, size))


@torch.jit.script
def of_lists(parts: list[Tensor], n: int) -> Tensor:
    y = parts[0]
    for _ in range(n):
        y = torch.tanh(y * 2.0 + parts[1])
        parts.append(y)
    return y


def test_lists_of_tensors_are_not_taken_but_what_is_in_them() -> None:
    x, y = random(4), random(4, seed=1)
    wanted = of_lists([x, y], 3)
    for _ in range(150):
        assert same(of_lists([x, y], 3), wanted)
    plan = tiers_of(of_lists._rushlight_function).way(False).plan
    assert plan is not None
    assert [each.stretch.lists for each in plan.replays] == [0]


# ------------------------------------------------------------------------- recurrent layers


class Listener(nn.Module):
    """Convolutions of a few samples, and a recurrent layer whose weights are an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = nn.Conv1d(1, 6, 8, stride=4)
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 1)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = torch.relu(self.filters(x.unsqueeze(1)))
        out, (h, c) = self.lstm(x.transpose(1, 2), (h, c))
        return torch.sigmoid(self.out(out)).mean(1), h, c


class Steps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.long = nn.LSTMCell(4, 5)
        self.gated = nn.GRUCell(5, 5)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        second = torch.zeros_like(h)
        for t in range(x.size(0)):
            h, c = self.long(x[t], (h, c))
            second = self.gated(h, second)
        return second, h, c


@pytest.mark.parametrize(
    ("make", "sizes"),
    [
        (Listener, ((1, 40), (4, 1, 5), (4, 1, 5))),
        (Listener, ((3, 40), (4, 3, 5), (4, 3, 5))),
        (Steps, ((4, 2, 4), (2, 5), (2, 5))),
    ],
)
def test_recurrent_layers_and_cells(make: Any, sizes: Any) -> None:
    torch.manual_seed(1)
    model = make().eval()
    scripted = torch.jit.script(model)
    spy = replayed(scripted, *(random(*size) for size in sizes))
    for seed in range(5):
        given = [random(*size, seed=seed + place) for place, size in enumerate(sizes)]
        found, wanted = scripted(*given), model(*given)
        assert all(map(torch.allclose, found, wanted))
        assert same(found, scripted.forward(*given))
    assert all(spy.done)
    assert all(spy.done[-3:])
    with torch.enable_grad():
        assert all(map(torch.allclose, scripted(*given), wanted))


def test_weights_of_a_recurrent_layer_may_change() -> None:
    torch.manual_seed(2)
    model = Listener().eval()
    scripted = torch.jit.script(model)
    sizes = ((1, 40), (4, 1, 5), (4, 1, 5))
    given = [random(*size, seed=place) for place, size in enumerate(sizes)]
    spy = replayed(scripted, *given)
    other = Listener().eval()
    scripted.load_state_dict(other.state_dict())
    assert all(map(torch.allclose, scripted(*given), other(*given)))
    assert spy.done == [True]


def test_a_layer_that_drops_elements_is_not_learned() -> None:
    torch.manual_seed(3)
    layer = nn.LSTM(3, 4, num_layers=2, dropout=0.5)

    class Dropping(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: Tensor) -> Tensor:
            return torch.tanh(torch.tanh(self.layer(x * 2.0)[0]))

    scripted = torch.jit.script(Dropping())
    x = random(5, 1, 3)
    for _ in range(80):
        scripted(x)
    assert len({scripted(x).numpy().tobytes() for _ in range(10)}) == 10


def test_what_raises_in_a_branch_is_told_by_the_plan() -> None:
    model = Listener().eval()
    scripted = torch.jit.script(model)
    spy = replayed(scripted, random(1, 40), random(4, 1, 5), random(4, 1, 5))
    for _ in range(3):
        with pytest.raises(torch.jit.Error, match="Expected hidden"):
            scripted(random(1, 40), random(3, 1, 5), random(3, 1, 5))
    assert spy.done == [False] * 3


def test_what_waits_for_kernels_is_looked_at_when_they_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted = torch.jit.script(recurrent)
    args = [random(5, 3), random(4), random(3, 4), random(4, 4)]
    compiling = [True]
    monkeypatch.setattr(replaying, "is_compiling", lambda *since: compiling[0])
    looked = list[Any]()

    def noticed(*given: Any) -> Any:
        looked.append(given)
        raise replaying.Unforeseen("it is being compiled", given[0].forward(*given[1]))

    with monkeypatch.context() as patched:
        patched.setattr(replaying, "noticed", noticed)
        for _ in range(60):
            scripted(*args)
        once = len(looked)
        assert once
        for _ in range(300):
            scripted(*args)
        assert len(looked) == once
    compiling[0] = False
    assert replayed(scripted, *args).done == []


def powers(x: Tensor) -> Tensor:
    for _ in range(3):
        x = torch.exp(-x) + torch.log(x + 2.0) + torch.expm1(x * 0.1) + torch.log1p(x * x)
    return x


def test_powers_and_logarithms_of_few_numbers_are_replayed() -> None:
    scripted, x = torch.jit.script(powers), random(5, 7).abs()
    wanted = powers(x)
    spy = replayed(scripted, x)
    assert torch.equal(scripted(x), wanted)
    assert spy.done == [True]


def likeliest(x: Tensor, share: float) -> tuple[Tensor, Tensor]:
    values, places = torch.softmax(x, -1).sort(descending=True)
    return values, (values.cumsum(-1) < share).sum() + places


@pytest.mark.parametrize("size", [40, 100, 300, 3000])
def test_rows_of_any_length_are_sorted_in_stretches(size: int) -> None:
    x = random(size)
    scripted = torch.jit.script(likeliest)
    wanted = likeliest(x, 0.9)
    spy = replayed(scripted, x, 0.9)
    assert same(scripted(x, 0.9), wanted)
    assert same(scripted(x.neg(), 0.9), likeliest(x.neg(), 0.9))
    assert spy.done == [True, True]


def with_growing_cache(x: Tensor, w: Tensor) -> tuple[Tensor, int]:
    """Attention over what was kept before, whose next step depends on its result."""
    keys: list[Tensor] = []
    token = 0
    total = x[0]
    for _ in range(6):
        key = torch.tanh(x[token].unsqueeze(0) @ w) * 0.5
        keys.append(key)
        kept = torch.cat(keys)
        share = torch.softmax(kept @ x[token], 0)
        total = share @ kept + total * 0.5 - x[token]
        token = int(total.argmax()) % x.size(0)
    return total, token


def test_lists_that_grow_outside_of_stretches_end_them() -> None:
    """A stretch takes no list of tensors; those before and behind it are known."""
    scripted, x, w = torch.jit.script(with_growing_cache), random(5, 8), random(8, 8, seed=1)
    wanted = with_growing_cache(x, w)
    assert same(scripted(x, w), wanted)
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    assert plan is not None
    until = time.monotonic() + 60
    while not all(each.learned for each in plan.replays):
        assert time.monotonic() < until, [each.why_not for each in plan.replays]
        assert same(scripted(x, w), wanted)
    assert plan.replays
    assert same(scripted(x, w), wanted)


def drawn_outside(x: Tensor) -> Tensor:
    return x + torch.rand(3) * x


def drawn_in_rounds(x: Tensor) -> Tensor:
    for _ in range(5):
        x = x + torch.randn([3]) * 0.1 + torch.randint(0, 1 << 30, [3]) + torch.randperm(3)
    return x


def drawn_alike(x: Tensor) -> Tensor:
    for _ in range(5):
        x = x * torch.rand_like(x) + torch.randn_like(x) + torch.randint_like(x, 1 << 20)
    return x


@pytest.mark.parametrize("function", [drawn_outside, drawn_in_rounds, drawn_alike])
def test_random_numbers_are_drawn_in_each_call(function: Any) -> None:
    """As eager calls draw them, from the same seed."""
    scripted = torch.jit.script(function)
    x = torch.ones(3)
    torch.manual_seed(1)
    found = [scripted(x).tolist() for _ in range(100)]
    torch.manual_seed(1)
    assert found == [function(x).tolist() for _ in range(100)]
    assert len(set(map(str, found))) == 100


def test_all_forms_of_what_draws_say_so() -> None:
    """Forms without a generator draw from the default one."""
    drawing = {each.name for name in TABLE.names_with("random") for each in TABLE.operators(name)}
    silent = [
        each.full_name for name in drawing for each in TABLE.operators(name) if not each.random
    ]
    assert silent == []


def among_whole(x: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Whose second half sorts, for which there are kernels of some dtypes alone."""
    for _ in range(n):
        x = torch.tanh(x * 0.5 + 1.0) - x.mean()
    order = torch.argsort(y, -1)
    for _ in range(n):
        x = torch.relu(x - 0.25) * x[order]
    return x, order


def test_stretches_leave_out_what_is_no_kernel() -> None:
    scripted, x = torch.jit.script(among_whole), random(20)
    y = (x * 10).to(torch.int16)
    wanted = among_whole(x, y, 3)
    way = tiers_of(scripted._rushlight_function).way(False)
    until = time.monotonic() + 60
    while way.plan is None or way.plan.former is None or not way.plan.replays[-1].learned:
        assert time.monotonic() < until, "it is not cut"
        assert same(scripted(x, y, 3), wanted)
    assert len(way.plan.replays) == 2
    assert same(scripted(x, y, 3), wanted)
    with pytest.raises(RuntimeError, match="must match"):
        scripted(x, y[:5], 3)
    assert same(scripted(x, y, 3), wanted)


class Kept(nn.Module):
    """Keeps two results of a call for the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(4, 20))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(x * 0.5 + 1.0) - x.mean()
        if x.size(0) == 2:
            self.kept[:2] = y
        z = torch.relu(y - 0.25) * self.kept[2:].sum()
        z = torch.sigmoid(z + 0.5) * z
        if x.size(0) == 2:
            self.kept[2:] = z
        return torch.exp(z * 0.1) + self.kept.mean()


def test_all_steps_that_are_no_kernels_are_left_out_at_once() -> None:
    plain, x = Kept(), random(2, 20)
    scripted = torch.jit.script(Kept())
    assert same(scripted(x), plain(x))
    way = tiers_of(scripted._script_method("forward")._rushlight_function).way(False)
    until = time.monotonic() + 60
    while way.plan is None or way.plan.former is None:
        assert time.monotonic() < until, "it is not cut"
        assert same(scripted(x), plain(x))
    for _ in range(40):
        assert same(scripted(x), plain(x))
        assert same(scripted.kept, plain.kept)
    assert way.plan.former.former is None
    writing = [step for step in way._cuts.steps if step.node.kind == "aten::copy_"]
    assert len(writing) == 2


def late(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = torch.tanh(x * 0.5 + 1.0) - x.mean()
    return torch.relu(x - 0.25) * x


def test_a_look_in_which_a_kernel_comes_to_be_there_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted, x, rounds = torch.jit.script(late), random(20), list[object]()
    wanted, noticed = late(x, 3), replaying.noticed

    def without_kernel(entry: Any, values: Any) -> Any:
        found = noticed(entry, values)
        if entry.name != "aten::relu" or len(rounds) >= 2 * replaying.SURE:
            return found
        under_way = direct._KERNELS.under_way
        under_way.begin(len(rounds), partial(rounds.append, entry))
        while direct.is_compiling():
            time.sleep(0.001)
        raise replaying.Unforeseen("its kernel was not there", found[0])

    monkeypatch.setattr(replaying, "noticed", without_kernel)
    way = tiers_of(scripted._rushlight_function).way(False)
    until = time.monotonic() + 60
    while way.plan is None or not any(each.learned for each in way.plan.replays):
        assert way.plan is None or way.plan.former is None, "it is cut"
        assert time.monotonic() < until, "it is not known"
        assert same(scripted(x, 3), wanted)
    assert len(rounds) == 2 * replaying.SURE
    assert same(scripted(x, 3), wanted)


def handed_on(
    a: Tensor, b: Tensor, c: Tensor, d: Tensor, e: Tensor, k: int
) -> tuple[Tensor, Tensor]:
    y = b
    for _ in range(k):
        y = torch.tanh(y @ b) @ torch.relu(c @ d)
        a = e
    return a, y * 2


def test_the_first_result_may_be_an_argument_behind_the_first() -> None:
    scripted = torch.jit.script(handed_on)
    xs = [random(3, 3, seed=seed) for seed in range(5)]
    replayed(scripted, *xs, 2)
    for _ in range(20):
        given, made = scripted(*xs, 2)
        assert given is xs[4]
        assert torch.equal(made, handed_on(*xs, 2)[1])
