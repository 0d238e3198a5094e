"""`torch.random`: the state of the generator of random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .ops.eager.namespace import public_names

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]

_NAMES = public_names()
default_generator = _NAMES["default_generator"]
get_rng_state = _NAMES["get_rng_state"]
initial_seed = _NAMES["initial_seed"]
manual_seed = _NAMES["manual_seed"]
seed = _NAMES["seed"]
set_rng_state = _NAMES["set_rng_state"]


def thread_safe_generator() -> None:
    """The generator of a thread that loads data, None in others; no thread loads data here."""
    return None


@contextmanager
def fork_rng(
    devices: Iterable[object] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """A region after which the generator stands where it stood before.

    Args:
        devices: other devices whose state is kept, of which there are none.
        enabled: whether anything is done.
        device_type: the kind of those devices.
    """
    del devices, _caller, _devices_kw, device_type
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
