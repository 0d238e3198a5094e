"""The lark grammar of graph text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["load"]


@cache
def load(name: str) -> Lark:
    """The LALR parser of `NAME.lark` in this folder; lark is imported at the first call."""
    from lark import Lark

    text = (Path(__file__).parent / f"{name}.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", propagate_positions=False, maybe_placeholders=False)
