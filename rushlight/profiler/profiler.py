"""`torch.profiler.profile`: profiles of a block, or of some steps by a schedule."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any

from ..module_names import names_of
from .events import EventList, events_of
from .recording import Recorder, Span

__all__ = [
    *("ProfilerAction", "ProfilerActivity", "emit_itt", "emit_nvtx", "kineto_available"),
    *("profile", "schedule", "supported_activities", "tensorboard_trace_handler"),
]


class ProfilerActivity(Enum):
    """What can be watched."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def _default_schedule_fn(_: int) -> ProfilerAction:
    """The schedule where none is given: record each step."""
    return ProfilerAction.RECORD


def supported_activities() -> set[ProfilerActivity]:
    """What can be watched here."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Whether the library that torch profiles with is there: no."""
    return False


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """What to do in which step: wait, warm up, record, and again.

    Args:
        wait, warmup, active: so many steps of each in a round.
        repeat: so many rounds, without end if 0.
        skip_first: steps before the first round.
        skip_first_wait: whether the first round does not wait.

    Raises:
        AssertionError: a number is negative, or nothing is recorded.
    """
    numbers = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat}
    fits = min(wait, warmup, repeat, skip_first) >= 0 and active > 0
    shown = [f"{name}={n} (need >{' ' if name == 'active' else '= '}0)".replace("  ", " ")
             for name, n in {**numbers, "skip_first": skip_first}.items()]  # fmt: skip
    if not fits:
        raise AssertionError(f"Invalid profiler schedule arguments. Got {', '.join(shown)}.")
    whole = wait + warmup + active

    def what(step: int) -> ProfilerAction:
        step -= skip_first
        if skip_first_wait:
            step += wait
        if step < 0 or (repeat and step // whole >= repeat):
            return ProfilerAction.NONE
        place = step % whole
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == whole - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return what


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[Any], None]:
    """What writes the trace of a profile into a folder, for `on_trace_ready`.

    Raises:
        RuntimeError: the folder cannot be made.
    """
    del use_python_export

    def write(p: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        name = worker_name or f"{os.uname().nodename}_{os.getpid()}"
        end = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        p.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}{end}"))

    return write


def _record_always(step: int) -> ProfilerAction:
    del step
    return ProfilerAction.RECORD


class profile:
    """Notes operators from `start` to `stop`, or in the steps that a schedule says.

    Args:
        activities: only the CPU is watched.
        schedule: what to do in each step; `step()` begins the next.
        on_trace_ready: called with this object when steps to record are over.
        record_shapes, profile_memory, with_stack: what is noted of each call besides.
        with_flops, with_modules, experimental_config, execution_trace_observer, use_cuda: taken;
            they change nothing.
        acc_events: whether `events()` has all rounds of a schedule, not the last one's.
    """

    def __init__(
        self,
        *,
        activities: Iterable[object] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: object = None,
        execution_trace_observer: object = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        **options: object,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        self.schedule = schedule or _record_always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops, self.with_modules = with_stack, with_flops, with_modules
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler: Recorder | None = None
        self._recording = False
        self._step: Span | None = None
        self._spans: list[Span] = []
        self._metadata: dict[str, str] = {}

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    # ------------------------------------------------------------------ steps

    def start(self) -> None:
        """Begin with the first step."""
        self._enter()

    def stop(self) -> None:
        """End; what was recorded is ready."""
        recorded = self._recording
        self._leave()
        if recorded and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """The next step begins."""
        saved = self.current_action is ProfilerAction.RECORD_AND_SAVE
        if self._step is not None and self.profiler is not None:
            self.profiler.finish(self._step)
            self._step = None
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if saved:
            self._leave()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        self._enter()

    def _enter(self) -> None:
        """Do what the current step asks for."""
        wanted = self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if wanted and not self._recording:
            self.profiler = Recorder(
                record_shapes=self.record_shapes,
                memory=self.profile_memory,
                with_stack=self.with_stack,
            )
            self.profiler.start()
            self._recording = True
        if not wanted:
            self._leave()
        elif self.record_steps and self.profiler is not None:
            self._step = self.profiler.begin(f"ProfilerStep#{self.step_num}")

    def _leave(self) -> None:
        if self._recording and self.profiler is not None:
            self.profiler.stop()
            self._recording, self._step = False, None
            if self.acc_events:
                self._spans += self.profiler.spans
            else:
                self._spans = self.profiler.spans

    # ------------------------------------------------------------------ what was recorded

    def events(self) -> EventList:
        """All calls, in the order in which they began.

        Raises:
            AssertionError: nothing was recorded.
        """
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        made = events_of(self._spans, self.profiler.began, profile_memory=self.profile_memory)
        for event in made:
            if event.name.startswith("ProfilerStep#"):
                event.key = "ProfilerStep*"
        return made

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Calls of one name together: see `EventList`."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write what Chrome's `about:tracing` reads; compressed where the name ends in `.gz`."""
        self.events().export_chrome_trace(path)
        if str(path).endswith(".gz"):
            import gzip

            Path(path).write_bytes(gzip.compress(Path(path).read_bytes()))

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:
        """Write what makes flame graphs: see `EventList`.

        Raises:
            AssertionError: no stacks were recorded.
        """
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.events().export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Note something with the profile."""
        self._metadata[key] = value

    add_metadata_json = preset_metadata_json = add_metadata


class emit_nvtx:
    """Torch's marks for a tool of graphics cards: there are none here."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx | None:
        if self.enabled:
            raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")
        return None

    def __exit__(self, *raised: object) -> None:
        return None


class emit_itt:
    """Torch's marks for a tool of Intel's, which nobody reads here.

    Raises:
        RuntimeError: the block is entered while it is entered.
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes, self.entered = enabled, record_shapes, False

    def __enter__(self) -> emit_itt | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("ITT annotation context manager is not reentrant")
        self.entered = True
        return self

    def __exit__(self, *raised: object) -> None:
        self.entered = False


__getattr__ = names_of(__name__)
