"""Files in packages, as `importlib.resources` asks for them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.resources.abc import ResourceReader
from pathlib import Path
from typing import IO, Protocol

from ._mangling import demangle

__all__ = ["PackageResources", "path_of"]


def path_of(package: str, resource: str) -> str:
    """Where a file beside the modules of a package lies."""
    folder = demangle(package).replace(".", "/")
    return f"{folder}/{resource}" if folder else resource


class Holder(Protocol):
    """What has the files."""

    def paths(self) -> Iterator[str]:
        """The paths of all files."""

    def load_binary(self, package: str, resource: str) -> bytes:
        """The bytes of a file."""

    def file_of(self, path: str) -> Path | None:
        """Where it lies, if it does by itself."""


class PackageResources(ResourceReader):
    """The files beside the modules of one package (`models.texts`)."""

    def __init__(self, holder: Holder, package: str) -> None:
        self._holder = holder
        self._package = package
        self._folder = path_of(package, "")

    def open_resource(self, resource: str) -> IO[bytes]:
        """A file opened for reading.

        Raises:
            FileNotFoundError: there is none of that name.
        """
        if not self.is_resource(resource):
            raise FileNotFoundError(resource)
        return io.BytesIO(self._holder.load_binary(self._package, resource))

    def resource_path(self, resource: str) -> str:
        """A path in the file system.

        Raises:
            FileNotFoundError: there is none of that name, or it lies in an archive.
        """
        found = self._holder.file_of(self._folder + resource)
        if found is None:
            raise FileNotFoundError(resource)
        return str(found)

    def is_resource(self, path: str) -> bool:
        """Whether it is a file here."""
        return self._folder + path in set(self._holder.paths())

    def contents(self) -> Iterator[str]:
        """The names of files and folders here."""
        below = (path for path in self._holder.paths() if path.startswith(self._folder))
        names = (path.removeprefix(self._folder).partition("/")[0] for path in below)
        return iter(dict.fromkeys(names))
