"""Groups of operators in plans: they give what the operators give one by one, bits and strides."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.interpreter.plans import compiling, fusing
from rushlight.ops import kernels

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)

SHAPE = (96, 100)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "now")
    with torch.no_grad():
        yield


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many operators each expression has that ran."""
    ran: list[int] = []
    run = fusing._Joined.run

    def noted(self: Any, *given: Any) -> bool:
        ran.append(len(self.expression.steps))
        return run(self, *given)

    monkeypatch.setattr(fusing._Joined, "run", noted)
    return ran


def numbers(dtype: str, seed: int) -> Any:
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return torch.from_numpy(random.random(SHAPE) < 0.5)
    made = random.standard_normal(SHAPE) * 5
    if dtype.startswith("float"):
        odd = [np.nan, np.inf, -np.inf, 0.0, -0.0]
        made.reshape(-1)[random.integers(0, made.size, 20)] = odd * 4
        return torch.from_numpy(made.astype(dtype))
    return torch.from_numpy(np.abs(made).astype(dtype) if dtype == "uint8" else made.astype(dtype))


def lying(layout: str, x: Any) -> Any:
    """The tensor in another layout, of a shape that broadcasts to its own."""
    if layout == "turned":
        return x.t().contiguous().t()
    if layout == "gaps":
        return torch.stack([x, x], 2)[:, :, 0]
    if layout == "row":
        return x[0]
    return x[:, :1] if layout == "column" else x


def bits(x: Any) -> Any:
    array = x.numpy()
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return str(x.dtype), tuple(x.shape), x.stride(), array.tobytes()


def check(source: str, *arguments: Any) -> None:
    """Compare the results of `f`: of the first call, which the machine does, and of later ones."""
    with np.errstate(all="ignore"):
        function = torch.jit.CompilationUnit(source).f
        first = [bits(each) for each in function(*arguments)]
        for _ in range(3):
            for number, each in enumerate(function(*arguments)):
                assert bits(each) == first[number], f"result {number} of\n{source}"


OPERATORS = [
    *("{a} + {b}", "{a} - {b} * 2", "{a} * {b}", "{a} / {b}", "1 - {a}", "-{a}", "{a} * 0.5"),
    *("{a} > {b}", "{a} <= {b}", "{a} == 1", "{a} != {b}", "torch.where({a} > {b}, {a}, {b})"),
    *("torch.where({a} > 0, {b}, 2)", "{a}.masked_fill({b} > 1, 3)", "torch.maximum({a}, {b})"),
    *("{a}.clamp(-2, 3)", "{a}.clamp(min=1)", "torch.relu({a})", "{a}.abs()", "{a} ** 2"),
    *("({a} > 0) & ({b} < 1)", "~({a} > {b})", "torch.logical_or({a}, {b})"),
    *("{a}.long() // 3", "{a}.long() % -7", "{a}.int() >> 2", "{a}.int() << {b}.int()"),
    *("{a}.float()", "{a}.double()", "{a}.to({b}.dtype)", "{a}.contiguous()", "{a}.clone()"),
    *("torch.tanh({a}.float())", "torch.sigmoid({a}.float())", "torch.sqrt({a}.abs())"),
    *("{a}.t()", "{a}.t().contiguous().t()", "{a}[:, :1]", "{a}[1]", "{a}.unsqueeze(1)[:, 0]"),
    *("torch.lerp({a}.float(), {b}.float(), 0.3)", "torch.floor({a}.float())"),
    *("torch.nn.functional.gelu({a}.float())", "{a} + n", "{a} * r", "{a}.type_as({b})"),
]
DTYPES = ("float32", "float64", "int64", "int32", "uint8", "bool")


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_random_programs_give_the_same_bits(data: Any) -> None:
    names = ["x", "y"]
    lines = ["def f(x: Tensor, y: Tensor, n: int, r: float):"]
    for index in range(data.draw(st.integers(2, 9))):
        a, b = (data.draw(st.sampled_from(names[-4:])) for _ in range(2))
        line = data.draw(st.sampled_from(OPERATORS)).format(a=a, b=b)
        lines.append(f"    v{index} = {line}")
        names.append(f"v{index}")
    kept = data.draw(st.lists(st.sampled_from(names[2:]), max_size=3))
    lines.append(f"    return [{', '.join([*kept, names[-1]])}]")
    arguments = [
        lying(
            data.draw(
                st.sampled_from(["whole", "turned", "gaps", "row", "column"][: 5 if i else 3])
            ),
            numbers(data.draw(st.sampled_from(DTYPES)), i),
        )
        for i in range(2)
    ]
    try:
        with np.errstate(all="ignore"):
            torch.jit.CompilationUnit("\n".join(lines)).f(*arguments, 3, 0.75)
    except (RuntimeError, IndexError, TypeError):
        assume(False)
    check("\n".join(lines), *arguments, 3, 0.75)


