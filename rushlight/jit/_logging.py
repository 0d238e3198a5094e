"""`torch.jit._logging`: counters that eager and scripted code adds to."""

from __future__ import annotations

from ..ops.eager.packets import Namespace
from ..ops.python_values.counters import AggregationType as AggregationType
from ..ops.python_values.counters import LockingLogger as LockingLogger
from ..ops.python_values.counters import LoggerBase as LoggerBase
from ..ops.python_values.counters import NoopLogger as NoopLogger
from ..ops.python_values.counters import set_logger as set_logger

__all__ = ["AggregationType", "LockingLogger", "NoopLogger", "add_stat_value", "set_logger"]

_PRIM = Namespace("prim")
add_stat_value = _PRIM.AddStatValue
time_point = _PRIM.TimePoint
AVG, SUM = AggregationType.AVG, AggregationType.SUM
