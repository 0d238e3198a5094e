"""The table of error codes."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

from rushlight.frontend.diagnostics.codes import CODES, TORCH_SENTENCES, explain, find
from rushlight.frontend.diagnostics.paths import PACKAGE


@pytest.mark.parametrize("slug", CODES)
def test_page(slug: str) -> None:
    code = CODES[slug]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", slug)
    assert code.line
    assert not code.line.endswith(".")
    assert code.why.endswith(".")
    assert code.bad != code.good
    for example in (code.bad, code.good):
        ast.parse(textwrap.dedent(example))
    page = explain(slug)
    assert page.startswith(f"{slug}: {code.line}\n\n")
    assert max(map(len, page.splitlines())) <= 104


def test_every_code_in_use_has_a_page() -> None:
    used = set()
    for part in ("frontend", "typecheck", "ops", "ir", "interpreter", "serialization", "rushlight"):
        for path in Path(PACKAGE / part).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            used.update(re.findall(r"(?<![-\w])code(?:: str)? ?= ?\"([a-z-]+)\"", text))
    assert "unsupported-syntax" in used
    assert used - set(CODES) == set()


@pytest.mark.parametrize(
    ("sentence", "slug"),
    [
        ("RuntimeError: undefined value resutl", "undefined-name"),
        ("Arguments for call are not valid.", "argument-type"),
        ("UnsupportedNodeError: try blocks aren't supported", "unsupported-syntax"),
        ("mat1 and mat2 shapes cannot be multiplied (3x8 and 6x2)", "shape-mismatch"),
        ("Module 'Model' has no attribute 'porj'", "missing-attribute"),
        ("Dict values consist of heterogeneous types, which means", "mixed-dict"),
        ("Keyword argument wieght unknown.", "unknown-keyword"),
        ("Expected integer literal for index but got a variable", "modulelist-index"),
        ("expected input[1, 4, 8, 8] to have 3 channels, but got 4 channels", "shape-mismatch"),
        ("expected scalar type Float but found Double", "dtype-mismatch"),
    ],
)
def test_a_sentence_of_torch_leads_to_a_code(sentence: str, slug: str) -> None:
    found = find(sentence)
    assert found is not None
    assert found.slug == slug


def test_sentences_lead_to_codes_there_are() -> None:
    assert {slug for _, slug in TORCH_SENTENCES} <= set(CODES)


def test_no_such_code() -> None:
    with pytest.raises(KeyError, match="did you mean undefined-name"):
        explain("undefined-nam")
