"""Settings of a profiler for other devices, which are taken and change nothing here."""

from __future__ import annotations

__all__ = ["_ExperimentalConfig"]

_FIRST = {
    **{"profiler_metrics": [], "performance_events": [], "custom_profiler_config": ""},
    **dict.fromkeys(
        """profiler_measure_per_kernel verbose enable_cuda_sync_events adjust_profiler_step
        disable_external_correlation profile_all_threads capture_overload_names
        record_python_gc_info expose_kineto_event_metadata adjust_timestamps trace_only""".split(),
        False,
    ),
}


class _ExperimentalConfig:
    """What `torch.profiler.profile(experimental_config=...)` takes; each setting keeps what it is
    given.

    Raises:
        TypeError: there is no such setting.
    """

    def __init__(self, **settings: object) -> None:
        unknown = [name for name in settings if name not in _FIRST]
        if unknown:
            raise TypeError(f"_ExperimentalConfig() has no setting '{unknown[0]}'")
        vars(self).update(_FIRST, **settings)
