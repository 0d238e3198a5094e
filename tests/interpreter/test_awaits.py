"""Calls that are made when somebody waits for them: in Python, script, archives and graphs."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight._awaits import _Await as Await
from rushlight.ir.text.parser import parse_ir
from rushlight.ir.text.printer import print_graph
from rushlight.ops.table.table import TABLE


class Pair:
    def __init__(self, one: Tensor, other: Tensor) -> None:
        self.one = one
        self.other = other

    def both(self) -> Tensor:
        return self.one + self.other


def later(x: Tensor, by: int = 2) -> Tensor:
    return (x + by) * 2


def loud(x: Tensor) -> Tensor:
    print("ran")
    return x


def pair(x: Tensor) -> Pair:
    return Pair(x, x * 3)


def picky(x: Tensor) -> Tensor:
    assert bool(x.sum() > 10), "too small"
    return x


def waits(x: Tensor) -> Tensor:
    waited = torch.jit._awaitable(later, x)
    number = torch.jit._awaitable_nowait(3)
    return torch.jit._awaitable_wait(waited) + torch.jit._awaitable_wait(number)


def named(x: Tensor) -> Tensor:
    waited: Await[Tensor] = torch.jit._awaitable(later, x, by=5)
    return torch.jit._awaitable_wait(waited)


def once(x: Tensor) -> Tensor:
    waited = torch.jit._awaitable(loud, x)
    print("made")
    return torch.jit._awaitable_wait(waited) + torch.jit._awaitable_wait(waited)


def of_operator(x: Tensor) -> Tensor:
    return torch.jit._awaitable_wait(torch.jit._awaitable(torch.relu, x))


def seen_through(x: Tensor) -> Tensor:
    waited: Await[Pair] = torch.jit._awaitable(pair, x)
    tensor = torch.jit._awaitable(later, x)
    return waited.one + waited.both() + tensor.relu()


def in_list(x: Tensor) -> Tensor:
    waiting: list[Await[Tensor]] = []
    for i in range(3):
        waiting.append(torch.jit._awaitable(later, x, i))
    for each in waiting:
        x = x + torch.jit._awaitable_wait(each)
    return x


def perhaps(x: Tensor) -> Tensor:
    waited: Await[Tensor] | None = None
    if bool(x.sum() > 0):
        waited = torch.jit._awaitable(later, x)
    if waited is not None:
        return torch.jit._awaitable_wait(waited)
    return x


def is_awaited(x: Tensor) -> bool:
    return isinstance(torch.jit._awaitable_nowait(x), torch.jit._Await)


def changed_meanwhile(x: Tensor) -> Tensor:
    y = x.clone()
    waited = torch.jit._awaitable(later, y)
    y.add_(1)
    return torch.jit._awaitable_wait(waited)


@pytest.mark.parametrize(
    "function",
    [
        waits,
        named,
        once,
        of_operator,
        seen_through,
        in_list,
        perhaps,
        is_awaited,
        changed_meanwhile,
    ],
    ids=lambda f: f.__name__,
)
def test_python_script_and_archive_agree(function, capsys) -> None:
    x = torch.tensor([1.0, 2.0])
    scripted = torch.jit.script(function)
    archive = io.BytesIO()
    torch.jit.save(scripted, archive)
    archive.seek(0)
    told = []
    for way in (scripted, torch.jit.load(archive), function):
        if function is is_awaited and way is function:
            continue  # Python's own object is of the class below
        result = way(x)
        told.append((result if isinstance(result, bool) else result.tolist(), capsys.readouterr()))
    assert all(each == told[0] for each in told)


class Late(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def scaled(self, x: Tensor, by: int) -> Tensor:
        return self.inner(x) * by

    def forward(self, x: Tensor) -> Tensor:
        own = torch.jit._awaitable(self.scaled, x, 3)
        other = torch.jit._awaitable(self.inner, x)
        return torch.jit._awaitable_wait(own) + torch.jit._awaitable_wait(other)


def test_methods_and_modules_wait_too_frozen_or_not() -> None:
    module = Late().eval()
    x = torch.ones(1, 2)
    scripted = torch.jit.script(module)
    expected = (module.inner(x) * 4).tolist()
    torch.testing.assert_close(scripted(x).tolist(), expected)
    torch.testing.assert_close(torch.jit.freeze(scripted)(x).tolist(), expected)
    scripted(x).sum().backward()
    assert module.inner.weight.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


GRAPH = """\
graph(%x.1 : Tensor):
  %2 : int = prim::Constant[value=5]()
  %waited.1 : Await(Tensor) = prim::awaitable_0(%x.1, %2)
  %8 : Tensor = prim::awaitable_wait(%waited.1)
  return (%8)
