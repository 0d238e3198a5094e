"""What all tests share: golden files, bytecode, and that a busy machine is no failure."""

from __future__ import annotations

import gc
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

on_a_busy_machine = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("new", on_a_busy_machine)
settings.register_profile("same", on_a_busy_machine, derandomize=True, database=None)
settings.load_profile("same")

# Tests start hundreds of processes, and each would compile the library anew where no bytecode is
# written.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What is called three times shall have been run by plans, and by calls that were learned.
os.environ["RUSHLIGHT_PLAN"] = "now"

# With an empty cache, compiling as users do would take half of the time; the gate does.
os.environ.setdefault("RUSHLIGHT_COMPILE", "quickly")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite golden files with what came out"
    )


@pytest.fixture(autouse=True, scope="module")
def _what_there_is_stays() -> None:
    """Nobody who looks for garbage goes through what there was before a file's first test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _as_many_kernels_as_a_process_may_compile() -> None:
    """Each file begins to count anew: all of them together go over the bounds, and then tests would
    wait for kernels that nobody compiles, and for calls that nobody learns."""
    from rushlight.ops.kernels.code.calls import paces
    from rushlight.ops.table import direct  # after RUSHLIGHT_PLAN is set

    direct._KERNELS.made.clear()
    paces._LEARNED = itertools.count()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file; `--update-golden` writes the file instead."""

    def compare(file: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"no {file.name}; write it with --update-golden"
        assert text == file.read_text(encoding="utf-8")

    return compare
