"""Scripted code line by line, as debuggers, coverage and profilers see it."""

from __future__ import annotations

import cProfile
import io
import os
import pdb
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Dict, List, Optional, Tuple

import pytest

import rushlight as torch
from rushlight.frontend.sources.source import Source
from rushlight.interpreter.running import source_files
from rushlight.interpreter.running.tiers import Tiers


@pytest.fixture(autouse=True)
def debugging() -> Iterator[None]:
    torch.debug()
    yield
    torch.debug(False)


def lines_of(call: Callable[[], object], file: str = __file__) -> tuple[list[int], object]:
    """The lines of a file that run in a call, in order, and its result."""
    found: list[int] = []

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and frame.f_code.co_filename == file:
            found.append(frame.f_lineno)
        return trace

    own, before = sys._getframe().f_lineno, sys.gettrace()
    sys.settrace(trace)
    try:
        result = call()
    finally:
        sys.settrace(before)
    return [line for line in found if not own <= line <= own + 6], result


def branches(x: torch.Tensor, n: Optional[int] = None) -> torch.Tensor:
    """A docstring, which is no line that runs."""
    if n is None:
        n = 3
    elif n > 7:
        return x
    else:
        n += 1
    if n > 100 and x.sum() > 0:
        pass
    return x * n


def loops(n: int) -> Tuple[int, List[int]]:
    seen: List[int] = []
    total = 0
    for i in range(n):
        if i == 1:
            continue
        for j in range(i):
            total += j
            if total > 12:
                break
        seen.append(total)
    k = 0
    while k < 3:
        k += 1
        if k == 2:
            continue
        total += k
    while True:
        k -= 1
        if k < 0:
            break
    return total, seen


def containers(words: List[str]) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for number, word in enumerate(words):
        counts[word] = counts.get(word, 0) + number
    doubled = {word: 2 * count for word, count in counts.items()}
    first, second = (1, 2)
    first, second = second, first
    pairs = [(word, first) for word in words]
    assert len(pairs) > 0, "none"
    del counts["a"]
    doubled["pairs"] = len(pairs) + second
    with torch.no_grad():
        return doubled


