"""What tests of networks and of chains look at."""

from __future__ import annotations

from typing import Any

import pytest

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
