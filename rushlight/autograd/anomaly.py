"""Searching for the operator whose gradient failed."""

from __future__ import annotations

from typing import Self

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:
    """A block in which torch keeps tracebacks of operators; accepted, gradients are the same."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


class set_detect_anomaly(detect_anomaly):
    """The same, from now on."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__(check_nan)
        self.mode = mode
