"""Settings of `torch.backends` that tests may freeze: then only `flags()` blocks change them."""

from __future__ import annotations

from types import ModuleType

from ..frontend.foundations.chosen import Chosen

__all__ = ["Switches", "disable_global_flags", "flags_frozen"]

_FROZEN = Chosen(False)


def disable_global_flags() -> None:
    """Have assignments to settings refused from here on; `flags()` blocks still change them."""
    _FROZEN.choose(True)


def flags_frozen() -> bool:
    """Whether assignments to settings are refused."""
    return _FROZEN.now


class Switches(ModuleType):
    """A module whose settings, named in its `_SWITCHES`, are plain names of it."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set a name.

        Raises:
            RuntimeError: it is a setting, and settings are frozen.
        """
        if _FROZEN.now and name in vars(self)["_SWITCHES"]:
            shown = f"torch.backends.{self.__name__.rpartition('.')[2]}"
            raise RuntimeError(
                f"not allowed to set {shown} flags after disable_global_flags; please use flags() "
                "context manager instead"
            )
        super().__setattr__(name, value)
