"""Sixteen threads, and forks in the middle of what they do: see `race.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import check_bits

RACE = Path(__file__).parent / "race.py"
TOOLS = Path(__file__).parents[2] / "tools"
MIXED = ["rotary_small", "minmax_large", "quantise_small", "linear_relu_large", "greedy_words"]
"""Programs of several kinds: joined operators, rows, casts, products, strings."""


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


def test_threads_that_share_programs_get_one_set_of_bits() -> None:
    """A short form of `tools/race_programs.py`, which runs for a minute."""
    only = [word for name in MIXED for word in ("--only", name)]
    ran = subprocess.run(
        [sys.executable, str(TOOLS / "race_programs.py"), "--seconds", "2", *only],
        timeout=120,
        capture_output=True,
        text=True,
    )
    assert "one set of bits" in ran.stdout, ran.stdout + ran.stderr
    assert not ran.returncode


def test_calls_threads_and_processes_give_one_set_of_bits() -> None:
    """A short form of `tools/check_bits.py`: eager, scripted, saved and loaded, early and late."""
    assert not check_bits.differing(MIXED[:4], 60, counts=(1, 3), processes=1)
