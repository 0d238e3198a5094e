"""`rushlight check` and `rushlight explain`: fixes, limits, warnings, operators."""

from __future__ import annotations

import linecache
import warnings
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.frontend.diagnostics.exceptions import ScriptWarning

WRONG = """import torch


@torch.jit.script
def add(first: int, second: int) -> int:
    return first + secnd


@torch.jit.script
def test(x: int) -> str:
    return x
"""


def run(*words: str) -> int:
    return main(list(words))


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG, encoding="utf-8")
    return path


def test_fix_applies_what_is_sure(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--fix", "--format", "concise", str(wrong)) == 1
    assert wrong.read_text() == WRONG.replace("secnd", "second")
    printed = capsys.readouterr()
    assert printed.err == "rushlight: 1 fixed\n"
    assert printed.out.count("error[") == 1
    assert "error[return-type]" in printed.out


def test_fix_keeps_line_ends(wrong: Path) -> None:
    wrong.write_bytes(WRONG.replace("\n", "\r\n").encode())
    run("check", "--fix", str(wrong))
    assert wrong.read_bytes() == WRONG.replace("secnd", "second").replace("\n", "\r\n").encode()


def test_a_file_that_cannot_be_replaced_stays(
    wrong: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    assert run("check", "--fix", str(wrong)) == 2
    assert wrong.read_text() == WRONG
    assert [path.name for path in wrong.parent.iterdir()] == ["wrong.py"]
    assert "No space left" in capsys.readouterr().err


def test_at_most_so_many(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--max-errors", "1", str(wrong)) == 1
    printed = capsys.readouterr().out
    assert "1 error, and 1 more; `rushlight explain undefined-name` says more" in printed


ODD = """import torch
from torch import nn


@torch.jit.script
def odd(x):
    x.relu()
    x.relu_()
    torch.tanh(x)  # rushlight: ignore[unused-result]
    torch.sin(x)  # rushlight: ignore[unreachable-code]
    return x
    x += 1


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = [0]

    def forward(self, x: int):
        self.seen.append(x)
        return x


torch.jit.script(Counter())
"""


def test_warnings_have_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.py"
    path.write_text(ODD, encoding="utf-8")
    assert run("check", "--format", "concise", str(path)) == 0
    lines = capsys.readouterr().out.splitlines()
    told = [line.split(":")[1] + " " + line.split("[")[1].split("]")[0] for line in lines]
    assert told == [
        "7 unused-result",
        "10 unused-result",
        "12 unreachable-code",
        "21 captured-mutation",
    ]


def dropped(x: torch.Tensor) -> torch.Tensor:
    x.relu()
    return x


def test_a_warning_has_its_diagnostic() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.jit.script(dropped)
    (warning,) = [w.message for w in caught if isinstance(w.message, ScriptWarning)]
    assert warning.diagnostic is not None
    assert warning.diagnostic.code == "unused-result"
    assert str(warning).startswith("[unused-result] ")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("torch.add", "add(self: Tensor, other: Tensor, *, alpha: number = 1) -> Tensor"),
        ("Tensor.relu_", "relu_(self: Tensor) -> Tensor"),
        ("torch.linalg.norm", "In graphs and archives this is `aten::linalg_norm`"),
        ("aten::topk", ">>> torch.topk(torch.tensor([[4.0, 1.0], [2.0, 3.0]]), 1)"),
    ],
)
def test_operators_are_explained(
    name: str, wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("explain", "--op", name) == 0
    assert wanted in capsys.readouterr().out


def test_an_unknown_operator_names_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "--op", "sofmax") == 2
    assert "did you mean softmax?" in capsys.readouterr().err


def test_what_is_scripted_by_the_program_alone_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import torch\ndef f(x):\n    return x\n"
        'if __name__ == "__main__":\n    torch.jit.script(f)\n'
    )
    assert main(["check", str(file)]) == 0
    assert (
        "nothing is scripted in 1 file; what stands under `if __name__" in capsys.readouterr().out
    )
    file.write_text("import torch\n")
    linecache.checkcache(str(file))
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == "nothing is scripted in 1 file\n"
