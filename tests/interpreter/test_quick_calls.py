"""Calls of scripted code that has run often: they take a short way, and are as ever."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

import rushlight as torch
from rushlight.profiling import profile

nn = torch.nn
Tensor = torch.Tensor


def hot(scripted: Any, *args: Any) -> Any:
    """Call it until its calls are quick."""
    for _ in range(60):
        scripted(*args)
    quick = _quick(scripted)
    assert quick.call is not None, "its calls are not quick"
    return quick


def _quick(scripted: Any) -> Any:
    return getattr(scripted, "_quick", None) or scripted._script_method("forward")._quick


def sums(x: Tensor, by: float = 2.0, plus: Tensor | None = None, twice: bool = False) -> Tensor:
    y = x * by
    if plus is not None:
        y = y + plus
    return y * 2.0 if twice else y


def test_arguments_are_checked_as_ever() -> None:
    scripted, x = torch.jit.script(sums), torch.ones(3)
    with pytest.raises(RuntimeError) as first:
        scripted(x, "a")
    hot(scripted, x, 2.0)
    assert scripted(x).tolist() == [2.0] * 3
    assert scripted(x, 3).tolist() == [3.0] * 3
    assert scripted(x, 3.0, None, True).tolist() == [6.0] * 3
    assert scripted(x, 1.0, x).tolist() == [2.0] * 3
    assert scripted(x, plus=x).tolist() == [3.0] * 3
    with pytest.raises(RuntimeError) as later:
        scripted(x, "a")
    assert str(later.value) == str(first.value)
    with pytest.raises(RuntimeError, match="expected at most 4"):
        scripted(x, 1.0, None, True, 5)
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor"):
        scripted(1.0, 2.0)


def weighted(x: Tensor, first: float, second: float = 2.0, n: int = 3) -> Tensor:
    return x * first + second * n


def test_arguments_by_name_go_to_their_places() -> None:
    scripted, x = torch.jit.script(weighted), torch.ones(2)
    for _ in range(60):
        scripted(x, n=1, first=5.0)
    quick = scripted._quick
    assert quick.call is not None
    assert quick.words == ("n", "first")
    assert scripted(x, n=4, first=3.0).tolist() == [11.0] * 2
    assert scripted(x, first=3.0, n=4).tolist() == [11.0] * 2
    assert scripted(x, 3.0).tolist() == [9.0] * 2
    assert scripted(x, n=torch.tensor(4), first=3.0).tolist() == [11.0] * 2
    assert scripted(x.requires_grad_(True), n=4, first=3.0).requires_grad
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'm'"):
        scripted(x, n=4, first=3.0, m=1)
    with pytest.raises(RuntimeError, match="Expected a value of type 'int' for argument 'n'"):
        scripted(x, n="a", first=3.0)
    assert scripted(torch.ones(2, device="meta"), n=4, first=3.0).shape == (2,)


@torch.jit.script
def following(n: int) -> int:
    return n + 1


def test_whole_numbers_wrap_and_have_an_end() -> None:
    hot(following, 1)
    assert following(2**63 - 1) == -(2**63)
    assert following(True) == 2
    with pytest.raises(RuntimeError):
        following(2**63)
    assert following(torch.tensor(3)) == 4


def test_gradients_are_recorded_where_they_are_wanted() -> None:
    scripted, x = torch.jit.script(sums), torch.ones(3)
    hot(scripted, x)
    x.requires_grad_(True)
    scripted(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0] * 3
    with torch.no_grad():
        assert not scripted(x).requires_grad
    assert scripted(x).requires_grad
    assert scripted(torch.ones(3), 2.0, x).requires_grad


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.full((3,), 2.0), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.by


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Scale()
        self.names = ["a"]

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) + 1.0


def test_what_a_module_holds_is_looked_at() -> None:
    model, x = torch.jit.script(Outer()), torch.ones(3)
    hot(model, x)
    assert not model(x).requires_grad
    model.inner.by.requires_grad_(True)
    model(x).sum().backward()
    assert model.inner.by.grad.tolist() == [1.0] * 3
    model.inner.by.requires_grad_(False)
    hot(model, x)
    model.inner.by = nn.Parameter(torch.full((3,), 5.0))
    assert model(x).requires_grad
    assert model(x).tolist() == [6.0] * 3
    model.inner.by = nn.Parameter(torch.full((3,), 7.0), requires_grad=False)
    hot(model, x)
    model.inner = torch.jit.script(Scale())
    assert model(x).tolist() == [3.0] * 3
    assert model(x).requires_grad is False


def test_large_modules_have_quick_calls() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = (nn.Parameter(torch.ones(2)) for _ in range(2))

        def forward(self, x: Tensor) -> Tensor:
            return torch.addcmul(self.bias, self.weight, x)

    model = nn.Sequential(*(Layer() for _ in range(140))).requires_grad_(False)
    scripted = torch.jit.script(model)
    hot(scripted, torch.zeros(2))
    assert scripted(torch.zeros(2)).tolist() == [140.0, 140.0]
    model[100].bias.requires_grad_(True)
    assert scripted(torch.zeros(2)).requires_grad


def test_two_modules_of_a_class_have_ways_of_their_own() -> None:
    first, second, x = torch.jit.script(Scale()), torch.jit.script(Scale()), torch.ones(3)
    second.by.fill_(9.0)
    hot(first, x)
    hot(second, x)
    assert (first(x).tolist(), second(x).tolist()) == ([2.0] * 3, [9.0] * 3)


def test_hooks_and_exchanged_methods_are_called() -> None:
    model, x = torch.jit.script(Scale()), torch.ones(3)
    hot(model, x)
    handle = model.register_forward_hook(lambda module, args, result: result + 10.0)
    assert model(x).tolist() == [12.0] * 3
    handle.remove()
    assert model(x).tolist() == [2.0] * 3
    object.__setattr__(model, "forward", lambda x: x - 1.0)
    assert model(x).tolist() == [0.0] * 3


def test_modes_around_a_call_are_heard() -> None:
    scripted, x = torch.jit.script(sums), torch.ones(3)
    hot(scripted, x)
    found = profile(scripted, (x,), seconds=1e-6).data()
    assert any(row["name"].startswith("aten::mul") for row in found["operators"])
    traced = torch.jit.trace(lambda x: scripted(x) + 1.0, torch.ones(3))
    assert "sums" in str(traced.graph)
    assert scripted(torch.ones(3, device="meta")).device.type == "meta"
    assert scripted(x).tolist() == [2.0] * 3

    @torch.jit.script
    def product(a: Tensor) -> Tensor:
        return a @ a

    m = torch.eye(3)
    hot(product, m)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert product(m).dtype == torch.bfloat16
    assert product(m).dtype == torch.float32


@torch.jit.script
def viewed(x: Tensor, n: int) -> Tensor:
    return x.view(n)


def test_failures_are_told_in_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    x = torch.ones(6)
    with pytest.raises(RuntimeError) as first:
        viewed(x, 7)
    hot(viewed, x, 6)
    with pytest.raises(RuntimeError) as later:
        viewed(x, 7)
    assert str(first.value) == str(later.value)
    frames = [each.name for each in later.traceback]
    assert frames == ["test_failures_are_told_in_the_same_words"]
    assert viewed(x, 6).shape == (6,)


def test_a_graph_that_is_changed_by_hand_runs() -> None:
    @torch.jit.script
    def added(x: Tensor, y: Tensor) -> Tensor:
        return x + y

    x = torch.ones(3)
    hot(added, x, x * 5.0)
    graph = added.graph
    (node,) = [n for n in graph.nodes() if n.kind() == "aten::add"]
    node.replaceInput(1, node.inputsAt(0))
    added._debug_flush_compilation_cache()
    assert added(x, x * 5.0).tolist() == [2.0] * 3
    x.mul_(3.0)
    assert added(x, x * 5.0).tolist() == [6.0] * 3


def test_what_ran_last_is_known() -> None:
    scripted = torch.jit.script(sums)
    hot(scripted, torch.ones(3))
    hot(following, 1)
    scripted(torch.ones(3))
    assert "aten::mul" in str(torch.jit.last_executed_optimized_graph())


class Lists(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept = [torch.ones(3)]

    def forward(self, x: Tensor) -> Tensor:
        return x + self.kept[0]


def test_modules_that_hold_lists_of_tensors_have_quick_calls() -> None:
    model, x = torch.jit.script(Lists()), torch.ones(3)
    hot(model, x)
    assert model(x).tolist() == [2.0] * 3
    model.kept = [torch.full((3,), 4.0)]
    assert model(x).tolist() == [5.0] * 3


class Keeping(nn.Module):
    mean: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("seen", torch.zeros(2))
        self.steps = {"n": torch.zeros(1)}

    def forward(self, x: Tensor) -> Tensor:
        self.mean = self.mean * 0.5 + x
        self.seen.add_(1.0)
        self.steps["n"] = self.steps["n"] + 1.0
        return self.mean


def test_modules_that_put_tensors_into_attributes_have_quick_calls() -> None:
    model, x = torch.jit.script(Keeping()), torch.ones(2)
    quick = hot(model, x)
    seen, version = model.seen, model.seen._version
    for _ in range(20):
        assert model(x) is model.mean
    assert quick.call is not None
    assert model.seen is seen
    assert seen._version == version + 20
    assert model.steps["n"].item() == seen[0].item()
    model.mean = torch.ones(2, requires_grad=True)
    found = model(x)
    assert found.requires_grad
    assert found is model.mean
    model.mean = torch.zeros(2)
    with torch.no_grad():
        assert not model(x).requires_grad


class Maybe(nn.Module):
    held: Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.held = None

    def forward(self, x: Tensor) -> Tensor:
        held = self.held
        return x if held is None else x + held


def test_what_was_none_may_want_gradients_later() -> None:
    model, x = torch.jit.script(Maybe()), torch.ones(2)
    hot(model, x)
    assert model(x) is x
    model.held = torch.ones(2, requires_grad=True)
    assert model(x).requires_grad
    model.held = None
    assert model(x) is x


def test_layers_over_packed_weights_have_quick_calls() -> None:
    layer = torch.ao.nn.quantized.Linear(4, 3)
    scripted = torch.jit.script(layer)
    x = torch.quantize_per_tensor(torch.ones(2, 4), 0.1, 0, torch.quint8)
    hot(scripted, x)
    weight = torch.quantize_per_tensor(torch.ones(3, 4), 0.5, 0, torch.qint8)
    scripted._packed_params.set_weight_bias(weight, None)
    scripted.scale = 0.5
    assert scripted(x).dequantize().tolist() == [[4.0] * 3] * 2


def of_containers(
    numbers: list[int], rates: dict[str, float], pair: tuple[int, Tensor], names: list[list[str]]
) -> tuple[int, Tensor, str]:
    numbers.append(7)
    return sum(numbers), pair[1] * pair[0] * rates["a"], names[-1][0]


def test_containers_of_words_are_quick_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    scripted, x = torch.jit.script(of_containers), torch.ones(2)
    numbers = [1, 2]
    given = numbers, {"a": 2.0}, (3, x), [["b"], ["c", "d"]]
    hot(scripted, *given)
    total, tensor, name = scripted(*given)
    assert (total, tensor.tolist(), name) == (10, [6.0, 6.0], "c")
    assert numbers == [1, 2]  # what is given is copied
    assert scripted((1, True), {"a": 1}, (1, x), [["é"]])[0::2] == (9, "é")
    assert scripted([], {"a": 1.0}, [1, x], (["b"],))[0] == 7
    wrong: list[tuple[Any, ...]] = [
        ([1, "a"], *given[1:]),
        ([2**63], *given[1:]),
        (None, *given[1:]),
        (numbers, {1: 2.0}, *given[2:]),
        (numbers, {"a": "b"}, *given[2:]),
        (numbers, {"a": 2.0}, (3, x, 4), given[3]),
        (numbers, {"a": 2.0}, (3, 4.0), given[3]),
        (*given[:3], [["b"], "cd", 3]),
    ]
    texts = []
    for each in wrong:
        with pytest.raises(RuntimeError) as error:
            scripted(*each)
        texts.append(str(error.value))
    fresh = torch.jit.script(of_containers)
    fresh._debug_flush_compilation_cache()
    for each, text in zip(wrong, texts, strict=True):
        with pytest.raises(RuntimeError) as error:
            fresh(*each)
        assert str(error.value) == text
    assert scripted(*given)[0] == 10


def of_tensors(some: list[Tensor], by_name: dict[str, Tensor]) -> Tensor:
    total = by_name["a"] * 2.0
    for each in some:
        total = total + each
    some.clear()
    return total


class Marked(Tensor):
    """Calls with these are done by eager calls."""


def test_lists_and_dicts_of_tensors_are_quick_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    scripted, x = torch.jit.script(of_tensors), torch.ones(2)
    some = [x, x * 2.0]
    hot(scripted, some, {"a": x})
    assert scripted(some, {"a": x}).tolist() == [5.0, 5.0]
    assert len(some) == 2
    assert scripted([], {"b": x, "a": x * 3.0}).tolist() == [6.0, 6.0]
    assert scripted((x,), {"a": x}).tolist() == [3.0, 3.0]
    wanted = torch.ones(2, requires_grad=True)
    assert scripted([x, wanted], {"a": x}).requires_grad
    assert scripted([x], {"a": wanted}).requires_grad
    with torch.no_grad():
        assert not scripted([x], {"a": wanted}).requires_grad
    assert scripted([nn.Parameter(x.clone())], {"a": x}).requires_grad
    assert scripted([x.as_subclass(Marked)], {"a": x}).tolist() == [3.0, 3.0]
    for wrong in ([x, 1.0], None):
        with pytest.raises(RuntimeError, match="Expected a value of type"):
            scripted(wrong, {"a": x})
    with pytest.raises(RuntimeError, match="Expected a value of type"):
        scripted([x], {1: x})


def summed(x: Tensor | list[Tensor] | int | None, by: float) -> Tensor:
    if isinstance(x, Tensor):
        return x * by
    if isinstance(x, int):
        return torch.full((2,), by * x)
    return torch.zeros(2) if x is None else torch.stack(x).sum(0) * by


def test_what_may_be_a_tensor_is_quick_where_it_is_one() -> None:
    scripted, x = torch.jit.script(summed), torch.ones(2)
    hot(scripted, x, 2.0)
    for _ in range(3):
        assert scripted(x, 3.0).tolist() == [3.0, 3.0]
        assert scripted([x, x], 3.0).tolist() == [6.0, 6.0]
        assert scripted(4, 0.5).tolist() == [2.0, 2.0]
        assert scripted(None, 0.5).tolist() == [0.0, 0.0]
        assert scripted(nn.Parameter(x.clone()), 2.0).requires_grad
        assert scripted([x, x.clone().requires_grad_()], 2.0).requires_grad
        with pytest.raises(RuntimeError, match="Expected a value of type"):
            scripted("a", 2.0)


class Way(Enum):
    UP = 1
    DOWN = 2


class Turning(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.way = Way.UP

    def forward(self, x: Tensor, way: Way) -> tuple[Tensor, Way]:
        before = self.way
        self.way = way
        return (x + 1 if before == Way.UP else x - 1), before


def test_calls_with_members_of_enumerations_are_quick() -> None:
    scripted, x = torch.jit.script(Turning()), torch.ones(2)
    hot(scripted, x, Way.UP)
    before, way = scripted(x, Way.DOWN)
    assert (before.tolist(), way) == ([2.0, 2.0], Way.UP)
    before, way = scripted(x, Way.UP)
    assert (before.tolist(), way) == ([0.0, 0.0], Way.DOWN)
    assert scripted.way == Way.UP
