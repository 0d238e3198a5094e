"""`torch.profiler`: which operators ran, how often and for how long.

    with profile(record_shapes=True) as p:
        model(x)
    print(p.key_averages().table(sort_by="self_cpu_time_total"))

Operators are those that are called one by one: a group of them that became one native function is
none of them.  While no profile is taken nothing is asked, and nothing costs time.
"""

from __future__ import annotations

from ..autograd.profiler import record_function
from ..module_names import names_of
from .profiler import (
    ProfilerAction,
    ProfilerActivity,
    kineto_available,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_KinetoProfile = profile

__getattr__ = names_of(__name__, "itt")
