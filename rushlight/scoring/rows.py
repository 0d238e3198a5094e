"""Files whose rows are scored: arrays in `.npy`, tables in `.parquet`, folders of them.

Rows are read when they are needed, some at a time; nothing is mapped, so that a file may be larger
than the memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from ..ops.memory.dtype import Array
from ..serialization.files.npy import UNREADABLE
from .errors import CannotScore

__all__ = ["Rows", "files_of", "rows_of"]

_ENDINGS: Final = (".npy", ".parquet")
_DIMS: Final = 64
"""Of arrays in NumPy."""


class Rows(Protocol):
    """The rows of a file.

    Attributes:
        path: the file.
        count: how many there are.
        row_bytes: about how large one is.
    """

    path: Path
    count: int
    row_bytes: int

    def read(self, begin: int, end: int) -> Array:
        """Rows `begin` to `end`, that one excluded: an array of (rows, ...).

        Raises:
            CannotScore: they cannot be read, or hold what no tensor does.
        """
        ...


def files_of(path: Path) -> list[Path]:
    """The files of an input: itself, or those of a folder by their names.

    Raises:
        CannotScore: there is none.
    """
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix in _ENDINGS)
        if not found:
            raise CannotScore(f"{path}: there is no .npy and no .parquet file in this folder")
        return found
    if not path.exists():
        raise CannotScore(f"{path}: no such file or folder")
    if path.suffix not in _ENDINGS:
        raise CannotScore(f"{path}: an input is an .npy or .parquet file, or a folder of them")
    return [path]


def rows_of(path: Path, columns: Sequence[str] | None = None) -> Rows:
    """The rows of a file.

    Args:
        columns: of a table, the columns to take, in this order; all if None.

    Raises:
        CannotScore: the file cannot be read, or has no rows of numbers.
    """
    if path.suffix == ".parquet":
        return _TableRows(path, columns)
    if columns:
        raise CannotScore(f"{path}: columns are chosen of tables, and this is an array")
    return _ArrayRows(path)


class _ArrayRows:
    """The first dimension of an array in an `.npy` file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                version = np.lib.format.read_magic(file)
                reads = {(1, 0): np.lib.format.read_array_header_1_0}
                read = reads.get(version, np.lib.format.read_array_header_2_0)
                self._shape, turned, self._dtype = read(file)
                self._begin = file.tell()
                size = path.stat().st_size
        except UNREADABLE as error:
            raise CannotScore(f"{path}: {_first_line(error)}") from None
        if self._dtype.kind not in "biufc":
            raise CannotScore(f"{path}: a tensor cannot hold {self._dtype}")
        if not self._shape or (turned and len(self._shape) > 1):
            what = "columns first (Fortran's order)" if self._shape else "one number"
            raise CannotScore(f"{path}: the array is stored as {what}, and has no rows to read")
        if not all(type(n) is int and n >= 0 for n in self._shape) or len(self._shape) > _DIMS:
            raise CannotScore(f"{path}: no array has the shape that its header says")
        self.count = self._shape[0]
        self.row_bytes = math.prod(self._shape[1:]) * self._dtype.itemsize
        if self.count and not self.row_bytes:
            raise CannotScore(f"{path}: the rows hold nothing")
        if size < self._begin + self.count * self.row_bytes:
            raise CannotScore(f"{path}: the file ends before the last of its {self.count} rows")

    def read(self, begin: int, end: int) -> Array:
        shape = (end - begin, *self._shape[1:])
        try:
            with self.path.open("rb") as file:
                file.seek(self._begin + begin * self.row_bytes)
                values = np.fromfile(file, self._dtype, math.prod(shape))
        except OSError as error:
            raise CannotScore(f"{self.path}: {error.strerror or error}") from None
        if values.size != math.prod(shape):
            raise CannotScore(f"{self.path}: the file has become shorter")
        return values.astype(self._dtype.newbyteorder("="), copy=False).reshape(shape)


class _TableRows:
    """The rows of a table: an array of (rows, columns), or of (rows, n) of one column of lists."""

    def __init__(self, path: Path, columns: Sequence[str] | None) -> None:
        self.path = path
        try:
            parquet = import_module("pyarrow.parquet")
        except ImportError:
            raise CannotScore(f"{path}: tables need pyarrow; install `rushlight[dask]`") from None
        try:
            self._file = parquet.ParquetFile(path)
        except (OSError, ValueError) as error:
            raise CannotScore(f"{path}: {_first_line(error)}") from None
        known = self._file.schema_arrow.names
        self._columns = list(columns or known)
        if not self._columns:
            raise CannotScore(f"{path}: the table has no columns")
        for name in self._columns:
            if name not in known:
                raise CannotScore(f"{path}: no column `{name}`; there are: {', '.join(known)}")
        meta = self._file.metadata
        groups = [meta.row_group(at) for at in range(meta.num_row_groups)]
        self._ends = np.cumsum([group.num_rows for group in groups]).tolist()
        self.count = int(meta.num_rows)
        total = sum(group.total_byte_size for group in groups)
        self.row_bytes = max(1, total // max(1, self.count))
        self._group: tuple[int, Array] = (-1, np.empty(0))

    def read(self, begin: int, end: int) -> Array:
        parts = []
        for at, last in enumerate(self._ends):
            first = self._ends[at - 1] if at else 0
            if first < end and last > begin:
                parts.append(self._values(at, first)[max(begin - first, 0) : end - first])
        return np.concatenate(parts)

    def _values(self, group: int, first: int) -> Array:
        """The numbers of a group of rows, the last of which is kept."""
        if self._group[0] != group:
            try:
                table = self._file.read_row_group(group, columns=self._columns)
            except (OSError, ValueError, NotImplementedError) as error:
                raise CannotScore(f"{self.path}: {_first_line(error)}") from None
            arrays = [self._numbers(table.column(name), name, first) for name in self._columns]
            alone = len(arrays) == 1 and arrays[0].ndim > 1
            self._group = (group, arrays[0] if alone else np.stack(arrays, 1))
        return self._group[1]

    def _numbers(self, column: Any, name: str, first: int) -> Array:
        if column.null_count:
            row = first + column.is_null().to_pylist().index(True)
            raise CannotScore(f"{self.path}: row {row} has nothing in column `{name}`")
        values: Array = column.to_numpy()
        if values.dtype == object and len(values) and isinstance(values[0], np.ndarray):
            if len(self._columns) > 1:
                raise CannotScore(f"{self.path}: column `{name}` holds lists: take it alone")
            lengths = {len(each) for each in values}
            if len(lengths) > 1:
                raise CannotScore(f"{self.path}: the lists of column `{name}` differ in length")
            values = np.stack(list(values))
        if values.dtype.kind not in "biuf":
            raise CannotScore(f"{self.path}: column `{name}` holds {column.type}, and no numbers")
        return values


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
