"""Modules for several devices, which are all the CPU, and their calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..modules.module import Module

__all__ = ["parallel_apply", "replicate"]


def replicate(network: Module, devices: Sequence[object], detach: bool = False) -> list[Module]:
    """The module once for each device: it is the same one."""
    return [network] * len(devices)


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[object],
    kwargs_tup: Sequence[Mapping[str, object]] | None = None,
    devices: Sequence[object] | None = None,
) -> list[object]:
    """Each module called with its arguments.

    Raises:
        AssertionError: there are not as many arguments as modules.
    """
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs "
            f"{len(inputs)}"
        )
    named = kwargs_tup or [{}] * len(modules)
    given = [each if isinstance(each, (list, tuple)) else (each,) for each in inputs]
    return [m(*a, **k) for m, a, k in zip(modules, given, named, strict=True)]
