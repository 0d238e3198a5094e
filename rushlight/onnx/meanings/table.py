"""The table of ONNX operators: one function an operator, joined by its name.

    @means("LeakyRelu")
    def leaky_relu(x, alpha=0.01): ...

A function takes the inputs, None for those that are left out, and the attributes by name; it gives
a tensor (a list of them for a sequence), or a tuple of several.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeVar

from ...frontend.foundations.declared import Declared

__all__ = ["MEANINGS", "TAKES_KIND", "means", "torch"]

if TYPE_CHECKING:
    import rushlight as torch
else:  # loaded by the time a file is read
    torch = import_module(__name__.partition(".")[0])

F = TypeVar("F", bound=Callable[..., object])
MEANINGS: Final[Declared[str, Callable[..., object]]] = Declared()
"""By operator, `LeakyRelu`."""


TAKES_KIND: Final[Declared[str, bool]] = Declared()
"""Whether an operator's function is told which of several it is, as `kind`."""


def means(*operators: str, takes_kind: bool = False) -> Callable[[F], F]:
    """Declare the decorated function to be what operators mean."""

    def declare(function: F) -> F:
        TAKES_KIND.put(operators, takes_kind)
        MEANINGS.put(operators, function)
        return function

    return declare
