"""What ends a run, with what was written so far left as it is."""

from __future__ import annotations

__all__ = ["CannotScore", "ScriptFailed"]


class CannotScore(Exception):
    """The input, the folder or the machines will not do: told in one line."""


class ScriptFailed(Exception):
    """The archive's code raised for some rows."""
