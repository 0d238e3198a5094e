"""Streams of the paths of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..datapipe import IterDataPipe
from ..decorators import functional_datapipe
from ..utils.common import get_file_pathnames_from_root, without_length
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe"]


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files in folders (functional name: ``list_files``).

    Args:
        root: a folder, or several.
        masks: patterns of the names of files.
        recursive: files in folders below as well.
        abspath: whole paths.
        non_deterministic: in the order of the file system; otherwise sorted.
        length: what `len` gives, if it is known; -1 if not.
    """

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe[str] = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        super().__init__()
        roots = [root] if isinstance(root, str) else root
        is_pipe = isinstance(roots, IterDataPipe)
        self.datapipe = roots if is_pipe else IterableWrapperIterDataPipe(roots)
        self.masks, self.recursive, self.abspath = masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(
                path, self.masks, self.recursive, self.abspath, self.non_deterministic
            )

    def __len__(self) -> int:
        if self.length == -1:
            raise without_length(self)
        return self.length
