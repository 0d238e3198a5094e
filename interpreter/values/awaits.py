"""Calls that are made when somebody waits for their results, as Python sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

__all__ = ["_Await"]


class _Await:
    """The result of a call that is made when `wait()` is first called, and never again.

    What fails is called anew when it is waited for again.  An attribute that this class lacks is
    the result's; None if the result lacks it too.
    """

    __module__ = "rushlight._C"  # its public place

    _call: Callable[[], object] | None
    _result: object
    _type: str
    _function: Callable[..., Any] | None
    _arguments: tuple[object, ...]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        where = "torch._C." if cls is _Await else ""
        raise TypeError(f"{where}{cls.__name__}: No constructor defined!")

    def __reduce__(self) -> NoReturn:
        raise RuntimeError("Can not pickle torch.jit._Await")

    @classmethod
    def _made(
        cls,
        call: Callable[[], object] | None,
        result: object,
        type: str = "PyObject",
        arguments: tuple[object, ...] = (),
    ) -> _Await:
        """What waits for a call, or has its result; `type` is that of the result, as written."""
        made = object.__new__(cls)
        made._call, made._result, made._type = call, result, type
        made._function, made._arguments = None, arguments
        return made

    @classmethod
    def _of_call(cls, function: Callable[..., object], *args: object, **kwargs: object) -> _Await:
        """What waits for a call of a Python function."""
        made = cls._made(lambda: function(*args, **kwargs), None, arguments=args)
        made._function = function
        return made

    def wait(self) -> Any:
        """The result.

        Raises:
            Exception: what the call fails with.
        """
        if self._call is not None:
            self._result = self._call()
            self._call = None
        return self._result

    @property
    def _held(self) -> tuple[object, ...]:
        """The result, once somebody has waited for it."""
        return () if self._call is not None else (self._result,)

    def fn(self) -> Callable[..., object]:
        """The function that is called.

        Raises:
            RuntimeError: the result was there from the beginning, or running code made this.
        """
        if self._function is None:
            raise RuntimeError("Await constructed as awaitable_nowait does not have fn")
        return self._function

    def args(self) -> tuple[object, ...]:
        """What the function is called with; the result alone, if that was there."""
        return self._arguments

    def is_nowait(self) -> bool:
        """Whether there is no Python function to be called."""
        return self._function is None

    def type(self) -> str:
        """The type, as it is written: `Await[Tensor]`."""
        return f"Await[{self._type}]"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by protocols, which must not run anything
            raise AttributeError(f"'torch._C._Await' object has no attribute '{name}'")
        return getattr(self.wait(), name, None)
