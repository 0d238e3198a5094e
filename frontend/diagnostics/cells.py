"""Text as the columns of a terminal: wide characters take two, tabs four, controls one."""

from __future__ import annotations

import unicodedata

__all__ = ["cells_of", "clean", "clean_lines", "width_of"]

TAB = 4
ELLIPSIS = "…"


def _is_control(character: str) -> bool:
    # Cf are invisible marks such as those that turn the direction of writing.
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def clean_lines(text: str) -> str:
    """The text without what could move a terminal's cursor or hide text in it, but for tabs and
    line ends."""
    if text.isprintable():
        return text
    return "\n".join(map(clean, text.replace("\r\n", "\n").split("\n")))


def clean(text: str) -> str:
    """The same of one line: line ends are replaced too."""
    if text.isprintable():
        return text
    return "".join("\ufffd" if _is_control(c) and c != "\t" else c for c in text)


def character_width(character: str) -> int:
    """Columns a character takes; 0 for one that is drawn over the character before it."""
    if character == "\t":
        return TAB
    if character.isascii():
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def width_of(text: str) -> int:
    """Columns a text takes."""
    if text.isascii():
        return len(text) + (TAB - 1) * text.count("\t")
    return sum(map(character_width, text))


def cells_of(text: str) -> list[str]:
    """One string for every column; the second column of a wide character is empty."""
    cells: list[str] = []
    for character in clean(text):
        width = character_width(character)
        if character == "\t":
            cells.extend(" " * TAB)
        elif width == 0 and cells:
            cells[-1] += character
        else:
            cells.append(character)
            cells.extend([""] * (width - 1))
    return cells
