"""`rushlight check` of folders, packages and standard input, as a project's settings say."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from rushlight.__main__ import main

Captured = pytest.CaptureFixture[str]

GOOD = "import torch\n\n\n@torch.jit.script\ndef good(x):\n    return x + 1\n"
WRONG = "import torch\n\n\n@torch.jit.script\ndef wrong(x):\n    return y\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, which is the working folder: files by their paths in it."""
    files = {
        "model/__init__.py": "from .inner import good\n",
        "model/inner.py": GOOD,
        "model/outer.py": "import torch\nfrom . import inner\nfrom .inner import good\n\n\n"
        "@torch.jit.script\ndef outer(x):\n    return good(x) + y\n",
        "model/deep/wrong.py": WRONG,
        "model/plain.py": "raise ValueError('it imports no torch, and so is not run')\n",
        ".hidden/wrong.py": WRONG,
        "env/pyvenv.cfg": "",
        "env/wrong.py": WRONG,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def concise(capsys: Captured, *words: str) -> list[str]:
    status = main(["check", "--format", "concise", *words])
    lines = capsys.readouterr().out.splitlines()
    assert status == (1 if lines else 0)
    return [line.partition(" ")[0] for line in lines]


def test_a_folder_is_walked(capsys: Captured) -> None:
    wanted = ["model/deep/wrong.py:6:12:", "model/outer.py:8:22:"]
    assert concise(capsys, ".") == wanted
    assert concise(capsys, ".", "model/outer.py") == wanted
    assert not any(name.split(".")[0] in ("model", "wrong") for name in sys.modules)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_no_file_is_passed_over(project: Path, capsys: Captured) -> None:
    os.mkfifo("pipe.py")
    os.symlink("/dev/zero", "endless.py")
    os.symlink("nothing", "hanging.py")
    assert concise(capsys, ".") == ["model/deep/wrong.py:6:12:", "model/outer.py:8:22:"]


def test_a_file_of_a_package_is_imported_as_one(capsys: Captured) -> None:
    assert concise(capsys, "model/outer.py") == ["model/outer.py:8:22:"]
    assert concise(capsys, "model/__init__.py", "model/inner.py") == []


def test_a_folder_whose_name_cannot_be_imported_is_no_package(
    project: Path, capsys: Captured
) -> None:
    folder = project / "my-models"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "one.py").write_text(GOOD, encoding="utf-8")
    two = WRONG.replace("return y", "return good(x) + y").replace("torch\n", "torch, one\n", 1)
    (folder / "two.py").write_text(two.replace("good(", "one.good("), encoding="utf-8")
    assert concise(capsys, "my-models/two.py") == ["my-models/two.py:6:26:"]


def test_what_is_scripted_twice_is_told_once(project: Path, capsys: Captured) -> None:
    (project / "twice.py").write_text(WRONG + "torch.jit.script(wrong)\n", encoding="utf-8")
    assert concise(capsys, "twice.py") == ["twice.py:6:12:"]


def test_settings_of_the_project(
    project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = '[tool.rushlight]\npaths = ["model"]\nexclude = ["model/deep", "*/no*.py"]\n'
    (project / "pyproject.toml").write_text(settings, encoding="utf-8")
    assert concise(capsys) == ["model/outer.py:8:22:"]
    assert concise(capsys, "model/deep/wrong.py") == ["model/deep/wrong.py:6:12:"]
    monkeypatch.chdir(project / "model")
    assert concise(capsys) == ["outer.py:8:22:"]
    (project / "pyproject.toml").write_text(
        settings + 'ignore = ["undefined-name"]\n', encoding="utf-8"
    )
    assert concise(capsys) == []


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('[tool.rushlight]\npath = ["a"]\n', "no setting `path`; did you mean `paths`?"),
        ('[tool.rushlight]\nignore = ["undefined-nam"]\n', "did you mean `undefined-name`?"),
        ('[tool.rushlight]\npaths = "model"\n', "`paths` of [tool.rushlight] is no list of texts"),
        ("[tool]\nrushlight = 3\n", "[tool.rushlight] is no table"),
        ("[tool.rushlight\n", "pyproject.toml: "),
        ("", "name a file or folder"),
    ],
)
def test_wrong_settings(settings: str, told: str, project: Path, capsys: Captured) -> None:
    (project / "pyproject.toml").write_text(settings, encoding="utf-8")
    assert main(["check"]) == 2
    errors = capsys.readouterr().err
    assert told in errors
    assert errors.count("\n") == 1


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(WRONG))
    assert concise(capsys, "-") == ["<stdin>:6:12:"]
    monkeypatch.setattr(sys, "stdin", io.StringIO(GOOD))
    assert concise(capsys, "-") == []
    assert main(["check", "-", "--fix"]) == 2
    assert "standard input is none" in capsys.readouterr().err


def test_a_remark_when_nothing_is_wrong(project: Path, capsys: Captured) -> None:
    (project / "nothing.py").write_text("import torch\n", encoding="utf-8")
    assert main(["check", "nothing.py"]) == 0
    assert capsys.readouterr().out == "nothing is scripted in 1 file\n"
    assert main(["check", "nothing.py", "model/inner.py"]) == 0
    assert capsys.readouterr().out == "no errors in 2 files\n"
    assert main(["check", "nothing.py", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_fixes_keep_the_encoding(project: Path, capsys: Captured) -> None:
    text = (
        "# -*- coding: latin-1 -*-\nimport torch\n\n\n@torch.jit.script\n"
        "def f(value):\n    a = 'äöü'\n    return valeu\n"
    )
    path = project / "latin.py"
    path.write_bytes(text.encode("latin-1"))
    assert main(["check", "--fix", "latin.py"]) == 0
    assert path.read_bytes() == text.replace("valeu", "value").encode("latin-1")


def test_files_with_a_byte_order_mark_are_found_and_mended(project: Path, capsys: Captured) -> None:
    folder = project / "windows"
    folder.mkdir()
    text = "import torch\r\n@torch.jit.script\r\ndef f(value: int) -> int:\r\n    return valeu\r\n"
    (folder / "marked.py").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert main(["check", "--fix", str(folder)]) == 0
    right = text.replace("valeu", "value").encode()
    assert (folder / "marked.py").read_bytes() == b"\xef\xbb\xbf" + right


def test_a_folder_without_programs_is_told(project: Path, capsys: Captured) -> None:
    (project / "empty").mkdir()
    assert main(["check", "empty"]) == 0
    assert "no Python files that import torch" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "--max-errors", "0", "x.py"], "'0' is no number from 1 on"),
        (["summary", "x.pt", "--input", "1,a"], "sizes are numbers divided by commas, not '1,a'"),
        (["profile", "x.pt", "--seconds", "a"], "not a positive number of seconds: a"),
    ],
)
def test_wrong_words_are_told_in_words_of_the_user(
    words: list[str], said: str, capsys: Captured
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert said in capsys.readouterr().err
