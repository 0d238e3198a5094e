"""`torch.classes`: classes of libraries written in C++, of which there are none."""

from __future__ import annotations

from typing import Final, NoReturn

from .ops.eager.packets import load_library

__all__ = ["load_library", "loaded_libraries"]

loaded_libraries: Final[set[str]] = set()
"""Paths of the libraries that classes came from."""


class _Namespace:
    """The classes of a library."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attr: str) -> NoReturn:
        if attr.startswith("__"):
            raise AttributeError(attr)
        raise RuntimeError(
            f"Tried to instantiate class '{self.name}.{attr}', but it does not exist! Ensure that "
            "it is registered via torch::class_"
        )

    def __repr__(self) -> str:
        return f"<module 'torch.classes.{self.name}'>"


def __getattr__(name: str) -> _Namespace:
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return _Namespace(name)