def test_views_and_numbers_join(joined: list[int]) -> None:
    source = """
def f(x: Tensor, w: Tensor, alpha: float):
    return [torch.sigmoid(x) * w[0] + (x + alpha) * w, x.t() * 2.0 - x.t()]
"""
    x = torch.randn(100, 100)
    check(source, x, torch.randn(100), 0.5)
    assert joined == [5, 2, 5, 2]


@pytest.mark.parametrize("number", [1, 2, -1, 0.5, 3])
def test_formulas_of_one_number_are_not_taken_for_others(number: float) -> None:
    """`alpha=1` has a formula of its own, as squares, cubes and roots have among powers."""
    calls = [f"torch.{name}(x, {y}, alpha={{n}})" for name in ("add", "sub", "rsub") for y in "y3"]
    calls += ["torch.addcmul(x, y, y, value={n})", "torch.addcdiv(x, y, y, value={n})", "x ** {n}"]
    calls += [
        "torch.ops.aten.elu(x, 1, {n}, 1)",
        "torch.ops.aten.elu(x, 1, 1, {n})",
        "x.clamp({n}, 2)",
    ]
    calls += [f"torch.div(x, y, rounding_mode='{mode}') * {{n}}" for mode in ("floor", "trunc")]
    calls += [f"torch.ops.aten.gelu(x, approximate='{kind}') * {{n}}" for kind in ("none", "tanh")]
    shown = ", ".join(f"{call.format(n=number)} * 2 + y" for call in calls)
    source = f"def f(x: Tensor, y: Tensor):\n    return [{shown}]\n"
    check(source, torch.rand(100, 100) + 0.5, torch.rand(100, 100) + 0.5)


def test_loops_join_what_is_in_them(joined: list[int]) -> None:
    source = """
def f(x: Tensor, n: int):
    for i in range(n):
        x = torch.tanh(x * 0.5) + float(i)
    return [x]
"""
    check(source, numbers("float32", 1), 3)
    assert set(joined) == {3}


def test_what_is_written_is_seen(joined: list[int]) -> None:
    source = """
def f(x: Tensor):
    y = x * 2 + 1
    z = y[1:]
    y.add_(1.0)
    w = z * 3 - y[:1]
    x.mul_(1.5)
    return [y, z, w, x * 2 + w.sum()]
"""
    results = []
    for _ in range(2):
        function = torch.jit.CompilationUnit(source).f
        x = numbers("float32", 1).nan_to_num(0, 1, 1)
        results.append([[bits(each) for each in function(x)] for _ in range(4)])
    assert results[0] == results[1]
    kernels_off = torch.jit.CompilationUnit(source).f
    x = numbers("float32", 1).nan_to_num(0, 1, 1)
    by_machine = [bits(each) for each in kernels_off(x)]
    assert results[0][0] == by_machine
    assert joined


class Normed(torch.nn.Module):
    """The sum is needed later, and the module that has the weight no more: a result of the group
    goes to its register."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.other = torch.nn.Linear(8, SHAPE[1]), torch.nn.Linear(8, SHAPE[1])

    def forward(self, x, y):  # type: ignore[no-untyped-def]
        norm = self.norm
        both = x + y
        bias = norm.bias
        wide = both.to(torch.float32)
        squares = wide.pow(2)
        mean = squares.mean(-1, keepdim=True)
        scaled = bias * (wide * torch.rsqrt(mean + 1e-6))
        return scaled, both, torch.bernoulli(both, 1.0), self.other.bias + 1


def test_a_group_reads_weights_before_its_results_are_put_away(joined: list[int]) -> None:
    module, x = Normed(), numbers("float32", 1)
    expected, script = module(x, x), torch.jit.script(module)
    for _ in range(8):
        assert [bits(each) for each in script(x, x)] == [bits(each) for each in expected]
    assert joined


def test_a_result_that_is_an_argument_stays_it() -> None:
    source = """
def f(x: Tensor, y: Tensor):
    a = x.contiguous()
    b = a * 2 + y
    return [a, b, b.contiguous(), b.float()]
