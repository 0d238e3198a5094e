"""The generated pages of docs/ are what the tool makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rushlight.frontend.diagnostics.codes import CODES

ROOT = Path(__file__).parents[2]


def test_the_list_of_operators_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_docs.py", "--print"],
        capture_output=True,
        check=True,
    )
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    existing = page.partition("\n## Operators that do not exist here")[0]
    assert done.stdout.decode("utf-8").split("\n") == existing.split("\n"), "run tools/make_docs.py"


def test_every_error_code_has_its_section() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    sections = {line[3:] for line in page.splitlines() if line.startswith("## ")}
    assert sections == set(CODES), "run tools/make_docs.py"
