"""Names of ONNX values as names that Python takes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import normalize

from ..fx._namespace import _TAKEN

__all__ = ["PlainNames"]


class PlainNames:
    """The names of one module's values and weights: no two are the same to Python,
    and none hides what generated code uses."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {"self", *_TAKEN, *taken}

    def plain(self, name: str) -> str:
        """A name like this one that is nobody else's.

        Python takes letters that look alike for the same ones (NFKC), so they are replaced first.
        """
        made = re.sub(r"\W", "_", normalize("NFKC", name))
        made = made if made.isidentifier() else f"_{made}"
        while made in self._taken:
            made += "_"
        self._taken.add(made)
        return made
