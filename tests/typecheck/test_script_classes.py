"""Script classes, enumerations and interfaces at the border between Python and scripted code."""

from __future__ import annotations

import copy
import enum
import io

import pytest

import rushlight as torch


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.count = start
        self.seen = [start]

    def add(self, n: int) -> int:
        self.count += n
        self.seen.append(self.count)
        return self.count


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Mixed(enum.Enum):
    NUMBER = 1
    TEXT = "a"


def bumped(counter: Counter):
    counter.add(2)
    return counter


def test_objects_are_copied_at_the_border() -> None:
    mine = Counter(1)
    theirs = torch.jit.script(bumped)(mine)
    assert type(theirs) is Counter
    assert (theirs.count, theirs.seen) == (3, [1, 3])
    assert (mine.count, mine.seen) == (1, [1])


def other(colour: Colour) -> Colour:
    if colour == Colour.RED:
        return Colour.BLUE
    return Colour.RED


def total():
    found = 0
    for colour in Colour:
        found += colour.value
    return found


def test_members_of_enumerations_pass_the_border() -> None:
    assert torch.jit.script(other)(Colour.RED) is Colour.BLUE
    assert torch.jit.script(other)(Colour.BLUE) is Colour.RED
    assert torch.jit.script(total)() == 3


def of_mixed(x: Mixed):
    return x


def test_an_enumeration_of_two_types_is_no_type() -> None:
    with pytest.raises(RuntimeError, match="Could not unify type list"):
        torch.jit.script(of_mixed)


class Derived(Counter):
    def more(self) -> int:
        return self.count


def test_inheritance_is_refused() -> None:
    with pytest.raises(RuntimeError, match="does not support inheritance"):
        torch.jit.script(Derived)


class Holder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.counter = Counter(5)

    def forward(self, n: int) -> int:
        return self.counter.add(n)


def test_an_object_held_by_a_module_is_saved_and_copied() -> None:
    scripted = torch.jit.script(Holder())
    twin = copy.deepcopy(scripted)
    assert scripted(1) == 6
    assert twin(10) == 15
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    assert loaded.counter.count == 6
    assert loaded(1) == 7
    assert loaded.counter.add(1) == 8


def quiet(x: torch.Tensor, fail: bool) -> bool:
    with torch.no_grad():
        if fail:
            raise ValueError("stop")
    return torch.is_grad_enabled()


def test_a_failure_leaves_the_contexts_it_was_in() -> None:
    scripted = torch.jit.script(quiet)
    assert scripted(torch.ones(1), False) is True
    with pytest.raises(Exception, match="stop"):
        scripted(torch.ones(1), True)
    assert torch.is_grad_enabled()


def plus(x: int) -> int:
    return x + 1


def forked(x: int):
    task = torch.jit.fork(plus, x)
    return torch.jit.wait(task), task


def failing(x: int) -> int:
    assert x > 0, "must be positive"
    return x


def fork_failing(x: int):
    return torch.jit.fork(failing, x)


def test_tasks() -> None:
    value, future = torch.jit.script(forked)(3)
    assert (value, future.wait(), future.done()) == (4, 4, True)
    kept = torch.jit.script(fork_failing)(-1)
    with pytest.raises(Exception, match="must be positive"):
        kept.wait()


def fork_and_forget(x: int):
    torch.jit.fork(failing, x)
    futures = [torch.jit.fork(failing, x)]
    futures.append(torch.jit.fork(failing, x))
    return x


def fork_and_wait(x: int):
    torch.jit.fork(failing, x).wait()
    return x


def test_a_task_that_nobody_waits_for_is_never_begun() -> None:
    scripted = torch.jit.script(fork_and_forget)
    assert scripted(-1) == -1
    assert "fork" not in str(scripted.graph)
    with pytest.raises(Exception, match="must be positive"):
        torch.jit.script(fork_and_wait)(-1)


def test_compilation_units() -> None:
    unit = torch.jit.CompilationUnit("def one(x: int) -> int:\n    return x + 1\n")
    unit.define("def two(x: int) -> int:\n    return one(one(x))\n")
    assert unit.two(1) == 3
    with pytest.raises(AttributeError):
        unit.three  # noqa: B018


@pytest.mark.parametrize("value", ["0.+2.j", "1.5-2.j", "-1.+0.j", "-0.5-3.j", "2.j"])
def test_complex_defaults_of_texts(value: str) -> None:
    text = f"def f(x: complex = {value}) -> complex:\n    return x\n"
    assert torch.jit.CompilationUnit(text).f() == complex(value)


class Calls(torch.nn.Module):
    @torch.jit.ignore
    def swap(self, x: tuple[int, str]) -> tuple[str, int]:
        return x[1], x[0]

    @torch.jit.unused
    def never(self, x: int) -> int:
        return x

    def forward(self, x: int):
        if x < 0:
            return self.never(x), "", 0
        text, number = self.swap((x, "a"))
        return x, text, number


def test_functions_left_to_python() -> None:
    scripted = torch.jit.script(Calls())
    assert scripted(3) == (3, "a", 3)
    assert "^swap()(self" in scripted.code
    with pytest.raises(Exception, match="annotated to be ignored"):
        scripted(-1)
    with pytest.raises(RuntimeError, match="Could not export Python function call 'swap'"):
        torch.jit.save(scripted, io.BytesIO())


class Plain(torch.nn.Module):
    def forward(self, x: int) -> int:
        return x + 1


def wrong_input(self, inputs: tuple[str]) -> None:
    return None


def test_a_hook_must_fit() -> None:
    module = Plain()
    module.register_forward_pre_hook(wrong_input)
    with pytest.raises(RuntimeError, match="wrong inner types for the input tuple"):
        torch.jit.script(module)


def extended(numbers: list[int], names: dict[str, int]) -> None:
    numbers.append(9)
    names["z"] = 1


def test_scripted_lists_and_dicts_are_shared() -> None:
    numbers, names = torch.jit.script([1]), torch.jit.script({"a": 0})
    torch.jit.script(extended)(numbers, names)
    assert list(numbers) == [1, 9]
    assert dict(names.items()) == {"a": 0, "z": 1}


class Sliced(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Plain(), Plain()])

    def forward(self, x: int) -> int:
        for layer in self.layers[1:]:
            x = layer(x)
        return x


class Chosen(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Plain(), Plain()])

    def forward(self, x: int) -> int:
        return self.layers[x](x)


def test_what_containers_cannot_do() -> None:
    with pytest.raises(RuntimeError, match="no attribute or method '__call__'"):
        torch.jit.script(Sliced())
    with pytest.raises(RuntimeError, match="Expected integer literal for index"):
        torch.jit.script(Chosen())


@torch.jit.script
class Row:
    def __init__(self, start: int):
        self.start = start

    def __getitem__(self, place: int) -> int:
        return self.start + place

    def __contains__(self, number: int) -> bool:
        return number == self.start


def places_of(n: int):
    row = Row(n)
    return row[3] + row[-1], n in row, n + 1 in row


def test_objects_are_indexed_and_asked_what_they_hold() -> None:
    assert torch.jit.script(places_of)(4) == (10, True, False)


class Wrong:
    def __init__(self, n: int) -> None:
        self.n = n + "a"  # type: ignore[operator]


def test_mistakes_in_a_class_are_told_with_the_use_that_led_there() -> None:
    def uses(n: int) -> int:
        return Wrong(n).n

    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(uses)
    (found,) = caught.value.diagnostics  # type: ignore[attr-defined]
    (demand,) = found.demands
    assert demand.callee.endswith("Wrong")
    assert (demand.caller, demand.span.text) == ("uses", "Wrong")
