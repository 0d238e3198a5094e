"""Commands over several files and folders, what they print for programs, and completions."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.cli import progress as progress_module
from rushlight.cli.parser import COMMANDS, all_parsers
from rushlight.cli.schemas import SCHEMAS

nn = torch.nn
Captured = pytest.CaptureFixture[str]


class Model(nn.Module):
    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.linear = nn.Linear(size, 2)

    def forward(self, x: torch.Tensor) -> dict[str, list[torch.Tensor]]:
        return {"y": [self.linear(x)], "z": [torch.tensor([float("nan"), float("inf")])]}

    @torch.jit.export
    def pair(self, n: int) -> tuple[int, str | None, float, complex]:
        return (n, None, float("-inf"), 1 + 2j)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two archives, a file of weights, one that is broken, and a text."""
    models = tmp_path / "models"
    (models / "inner").mkdir(parents=True)
    (models / ".hidden").mkdir()
    torch.manual_seed(0)
    torch.jit.script(Model()).save(models / "a.pt")
    torch.jit.script(Model(3)).save(models / "inner" / "b.pt")
    shutil.copy(models / "a.pt", models / ".hidden" / "c.pt")
    torch.save({"w": torch.ones(2)}, models / "weights.pt")
    (models / "notes.txt").write_text("no model")
    return models


def objects(capsys: Captured, *words: object, status: int = 0) -> list[Any]:
    assert main([str(word) for word in words]) == status
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def names(found: list[Any], folder: Path) -> list[str]:
    return [Path(each["file"]).relative_to(folder).as_posix() for each in found]


def test_folders_are_looked_through(folder: Path, capsys: Captured) -> None:
    assert names(objects(capsys, "show", folder, "--json"), folder) == ["a.pt", "inner/b.pt"]
    assert names(objects(capsys, "audit", folder, "--json"), folder) == ["a.pt", "inner/b.pt"]
    found = objects(capsys, "summary", folder, "--json")
    assert names(found, folder) == ["a.pt", "weights.pt", "inner/b.pt"]
    found = objects(capsys, "what", folder, "--json")
    assert names(found, folder) == ["a.pt", "notes.txt", "weights.pt", "inner/b.pt"]


def test_one_that_cannot_be_read_stops_no_other(folder: Path, capsys: Captured) -> None:
    broken, none = folder / "broken.pt", folder / "none.pt"
    broken.write_bytes((folder / "a.pt").read_bytes()[:200])
    files = [broken, none, folder / "a.pt", folder / "inner" / "b.pt"]
    assert main(["show", *map(str, files), "--modules"]) == 2
    printed = capsys.readouterr()
    assert printed.out.count("linear: Linear") == 2
    assert f"{none}: no such file" in printed.err
    assert "error[archive-truncated]" in printed.err or "broken.pt" in printed.err
    at = [printed.out.index(f"{file}:\n") for file in files]
    assert at == sorted(at)  # told in the order given, each under its name


def test_a_single_archive_has_no_heading(folder: Path, capsys: Captured) -> None:
    assert main(["show", str(folder / "a.pt"), "--modules"]) == 0
    assert capsys.readouterr().out.startswith("Model  (")


def test_a_folder_without_archives_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "no such file in this folder" in capsys.readouterr().err


