"""Methods whose objects go into native code as they are, beside arguments straight from Python."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.frontend.limits.bounds import BoundExceeded
from rushlight.frontend.limits.walks import check_copies
from rushlight.interpreter.native import native
from rushlight.interpreter.native.program import FAILED
from rushlight.interpreter.running.invoking import tiers_of


class Kept(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.names = {"a": 1, "b": 2}
        self.rows = [[1], [2, 3]]
        self.last = ""

    def forward(self, words: list[str]) -> list[list[int]]:
        found: list[int] = []
        for word in words:
            self.last = word
            if word in self.names:
                found.append(self.names[word])
        self.rows.append(found)
        return self.rows


class Other(torch.nn.Module):
    def forward(self, words: list[str]) -> list[list[int]]:
        return [[len(word)] for word in words]


def method_of(module: torch.nn.Module) -> Any:
    scripted = torch.jit.script(module)
    return scripted, tiers_of(scripted.forward._rushlight_function).way()


def test_an_owner_goes_in_as_it_is_and_is_written_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted, way = method_of(Kept())
    owner = scripted.forward.owner
    found = way.run_straight((owner, ["a", "x", "b"]))
    assert found == [[1], [2, 3], [1, 2]]
    found[0].append(9)  # a copy, as all results are
    assert scripted.rows == [[1], [2, 3], [1, 2]]
    assert scripted.last == "b"
    assert scripted(["b", "wörd"]) == [[1], [2, 3], [1, 2], [2]]
    assert scripted.last == "wörd"


def test_an_owner_is_of_the_class_of_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    _, way = method_of(Kept())
    other, _ = method_of(Other())
    assert way.run_straight((other.forward.owner, ["a"])) is FAILED
    assert way.run_straight(("a", ["a"])) is FAILED


def test_what_an_owner_holds_is_on_trial_first() -> None:
    scripted, way = method_of(Kept())
    owner, made = scripted.forward.owner, way.executable.native
    source = native.write_native(made._code, made._arguments)
    made._compile(source)
    assert way.run_straight((owner, ["a"])) is FAILED
    made._calls, made._in_plan = 1, 1.0  # a plan that takes a second a call
    made.attempt((owner, ["a"]))
    assert way.run_straight((owner, ["b"])) == [[1], [2, 3], [1], [2]]


@pytest.mark.parametrize("depth", [1, 3, 5, 12])
def test_copies_are_counted_however_deep(depth: int) -> None:
    value: list[Any] = [0] * 10
    for _ in range(depth):
        value = [value] * 10
    if depth < 7:
        check_copies(value)
        check_copies((value, {"a": value}))
    else:
        with pytest.raises(BoundExceeded, match="would have more than"):
            check_copies(value)


def test_what_holds_itself_has_no_copy() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(BoundExceeded, match="contains itself"):
        check_copies(value)
    with pytest.raises(BoundExceeded, match="contains itself"):
        check_copies({"a": (value,)})


def added(xs: list[int]) -> int:
    total = 0
    for x in xs:
        total += x
    return total


def test_calls_straight_from_python_have_drafts_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(native, "DRAFT_CALLS", 3)
    scripted = torch.jit.script(added)
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    made._compile(native.write_native(made._code, made._arguments))
    draft, waiting = made._run, []
    assert made._stage is native._Stage.TRIAL  # straight calls need none
    monkeypatch.setattr(made, "_begin_beside", lambda *given: waiting.append(given))
    for _ in range(5):
        assert made.call_straight(([1, 2],)) == 3
    assert len(waiting) == 1
    assert made._draft is None
    assert made.straight_run is None  # nobody keeps the draft meanwhile
    source, work = waiting[0]
    work(source)
    assert made.straight_run is made._run
    assert made._run is not draft


def test_what_cannot_be_finished_on_trial_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    scripted = torch.jit.script(added)
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    made._compile(native.write_native(made._code, made._arguments))
    monkeypatch.setattr(made, "_begin_beside", lambda *given: pytest.fail("it is compiled again"))
    for _ in range(native.TRIALS):
        assert made.attempt((["no number"],)) is FAILED
    assert made.refusal == "calls could not be finished natively"
    assert not made.is_ready
