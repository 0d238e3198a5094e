"""What a record says for operands that have sizes and no data: how its results' sizes are had.

@operator("aten::linear(...) -> Tensor", rows=rows_of("input"))
@operator("aten::nonzero(Tensor self) -> Tensor", data_dependent=always)
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Rows", "always", "rows_of"]


class Rows(NamedTuple):
    """Arguments whose rows come out as rows of the results, the first a tensor or a list of them.

    Rows lie along the dimension `dim`; along the first that the operator does not name, if that is
    None.  Arguments that have no such rows, as those that are broadcast, stay whole.
    """

    arguments: tuple[str, ...]
    dim: int | None


def rows_of(arguments: str, dim: int | None = None) -> Rows:
    """The rows of these arguments, blanks between their names."""
    return Rows(tuple(arguments.split()), dim)


def always(*values: object) -> bool:
    """Sizes depend on data whatever the arguments are."""
    return True
