"""Searching for the operator whose gradient failed."""

from __future__ import annotations

from typing import Self

from ..ops.memory.warned import warn_caller
from ..settings import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:
    """A block in which a gradient with a NaN is an error that names the operator; with `check_nan`
    off nothing is looked at.  A warning shows the line that called the operator of a failure."""

    def __init__(self, check_nan: bool = True) -> None:
        warn_caller(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging."
        )
        self._remember(check_nan)

    def _remember(self, check_nan: bool) -> None:
        self.check_nan = check_nan
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __enter__(self) -> Self:
        set_anomaly_enabled(True, self.check_nan)
        return self

    def __exit__(self, *exception: object) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class set_detect_anomaly(detect_anomaly):
    """The same, from now on."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._remember(check_nan)
        self.mode = mode
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> Self:
        return self
