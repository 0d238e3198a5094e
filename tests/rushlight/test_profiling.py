"""Profiles of scripted code: `rushlight profile`, and the function behind it."""

from __future__ import annotations

import json
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.interpreter.running.tiers import Tiers
from rushlight.profiling import Profile, profile

nn = torch.nn
HERE = Path(__file__)


class Cell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(8, 16)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.into(x) + h)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = Cell()

    def forward(self, x: torch.Tensor, n: int = 5) -> torch.Tensor:
        h = torch.zeros(x.size(0), 16)
        for _ in range(n):
            h = self.cell(x, h)
        return h


def line_of(text: str) -> str:
    """`file:line` of this file where a text stands first."""
    lines = HERE.read_text().split("\n")
    return f"{HERE}:{next(i for i, line in enumerate(lines, 1) if text in line)}"


def taken(function: Any, *args: object) -> dict[str, Any]:
    return profile(function, args, seconds=1e-6).data()


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows}


def test_operators_lines_and_modules_of_a_call() -> None:
    found = taken(torch.jit.script(Net()), torch.ones(1, 8))
    operators, lines = by_name(found["operators"]), by_name(found["lines"])
    assert operators["aten::linear"]["calls"] == 5 == operators["aten::tanh"]["calls"]
    assert operators["aten::zeros"]["calls"] == 1
    tanh = lines[line_of("return torch.tanh")]
    assert tanh["text"] == "return torch.tanh(self.into(x) + h)"
    assert tanh["calls"] >= 10  # an addition and a tanh in each round
    modules = by_name(found["modules"])
    assert {"", "cell", "cell.into"} == modules.keys()
    assert modules["cell"]["calls"] == tanh["calls"]
    assert found["calls"] >= 3 <= found["timed_calls"]


def frames(frame: dict[str, Any]) -> dict[str, dict[str, Any]]:
    inside: dict[str, dict[str, Any]] = {frame["name"]: frame}
    for each in frame["inside"]:
        inside.update(frames(each))
    return inside


def test_a_tree_of_who_called_what_sums_up() -> None:
    found = taken(torch.jit.script(Net()), torch.ones(1, 8))
    every = frames(found["tree"])
    (net,) = found["tree"]["inside"]
    assert net["name"] == "Net.forward"
    assert net["calls"] == 1
    assert every["Cell.forward"]["module"] == "cell"
    assert every["Cell.forward"]["place"] == line_of("h = self.cell(x, h)")
    assert "aten::linear" in frames(every["Linear.forward"])
    for frame in every.values():
        if frame["kind"] != "operator":
            assert frame["us"] == pytest.approx(sum(e["us"] for e in frame["inside"]), abs=0.1)
    for rows in ("operators", "lines", "modules"):
        assert sum(row["us"] for row in found[rows]) == pytest.approx(net["us"], abs=0.1)