def raising(n: int) -> int:
    if n > 2:
        raise ValueError("too large")
    return n


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()])
        self.scale = 2.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.scale > 1.0:
            x = x * self.scale
        for layer in self.layers:
            x = layer(x)
        return self.inner(x)

    def inner(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        return y + 1


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (branches, (torch.ones(2),)),
    (branches, (torch.ones(2), 4)),
    (branches, (torch.ones(2), 9)),
    (branches, (torch.ones(2), 200)),
    (loops, (6,)),
    (loops, (0,)),
    (containers, (["a", "b", "a", "c"],)),
    (raising, (1,)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_the_lines_are_those_of_python(function: Any, arguments: tuple[Any, ...]) -> None:
    scripted = torch.jit.script(function)
    plain, expected = lines_of(partial(function, *arguments))
    seen, result = lines_of(partial(scripted, *arguments))
    assert repr(result) == repr(expected)
    assert set(seen) == set(plain)
    torch.debug(False)
    usual, result = lines_of(partial(scripted, *arguments))
    assert repr(result) == repr(expected)
    assert not set(usual) & set(plain)


def test_modules_and_their_methods() -> None:
    model = Model()
    scripted = torch.jit.script(model)
    x = torch.ones(2, 3)
    plain, expected = lines_of(partial(model, x))
    seen, result = lines_of(partial(scripted, x))
    assert torch.equal(result, expected)  # type: ignore[arg-type]
    assert set(seen) == set(plain)
    assert [line for line in seen if line in plain[:3]] == plain[:3]


def test_locals_are_python_values() -> None:
    found: dict[str, type] = {}

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if event == "return" and frame.f_code.co_qualname == "Model.inner":
            found.update({n: type(v) for n, v in frame.f_locals.items() if n[0] != "."})
        return trace

    scripted, before = torch.jit.script(Model()), sys.gettrace()
    sys.settrace(trace)
    try:
        scripted(torch.ones(2, 3))
    finally:
        sys.settrace(before)
    assert found == {
        "self": torch.jit.RecursiveScriptModule,
        "x": torch.Tensor,
        "y": torch.Tensor,
    }


def test_archives_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    torch.jit.script(Model()).save(str(tmp_path / "model.pt"))
    loaded = torch.jit.load(str(tmp_path / "model.pt"))
    files: dict[str, set[int]] = {}

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            files.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        loaded(torch.ones(2, 3))
    finally:
        sys.settrace(before)
    (name,) = (name for name in files if name.endswith("Model.py") or "test_lines" in name)
    text = Path(name).read_text(encoding="utf-8").splitlines()
    assert any("return (self).inner(" in text[line - 1] for line in files[name])
    assert all(text[line - 1].strip() for line in files[name])


def test_what_fails_is_told_as_always() -> None:
    scripted, model = torch.jit.script(raising), torch.jit.script(Model())
    told = []
    for on in (True, False):
        torch.debug(on)
        with pytest.raises(torch.jit.Error) as raised:
            scripted(3)
        with pytest.raises(RuntimeError) as failed:
            model(torch.ones(2, 5))
        told.append((str(raised.value), str(failed.value)))
    assert told[0] == told[1]


def test_gradients_are_those_of_always() -> None:
    found = []
    for on in (True, False):
        torch.debug(on)
        torch.manual_seed(0)
        model = torch.jit.script(Model())
        model(torch.ones(2, 3)).sum().backward()
        found.append([p.grad for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def stops(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    breakpoint()
    return y * 2


def test_a_breakpoint_stops_in_the_scripted_function(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    commands = io.StringIO("p y\np __name__\nw\nn\nc\n")

    def stop() -> None:
        debugger = pdb.Pdb(stdin=commands, stdout=said)
        debugger.set_trace(sys._getframe().f_back)

    monkeypatch.setattr(sys, "breakpointhook", stop)
    assert torch.jit.script(stops)(torch.ones(2)).tolist() == [4.0, 4.0]
    text = said.getvalue()
    assert "tensor([2., 2.])" in text
    assert f"{__file__}({stops.__code__.co_firstlineno + 3})stops()" in text
    assert "return y * 2" in text


def test_the_breakpoint_of_python_itself(tmp_path: Path) -> None:
    program = tmp_path / "stops.py"
    program.write_text(
        "import rushlight as torch\n\n\n@torch.jit.script\ndef stops(n: int) -> int:\n"
        "    k = n * 2\n    breakpoint()\n    return k + 1\n\n\nprint(stops(3))\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "RUSHLIGHT_DEBUG": "1"},
        input="p len([k])\nc\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "(Pdb) 1\n" in done.stdout
    assert done.stdout.endswith("7\n")


def fails(x: torch.Tensor, rows: int) -> torch.Tensor:
    columns = rows + 1
    return x.view(rows, columns)


def calls_what_fails(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return fails(y, 2)


def test_failures_come_from_the_lines_that_failed() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.jit.script(calls_what_fails)(torch.ones(5))
    frames = [at.tb_frame for at in _entries(raised.value.__traceback__)][1:]
    assert [frame.f_code.co_name for frame in frames] == ["calls_what_fails", "fails"]
    assert frames[1].f_locals["columns"] == 3
    assert frames[0].f_locals["y"].tolist() == [2.0] * 5
    said = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("p rows, columns\nu\np y.sum()\nq\n"), stdout=said)
    debugger.reset()
    debugger.interaction(None, raised.value.__traceback__)  # type: ignore[arg-type]
    assert "(2, 3)" in said.getvalue()
    assert "tensor(10.)" in said.getvalue()


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def stops_too(x: torch.Tensor) -> torch.Tensor:
    breakpoint()
    return x


def test_a_breakpoint_needs_debugging() -> None:
    torch.debug(False)
    with pytest.raises(RuntimeError) as raised:
        torch.jit.script(stops_too)
    assert "Python builtin <built-in function breakpoint>" in str(raised.value)
    assert "rushlight.debug()" in "".join(raised.value.__notes__)


def test_a_profiler_sees_functions() -> None:
    scripted, profile = torch.jit.script(loops), cProfile.Profile()
    scripted(3)
    profile.enable()
    scripted(3)
    profile.disable()
    code = loops.__code__
    found = [e.code for e in profile.getstats() if getattr(e.code, "co_name", "") == "loops"]
    assert [(c.co_filename, c.co_firstlineno) for c in found] == [  # type: ignore[union-attr]
        (code.co_filename, code.co_firstlineno)
    ]


def test_nothing_is_exchanged_while_nobody_debugs() -> None:
    assert Tiers.way is Tiers.debugged_way
    torch.debug(False)
    assert Tiers.way is Tiers.usual_way
    assert Tiers.way_on_handles is Tiers.usual_way_on_handles


def test_the_environment_says_so_from_the_start(tmp_path: Path) -> None:
    program = "import rushlight\nfrom rushlight.interpreter.running import tiers\n"
    program += "print(tiers.is_debugging())\n"
    for value in ("1", "0"):
        environment = {**os.environ, "RUSHLIGHT_DEBUG": value}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        assert done.stdout == f"{value == '1'}\n"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("code/__torch__.py", "__torch__.py"),
        ("a\0b\n.py", "a_b_.py"),
        ("x" * 5000 + ".py", "x" * 97 + ".py"),
        ("../../etc/p.py", "p.py"),
        ("..", "code"),
        ("\ud800.py", "_.py"),
    ],
)
def test_a_source_of_any_name_has_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    monkeypatch.setattr(source_files, "cache_folder", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    found = Path(source_files.file_of(Source("x = '\ud800'\n", name, first_line=3)))
    assert found.is_relative_to(tmp_path / "sources")
    assert found.name == file
    assert found.read_text(encoding="utf-8") == "\n\nx = '?'\n"
    assert [each.name for each in found.parent.iterdir()] == [file]


def by_tensors(x: torch.Tensor) -> int:
    places: Dict[torch.Tensor, int] = {x: 3}
    return places[x]


def by_names(x: torch.Tensor) -> torch.Tensor:
    places: Dict[str, torch.Tensor] = {"x": x}
    return places["x"]


def in_halves(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ x
    return y


def test_what_is_not_run_line_by_line_runs_as_always() -> None:
    x = torch.ones(2, 2)
    assert lines_of(partial(torch.jit.script(by_tensors), x)) == ([], 3)
    lines, result = lines_of(partial(torch.jit.script(in_halves), x))
    assert not lines
    assert isinstance(result, torch.Tensor)
    assert result.dtype == torch.bfloat16
    lines, result = lines_of(partial(torch.jit.script(by_names), x))
    assert len(lines) == 2
    assert result is x


def draws_a_place(x: torch.Tensor, y: List[int]) -> torch.Tensor:
    pairs = dict(zip(y, y))  # noqa: B905
    return x[torch.randint(0, 4, [3])] + x[abs(y[0])] + len(pairs)


def test_what_is_numbered_twice_draws_once() -> None:
    drawn = []
    for debugging in (True, False):
        torch.debug(debugging)
        torch.manual_seed(0)
        drawn.append([torch.jit.script(draws_a_place)(torch.arange(4), [-1]), torch.rand(1)])
    torch.manual_seed(0)
    drawn.append([draws_a_place(torch.arange(4), [-1]), torch.rand(1)])
    assert [[t.tolist() for t in pair] for pair in drawn[1:]] == [
        [t.tolist() for t in drawn[0]],
        [t.tolist() for t in drawn[0]],
    ]
