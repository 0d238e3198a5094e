"""The names of variables in printed code."""

from __future__ import annotations

from collections.abc import Container
from keyword import kwlist

from ...ir.graphs.graph import Value

__all__ = ["RESERVED", "Names", "is_attribute", "is_identifier", "quoted", "to_identifier"]

RESERVED = frozenset(
    (
        *kwlist,
        *("_", "as", "aten", "attribute", "CONSTANTS", "fork", "getattr", "inf", "nan", "infj"),
        *("nanj", "ops", "__torch__", "uninitialized", "unchecked_cast"),
    )
)
"""Words a variable cannot be called, because they mean something to the reader of the code."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_KEYWORDS = frozenset(kwlist)
_DIGITS = frozenset("0123456789")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")


def is_identifier(name: str) -> bool:
    """Whether `name` is an ASCII identifier; keywords count as identifiers."""
    return bool(name) and name[0] in _LETTERS and all(c in _LETTERS or c in _DIGITS for c in name)


def is_attribute(name: str) -> bool:
    """Whether `name` can be written behind a dot."""
    return is_identifier(name) and name not in _KEYWORDS


def quoted(text: str) -> str:
    """A text in quotes, as Python reads it.

    Raises:
        UnicodeEncodeError: it holds half of a character.
    """
    text.encode()
    inside = (
        c if c.isprintable() and c not in '"\\' else _ESCAPES.get(c, _number(c)) for c in text
    )
    return f'"{"".join(inside)}"'


def _number(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def to_identifier(name: str) -> str:
    """`name` with every byte that cannot stand in an identifier replaced by an underscore."""
    start = "_" if not name or name[0] in _DIGITS else ""
    characters = (
        c if c in _LETTERS or c in _DIGITS else "_" * len(c.encode("utf-8", "surrogateescape"))
        for c in name
    )
    return start + "".join(characters)


class Names:
    """Gives out names that are unique within a function.

    The counters go on from function to function of a file, so a name that was once taken with a
    number does not get the same number again.
    """

    def __init__(self, reserved: Container[str] = RESERVED) -> None:
        self._reserved = reserved
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def start_function(self) -> None:
        """Let all names be given out again."""
        self._used.clear()

    def take(self, wanted: str) -> str:
        """`wanted`, or `wanted` with a number if it is taken or reserved."""
        name = wanted
        while name in self._used or name in self._reserved:
            number = self._next.get(name, 0)
            self._next[name] = number + 1
            name = f"{wanted}{number}"
        self._used.add(name)
        return name

    def for_value(self, value: Value) -> str:
        """A new name after the value's own, or `_0`, `_1`, … for a value without one."""
        base = value.base_name
        return self.take("_" if base is None else to_identifier(base))