@torch.jit.interface
class Step(nn.Module):
    def step(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Twice(nn.Module):
    def step(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Calling(nn.Module):
    inner: Step

    def __init__(self) -> None:
        super().__init__()
        self.inner = Twice()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner.step(self.inner.step(x)) + 1


def test_calls_that_are_not_inlined_are_functions_of_their_own() -> None:
    found = taken(torch.jit.script(Calling()), torch.ones(2))
    calls = {each["name"]: each["calls"] for each in found["functions"]}
    assert calls == {"Calling.forward": 1, "Twice.step": 2}
    step = frames(found["tree"])["Twice.step"]
    assert step["module"] == "inner"
    assert "aten::mul.Scalar" in frames(step)


def counting(n: int) -> int:
    total = 0
    for i in range(n):
        total += i % 3
    return total


def test_stretches_that_are_one_native_call_are_named() -> None:
    pytest.importorskip("llvmlite")
    model, x = torch.jit.script(Net()), torch.ones(1, 8)
    with torch.no_grad():
        for _ in range(60):
            model(x)
        (function,) = taken(model, x)["functions"]
        (stretch,) = function["stretches"]
        assert stretch["place"].startswith(str(HERE))
        assert bool(stretch["sizes"]) != bool(stretch["why_not"])
        assert "one native call" in str(found_by(model, x))


def counting_beside(x: torch.Tensor, n: int):
    total = 0
    for i in range(n):
        total += i % 3
    return torch.roll(x, 1) + total


def test_loops_that_are_native_by_themselves_are_named() -> None:
    pytest.importorskip("llvmlite")
    scripted, x = torch.jit.script(counting_beside), torch.ones(2)
    (function,) = taken(scripted, x, 5)["functions"]
    (island,) = function["islands"]
    assert island["place"].startswith(str(HERE))
    assert bool(island["is_native"]) != bool(island["why_not"])
    until = time.monotonic() + 60
    while "numbers and containers, natively" not in str(found_by(scripted, x, 5)):
        assert time.monotonic() < until
        scripted(x, 20_000)


def adding(n: int) -> int:
    return n + 1


def test_the_tier_and_why_it_is_no_higher(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    (native,) = taken(torch.jit.script(counting), 10)["functions"]
    assert (native["tier"], native["not_native"]) == ("native", "")
    (plan,) = taken(torch.jit.script(Net()), torch.ones(1, 8))["functions"]
    assert plan["tier"] == "plan"
    assert "over tensors" in plan["not_native"]
    monkeypatch.setenv("RUSHLIGHT_PLAN", "off")
    (machine,) = taken(torch.jit.script(adding), 1)["functions"]
    assert (machine["tier"], machine["not_plan"]) == ("machine", "plans are switched off")


def test_values_and_gradients_are_those_of_other_calls() -> None:
    model, x = torch.jit.script(Net()), torch.ones(1, 8, requires_grad=True)
    kept: list[torch.Tensor] = []
    profile(lambda: kept.append(model(x)), seconds=1e-6)
    kept[-1].sum().backward()
    once, x.grad = x.grad, None
    kept[0].sum().backward()
    assert torch.equal(kept[0], kept[-1])
    assert torch.equal(once, x.grad)


def test_tensors_without_data_are_timed_as_well() -> None:
    found = taken(failing, torch.ones(7, device="meta"))
    assert by_name(found["operators"])["aten::view"]["calls"] == 1
    assert found["functions"][0]["not_plan"] == "its values are tensors themselves"


@torch.jit.script
def failing(x: torch.Tensor) -> torch.Tensor:
    return x.view(7)


def test_an_error_ends_it_and_leaves_nothing_behind() -> None:
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        profile(failing, (torch.ones(2),))
    assert Tiers.way is Tiers.usual_way

    def twice() -> None:
        profile(failing, (torch.ones(7),), seconds=1e-6)

    with pytest.raises(RuntimeError, match="being taken already"):
        profile(twice, seconds=1e-6)
    assert Tiers.way is Tiers.usual_way
    twice()


def test_what_cannot_be_profiled() -> None:
    with pytest.raises(RuntimeError, match="nothing scripted has run"):
        profile(len, ([],), seconds=1e-6)
    with pytest.raises(ValueError, match="seconds has to be positive"):
        profile(failing, (torch.ones(7),), seconds=0)


class Page(HTMLParser):
    """What a page holds: titles of frames, attributes that could load something, its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.titles: list[str] = []
        self.loads: list[str] = []
        self.depth = self.deepest = 0
        self.data = ""
        self._is_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.loads += [name for name in given if name in ("src", "href", "action", "data")]
        self._is_data = tag == "script" and given.get("id") == "data"
        self.titles += [given["title"] or ""] if "title" in given else []
        if tag == "div":
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)

    def handle_endtag(self, tag: str) -> None:
        self._is_data = False
        self.depth -= tag == "div"

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data += data


def found_by(function: Any, *args: object) -> Profile:
    return profile(function, args, seconds=1e-6)


def test_a_page_needs_nothing_else() -> None:
    found = found_by(torch.jit.script(Net()), torch.ones(1, 8))
    page = Page(found.html())
    assert page.loads == []
    assert "http://" not in found.html()
    assert "https://" not in found.html()
    assert "default-src 'none'" in found.html()
    assert page.depth == 0
    assert page.deepest >= 12  # two for each frame, and the graph itself
    assert json.loads(page.data) == found.data()
    assert any(each.startswith("aten::tanh · ") and "module cell" in each for each in page.titles)


def test_names_of_programs_cannot_leave_their_places_in_a_page() -> None:
    found = found_by(torch.jit.script(Net()), torch.ones(1, 8))
    hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    found.name = found.operators[0].name = found.lines[0].text = found.root.name = hostile
    page = Page(found.html())
    assert page.loads == []
    assert json.loads(page.data)["name"] == hostile
    assert found.html().count("<script") == 2


@pytest.fixture
def archive(tmp_path: Path) -> str:
    path = tmp_path / "net.pt"
    torch.jit.script(Net()).save(path)
    return str(path)


ONES = "[[1, 1, 1, 1, 1, 1, 1, 1.0]]"


def test_the_command(archive: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    asked = ["profile", archive, ONES, "n=2", "--seconds", "0.001", "--html", str(page)]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert "not native: it runs under a guard" in told
    assert "aten::linear" in told
    assert "they are noted for gradients" in told
    assert "return torch.tanh(self.into(x) + h)" in told
    assert Page(page.read_text()).deepest > 8
    assert main(asked) == 2  # the page is there
    assert "--force" in capsys.readouterr().err
    assert main([*asked, "--force", "--no-grad"]) == 0
    assert "noted for gradients" not in capsys.readouterr().out
    assert main([*asked, "--force", "--json", "--trust", "full"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert by_name(found["operators"])["aten::linear"]["calls"] == 2
    assert by_name(found["lines"])[line_of("return torch.tanh")]["calls"] == 6
    assert found["functions"][0]["name"] == "Net.forward"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--seconds", "0"], "not a positive number of seconds"),
        (["--seconds", "inf"], "not a positive number of seconds"),
        (["--method", "forwrd"], "did you mean `forward`"),
        ([], "gives no value for `x`"),
    ],
)
def test_wrong_commands(
    archive: str, given: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["profile", archive, *given])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status in (1, 2)
    assert told in capsys.readouterr().err


class Printing(nn.Module):
    def forward(self, n: int) -> int:
        print("round", n)
        return n


def test_what_a_script_prints_is_not_in_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.jit.script(Printing()).save(tmp_path / "printing.pt")
    assert (
        main(["profile", str(tmp_path / "printing.pt"), "3", "--seconds", "0.001", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["name"].endswith("Printing.forward")


def test_profiles_of_lines() -> None:
    def rounds(x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = x + 1
        return x * 2

    scripted, other = torch.jit.script(rounds), torch.jit.script(lambda_free)
    outer, inner = torch.jit._ScriptProfile(), torch.jit._ScriptProfile()
    scripted(torch.ones(2))
    assert outer.dump_string() == ""
    outer.enable()
    scripted(torch.ones(2))
    inner.enable()
    other(torch.ones(2))
    inner.disable()
    scripted(torch.ones(2))
    outer.disable()
    scripted(torch.ones(2))
    first, second = outer.dump_string().split("\n\n")
    head, _, *lines = first.split("\n")
    assert head == "  Line #    Hits   Time (ns) Line Contents"
    found = {line[29:].strip(): line[:29].split() for line in lines}
    assert found["x = x + 1"][1] == "6"
    assert int(found["x = x + 1"][2]) > 0
    assert len(found["def rounds(x: torch.Tensor) -> torch.Tensor:"]) == 1
    assert "return x - 1" in second
    assert inner.dump_string().split("\n")[2:] == second.split("\n")[2:]


def lambda_free(x: torch.Tensor) -> torch.Tensor:
    return x - 1
