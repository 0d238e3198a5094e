"""`torch.package.file_structure_representation`: the files of a package as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from .glob_group import GlobGroup, GlobPattern

__all__ = ["Directory"]

_DEEPEST: Final = 100
"""Folders in each other; the text of a tree grows with the square of its depth."""


class Directory:
    """A folder of a package, or a file in one; printed as a tree, folders first."""

    def __init__(self, name: str, is_dir: bool) -> None:
        self.name = name
        self.is_dir = is_dir
        self.children: dict[str, Directory] = {}

    def has_file(self, filename: str) -> bool:
        """Whether a path, with `/` between its parts, leads to something below."""
        at: Directory | None = self
        for part in filename.split("/"):
            at = at.children.get(part) if at is not None else None
        return at is not None

    def _add_file(self, file_path: str) -> None:
        *folders, name = file_path.split("/")
        if len(folders) > _DEEPEST:
            raise RuntimeError(f"{file_path[:200]}...: a path of more than {_DEEPEST} folders")
        at = self
        for folder in folders:
            at = at.children.setdefault(folder, Directory(folder, True))
        at.children[name] = Directory(name, False)

    def __str__(self) -> str:
        return f"─── {self.name}\n" + "".join(self._lines("    "))

    def _lines(self, before: str) -> Iterator[str]:
        children = sorted(self.children.values(), key=lambda child: (not child.is_dir, child.name))
        for child in children:
            is_last = child is children[-1]
            yield f"{before}{'└' if is_last else '├'}── {child.name}\n"
            yield from child._lines(before + ("    " if is_last else "│   "))


def directory_of(
    title: str, paths: Iterable[str], include: GlobPattern = "**", exclude: GlobPattern = ()
) -> Directory:
    """The tree of those paths that match (`*` within a part, `**` over parts)."""
    chosen = GlobGroup(include, exclude=exclude, separator="/")
    found = Directory(title, True)
    for path in paths:
        if chosen.matches(path):
            found._add_file(path)
    return found
