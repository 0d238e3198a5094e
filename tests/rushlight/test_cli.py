"""The commands, from their arguments to what they print and their exit status."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

import rushlight as torch
from rushlight import __main__ as command_line
from rushlight.__main__ import main
from rushlight.cli import completions, convert, show, warm_up
from rushlight.cli.arguments.completions import SHELLS
from rushlight.cli.arguments.convert import SUFFIXES
from rushlight.cli.arguments.show import VIEWS
from rushlight.ops.kernels import family
from rushlight.ops.kernels.cache_folder import cache_folder

ROOT = Path(__file__).resolve().parent.parent.parent


class Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 3))
        self.inner = Inner()

    def forward(self, x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return self.weight.mv(self.inner(x)) * by

    @torch.jit.export
    def greet(self, name: str) -> str:
        return "hello " + name


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "m.pt"
    torch.jit.script(Model()).save(path)
    return str(path)


Captured = pytest.CaptureFixture[str]


# --------------------------------------------------------------------------- run


def test_run_prints_the_result(archive: str, capsys: Captured) -> None:
    assert main(["run", archive, "[1.0, 2.0, 3.0]"]) == 0
    assert capsys.readouterr().out.startswith("tensor([24., 24.]")
    assert main(["run", archive, "[1.0, 2.0, 3.0]", "by=0.5"]) == 0
    assert capsys.readouterr().out.startswith("tensor([6., 6.]")


def test_what_is_wrong_with_a_call_is_no_fault_of_the_commands_own_files(
    archive: str, capsys: Captured
) -> None:
    assert main(["run", archive]) == 1
    error = capsys.readouterr().err
    assert "the call of `forward` gives no value for `x`" in error
    assert "called here" not in error
    assert "parameters of method" in error


def test_run_other_methods(archive: str, capsys: Captured) -> None:
    assert main(["run", archive, "--method", "greet", "you"]) == 0
    assert main(["run", archive, "--method", "inner.forward", "-3"]) == 0
    assert main(["run", archive, "--method", "inner.forward", "-1e2"]) == 0
    assert main(["run", archive, "--method", "greet", "--", "-x"]) == 0
    expected = ["'hello you'", "tensor(-6)", "tensor(-200.)", "'hello -x'"]
    assert capsys.readouterr().out.splitlines() == expected


def test_run_reads_and_writes_files(archive: str, tmp_path: Path, capsys: Captured) -> None:
    given, result = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(given, x=np.ones(3, np.float32))
    assert main(["run", archive, str(given), "--output", str(result)]) == 0
    with np.load(result) as loaded:
        assert loaded["result"].tolist() == [12.0, 12.0]


def test_run_tells_what_the_script_raised(archive: str, capsys: Captured) -> None:
    assert main(["run", archive, "[1.0, 2.0]"]) == 1
    errors = capsys.readouterr().err
    assert "error[shape-mismatch]" in errors
    assert "Traceback" not in errors
    assert main(["run", archive]) == 1
    assert "the call of `forward` gives no value for `x`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "ARCHIVE", "[1, "], "cannot read '[1, ' for `x`"),
        (["run", "ARCHIVE", "--method", "forwrd"], "no method `forwrd`; did you mean `forward`?"),
        (["run", "ARCHIVE", "--method", "q"], "there are: `forward`, `greet`"),
        (["show", "ARCHIVE", "--method", "iner.forward"], "did you mean `inner`?"),
        (["run", "nothing.pt"], "nothing.pt: no such file"),
        (["show", "nothing.pt"], "nothing.pt: no such file"),
        (["check", "nothing.py"], "nothing.py: no such file"),
        (["what", "nothing"], "nothing: No such file or directory"),
        (["explain", "undefined-nam"], "did you mean undefined-name?"),
    ],
)
def test_bad_input_is_told_in_one_line(
    words: list[str], text: str, archive: str, capsys: Captured
) -> None:
    assert main([archive if word == "ARCHIVE" else word for word in words]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("rushlight: ")
    assert text in errors
    assert errors.count("\n") == 1


def test_a_foreign_file_is_named(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(b"")
    for command in ("run", "show"):
        assert main([command, str(path)]) == 2
        assert "empty" in capsys.readouterr().err
    np.save(tmp_path / "a.npy", np.ones(1))
    assert main(["show", str(tmp_path / "a.npy")]) == 2
    assert "a NumPy array" in capsys.readouterr().err


def test_usage_errors() -> None:
    several = ["show", "m.pt", "--code", "--graph"], ["convert", "m.pt"]
    for words in ([], ["frob"], ["what"], ["run", "m.pt", "--frob"], *several):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2


def test_version(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert capsys.readouterr().out == f"rushlight {project['version']}\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["chekc", "a.py"], "there is no command chekc; did you mean `check`?"),
        (["frob"], "there is no command frob\n"),
        (["show", "m.pt", "--jsn"], "unrecognized argument --jsn; did you mean `--json`?"),
        (["run", "m.pt", "--eahc=1"], "unrecognized argument --eahc; did you mean `--each`?"),
        (["what", "m.pt", "-j"], "unrecognized argument -j\n"),
    ],
)
def test_mistyped_words(words: list[str], told: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        *("--version", "--help", "explain undefined-name", "explain"),
        *("run --help", "show --nonsense", "convert --help", "map --help", "view m.pt --depth x"),
    ],
)
def test_what_needs_no_compiler_imports_none(words: str) -> None:
    program = (
        "import sys, rushlight.__main__ as command\n"
        "try:\n"
        f"    command.main({words.split()!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = ('numpy', 'lark', 'llvmlite', 'rushlight.ir', 'rushlight.ops', 'rushlight.jit')\n"
        "sys.exit(repr([name for name in heavy if name in sys.modules] or ''))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stderr.endswith("''\n"), done.stderr
    assert done.stdout or len(done.stderr) > 10


def test_what_is_told_of_the_commands_is_there() -> None:
    assert set(show._TEXTS) == set(VIEWS)
    assert tuple(convert._FORMS) == SUFFIXES
    assert tuple(completions._SHELLS) == SHELLS


# --------------------------------------------------------------------------- show, what, explain


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ("--code", "def forward(self,\n    x: Tensor,\n    by: float=2.) -> Tensor:"),
        ("--graph", "prim::CallMethod[name="),
        ("--inlined-graph", "aten::mv("),
        ("--instructions", "registers"),
        ("--tree", "def forward("),
    ],
)
def test_show(view: str, text: str, archive: str, capsys: Captured) -> None:
    assert main(["show", archive, view]) == 0
    assert text in capsys.readouterr().out


def test_show_is_the_code_by_default(archive: str, capsys: Captured) -> None:
    assert main(["show", archive, "--method", "inner.forward"]) == 0
    shown = capsys.readouterr().out
    assert shown == "def forward(self,\n    x: Tensor) -> Tensor:\n  return torch.mul(x, 2)\n"


def test_what(archive: str, tmp_path: Path, capsys: Captured) -> None:
    np.savez(tmp_path / "a.npz", np.ones(1))
    assert main(["what", archive, str(tmp_path / "a.npz")]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{archive}: a TorchScript archive")
    assert "NumPy arrays" in second


def test_explain(capsys: Captured) -> None:
    assert main(["explain", "undefined-name"]) == 0
    assert capsys.readouterr().out.startswith("undefined-name: ")
    assert main(["explain"]) == 0
    assert "\nshape-mismatch " in capsys.readouterr().out


# --------------------------------------------------------------------------- check

WRONG = """\
import torch
import torch.nn as nn

