"""Classes of values: dataclasses that nobody changes.

Compiling makes tens of thousands of small objects, and a frozen dataclass pays for each of its
fields when it is made.  So type checkers see a frozen dataclass, and refuse every change, while at
run time it is a plain one with the same equality and hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["value_class"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value_class
else:
    from dataclasses import dataclass

    def value_class(*, frozen, slots):
        """`dataclass(frozen=True, slots=...)` to type checkers; see above."""
        return dataclass(slots=slots, unsafe_hash=frozen)
