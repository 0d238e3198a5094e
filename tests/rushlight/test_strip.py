"""`rushlight strip`: bundles run their archives with NumPy alone, and say what they lack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.__main__ import main


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.vocabulary: dict[str, int] = {"a": 1, "b": 2}

    def forward(self, text: str) -> list[int]:
        return [self.vocabulary.get(word, 0) for word in text.split()]


class Rows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 3)

    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros(3)
        for row in x:
            total = torch.relu(self.linear(row)) + total
        return total


class Other(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.svd(x)[1] + torch.nn.functional.grid_sample(x, x)


class Twice(nn.Module):
    @torch.jit.export
    def twice(self, x: Tensor) -> Tensor:
        return x + x


def _save(module: nn.Module, path: Path) -> str:
    torch.jit.script(module).save(str(path))
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two archives, their bundle, and a place where only NumPy can be imported."""
    made = tmp_path_factory.mktemp("strip")
    words, rows = _save(Words(), made / "words.pt"), _save(Rows(), made / "rows.pt")
    _save(Other(), made / "other.pt")
    command = [sys.executable, "-m", "rushlight", "strip", words, rows, "--input", "'a b c'"]
    command += ["--input", "'[[1.0, 2.0]]'", "--output", str(made / "two.pyz")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"MB, \d+ files of the library \(\d+ left out\), \d+ operators", done.stdout)
    (made / "site").mkdir()
    home = Path(np.__file__).parent
    for name in ("numpy", "numpy.libs"):
        if (home.parent / name).exists():
            (made / "site" / name).symlink_to(home.parent / name)
    return made


def _around(folder: Path) -> dict[str, Any]:
    """The folder that a bundle is run in, and its environment: NumPy alone can be imported."""
    environment = {"PYTHONPATH": str(folder / "site"), "RUSHLIGHT_CACHE": str(folder / "cache")}
    return {"cwd": folder, "env": {**environment, "PATH": os.environ.get("PATH", "")}}


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", str(folder / "two.pyz"), *words]
    return subprocess.run(command, capture_output=True, text=True, **_around(folder))


def test_a_bundle_runs_its_archives_with_numpy_alone(folder: Path) -> None:
    assert _run(folder, "run", "words.pt", "b x a").stdout == "[2, 0, 1]\n"
    module = torch.jit.load(str(folder / "rows.pt"))
    with torch.no_grad():
        expected = module(torch.tensor([[3.0, -1.0], [1.0, 1.0]]))
    done = _run(folder, "run", "rows.pt", "[[3.0, -1.0], [1.0, 1.0]]")
    assert done.stdout == f"{expected!r}\n", done.stderr
    assert len(list((folder / "cache" / "bundles").iterdir())) == 1


_SEVERAL = """
import runpy, sys
bundle = sys.argv[1]
for words in (
    ["run", "other.pt", "[[1.0]]"],
    ["run", "rows.pt", "[[1.0, 2.0, 3.0]]"],
    ["check", "x.py"],
    ["list"],
):
    sys.argv = [bundle, *words]
    try:
        runpy.run_path(bundle, run_name="__main__")
        ended = 0
    except SystemExit as left:
        ended = left.code
    for stream in (sys.stdout, sys.stderr):
        print(f"=== {ended or 0}", file=stream, flush=True)
import rushlight.optim
"""
"""Runs a bundle several times in one process, and says after each how it ended."""


@pytest.fixture(scope="module")
def said(folder: Path) -> list[tuple[int, str, str]]:
    """How each of these ended, and what it wrote to both streams; the last is the import."""
    command = [sys.executable, "-S", "-c", _SEVERAL, str(folder / "two.pyz")]
    done = subprocess.run(command, capture_output=True, text=True, **_around(folder))
    texts = [re.split(r"=== (\d+)\n", stream) for stream in (done.stdout, done.stderr)]
    codes = [*map(int, texts[0][1::2]), done.returncode]
    return list(zip(codes, texts[0][::2], texts[1][::2], strict=True))


def test_what_a_bundle_lacks_is_told_by_name(said: list[tuple[int, str, str]]) -> None:
    code, _, errors = said[0]
    assert code == 2
    assert "operator `torch.grid_sampler`, which was left out of this bundle" in errors
    code, _, errors = said[-1]
    assert code == 1
    assert "this bundle has no rushlight.optim: it was made for words.pt, rows.pt" in errors


def test_mistakes_in_a_bundle_are_diagnosed(said: list[tuple[int, str, str]]) -> None:
    _, wrong, unknown, listed, _ = said
    assert wrong[0] == 1
    assert "error[shape-mismatch]" in wrong[2]
    assert unknown[0] == 2
    assert listed[0] == 0
    assert "words.pt" in listed[1]
    assert "aten::relu" in listed[1]


def test_refusals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = str(folder / "words.pt")
    target = folder / "none.pyz"
    assert main(["strip", words, "--output", str(target)]) == 2
    assert "--input has to say" in capsys.readouterr().err
    assert main(["strip", words, "--input", "a", "--input", "b"]) == 2
    assert "more --input than archives" in capsys.readouterr().err
    assert main(["strip", words, "--input", "a", "--output", str(folder / "two.pyz")]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["strip", __file__, "--input", "a", "--output", str(target)]) == 2
    assert main(["strip", words, "--input", "a b", "--output", str(target)]) == 2
    assert "does not run with the inputs `a b`" in capsys.readouterr().err
    assert not target.exists()


def test_a_model_without_forward_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = _save(Twice(), tmp_path / "twice.pt")
    assert main(["strip", archive]) == 2
    assert "there is no method `forward`; there are: `twice`" in capsys.readouterr().err
