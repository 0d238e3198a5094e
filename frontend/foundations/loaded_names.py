"""The names under which modules were loaded, which they keep when they say another one."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["loaded_name"]


def loaded_name(names: Mapping[str, object]) -> str:
    """The name of the module that has a namespace (`frame.f_globals`), as it was loaded.

    While rushlight stands in for torch its modules say `torch.x` for `__name__`; whoever looks
    whether a frame is of this package asks here.
    """
    name = getattr(names.get("__spec__"), "name", None) or names.get("__name__")
    return name if isinstance(name, str) else ""
