"""`torch.backends.opt_einsum`: who says in what order `einsum` multiplies.

`einsum` has an order of its own here, so the two settings are kept and nothing follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

__all__ = ["flags", "get_opt_einsum", "is_available", "set_flags"]


def is_available() -> bool:
    """Whether the package of that name is installed."""
    return find_spec("opt_einsum") is not None


def get_opt_einsum() -> ModuleType | None:
    """The package, if it is installed."""
    return import_module("opt_einsum") if is_available() else None


enabled: bool = is_available()
strategy: str | None = "auto" if enabled else None


def set_flags(
    _enabled: bool | None = None, _strategy: str | None = None
) -> tuple[bool, str | None]:
    """Set both, or those that are not None; the answer is what they were.

    Raises:
        ValueError: the package is not installed and would be needed, or there is no such strategy.
    """
    global enabled, strategy
    before = enabled, strategy if is_available() else None
    if not is_available() and (_enabled or _strategy is not None):
        name, value = ("enabled", _enabled) if _enabled else ("strategy", _strategy)
        said = "reap the benefits of calculating an optimal path for einsum"
        raise ValueError(
            f"opt_einsum is not available, so setting `{name}` to {value} will not "
            f"{said if _enabled else 'be meaningful'}."
        )
    if _strategy not in (None, "auto", "greedy", "optimal"):
        raise ValueError(
            f"`strategy` must be one of the following: [auto, greedy, optimal] but is {_strategy}"
        )
    enabled = enabled if _enabled is None else _enabled
    strategy = strategy if _strategy is None else _strategy
    return before


@contextmanager
def flags(enabled: bool | None = None, strategy: str | None = None) -> Iterator[None]:
    """A block with both set, as `set_flags` does.

    Raises:
        ValueError: as `set_flags` does.
    """
    before = set_flags(enabled, strategy)
    try:
        yield
    finally:
        set_flags(*before)