def test_several_are_converted_into_a_folder(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    found = objects(capsys, "convert", folder, out, "--to", ".npz", "--json")
    written = [Path(each["written"][0]).relative_to(out).as_posix() for each in found]
    assert written == ["a.npz", "inner/b.npz"]
    with np.load(out / "inner" / "b.npz") as arrays:
        assert arrays["linear.weight"].shape == (2, 3)
    assert main(["convert", str(folder), str(out), "--to", ".npz"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["convert", str(folder / "a.pt"), str(folder / "inner" / "b.pt"), str(out)]) == 2
    assert "--to" in capsys.readouterr().err
    twice = [str(folder / "a.pt"), str(folder / ".hidden" / "c.pt"), str(folder)]
    assert main(["convert", *twice, str(tmp_path / "other"), "--to", ".npz"]) == 2
    assert "would both go to" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_two_folders_are_compared(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    assert main(["diff", str(folder), str(other)]) == 0
    capsys.readouterr()
    torch.jit.script(Model()).save(other / "a.pt")
    torch.jit.script(Model()).save(other / "more.pt")
    assert main(["diff", str(folder), str(other)]) == 1
    printed = capsys.readouterr()
    assert "weight linear.weight: norm" in printed.out
    assert "no differences" in printed.out
    assert "more.pt: only in" in printed.err


def test_a_file_that_is_not_there_stops_no_other(folder: Path) -> None:
    done = subprocess.Popen(
        [sys.executable, "-m", "rushlight", "what", str(folder / "a.pt"), "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    out, err = done.communicate(timeout=60)
    assert "a TorchScript archive" in out
    assert done.returncode == 2
    assert "No such file" in err


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


def test_long_work_shows_a_bar_where_nothing_else_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown, plain = Terminal(), Terminal()
    monkeypatch.setattr(progress_module, "_PATIENCE", -1)
    monkeypatch.setattr(sys, "stderr", shown)
    assert list(progress_module.progress([1, 2, 3], "reading")) == [1, 2, 3]
    assert "reading [" in shown.written
    assert shown.written.endswith("\r")
    monkeypatch.setattr(sys, "stderr", plain)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert list(progress_module.progress([1], "reading", beside_output=True)) == [1]
    assert plain.written == ""


# --------------------------------------------------------------------------- schemas


def test_every_command_that_has_json_has_a_schema() -> None:
    with_json = {
        name
        for name, parser in all_parsers().items()
        if any("--json" in action.option_strings for action in parser._actions)
    }
    assert with_json == set(SCHEMAS)


def calls(folder: Path) -> dict[str, list[list[str]]]:
    a, b = str(folder / "a.pt"), str(folder / "inner" / "b.pt")
    script = folder / "wrong.py"
    script.write_text(
        "import torch\n@torch.jit.script\ndef f(x: int) -> int:\n    y = x + 1\n    return z + y\n"
        "@torch.jit.script\ndef g(x) -> str:\n    return x.sum()\n"
    )
    torch.jit.load(a)._save_for_lite_interpreter(str(folder / "l.ptl"))
    views = ["--code", "--graph", "--inlined-graph", "--instructions", "--tree", "--modules"]
    views += ["--constants", "--extra"]
    return {
        "audit": [[a, b]],
        "check": [[str(script)]],
        "convert": [[a, str(folder / "o.npz")]],
        "diff": [[a, b], [a, a]],
        "explain": [[], ["undefined-name"], ["--op", "torch.add"]],
        "profile": [[a, "[1.0, 2.0]", "--seconds", "0.01"]],
        "run": [[a, "[1.0, 2.0]"], [a, "--method", "pair", "3"], [a, "--each", "[1.0, 2.0]"]],
        "show": [[a, b, view] for view in views] + [[str(folder / "l.ptl"), "--bytecode"]],
        "summary": [[a], [a, "--input", "4,2"], [str(folder / "weights.pt")]],
        "view": [[a, "-o", str(folder / "v.html"), "--no-open"]],
        "what": [[str(folder)]],
    }


def test_what_json_prints_is_as_published(folder: Path, capsys: Captured) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    run = calls(folder)
    assert set(run) == set(SCHEMAS) - {"warm-up"}
    for command, forms in run.items():
        jsonschema.Draft202012Validator.check_schema(SCHEMAS[command])
        check = jsonschema.Draft202012Validator(SCHEMAS[command])
        for words in forms:
            assert main([command, *words, "--json"]) in {0, 1}
            lines = capsys.readouterr().out.splitlines()
            assert lines
            for line in lines:
                check.validate(json.loads(line))
                if command != "explain":
                    with pytest.raises(jsonschema.ValidationError):
                        check.validate({**json.loads(line), "unknown": 1})


def test_results_as_json(folder: Path, capsys: Captured) -> None:
    a = folder / "a.pt"
    (found,) = objects(capsys, "run", a, "--method", "pair", "3", "--json")
    assert found["result"] == [3, None, "-inf", "1+2j"]
    (found,) = objects(capsys, "run", a, "[[1.0, 2.0]]", "--json")
    y = found["result"]["y"][0]
    assert (y["dtype"], y["shape"], np.shape(y["data"])) == ("float32", [1, 2], (1, 2))
    assert found["result"]["z"][0]["data"] == ["nan", "inf"]


# --------------------------------------------------------------------------- completions


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command_and_option(shell: str, capsys: Captured) -> None:
    assert main(["completions", shell]) == 0
    script = capsys.readouterr().out
    for name, parser in all_parsers().items():
        assert name in script
        for action in parser._actions:
            for option in action.option_strings:
                assert (option if shell != "fish" else option.lstrip("-")) in script
    assert set(all_parsers()) == set(COMMANDS)
    program = shutil.which(shell)
    if program is not None:
        done = subprocess.run(
            [program, "-n"], input=script, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("rushlight sum", ["summary"]),
        ("rushlight show --inl", ["--inlined-graph"]),
        ("rushlight check --format g", ["github"]),
        ("rushlight completions f", ["fish"]),
    ],
)
def test_bash_completes(words: str, wanted: list[str], capsys: Captured) -> None:
    assert main(["completions", "bash"]) == 0
    script = capsys.readouterr().out
    typed = words.split()
    program = (
        f"{script}\nCOMP_WORDS=({words})\nCOMP_CWORD={len(typed) - 1}\n_rushlight\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash"], input=program, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == wanted, done.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [("rushlight sum", "summary"), ("rushlight check --format gi", "github")],
)
def test_fish_completes(words: str, wanted: str, capsys: Captured, tmp_path: Path) -> None:
    assert main(["completions", "fish"]) == 0
    script = tmp_path / "rushlight.fish"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    program = f"source {script}; complete -C {words!r}"
    done = subprocess.run(["fish", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == wanted


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_takes_completions_that_are_evaluated(capsys: Captured, tmp_path: Path) -> None:
    assert main(["completions", "zsh"]) == 0
    script = tmp_path / "_rushlight"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    program = f"autoload -U compinit; compinit -D -u; source {script}; print $_comps[rushlight]"
    done = subprocess.run(["zsh", "-f", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "_rushlight\n"
