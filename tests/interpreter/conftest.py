"""What tests of networks, chains and islands look at."""

from __future__ import annotations

from typing import Any

import pytest

from rushlight.interpreter.native import refusals
from rushlight.interpreter.plans import chaining


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps each array got that was filled."""
    steps: list[int] = []
    finish = chaining.Chain.finish

    def noted(self: Any, work: Any) -> None:
        steps.append(len(work.steps))
        finish(self, work)

    monkeypatch.setattr(chaining.Chain, "finish", noted)
    return steps


@pytest.fixture
def no_operators_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions over operators that have no native form are left to plans, with islands."""
    monkeypatch.setattr(refusals, "may_be_called", lambda entry: False)