with prim::awaitable_0 = graph(%x.1 : Tensor,
      %6 : int):
  %1 : Function = prim::Constant[name="later"]()
  %4 : Tensor = prim::CallFunction(%1, %x.1, %6)
  return (%4)
"""


def test_the_graph_and_its_text() -> None:
    graph = torch.jit.script(named).graph
    assert print_graph(graph._inner, comments=False) == GRAPH
    text = "graph(%x : Tensor):\n  %a : Await(Tensor) = prim::awaitable_0(%x)\n  return (%a)\n"
    text += "with prim::awaitable_0 = graph(%y : Tensor):\n  return (%y)\n"
    assert print_graph(parse_ir(text, table=TABLE), comments=False) == text


def test_the_code() -> None:
    code = torch.jit.script(named).code
    assert code == (
        "def named(x: Tensor) -> Tensor:\n"
        "  def __awaitable_function():\n"
        f"    _0 = __torch__.{__name__}.later\n"
        "    return _0(x, 5, )\n"
        "  waited = awaitable(__awaitable_function)\n"
        "  return ops.prim.awaitable_wait(waited)\n"
    )


def forgotten(x: Tensor) -> Tensor:
    torch.jit._awaitable(loud, x)
    return x


def test_what_nobody_waits_for_is_never_run(capsys) -> None:
    scripted = torch.jit.script(forgotten)
    assert "awaitable" not in str(scripted.graph)
    scripted(torch.ones(1))
    forgotten(torch.ones(1))
    assert capsys.readouterr().out == ""


def given_out(x: Tensor):
    return torch.jit._awaitable(picky, x * 2)


def test_what_script_gives_out_runs_when_python_waits() -> None:
    waited = torch.jit.script(given_out)(torch.ones(2))
    assert type(waited) is torch._C._Await
    assert (waited.is_nowait(), waited.args(), waited.type()) == (True, (), "Await[Tensor]")
    for _ in range(2):  # and again, for a failure is no result
        with pytest.raises(torch.jit.Error, match=r"in <awaitable function>(.|\n)*too small"):
            torch.jit._awaitable_wait(waited)
    x = torch.full((2,), 4.0, requires_grad=True)
    waited = torch.jit.script(given_out)(x)
    torch.jit._awaitable_wait(waited).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert torch.jit._awaitable_wait(waited) is torch.jit._awaitable_wait(waited)


def failing(x: Tensor) -> Tensor:
    return torch.jit._awaitable_wait(torch.jit._awaitable(picky, x))


def test_failures_are_those_of_the_one_who_waits() -> None:
    with pytest.raises(torch.jit.Error) as caught:
        torch.jit.script(failing)(torch.ones(2))
    text = str(caught.value)
    assert (
        text.index("in failing") < text.index("in <awaitable function>") < text.index("too small")
    )


def taken(waited: Await[Tensor]) -> Tensor:
    return torch.jit._awaitable_wait(waited) * 3


def test_python_gives_script_what_it_can_wait_for() -> None:
    script = torch.jit.script(taken)
    x = torch.ones(2, requires_grad=True)
    script(torch.jit._awaitable(later, x)).sum().backward()
    script(torch.jit._awaitable_nowait(x)).sum().backward()
    assert x.grad.tolist() == [9.0, 9.0]
    for wrong in (x, 3, torch.jit._awaitable_nowait("text")):
        with pytest.raises(RuntimeError, match=r"Expected a value of type 'Await\[Tensor\]'"):
            script(wrong)


def test_in_python_the_call_is_made_once() -> None:
    calls = []

    def call(x: int, *, by: int = 1) -> int:
        calls.append(x)
        return x + by

    waited = torch.jit._awaitable(call, 3, by=4)
    assert (waited.fn(), waited.args(), waited.is_nowait()) == (call, (3,), False)
    assert calls == []
    assert [torch.jit._awaitable_wait(waited), waited.wait(), waited.bit_length()] == [7, 7, 3]
    assert calls == [3]
    assert waited.absent is None
    assert not hasattr(waited, "__len__")
    known = torch.jit._awaitable_nowait(33)
    assert (known.is_nowait(), known.args(), known.type()) == (True, (33,), "Await[PyObject]")
    with pytest.raises(RuntimeError, match="awaitable_nowait does not have fn"):
        known.fn()


def test_what_cannot_be_awaited() -> None:
    for wrong, error in ((3, TypeError), (None, RuntimeError)):
        with pytest.raises(error):
            torch.jit._awaitable_wait(wrong)
    with pytest.raises(TypeError, match="'int' is not an instance of 'function'"):
        torch.jit._awaitable(3)
    known = torch.jit._awaitable_nowait(1)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(RuntimeError, match=r"Can not pickle torch\.jit\._Await"):
            attempt(known)
    for cls in (Await, torch._C._Await):
        with pytest.raises(TypeError, match="No constructor defined"):
            cls()
    assert torch._jit_internal.is_await(Await[int])
    assert not torch._jit_internal.is_await(int)


def no_function(x: Tensor) -> Tensor:
    return torch.jit._awaitable()


def argument_missing(x: Tensor) -> Tensor:
    return torch.jit._awaitable(later)


def no_await(x: Tensor) -> Tensor:
    return torch.jit._awaitable_wait(x)


def other_element(x: Tensor):
    waited: Await[int] = torch.jit._awaitable(later, x)
    return waited


def no_such_attribute(x: Tensor):
    return torch.jit._awaitable(pair, x).nothing


@pytest.mark.parametrize(
    ("function", "told", "marked"),
    [
        (no_function, "Expected at least one argument to awaitable()", "torch.jit._awaitable"),
        (argument_missing, "Argument x not provided", "torch.jit._awaitable(later"),
        (no_await, "Cannot match an await to Tensor", "torch.jit._awaitable_wait"),
        (other_element, "is being assigned to a value of type Await[Tensor]", "waited"),
        (no_such_attribute, "object has no attribute or method 'nothing'", None),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refusals(function, told: str, marked: str | None) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(function)
    text = str(caught.value)
    assert told in text
    if marked is not None:
        assert f" {'~' * len(marked)} <--- HERE" in text


def doubled(x: Tensor) -> Tensor:
    return x * 2


def forked(x: Tensor):
    return torch.jit.fork(doubled, x)


def joined(task: torch.jit.Future[Tensor]) -> Tensor:
    return torch.jit.wait(task) * 3


def test_gradients_pass_tasks_that_leave_script_or_enter_it() -> None:
    x = torch.ones(2, requires_grad=True)
    joins, forks = torch.jit.script(joined), torch.jit.script(forked)
    forks(x).wait().sum().backward()
    joins(forks(x)).sum().backward()
    joins(torch.jit.fork(doubled, x)).sum().backward()
    assert x.grad.tolist() == [14.0, 14.0]


def fork_of_nothing(x: Tensor):
    return torch.jit.fork(later)


def test_a_task_that_lacks_an_argument_is_marked_as_a_whole() -> None:
    with pytest.raises(RuntimeError, match=r"\n {11}~{20} <--- HERE"):
        torch.jit.script(fork_of_nothing)
