"""Operators with other arguments than usual ones, most of them wrong: the errors, and the dtypes
and sizes of results, that torch gives."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from perturbed import outcomes
from recorded_operators import entries

_SAID: dict[str, list[tuple[str, list[str]]]] = json.loads(
    gzip.decompress((Path(__file__).parent / "data" / "perturbed.json.gz").read_bytes())
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "samples"),
    [each for each in dict(entries()).items() if each[0] in _SAID],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_as_torch(name: str, samples: list[dict[str, Any]]) -> None:
    wanted = {call: told for told, calls in _SAID[name] for call in calls}
    found = dict(outcomes(name, samples))
    assert {call: found.get(call) for call in wanted} == wanted
