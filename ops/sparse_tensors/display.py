"""How sparse tensors are printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

__all__ = ["shown"]

_INDENT: Final = " " * 7
_WIDTH: Final = 80
_DTYPE: Final = re.compile(r",\s+dtype=[\w.]+\)$")


def shown(pieces: dict[str, Tensor], said: list[str], apart: bool) -> str:
    """Tensors by their names, and what else is to be said, as torch arranges it.

    `apart`: remarks begin on a line of their own.
    """
    lines = [f"{name}={_indented(_inner(each), name)}" for name, each in pieces.items()]
    text = "tensor(" + f",\n{_INDENT}".join(lines)
    length = len(text) - text.rfind("\n") + 1
    for place, each in enumerate(said):
        if length + len(each) + 2 > _WIDTH or (apart and not place):
            text += f",\n{_INDENT}{each}"
            length = len(_INDENT) + len(each)
        else:
            text += f", {each}"
            length += len(each) + 2
    return text + ")"


def _inner(values: Tensor) -> str:
    """A tensor without its dtype, which stands at the end; an empty one with its sizes."""
    if not values.numel():
        return f"tensor([], size={tuple(values.shape)})"
    return _DTYPE.sub(")", repr(values))


def _indented(text: str, name: str) -> str:
    return text.replace("\n", "\n" + " " * (len(_INDENT) + len(name) + 1))
