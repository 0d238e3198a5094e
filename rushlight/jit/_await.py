"""`torch.jit._awaitable` and its kin as Python runs them."""

from __future__ import annotations

from collections.abc import Callable

from .._awaits import _Await
from ..interpreter.values import awaits
from ..typecheck.definitions.names import OperatorName, SpecialForm
from .resolver import register_special

__all__ = ["_Await", "_awaitable", "_awaitable_nowait", "_awaitable_wait"]


def _awaitable(func: Callable[..., object], *args: object, **kwargs: object) -> awaits._Await:
    """What calls a function when somebody first waits for the result.

    Raises:
        TypeError: it cannot be called.
    """
    if not callable(func):
        raise TypeError(f"Object of type '{type(func).__name__}' is not an instance of 'function'")
    return awaits._Await._of_call(func, *args, **kwargs)


def _awaitable_wait(aw: awaits._Await) -> object:
    """The result of what is waited for; it is called now if it was not.

    Raises:
        TypeError: it is nothing that can be waited for.
        RuntimeError: it is None.
        Exception: what the call fails with.
    """
    if aw is None:
        raise RuntimeError("Await can't be None")
    if not isinstance(aw, awaits._Await):
        raise TypeError(
            "_awaitable_wait(): incompatible function arguments. The following argument types are "
            f"supported:\n    1. (arg0: torch._C._Await) -> object\n\nInvoked with: {aw!r}"
        )
    return aw.wait()


def _awaitable_nowait(o: object) -> awaits._Await:
    """What can be waited for and has its result already."""
    return awaits._Await._made(None, o, arguments=(o,))


register_special(_awaitable, SpecialForm("awaitable"))
register_special(_awaitable_wait, OperatorName("prim::awaitable_wait"))
register_special(_awaitable_nowait, OperatorName("prim::awaitable_nowait"))
