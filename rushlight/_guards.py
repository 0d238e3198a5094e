"""`torch._guards`: what torch's compiler is doing, which is nothing."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["TracingContext", "active_fake_mode", "detect_fake_mode"]


class TracingContext:
    """What is known of a program while it is traced for the compiler: there is never one."""

    @staticmethod
    def try_get() -> None:
        """The one that is entered: none is."""

    @staticmethod
    def get() -> NoReturn:
        """The one that is entered, which must be one.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")


def active_fake_mode() -> None:
    """The mode that makes fake tensors, if one is entered: none is."""
    return


def detect_fake_mode(inputs: object = None) -> None:
    """The mode that made fake tensors among some values: none did."""
    del inputs
    return
