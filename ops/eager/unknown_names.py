"""The error for a name that does not exist: Python's sentence, then the nearest names that do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...frontend.diagnostics.near_miss import near_misses

__all__ = ["UnknownName", "unknown_in_module"]


class UnknownName(AttributeError):
    """Something has no attribute of a name.

    The nearest names are looked up when the text is wanted: `hasattr` stays cheap.
    """

    def __init__(self, sentence: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        super().__init__(sentence, name=name, obj=None)
        self._sentence = sentence
        self._known = known

    def __str__(self) -> str:
        if not self.name or self.name.startswith("_"):
            return self._sentence
        close = " or ".join(f"'{each}'" for each in near_misses(self.name, self._known()))
        return f"{self._sentence}. Did you mean: {close}?" if close else self._sentence

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


def unknown_in_module(module: str, name: str, known: Callable[[], Iterable[str]]) -> UnknownName:
    """The error for `module.name`; `known` gives the names there are."""
    return UnknownName(f"module '{module}' has no attribute '{name}'", name, known)
