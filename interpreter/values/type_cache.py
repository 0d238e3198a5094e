"""What is made once for a type and kept, unless the type belongs to a program.

Classes, interfaces and enumerations hold methods, graphs and constants: a cache of them would keep
every archive alive that was ever loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from ...typecheck.types.types import Type

__all__ = ["kept_by_type"]

Made = TypeVar("Made")


def kept_by_type(make: Callable[[Type], Made]) -> Callable[[Type], Made]:
    """Remember what a function makes of types that name no class of a program."""
    remembered = lru_cache(maxsize=4096)(make)

    @wraps(make)
    def of(type: Type) -> Made:
        return make(type) if _is_of_a_program(type) else remembered(type)

    return of


def _is_of_a_program(type: Type) -> bool:
    if type.is_declared:
        return True
    return any(map(_is_of_a_program, type.contained))
