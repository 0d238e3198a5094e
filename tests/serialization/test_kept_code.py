"""Code that is kept on disk as it is run, for the next process that opens the archive."""

from __future__ import annotations

import marshal
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.running import kept_code
from rushlight.ops.kernels import kept_files
from rushlight.ops.kernels.kept_files import keep, read_kept

_LINES = [
    "def forward(x: Tensor, rows: int) -> Tensor:",
    "    found: List[Tensor] = []",
    *["    x = x * 0.5 + 1"] * 60,
    "    for i in range(rows):",
    "        found.append(x[i])",
    "    return torch.stack(found)",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "graphs"
    made.mkdir()
    monkeypatch.setattr(kept_code, "_folder", lambda: made)
    return made


def _archive(path: Path, last: str = "") -> Path:
    unit = torch.jit.CompilationUnit("\n".join([*_LINES[:-1], last or _LINES[-1]]))
    torch.jit.save(unit.forward, path)
    return path


def _is_compiled(module: Any) -> bool:
    return module.forward._rushlight_function.define is None


def _run(path: Path) -> tuple[torch.Tensor, bool]:
    module = torch.jit.load(path)
    result = module(torch.arange(6.0).view(3, 2), 2)
    return result, _is_compiled(module)


def test_are_found_by_whoever_opens_the_archive_next(folder: Path, tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.pt")
    first, compiled = _run(path)
    assert compiled
    (file,) = folder.iterdir()
    kept = file.read_bytes()
    second, compiled = _run(path)
    assert not compiled
    assert torch.equal(first, second)
    assert file.read_bytes() == kept


def test_small_functions_are_kept_too(folder: Path, tmp_path: Path) -> None:
    unit = torch.jit.CompilationUnit("def forward(n: int) -> int:\n    return n // 2")
    torch.jit.save(unit.forward, tmp_path / "a.pt")
    for is_kept in (False, True):
        module = torch.jit.load(tmp_path / "a.pt")
        assert module(7) == 3
        assert _is_compiled(module) is not is_kept


def test_go_by_the_code(folder: Path, tmp_path: Path) -> None:
    _run(_archive(tmp_path / "a.pt"))
    _, compiled = _run(_archive(tmp_path / "b.pt", "    return torch.stack(found, 1)"))
    assert compiled
    assert len(list(folder.iterdir())) == 2


def test_tell_faults_as_compiled_ones_do(folder: Path, tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.pt")
    told = list[list[str]]()
    for _ in range(2):
        module, texts = torch.jit.load(path), []
        for values in ((torch.ones(1, 2), 2), (), ("x", 2), (torch.ones(2), 1, 2)):
            with pytest.raises((RuntimeError, IndexError)) as caught:
                module(*values)
            texts.append(f"{type(caught.value)} {caught.value}")
        told.append(texts)
    assert told[0] == told[1]


def test_tell_who_called_what_as_compiled_ones_do(folder: Path, tmp_path: Path) -> None:
    refuses = ["def refuses(x: Tensor) -> Tensor:", "    return x.view(7)"]
    calls = ["def forward(x: Tensor) -> Tensor:", *_LINES[2:-3], "    return refuses(x)"]
    unit = torch.jit.CompilationUnit("\n".join([*refuses, *calls]))
    path = tmp_path / "a.pt"
    torch.jit.save(unit.forward, path)
    told = []
    for _ in range(2):
        module = torch.jit.load(path)
        with pytest.raises(RuntimeError) as caught:
            module(torch.ones(2))
        told.append((str(caught.value), _is_compiled(module)))
    assert told[0] == (told[1][0], True)
    assert not told[1][1]
    assert "in refuses" in told[0][0]


def test_are_compiled_when_they_are_looked_at(folder: Path, tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.pt")
    _run(path)
    module = torch.jit.load(path)
    module(torch.ones(2, 2), 2)
    assert not _is_compiled(module)
    assert "aten::stack" in str(module.graph)
    assert module.forward.schema.arguments[2].name == "rows"
    assert _is_compiled(module)


def _put(file: Path, place: Sequence[int], part: object) -> None:
    """Put something in the place of a part of a file."""
    told = inner = marshal.loads(read_kept(file) or b"")
    for number in place[:-1]:
        inner = inner[number]
    inner[place[-1]] = part
    keep(file, marshal.dumps(told))


_FACTS, _TABLES, _PLANS, _GRAPH = (0, 1), (0, 2), (1,), (2,)


@pytest.mark.parametrize("fault", ["cut off", "no data", "names", "numbers", "parts", "types"])
def test_that_are_not_whole_are_made_again(folder: Path, tmp_path: Path, fault: str) -> None:
    path = _archive(tmp_path / "a.pt")
    expected, _ = _run(path)
    (file,) = folder.iterdir()
    whole = read_kept(file) or b""
    if fault == "cut off":
        file.write_bytes(file.read_bytes()[:-9])
    elif fault == "no data":
        keep(file, b"[")
    elif fault == "names":
        keep(file, whole.replace(b"aten::stack", b"aten::stuck"))
    elif fault == "numbers":
        _put(file, (*_FACTS, 0), [10**6])
    elif fault == "types":
        _put(file, (*_TABLES, 0), [["simple", "Tensors"]])
    else:
        keep(file, marshal.dumps(marshal.loads(whole)[:2]))
    found, compiled = _run(path)
    assert compiled
    assert torch.equal(found, expected)
    assert read_kept(file) == whole


def _plan(text: str, noted: tuple[int, ...] = ()) -> bytes:
    return marshal.dumps((compile(text, "<plan>", "exec"), (), (), noted, (), True))


_NO_PLANS = [
    *(b"", b"?", marshal.dumps((1, 2)), marshal.dumps([]), marshal.dumps(("1", (), (), (), (), 1))),
    *map(_plan, ("", "plan = 1", "plan = what")),
]


@pytest.mark.parametrize("plan", _NO_PLANS)
def test_plans_that_are_none_are_made_again(folder: Path, tmp_path: Path, plan: bytes) -> None:
    path = _archive(tmp_path / "a.pt")
    expected, _ = _run(path)
    (file,) = folder.iterdir()
    _put(file, _PLANS, {False: plan, True: plan})
    found, compiled = _run(path)
    assert not compiled
    assert torch.equal(found, expected)


def test_a_plan_of_unknown_lines_fails_without_a_place(folder: Path, tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.pt")
    _run(path)
    (file,) = folder.iterdir()
    _put(file, _PLANS, {False: _plan("\n" * 500 + "def plan(*given): return [][1]")})
    with pytest.raises(RuntimeError, match="list index out of range"):
        _run(path)


def test_a_plan_with_notes_is_none_where_no_notes_are_taken(folder: Path, tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.pt")
    expected, _ = _run(path)
    (file,) = folder.iterdir()
    _put(file, _PLANS, {False: _plan("def plan(*given): return 1", noted=(0,))})
    assert torch.equal(_run(path)[0], expected)


@pytest.mark.parametrize("graph", [b"", marshal.dumps([[], []]), marshal.dumps(None)])
def test_graphs_that_are_none_are_made_again(folder: Path, tmp_path: Path, graph: bytes) -> None:
    path = _archive(tmp_path / "a.pt")
    expected, _ = _run(path)
    (file,) = folder.iterdir()
    _put(file, _GRAPH, graph)
    module = torch.jit.load(path)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"found\.append[\s\S]*x59 : float32\[1, 2\]"):
            module(torch.ones(1, 2), 2)
    assert torch.equal(module(torch.arange(6.0).view(3, 2), 2), expected)


@pytest.mark.usefixtures("folder")
def test_plans_run_what_was_kept_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "def forward(x: Tensor, n: int) -> Tensor:\n    y = x + n\n    return y * y.sum()"
    loop = "def forward(n: int) -> int:\n    for i in range(n):\n        n += i\n    return n"
    given: list[tuple[str, tuple[Any, ...]]] = [
        (row, (torch.ones(2), 2)),
        (row, (torch.ones(2, requires_grad=True), 2)),
        (loop, (7,)),
    ]
    monkeypatch.delenv("RUSHLIGHT_PLAN", raising=False)
    for text, values in given:
        torch.jit.save(torch.jit.CompilationUnit(text).forward, tmp_path / "a.pt")
        expected = torch.jit.load(tmp_path / "a.pt")(*values)
        with monkeypatch.context() as patched:
            patched.setattr("rushlight.interpreter.running.executable.assemble", None)
            patched.setattr("rushlight.interpreter.running.tiers.make_plan", None)
            found = torch.jit.load(tmp_path / "a.pt")(*values)
        assert str(found) == str(expected)


def test_environments_have_code_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    stamp = kept_code._stamp.__wrapped__
    before = stamp()
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    assert stamp() != before


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_none_is_read_where_others_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_code, "cache_folder", lambda: tmp_path)
    look = kept_code._folder.__wrapped__
    assert look() == tmp_path / "graphs"
    for mode in (0o777, 0o720, 0o702):
        (tmp_path / "graphs").chmod(mode)
        assert look() is None


def test_untrusted_code_has_none(folder: Path, tmp_path: Path) -> None:
    module = torch.jit.load(_archive(tmp_path / "a.pt"), trust="none")
    module(torch.ones(2, 2), 2)
    assert not list(folder.iterdir())


def test_those_not_used_for_longest_go(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MOST_FILES", 2)
    monkeypatch.setattr(kept_files, "_LOOKED_FOR", 1)
    for number in range(4):
        last = f"    return torch.stack(found) * {number}"
        _run(_archive(tmp_path / f"{number}.pt", last))
    assert len(list(folder.iterdir())) in (1, 2)
    assert not _run(tmp_path / "3.pt")[1]


class _Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


class _Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inners = torch.nn.Sequential(*(_Inner() for _ in range(101)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inners(x)


@pytest.mark.parametrize("are_kept", [False, True])
def test_graphs_that_somebody_changes_are_run_and_not_kept(
    folder: Path, tmp_path: Path, are_kept: bool
) -> None:
    torch.jit.script(_Outer()).save(path := tmp_path / "a.pt")
    if are_kept:
        torch.jit.load(path)(torch.ones(1))
    before = list(folder.iterdir())
    module = torch.jit.load(path)
    before_and_after = (f"graph(%x):\n  %y = aten::{n}(%x)\n  return (%y)" for n in ("relu", "neg"))
    inner = getattr(module.inners, "0")
    torch._C._jit_pass_custom_pattern_based_rewrite_graph(*before_and_after, inner.graph)
    assert module(torch.ones(1)).item() == -1
    assert list(folder.iterdir()) == before
    assert len(before) == are_kept


def test_calls_under_autocast_compile_code_of_their_own(folder: Path, tmp_path: Path) -> None:
    unit = torch.jit.CompilationUnit(
        "\n".join([*_LINES[:-1], "    return torch.mm(torch.stack(found), x)"])
    )
    torch.jit.save(unit.forward, tmp_path / "a.pt")
    x = torch.ones(2, 2)
    assert torch.jit.load(tmp_path / "a.pt")(x, 2).dtype == torch.float32
    assert len(list(folder.iterdir())) == 1
    again = torch.jit.load(tmp_path / "a.pt")
    with torch.autocast("cpu", torch.bfloat16):
        assert again(x, 2).dtype == torch.bfloat16
    assert again(x, 2).dtype == torch.float32
