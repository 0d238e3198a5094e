"""Whether attention may be computed by one operator where nothing else is asked of it."""

from __future__ import annotations

from ..frontend.foundations.chosen import Chosen
from ..nn.sizes import is_scripting

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = Chosen(True)


def get_fastpath_enabled() -> bool:
    """Whether the fast path is allowed; in script it always is."""
    if not is_scripting():
        return _enabled.now
    return True


def set_fastpath_enabled(value: bool) -> None:
    """Allow the fast path, or forbid it."""
    _enabled.choose(value)
