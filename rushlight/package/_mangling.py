"""Names of modules that come out of a package: `<torch_package_0>.models.net`.

Each importer has a prefix of its own, so that modules of one name in two packages differ.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Final

__all__ = ["PackageMangler", "demangle", "get_mangle_prefix", "is_mangled"]

_PREFIX: Final = re.compile(r"<torch_package_\d+>")
_NUMBERS: Final = count()


class PackageMangler:
    """Gives names the prefix of one importer."""

    def __init__(self) -> None:
        self._prefix: Final = f"<torch_package_{next(_NUMBERS)}>"

    def mangle(self, name: str) -> str:
        """A name with the prefix."""
        assert name
        return f"{self._prefix}.{name}"

    def demangle(self, mangled: str) -> str:
        """A name without the prefix; other names stay as they are."""
        return mangled.removeprefix(f"{self._prefix}.")

    def parent_name(self) -> str:
        """The prefix."""
        return self._prefix


def is_mangled(name: str) -> bool:
    """Whether a name has the prefix of any importer."""
    return _PREFIX.match(name) is not None


def get_mangle_prefix(name: str) -> str:
    """The prefix of a name; a name without one is given back."""
    return name.partition(".")[0] if is_mangled(name) else name


def demangle(name: str) -> str:
    """A name without the prefix of any importer."""
    return name.partition(".")[2] if is_mangled(name) else name
