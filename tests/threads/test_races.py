"""Sixteen threads, and forks in the middle of what they do: see `race.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RACE = Path(__file__).parent / "race.py"


@pytest.mark.parametrize(
    "programs", ["first_scripts first_calls draws gradients modes", "late_forks"]
)
def test_threads(programs: str) -> None:
    """They are run in a process of their own; `race.py early_forks` takes minutes."""
    path = os.pathsep.join(filter(None, sys.path))
    subprocess.run(
        [sys.executable, "-W", "error", str(RACE), programs],
        env={**os.environ, "PYTHONPATH": path},
        timeout=240,
        check=True,
    )
