"""The examples of the language reference: each is run, each refusal is the one it names."""

from __future__ import annotations

import itertools
import linecache
import re
import sys
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from rushlight.cli.alias import torch_is_rushlight
from rushlight.frontend.diagnostics.codes import CODES

PAGES = sorted((Path(__file__).parent.parent / "docs" / "language").glob("*.md"))
PRELUDE = "import torch\nfrom torch import nn\nfrom typing import *\n\n"
_BLOCK = re.compile(r"^```python(?: refused: ([\w-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_numbers = itertools.count()


@dataclass(frozen=True)
class Example:
    """A block of code on a page; `refused` is the code of the error it has, if any."""

    name: str
    text: str
    refused: str


def examples() -> list[Example]:
    found = []
    for page in PAGES:
        for match in _BLOCK.finditer(page.read_text("utf-8")):
            text = page.read_text("utf-8")
            line = text[: match.start()].count("\n") + 1
            found.append(Example(f"{page.stem}:{line}", match[2], match[1] or ""))
    return found


def execute(example: Example) -> None:
    """Run an example as a module of its own, whose source can be read."""
    name = f"language_example_{next(_numbers)}"
    source = PRELUDE + example.text
    linecache.cache[f"{name}.py"] = (len(source), None, source.splitlines(True), f"{name}.py")
    module = types.ModuleType(name)
    module.__file__ = f"{name}.py"
    sys.modules[name] = module
    with torch_is_rushlight(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, f"{name}.py", "exec", dont_inherit=True), module.__dict__)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_example(example: Example) -> None:
    if not example.refused:
        execute(example)
        return
    assert example.refused in CODES
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the code says which
        execute(example)
    diagnostics = getattr(caught.value, "diagnostics", [])
    assert example.refused in [diagnostic.code for diagnostic in diagnostics], caught.value


def test_the_index_names_every_page() -> None:
    index = next(page for page in PAGES if page.stem == "README").read_text("utf-8")
    for page in PAGES:
        assert page.stem == "README" or f"({page.name})" in index
