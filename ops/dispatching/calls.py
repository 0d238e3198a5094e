"""Eager calls with tensors whose class is asked for operators by its `__torch_dispatch__`."""

from __future__ import annotations

from ..eager.calls import run as run_plainly
from ..eager.elsewhere import Choose
from ..memory.errors import OnDispatch
from ..tensors import dispatched
from .modes import modes

__all__ = ["call"]


def call(
    operator_name: str, args: tuple[object, ...], kwargs: dict[str, object], choose: Choose
) -> object:
    """What an operator gives for arguments with such tensors among them.

    Raises:
        NotImplementedError: a wrapper's elements are asked for, which it has none of.
        Exception: what the class raises.
    """
    del args, kwargs
    try:
        with dispatched.opened():
            return choose(modes.running(run_plainly, by_choice=True))
    except OnDispatch as error:
        raise NotImplementedError(f"{operator_name}: {error}") from None
