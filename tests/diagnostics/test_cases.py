"""Programs with mistakes, and what every sink says of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight.cli.checked_file import check_file
from rushlight.frontend.diagnostics.diagnostics import Diagnostic
from rushlight.frontend.diagnostics.render import FORMATS, render

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.stem for path in CASES.glob("*.py"))


def found_in(name: str) -> list[Diagnostic]:
    checked = check_file(f"{name}.py")
    assert not checked.stopped
    return checked.diagnostics


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES)


@pytest.mark.parametrize("name", NAMES)
def test_all_sinks(name: str, golden: Callable[[Path, str], None]) -> None:
    found = found_in(name)
    parts = [f"=== {format}\n{render(found, format, width=100, color=False)}" for format in FORMATS]
    parts.append(f"=== rich, 60 columns\n{render(found, 'rich', width=60, color=False)}")
    coloured = render(found, "rich", width=100, color=True).replace("\x1b", "<esc>")
    parts.append(f"=== rich, in colour\n{coloured}")
    golden(CASES / f"{name}.txt", _without_own_lines("".join(parts)))


def _without_own_lines(text: str) -> str:
    """The text without line numbers of rushlight's own files, and of Python's, which change."""
    text = re.sub(r"(json/__init__\.py:)\d+", r"\g<1>1", text)
    text = re.sub(r"/___torch_mangle_\d+\.py", ".py", text)  # what was scripted before
    text = re.sub(r"(<rushlight>/[\w/.]+):\d+", r"\1:1", text)
    return re.sub(r'("file": "<rushlight>/[\w/.]+", "line": )\d+', r"\g<1>1", text)


@pytest.mark.parametrize("name", NAMES)
def test_sarif_says_the_same(name: str) -> None:
    found = found_in(name)
    log = json.loads(render(found, "sarif", width=100, color=False))
    (run,) = log["runs"]
    assert sorted(r["ruleId"] for r in run["results"]) == sorted(d.code for d in found)
    for result in run["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        start = (region["startLine"], region["startColumn"])
        assert start <= (region["endLine"], region["endColumn"])
        for fix in result.get("fixes", ()):
            assert fix["artifactChanges"][0]["replacements"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_internal_shows(name: str) -> None:
    text = render(found_in(name), "rich", width=100, color=False)
    for secret in ("0x", "aten::", "/rushlight/frontend", "(a!)"):
        assert secret not in text


def test_equal_bytes_whatever_the_hash_seed() -> None:
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "NO_COLOR": "1"}
        command = [sys.executable, "-m", "rushlight", "check", *(f"{n}.py" for n in NAMES[:6])]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
