"""The folder that a run writes: a part for some rows each, and `map.json`, which says of what.

Parts are written whole or not at all.  A run that finds the folder of another one that did the same
goes on with the parts that are missing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ..ops.memory.dtype import Array
from ..serialization.files.atomic_file import atomic_file
from .errors import CannotScore
from .rows import Rows

__all__ = ["Part", "claim_folder", "existing", "parts_of", "rows_in_a_part", "write_part"]

SAYS: Final = "map.json"
_PART_BYTES: Final = 8 << 20


@dataclass(frozen=True)
class Part:
    """Some rows of a file.

    Attributes:
        name: of the file that their results are written to, without its ending.
        source: where they are.
        begin, end: which they are.
    """

    name: str
    source: Rows
    begin: int
    end: int

    def where(self) -> str:
        """The file and the numbers of the rows."""
        return f"{self.source.path}, rows {self.begin} to {self.end - 1}"


def rows_in_a_part(sources: Sequence[Rows], batch: int) -> int:
    """Rows of about 8 MiB, a multiple of the batch."""
    largest = max((source.row_bytes for source in sources), default=1)
    return batch * max(1, _PART_BYTES // max(1, largest * batch))


def parts_of(sources: Sequence[Rows], rows: int) -> list[Part]:
    """All parts, of so many rows each but the last ones of files.

    Raises:
        CannotScore: two files have one name, so that their parts would.
    """
    made, seen = [], dict[str, Path]()
    for source in sources:
        stem = source.path.stem
        if stem in seen:
            raise CannotScore(f"{source.path} and {seen[stem]}: parts of both would have one name")
        seen[stem] = source.path
        count = math.ceil(source.count / rows)
        digits = max(5, len(str(count)))
        for number in range(count):
            begin = number * rows
            name = f"{stem}-{number:0{digits}}"
            made.append(Part(name, source, begin, min(begin + rows, source.count)))
    return made


def claim_folder(folder: Path, said: Mapping[str, object]) -> None:
    """Make the folder, or see that it is one of the same run.

    Args:
        said: what the run does, as JSON has it.

    Raises:
        CannotScore: it holds something else.
        OSError: it cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise CannotScore(f"{folder}: there is such a file; results are written to a folder")
    path = folder / SAYS
    if path.exists():
        try:
            before = json.loads(path.read_text("utf-8"))
        except (ValueError, OSError, RecursionError) as error:
            raise CannotScore(f"{path}: {error}") from None
        if not isinstance(before, dict):
            raise CannotScore(f"{path}: this does not say what a run does")
        changed = [name for name in said if before.get(name) != said[name]]
        if changed:
            raise CannotScore(
                f"{folder}: the parts there are of another run ({', '.join(changed)} differ); "
                "give another folder, or remove it"
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise CannotScore(f"{folder}: the folder is not empty, and has no {SAYS}")
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(json.dumps(said, indent=1).encode())


def existing(folder: Path, part: Part) -> bool:
    """Whether a part has been written."""
    return any((folder / f"{part.name}{ending}").exists() for ending in (".npy", ".npz"))


def write_part(folder: Path, part: Part, arrays: Mapping[str, Array]) -> None:
    """Write the results of a part: one tensor as `.npy`, several values as `.npz` by their names.

    Raises:
        OSError: the disk is full, or the file cannot be written; nothing of it is left.
    """
    if list(arrays) == ["result"]:
        with atomic_file(folder / f"{part.name}.npy") as file:
            np.save(file, arrays["result"], allow_pickle=False)
    else:
        with atomic_file(folder / f"{part.name}.npz") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
