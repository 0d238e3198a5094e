"""`torch.package.glob_group`: names of modules by patterns, such as `numpy.**`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["GlobGroup", "GlobPattern"]

GlobPattern = str | Iterable[str]


class GlobGroup:
    """Names that one of `include` matches and none of `exclude`.

    A name has parts between `separator`s.  In a pattern `*` stands for any characters of one part,
    `**` for any number of whole parts, none included.

    Raises:
        ValueError: `**` stands beside something else in a part.
    """

    def __init__(
        self, include: GlobPattern, *, exclude: GlobPattern = (), separator: str = "."
    ) -> None:
        self._shown = f"GlobGroup(include={include}, exclude={exclude})"
        self.separator: Final = separator
        self.include = _patterns(include, separator)
        self.exclude = _patterns(exclude, separator)

    def __str__(self) -> str:
        return self._shown

    __repr__ = __str__

    def matches(self, candidate: str) -> bool:
        """Whether the group has a name."""
        name = self.separator + candidate  # so that each part has a separator before it
        included = any(pattern.fullmatch(name) for pattern in self.include)
        return included and not any(pattern.fullmatch(name) for pattern in self.exclude)


def _patterns(given: GlobPattern, separator: str) -> list[re.Pattern[str]]:
    each = [given] if isinstance(given, str) else given
    return [_pattern(text, separator) for text in each]


def _pattern(text: str, separator: str) -> re.Pattern[str]:
    between = re.escape(separator)
    part = f"[^{between}]"

    def of_part(glob: str) -> str:
        if glob == "**":
            return f"(?:{between}{part}+)*"
        if "**" in glob:
            raise ValueError("** can only appear as an entire path segment")
        return between + f"{part}*".join(map(re.escape, glob.split("*")))

    return re.compile("".join(map(of_part, text.split(separator))))
