"""Data recorded from torch 2.13, and the names the recorded expressions use."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rushlight.ops.eager.namespace import public_names

TORCH: Any = SimpleNamespace(**public_names())
NAMES = {"torch": TORCH, "nan": float("nan"), "inf": float("inf"), "nanj": complex("nanj")}


def load(name: str) -> Any:
    """A file of tests/ops/data."""
    return json.loads((Path(__file__).parent / "data" / name).read_text("utf-8"))
