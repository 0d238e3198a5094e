"""`torch.monitor`: statistics over windows of time, and events that handlers are told of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final

__all__ = [
    *("Aggregation", "COUNT", "Event", "EventHandlerHandle", "MAX", "MEAN", "MIN", "STAT_EVENT"),
    *("SUM", "Stat", "TensorboardEventHandler", "VALUE", "data_value_t", "log_event"),
    *("register_event_handler", "unregister_event_handler"),
]

STAT_EVENT: Final = "torch.monitor.Stat"
"""The name of the events that statistics log."""


class Aggregation(Enum):
    """What a statistic makes of the values of a window."""

    VALUE = 0
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6

    def __int__(self) -> int:
        return int(self.value)

    def __hash__(self) -> int:
        return int(self.value)


VALUE, MEAN, COUNT = Aggregation.VALUE, Aggregation.MEAN, Aggregation.COUNT
SUM, MAX, MIN = Aggregation.SUM, Aggregation.MAX, Aggregation.MIN


class data_value_t:
    """What an event may hold by name: a str, int, float or bool.

    Raises:
        TypeError: always; there are none of this class itself.
    """

    def __new__(cls, *given: object) -> data_value_t:
        """Refuse."""
        raise TypeError("torch._C._monitor.data_value_t: No constructor defined!")


class Event:
    """Something that happened.

    Args:
        name: of the kind of event.
        timestamp: when.
        data: what is told of it: str, int, float or bool by name.

    Raises:
        TypeError: these are something else.
    """

    def __init__(self, name: str, timestamp: datetime, data: Mapping[str, object]) -> None:
        told = isinstance(data, Mapping) and all(
            isinstance(key, str) and isinstance(value, (str, int, float, bool))
            for key, value in data.items()
        )
        if not isinstance(name, str) or not isinstance(timestamp, datetime) or not told:
            raise TypeError(
                "__init__(): incompatible constructor arguments. The following argument types are "
                "supported:\n    1. torch._C._monitor.Event(name: str, timestamp: "
                "datetime.datetime, data: collections.abc.Mapping[str, data_value_t])"
            )
        self.name = name
        self.timestamp = timestamp
        self.data = {
            key: float(value) if isinstance(value, bool) else value for key, value in data.items()
        }


class EventHandlerHandle:
    """What `register_event_handler` gives, to take the handler away by.

    Raises:
        TypeError: one is made in another way.
    """

    _handler: Callable[[Event], object]

    def __init__(self) -> None:
        raise TypeError("torch._C._monitor.EventHandlerHandle: No constructor defined!")


_HANDLERS: Final[list[EventHandlerHandle]] = []


def register_event_handler(callback: Callable[[Event], object]) -> EventHandlerHandle:
    """Have a function called with each event that is logged from now on."""
    handle = object.__new__(EventHandlerHandle)
    handle._handler = callback
    _HANDLERS.append(handle)
    return handle


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """Take a handler away; one that is gone already is no error."""
    if handler in _HANDLERS:
        _HANDLERS.remove(handler)


def log_event(event: Event) -> None:
    """Tell the handlers of an event, in the order in which they were registered."""
    for handle in list(_HANDLERS):
        handle._handler(event)


class Stat:
    """A value that is measured again and again, of which events tell for each window of time.

    Args:
        name: of the value; an event tells of `name.sum` and the like.
        aggregations: what is told.
        window_size: how long values are gathered until an event is logged.
        max_samples: how many are gathered at most.

    The event of a window is logged when the first value after it comes, when `max_samples` values
    have come, or when the statistic is dropped.
    """

    def __init__(
        self,
        name: str,
        aggregations: Sequence[Aggregation],
        window_size: timedelta,
        max_samples: int = 2**63 - 1,
    ) -> None:
        self.name = name
        self._asked = [each for each in Aggregation if each in aggregations]
        self._window = max(window_size.total_seconds(), 1e-3)
        self._most = max_samples
        self._lock = threading.RLock()
        self._is_full = False
        self._id = self._now()
        self._values: list[float] = []
        self._last = dict.fromkeys((each for each in self._asked if each is not VALUE), 0.0)

    def _now(self) -> int:
        """The number of the window that runs."""
        return int(time.time() / self._window)

    @property
    def count(self) -> int:
        """How many values the window that runs has."""
        return len(self._values)

    def add(self, v: float) -> None:
        """Note a value down; it is dropped where the window that runs has enough.

        Raises:
            TypeError: it is no number.
        """
        if not isinstance(v, (int, float)):
            raise TypeError(f"add(): incompatible function arguments: {v!r} is no number")
        with self._lock:
            now = self._now()
            if now != self._id:
                self._id, self._is_full = now, False
                self._log()
            if self._is_full:
                return
            self._values.append(float(v))
            self._is_full = len(self._values) >= self._most
            if self._is_full:
                self._log()

    def get(self) -> dict[Aggregation, float]:
        """What came of the last window that an event told of; zeros before the first."""
        return dict(self._last)

    def _log(self) -> None:
        values, self._values = self._values, []
        if not values:
            return
        made = {
            VALUE: values[-1],
            MEAN: sum(values) / len(values),
            COUNT: float(len(values)),
            **{SUM: sum(values), MAX: max(values), MIN: min(values)},
        }
        self._last = {each: made[each] for each in self._asked if each is not VALUE}
        told = {f"{self.name}.{each.name.lower()}": value for each, value in self._last.items()}
        log_event(Event(STAT_EVENT, datetime.now(UTC).replace(tzinfo=None), told))

    def __del__(self) -> None:
        if hasattr(self, "_last"):
            self._log()


class TensorboardEventHandler:
    """A handler that writes the numbers of statistics into a log for TensorBoard.

    Args:
        writer: what has `add_scalar(name, value, walltime=...)`.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        """Write down what a statistic told; other events are left alone."""
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())
