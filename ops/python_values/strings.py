"""Operators over strings.

A string is a row of bytes, UTF-8 where it came from Python: lengths, positions and single
characters are those of bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ..arithmetic.scalar import to_bytes
from ..memory.errors import IndexOutOfRange, OperatorError
from ..table.inline import inline, native
from ..table.table import operator
from .lists import check_step
from .searching import SHORT, distinct, last_place, split_from_end

__all__ = ["from_bytes", "joined", "to_bytes"]


def from_bytes(data: bytes) -> str:
    """The string of some bytes; those that are not UTF-8 come back out of `to_bytes`."""
    return data.decode("utf-8", "surrogateescape")


def _on_bytes(function: Callable[..., object]) -> Callable[..., Any]:
    """Let a function written for `str` see bytes, as Latin-1, where a string is not ASCII."""

    def call(*arguments: object) -> object:
        for each in arguments:
            if isinstance(each, str) and not each.isascii():
                break
        else:
            return function(*arguments)
        narrow = (to_bytes(a).decode("latin-1") if isinstance(a, str) else a for a in arguments)
        return _widen(function(*narrow))

    return call


def _widen(value: object) -> object:
    if isinstance(value, str):
        return from_bytes(value.encode("latin-1"))
    if isinstance(value, (list, tuple)):
        return type(value)(map(_widen, value))
    return value


# Their characters are bytes, which makes a difference beyond ASCII.  A part beyond ASCII is in no
# string of ASCII alone, whether one looks at characters or at bytes.

_ASCII: Final = "{0}.isascii()"
_WHOLE: Final = {2: "0", 3: "(-1)"}
_UP_TO_END: Final = f"{_ASCII} and {{3}} in (-1, len({{0}}))"


@operator(
    "aten::add.str(str a, str b) -> str",
    inline=inline("{0} + {1}", "{0}.isascii() and {1}.isascii()"),
    native=native("{0} + {1}"),
)
def add(a: str, b: str) -> str:
    return joined(a + b)


def joined(text: str) -> str:
    """A text put together of others: bytes that only now make a character become one."""
    return text if text.isascii() else from_bytes(to_bytes(text))


@operator(
    "aten::len.str(str s) -> int",
    inline=inline("len({0})", _ASCII),
    native=native("len({0})"),
)
def length(s: str) -> int:
    return len(s) if s.isascii() else len(to_bytes(s))


@operator(
    "aten::__getitem__.str(str s, int index) -> str",
    "prim::StringIndex(str string, int index) -> str",
    inline=inline("{0}[{1}]", _ASCII),
    native=native("{0}[{1}]"),
)
@_on_bytes
def character(s: str, index: int) -> str:
    try:
        return s[index]
    except IndexError:
        size = len(s)
        place = index if index >= 0 else (index + size) % (1 << 64)
        raise IndexOutOfRange(
            f"basic_string::at: __n (which is {place}) >= this->size() (which is {size})",
            headline=f"index {index} is out of range for a string of {size} characters",
        ) from None


@operator(
    "aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str",
    inline=inline("{0}[{1}:{2}]", _ASCII, at={3: "1"}),
    native=native("{0}.slice({1}, {2}, {3})"),
)
@_on_bytes
def slice_text(string: str, start: int | None, end: int | None, step: int) -> str:
    check_step(step)
    return string[start:end:step]


@operator("aten::list(str t) -> str[]", native=native("characters({0})"), order="- t")
@_on_bytes
def characters(t: str) -> list[str]:
    return list(t)


# --------------------------------------------------------------------------- case and kind


def _recased(name: str) -> Callable[[str], str]:
    """A method of `str`; letters are those of ASCII."""
    of_text, of_bytes = getattr(str, name), getattr(bytes, name)
    return lambda self: of_text(self) if self.isascii() else from_bytes(of_bytes(to_bytes(self)))


for _name in ("lower", "upper", "capitalize", "swapcase", "title"):
    operator(
        f"aten::{_name}(str self) -> str",
        inline=inline(f"{{0}}.{_name}()", _ASCII),
        native=native(f"{{0}}.{_name}()"),
    )(_recased(_name))


def _asked(name: str) -> Callable[[str], bool]:
    """A method of `bytes`, which knows letters, digits and white space of ASCII alone."""
    of_bytes = getattr(bytes, name)
    return lambda self: of_bytes(to_bytes(self))


for _name in ("isalnum", "isalpha", "isdigit", "islower", "isspace", "istitle", "isupper"):
    operator(
        f"aten::{_name}(str self) -> bool",
        inline=inline(f"{{0}}.{_name}()", _ASCII) if _name != "isspace" else (),
        native=native(f"{{0}}.{_name}()"),
    )(_asked(_name))
for _name in ("isdecimal", "isnumeric"):
    operator(
        f"aten::{_name}(str self) -> bool",
        inline=inline("{0}.isdigit()", _ASCII),
        native=native("{0}.isdigit()"),
    )(_asked("isdigit"))


@operator("aten::isprintable(str self) -> bool")
def isprintable(self: str) -> bool:
    return self.isascii() and self.isprintable()


@operator("aten::isidentifier(str self) -> bool")
def isidentifier(self: str) -> bool:
    """Letters and digits, not a digit first; torch knows no `_` here."""
    return to_bytes(self).isalnum() and not self[0].isdigit()


# --------------------------------------------------------------------------- cutting and joining

_STRIPPED: Final = f"{_ASCII} and len({{1}}) <= {SHORT}"


def _stripped(name: str) -> Callable[[str, str], str]:
    """A method of `str` that takes characters away at its ends."""
    of_text = getattr(str, name)
    return _on_bytes(lambda self, chars: of_text(self, distinct(chars)))


for _name in ("strip", "lstrip", "rstrip"):
    operator(
        rf'aten::{_name}(str self, str chars=" \n\t\f\v") -> str',
        inline=inline(f"{{0}}.{_name}({{1}})", _STRIPPED),
        native=native(f"{{0}}.{_name}({{1}})"),
    )(_stripped(_name))


@_on_bytes
def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _check_separator(separator: str) -> None:
    if not separator:
        raise OperatorError("ValueError: empty separator", headline="`separator` is empty")


@operator(
    "aten::split.str(str self, str? separator=None, int max=-1) -> str[]",
    native=native("split_at_blanks({0})", at={1: "None"})
    + native("split_at({all})", of=("str str int",)),
    order="str -",
)
def split(self: str, separator: str | None, max: int) -> list[str]:
    """The parts between separators; between white space all of them, whatever `max` is."""
    if separator is None:
        words: list[str] = _words(self)
        return words
    _check_separator(separator)
    return self.split(separator, max)


@operator(
    'aten::rsplit(str self, str separator=" ", int max=-1) -> str[]',
    native=native("split_from_end({all})"),
)
def rsplit(self: str, separator: str, max: int) -> list[str]:
    _check_separator(separator)
    return split_from_end(self, separator, max)


_LINE_ENDS = "([\n\r\v\f\x1c\x1d\x1e\x85\xe2\x80\xa8\xa9])"
"""Of bytes, as torch has it: some are parts of ordinary characters."""
_WORD = re.compile("[^ \t\n\r\v\f\x1c\x1d\x1e\x85\xe2\x80\xa8\xa9]+")


@operator(
    "aten::splitlines(str self, bool keepends=False) -> str[]",
    native=native("{0}.splitlines({1})"),
)
@_on_bytes
def splitlines(self: str, keepends: bool) -> list[str]:
    """The lines; a line end of two characters is two, and kept ends stand by themselves."""
    parts = re.split(_LINE_ENDS, self)
    lines = parts if keepends else parts[::2]
    return lines[:-1] if not lines[-1] else lines


@operator(
    "aten::partition(str self, str separator) -> (str, str, str)",
    native=native("{0}.partition({1})"),
)
def partition(self: str, separator: str) -> tuple[str, str, str]:
    return self.partition(separator) if separator else ("", "", self)


@operator(
    "aten::rpartition(str self, str separator) -> (str, str, str)",
    native=native("{0}.rpartition({1})"),
)
def rpartition(self: str, separator: str) -> tuple[str, str, str]:
    if not separator:
        return self, "", ""
    place = last_place(self, separator)
    return (
        ("", "", self) if place < 0 else (self[:place], separator, self[place + len(separator) :])
    )


@operator("aten::join(str self, str[] values) -> str", native=native("{0}.join({1})"))
def join(self: str, values: list[str]) -> str:
    return joined(self.join(values))


@operator(
    "aten::replace(str self, str old, str new, int max=-1) -> str",
    native=native("{0}.replace({1}, {2}, {3})"),
)
def replace(self: str, old: str, new: str, max: int) -> str:
    if not old and max >= 0:  # found again and again at the same place
        return joined(new * max + self)
    return joined(self.replace(old, new, max))


@operator("aten::expandtabs(str self, int tabsize=8) -> str")
@_on_bytes
def expandtabs(self: str, tabsize: int) -> str:
    """Tabs as spaces up to the next column; line ends are characters like others here."""
    pieces, column = [], 0
    for character in self:
        piece = character
        if character == "\t":
            piece = " " * (tabsize - column % tabsize) if tabsize > 0 else ""
        pieces.append(piece)
        column += len(piece)
    return "".join(pieces)


def _padded(name: str) -> Callable[[str, int, str], str]:
    pad = getattr(str, name)

    @_on_bytes
    def padded(self: str, width: int, fillchar: str) -> str:
        if len(fillchar) != 1:
            raise OperatorError(
                "TypeError: The fill character must be exactly one character long",
                headline=f"{fillchar!r} is not one character",
            )
        text: str = pad(self, width, fillchar)
        return text

    return padded


for _name in ("center", "ljust", "rjust"):
    operator(
        f'aten::{_name}(str self, int width, str fillchar=" ") -> str',
        native=native(f"{{0}}.{_name}({{1}}, {{2}})"),
    )(_padded(_name))
operator("aten::zfill(str self, int width) -> str", native=native('{0}.rjust({1}, "0")'))(
    _on_bytes(lambda self, width: self.rjust(width, "0"))
)


# --------------------------------------------------------------------------- searching


def _bounds(size: int, start: int, end: int) -> tuple[int, int]:
    """Where a search begins and stops; an end of -1 is the end of the string."""
    return max(start + size, 0) if start < 0 else start, max(end + size + 1, 0) if end < 0 else end


def _part(text: str, start: int, end: int) -> str:
    """What C++'s `substr` gives: to the end for a negative length.

    Raises:
        IndexOutOfRange: the part begins after the end.
    """
    size = len(text)
    if start > size:
        raise IndexOutOfRange(
            f"basic_string::substr: __pos (which is {start}) > this->size() (which is {size})",
            headline=f"{start} is after the end of a string of {size} characters",
        )
    return text[start:] if end < start else text[start:end]


def _sought(text: str, start: int, end: int, find: Callable[[str], int]) -> int:
    start, end = _bounds(len(text), start, end)
    position = find(_part(text, start, end) if end > start else "")
    return position if position < 0 else position + start


@operator(
    "aten::find(str self, str substr, int start=0, int end=-1) -> int",
    inline=inline("{0}.find({1})", _UP_TO_END, at={2: "0"}),
    native=native("{0}.find({1}, {2}, {3})"),
)
@_on_bytes
def find(self: str, substr: str, start: int, end: int) -> int:
    return _sought(self, start, end, lambda part: part.find(substr))


@operator(
    "aten::rfind(str self, str substr, int start=0, int end=-1) -> int",
    native=native("{0}.rfind({1}, {2}, {3})"),
)
@_on_bytes
def rfind(self: str, substr: str, start: int, end: int) -> int:
    return _sought(self, start, end, lambda part: last_place(part, substr))


def _must_be_found(position: int) -> int:
    if position < 0:
        raise OperatorError("ValueError: substring not found", headline="`substr` is not found")
    return position


@operator(
    "aten::index.str(str self, str substr, int start=0, int end=-1) -> int",
    native=native("present({0}.find({1}, {2}, {3}))"),
)
def index(self: str, substr: str, start: int, end: int) -> int:
    return _must_be_found(find(self, substr, start, end))


@operator(
    "aten::rindex(str self, str substr, int start=0, int end=-1) -> int",
    native=native("present({0}.rfind({1}, {2}, {3}))"),
)
def rindex(self: str, substr: str, start: int, end: int) -> int:
    return _must_be_found(rfind(self, substr, start, end))


@operator(
    "aten::count(str self, str substr, int start=0, int end=-1) -> int",
    native=native("{0}.times({1}, {2}, {3})"),
)
@_on_bytes
def count(self: str, substr: str, start: int, end: int) -> int:
    """How often the part begins before the end, without overlaps."""
    start, end = _bounds(len(self), start, end)
    if start >= end:
        return 0  # nor does an empty part begin there
    return self.count(substr, start, max(end + len(substr) - 1, 0))


@operator(
    "aten::startswith(str self, str substr, int start=0, int end=-1) -> bool",
    inline=inline("{0}.startswith({1})", _ASCII, at=_WHOLE),
    native=native("{0}.startswith({1})", at=_WHOLE) + native("{0}.part({2}, {3}).startswith({1})"),
)
@_on_bytes
def startswith(self: str, substr: str, start: int, end: int) -> bool:
    return _part(self, *_bounds(len(self), start, end)).startswith(substr)


@operator(
    "aten::endswith(str self, str substr, int start=0, int end=-1) -> bool",
    inline=inline("{0}.endswith({1})", _ASCII, at=_WHOLE),
    native=native("{0}.endswith({1})", at=_WHOLE) + native("{0}.part({2}, {3}).endswith({1})"),
)
@_on_bytes
def endswith(self: str, substr: str, start: int, end: int) -> bool:
    return _part(self, *_bounds(len(self), start, end)).endswith(substr)


# --------------------------------------------------------------------------- numbers


@operator(
    "aten::ord(str string) -> int",
    inline=inline("ord({0})", f"{_ASCII} and len({{0}}) == 1", names={"ord": ord}),
    native=native("ord_of({0})"),
)
def ordinal(string: str) -> int:
    data = to_bytes(string)
    if len(data) != 1:
        raise OperatorError(f"String for ord() must be 1 character, found {len(data)}")
    return data[0]


@operator(
    "aten::chr(int i) -> str",
    inline=inline("chr({0})", "0 <= {0} < 128", names={"chr": chr}),
    native=native("chr_of({0})"),
)
def character_of(i: int) -> str:
    """The character of the lowest eight bits, as in torch."""
    if not 0 <= i < 0x10FFFF:  # torch leaves out the last one
        raise OperatorError(
            f"chr() arg not in range(0x110000), found {i}",
            headline=f"`chr` takes 0 to 1114111, not {i}",
        )
    return from_bytes(bytes([i & 255]))


for _name, _bits, _digits in (("hex", 4, hex), ("oct", 3, oct), ("bin", 1, bin)):
    operator(
        f"aten::{_name}(int i) -> str",
        native=native(f"digits_in({{0}}, {_bits}, '0{_name[0] if _bits < 4 else 'x'}')"),
    )(_digits)