"""
    function = torch.jit.CompilationUnit(source).f
    x, y = numbers("float32", 1), numbers("float32", 2)
    for _ in range(4):
        a, b, c, d = function(x, y)
        assert a.data_ptr() == x.data_ptr()
        assert b.data_ptr() == c.data_ptr() == d.data_ptr()


@pytest.mark.parametrize(
    ("source", "bad", "words"),
    [
        (
            "(x * 2 + 1) * y + x",
            (torch.ones(96, 100), torch.ones(96, 99), 1),
            r"must match.*\(99\)",
        ),
        (
            "(x.long() + 1) // n + x[n]",
            (torch.ones(96, 100), torch.ones(1), 0),
            "ZeroDivisionError",
        ),
        (
            "(x * 2 + y)[n] + x * y",
            (torch.ones(96, 100), torch.ones(100), 96),
            "out of range|bounds",
        ),
    ],
)
def test_errors_are_those_of_the_operators(source: str, bad: Any, words: str) -> None:
    text = f"def f(x: Tensor, y: Tensor, n: int):\n    return {source}\n"
    function = torch.jit.CompilationUnit(text).f
    told = []
    for _ in range(4):
        function(torch.ones(96, 100), torch.ones(100), 1)
        with pytest.raises((RuntimeError, IndexError), match=words) as caught:
            function(*bad)
        told.append(str(caught.value))
    with pytest.raises((RuntimeError, IndexError)) as caught:
        torch.jit.CompilationUnit(text).f(*bad)
    assert set(told) == {str(caught.value)}


def test_numbers_that_an_operator_refuses_are_refused() -> None:
    function = torch.jit.CompilationUnit(
        "def f(x: Tensor, r: float):\n    return x.masked_fill(x > 0, r) * 2 + 1\n"
    ).f
    x = numbers("float32", 1)
    for _ in range(4):
        function(x, 2.0)
    with pytest.raises(RuntimeError, match="overflow"):
        function(x, 1e300)


def test_the_default_dtype_is_asked_in_each_call() -> None:
    function = torch.jit.CompilationUnit("def f(x: Tensor):\n    return (x + 1) / (x * x)\n").f
    x = numbers("int64", 1)
    try:
        for _ in range(2):
            for dtype in (torch.float32, torch.float64):
                torch.set_default_dtype(dtype)
                assert {function(x).dtype for _ in range(3)} == {dtype}
    finally:
        torch.set_default_dtype(torch.float32)


def test_small_tensors_and_gradients_do_not_join(joined: list[int]) -> None:
    function = torch.jit.CompilationUnit("def f(x: Tensor):\n    return x * 2 + torch.tanh(x)\n").f
    for _ in range(4):
        function(torch.ones(10))
    with torch.enable_grad():
        x = torch.ones(96, 100, requires_grad=True)
        for _ in range(4):
            y = function(x)
        y.sum().backward()
        assert x.grad is not None
    assert joined == []


def test_kernels_are_made_beside_the_calls(monkeypatch: pytest.MonkeyPatch, joined: Any) -> None:
    monkeypatch.delenv(compiling.NATIVE_VARIABLE)
    arrays = kernels.family("elementwise.arrays")
    monkeypatch.setattr(arrays, "is_at_hand", lambda *wanted: False)
    function = torch.jit.CompilationUnit("def f(x: Tensor):\n    return (x - 3) * x + 0.125\n").f
    x = numbers("float32", 1)
    first = bits(function(x))
    until = time.monotonic() + 60
    while not joined and time.monotonic() < until:
        assert bits(function(x)) == first
        time.sleep(0.005)
    assert joined


def test_tensors_of_ever_new_sizes_are_left_to_the_operators(joined: list[int]) -> None:
    function = torch.jit.CompilationUnit("def f(x: Tensor):\n    return x * 2 + x\n").f
    for size in range(9000, 9000 + 2 * fusing.MOST_WAYS):
        x = torch.ones(size)
        assert bits(function(x)) == bits(x * 2 + x)
    x = torch.ones(9000 + fusing.MOST_WAYS // 2)
    assert joined == []
    for _ in range(3):
        assert bits(function(x)) == bits(x * 2 + x)
    assert joined == [2] * 3


def test_views_that_move_in_a_loop_are_no_reason_to_look_again(joined: list[int]) -> None:
    source = """
def f(x: Tensor):
    y = x[0]
    for i in range(x.size(0)):
        y = torch.tanh(x[i] * 2) + y
    return [y]
"""
    check(source, torch.randn(40, 9000))
    assert len(joined) > 100


def test_threads_share_a_group() -> None:
    function: Callable[..., Any] = torch.jit.CompilationUnit(
        "def f(x: Tensor):\n    return torch.sigmoid(x) * x.t() + 1\n"
    ).f
    inputs = [torch.randn(100 + i % 3, 100 + i % 3) for i in range(12)]
    wanted = [bits(torch.sigmoid(x) * x.t() + 1) for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        with torch.no_grad():
            for i in range(48):
                if bits(function(inputs[(i + number) % 12])) != wanted[(i + number) % 12]:
                    wrong.append(i)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong


def test_a_large_operator_beside_others_is_a_kernel(joined: list[int]) -> None:
    def ends(x: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        return x * (1.0 - steps.abs())

    scripted = torch.jit.script(ends)
    for rows, wanted in ((700, [3, 1]), (500, [3])):
        x, steps = torch.randn(rows, 100), torch.linspace(-1, 1, 100)
        for _ in range(3):
            joined.clear()
            assert bits(scripted(x, steps)) == bits(ends(x, steps))
        assert joined == wanted
