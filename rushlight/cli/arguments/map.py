"""The arguments of `rushlight map`."""

from __future__ import annotations

import argparse
from typing import Final

from .options import add_archive, add_trust

__all__ = ["add"]

_DTYPES: Final = "float32 float64 float16 int64 int32 int16 int8 uint8 bool".split()


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Call a method of an archive with batches of rows, and write what it returns, a file for "
        "some rows each: one tensor as .npy, several values as .npz. Rows are the first dimension "
        "of an .npy file or the rows of a .parquet file, or those of all such files in a folder. "
        "Called again after it was stopped, it computes the parts that are missing."
    )
    add_archive(parser)
    parser.add_argument("input", help="an .npy or .parquet file, or a folder of them")
    parser.add_argument("out", help="the folder for the results, which has map.json besides")
    parser.add_argument("--method", default="forward", help="the method; it takes one tensor")
    parser.add_argument("--batch", type=int, default=64, help="rows of a call (64)")
    parser.add_argument("--rows", type=int, help="rows of a part; of about 8 MiB if not said")
    parser.add_argument("--dtype", choices=_DTYPES, help="what rows are converted to")
    parser.add_argument("--columns", help="columns of a table, divided by commas; all if not said")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--processes", type=int, help="processes here, as many as cores if not said")
    where.add_argument("--threads", type=int, help="threads of this process in place of processes")
    where.add_argument("--scheduler", metavar="ADDRESS", help="a scheduler of Dask's: its workers")
    add_trust(parser)
