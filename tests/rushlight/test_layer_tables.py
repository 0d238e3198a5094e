"""Every row of the layer tables: parameters, texts and results are those recorded from torch 2.13.

`tools/compare_layers.py PYTHON --record` writes the records; the same command without `--record`
compares archives both ways as well.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from tools import layer_rows

TABLES = Path(__file__).parent / "layers"
ROWS = layer_rows.rows(TABLES)


@cache
def records(family: str) -> tuple[dict[str, Any], dict[str, Any]]:
    text = (TABLES / "recorded" / f"{family}.json").read_text(encoding="utf-8")
    with np.load(TABLES / "recorded" / f"{family}.npz") as arrays:
        return json.loads(text), dict(arrays)


def recorded(row: layer_rows.Row) -> dict[str, Any]:
    texts, arrays = records(row.family)
    found = dict(texts[f"{row.constructor} => {row.inputs}"])
    for name in ("eager eval", "eager train", "script eval", "script train"):
        if isinstance(found.get(name), list):
            found[name] = [arrays[v["array"]] if isinstance(v, dict) else v for v in found[name]]
    return found


def check_state(wanted: list[Any], got: list[Any]) -> None:
    for one, other in zip(wanted, map(layer_rows.summary, got), strict=True):
        if isinstance(one, str):
            assert one == other
        else:
            assert one[:2] == other[:2]
            assert other[2:] == pytest.approx(one[2:], rel=1e-5, abs=1e-4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.constructor} {row.inputs}")
def test_layer(row: layer_rows.Row) -> None:
    wanted = recorded(row)
    got = layer_rows.run(rushlight, row)
    if "construction" in wanted:
        assert got == {"construction": wanted["construction"]}
        return
    assert got["repr"] == wanted["repr"]
    check_state(wanted["state"], got["state"])
    for mode in ("eval", "train"):
        assert layer_rows.same(wanted[f"eager {mode}"], got[f"eager {mode}"]), mode
    if "script schema" not in wanted:  # torch cannot script it
        return
    assert got["script schema"] == wanted["script schema"]
    again = layer_rows.replay(rushlight, row, got["archive"])
    for mode in ("eval", "train"):
        scripted = wanted.get(f"script {mode}", wanted[f"eager {mode}"])  # they differ seldom
        if isinstance(scripted, list):
            assert layer_rows.same(scripted, got[f"script {mode}"]), mode
        assert layer_rows.same(got[f"script {mode}"], again[f"script {mode}"]), mode
