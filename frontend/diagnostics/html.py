"""Diagnostics as HTML, for notebooks: what a terminal shows, in colours for light and dark."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["as_html"]

_COLORS: Final = {"31": "#d9534f", "32": "#3c9a5f", "33": "#b8860b", "34": "#4a7fd4"}
_SWITCH: Final = re.compile(r"\x1b\[([\d;]*)m")


def as_html(text: str) -> str:
    """A text with a terminal's colours as an element; nothing in it is markup but what is ours."""
    return f"<pre>{''.join(_spans(text))}</pre>"


def _spans(text: str) -> Iterator[str]:
    """The stretches between a terminal's switches of colour."""
    style = ""
    for number, part in enumerate(_SWITCH.split(text)):
        if number % 2:
            style = _style(part.split(";"))
        elif part:
            words = html.escape(part)
            yield f'<span style="{style}">{words}</span>' if style else words


def _style(codes: Iterable[str]) -> str:
    parts = [f"color: {_COLORS[code]}" for code in codes if code in _COLORS]
    return "; ".join([*parts, *(["font-weight: bold"] if "1" in codes else [])])
