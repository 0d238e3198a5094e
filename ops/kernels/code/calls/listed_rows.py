"""One kernel on many sets of arrays, by one call: what steps of optimizers do to small parameters.

The calls are rows of a table of 64-bit words: kernel, count, and the words that the kernel is given
(see `crew_text`).  One word of each, which changes from call to call, is an array as Python has it:
its elements' address takes its place.
"""

from __future__ import annotations

from typing import Final

from ....memory.dtype import Array
from ..language.short_forms import spelled_out
from ..language.target import Target
from ..loading.objects import kernel
from .run import CREW, HEAD, run

__all__ = ["BEGIN", "run_rows"]

BEGIN: Final = 2
"""The place in a row where the kernel's words begin."""

_TEXT: Final = """
define void @rows(ptr %words, i64 %start, i64 %stop) {
begin:
  %table = load ptr, ptr %words
  %width = load i64, ptr %words at i64 1
  %free = load i64, ptr %words at i64 2
  br slt i64 %start, %stop, label %next, label %done
next:
  %index = phi i64 [ %start, %begin ], [ %after, %next ]
  %offset = mul i64 %index, %width
  %row = getelementptr i64, ptr %table, i64 %offset
  %kernel = load ptr, ptr %row
  %count = load i64, ptr %row at i64 1
  %given = getelementptr i64, ptr %row, i64 {begin}
  %array_place = getelementptr i64, ptr %given, i64 %free
  %array = load ptr, ptr %array_place
  %data = load ptr, ptr %array at i8 {head}
  store ptr %data, ptr %array_place
  call void %kernel(ptr %given, i64 0, i64 %count)
  %after = add i64 %index, 1
  br slt i64 %after, %stop, label %next, label %done
done:
  ret void
}
"""


def run_rows(table: Array, free: int) -> bool:
    """Run the rows of an int64 table, in order, in this thread; False where there is no such code.

    The word `free` of those that kernels are given holds the identity of an array.
    """
    if CREW is None:
        return False
    count, width = table.shape
    run(kernel("rows", (HEAD, BEGIN), _text), count, count + 1, table, width, free)
    return True


def _text(_: Target) -> str:
    return spelled_out(_TEXT.replace("{begin}", str(BEGIN)).replace("{head}", str(HEAD)))
