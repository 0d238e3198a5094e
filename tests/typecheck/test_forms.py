"""Every form of the language means what it means to torch: its graph, or what torch says of it."""

from __future__ import annotations

import json
import re

import pytest
from record_forms import FORMS, MEANINGS, loaded, meanings

import rushlight as torch

WANTED: dict[str, dict[str, str]] = json.loads(MEANINGS.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    folder = tmp_path_factory.mktemp("forms")
    modules = {path.stem: loaded(path, "rushlight", folder) for path in sorted(FORMS.glob("*.py"))}
    return {
        name: dict(meanings(module, torch.jit, torch.nn.Module)) for name, module in modules.items()
    }


def up_to_numbering(text: str) -> str:
    """The text with values numbered as they come."""
    numbers: dict[str, str] = {}
    return re.sub(r"%[\w.]+", lambda value: numbers.setdefault(value[0], f"%{len(numbers)}"), text)


@pytest.mark.parametrize(
    ("file", "name"), [(file, name) for file, forms in WANTED.items() for name in forms]
)
def test_form(found: dict[str, dict[str, str]], file: str, name: str) -> None:
    wanted, meaning = WANTED[file][name], found[file][name]
    if not re.search(r"^graph| line \d+$", wanted):  # torch says no place
        meaning = re.sub(r" line \d+$", "", meaning)
    assert up_to_numbering(meaning) == up_to_numbering(wanted)