@torch.jit.script
def one(x):
    return x + undefined_one

class Model(nn.Module):
    def forward(self, x):
        return self.helper(x)

    def helper(self, x):
        return undefined_two

model = torch.jit.script(Model())
print("printed by the file")
"""


def write(folder: Path, text: str, name: str = "model.py") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_check_reports_everything(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, WRONG)
    assert main(["check", path, "--format", "concise"]) == 1
    captured = capsys.readouterr()
    first, second = captured.out.splitlines()
    assert first.startswith(f"{path}:6:16: error[undefined-name]")
    assert second.startswith(f"{path}:13:16: error[undefined-name]")
    assert captured.err == "printed by the file\n"


def test_check_formats(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, WRONG)
    assert main(["check", path, "--format", "json"]) == 1
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [o["code"] for o in objects] == ["undefined-name"] * 2
    main(["check", path, "--format", "github"])
    assert capsys.readouterr().out.startswith("::error file=")
    main(["check", path])
    text = capsys.readouterr().out
    assert "2 errors; `rushlight explain undefined-name` says more" in text
    assert "\x1b" not in text


def test_check_of_a_file_without_errors(tmp_path: Path, capsys: Captured) -> None:
    write(tmp_path, "FACTOR = 3\n", "beside.py")
    path = write(
        tmp_path,
        "import torch, beside, sys\n"
        "from torch import nn\n"
        "f = torch.jit.script(nn.ReLU())\n"
        "assert f(torch.ones(2) * beside.FACTOR).tolist() == [3, 3]\n"
        "assert sys.argv == [__file__]\n"
        "if __name__ == '__main__':\n"
        "    raise SystemExit('must not run')\n",
    )
    assert main(["check", path]) == 0
    assert capsys.readouterr() == ("no errors in 1 file\n", "")
    assert main(["check", "-q", path]) == 0
    assert capsys.readouterr() == ("", "")
    assert "torch" not in sys.modules
    assert "beside" not in sys.modules
    assert "model" not in sys.modules
    assert list(tmp_path.rglob("*.pyc")) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ny = 1 / 0\n", ":2:1: error[file-stopped] ZeroDivisionError: division by zero"),
        ("def f(:\n", ":1:7: error[file-stopped] SyntaxError: invalid syntax"),
        ("import torch.nothing\n", "rushlight has no `torch.nothing`"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("raise SystemExit(3)\n", "the file calls `sys.exit(3)`"),
    ],
)
def test_check_of_a_file_that_fails(text: str, told: str, tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, text)
    assert main(["check", path, "--format", "concise"]) == 1
    printed = capsys.readouterr()
    assert told in printed.out
    assert printed.out.count("\n") == 1
    assert printed.err == ""
    for format in ("rich", "json", "github", "sarif"):
        assert main(["check", path, "--format", format]) == 1
        assert "file-stopped" in capsys.readouterr().out


def test_check_tells_no_second_hand_errors(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, WRONG + "model.no_such_method()\n")
    assert main(["check", path, "--format", "concise"]) == 1
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 2
    assert "no_such_method" not in captured.err
    assert f"{path}:17: not checked from here on" in captured.err


def test_check_shows_what_fails_when_called(tmp_path: Path, capsys: Captured) -> None:
    text = (
        "import torch\n@torch.jit.script\ndef f(x):\n    return x.reshape([3])\nf(torch.ones(2))\n"
    )
    assert main(["check", write(tmp_path, text), "--format", "concise"]) == 1
    assert ":4:12: error[shape-mismatch]" in capsys.readouterr().out


def test_check_of_files_with_one_name(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, f"NAME = {folder!r}\n", "beside.py")
        write(tmp_path / folder, f"import beside\nassert beside.NAME == {folder!r}\n", "json.py")
    assert main(["check", str(tmp_path / "a" / "json.py"), str(tmp_path / "b" / "json.py")]) == 0
    assert sys.modules["json"] is json


# --------------------------------------------------------------------------- warm-up


@pytest.mark.skipif(family("rows.rows") is None, reason="no native code here")
def test_warm_up_fills_the_cache(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    if cache_folder() is None:
        pytest.skip("nothing is kept here")
    assert main(["warm-up"]) == 0
    assert re.search(r": \d\d+ files, \d+ of them new\n$", capsys.readouterr().out)
    monkeypatch.setattr(warm_up, "cache_folder", lambda: None)
    assert main(["warm-up"]) == 2
    assert "RUSHLIGHT_CACHE may name one" in capsys.readouterr().err


# --------------------------------------------------------------------------- as a process


def test_a_closed_pipe_is_no_error() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "rushlight", "explain"]
    read, write_end = os.pipe()
    os.close(read)
    process = subprocess.run(
        command, stdout=write_end, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    )
    os.close(write_end)
    assert process.stderr == b""
    assert process.returncode == 141


def test_run_for_each_input(archive: str, tmp_path: Path, capsys: Captured) -> None:
    output = tmp_path / "all.npz"
    words = [
        "run",
        archive,
        "--each",
        "--output",
        str(output),
        "[1.0, 2.0, 3.0]",
        "[0.0, 0.0, 1.0]",
    ]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == words[-2:]
    with np.load(output) as written:
        assert [written[name].tolist() for name in written.files] == [[24.0, 24.0], [4.0, 4.0]]
    assert main(["run", archive, "--method", "greet", "--each", "a", "b"]) == 0
    assert main(["run", archive, "--each", "[1.0, 2.0, 3.0]", "[1.0]"]) == 1
    assert "rushlight: input 1: [1.0]" in capsys.readouterr().err


@pytest.mark.parametrize("while_telling", [False, True])
def test_an_interrupt_ends_a_command_even_while_it_tells_what_failed(
    while_telling: bool, archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    def failing(*_: object) -> int:
        raise OSError("no")

    monkeypatch.setattr(show, "execute", failing if while_telling else interrupted)
    monkeypatch.setattr(command_line, "_failed_file", interrupted)
    assert main(["show", archive]) == command_line.INTERRUPTED


def test_only_a_process_of_ours_ends_without_a_search_for_garbage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frozen = list[str]()
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append("all"))
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "argv", ["rushlight", "explain", "return-type"])
    assert main(["explain", "return-type"]) == 0
    assert not frozen
    assert main() == 0
    assert frozen == ["all"]
    told = capsys.readouterr().out
    assert told == told[: len(told) // 2] * 2
