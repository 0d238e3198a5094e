"""Tables of measurements."""

from __future__ import annotations

import enum
from typing import Final

from .measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BEST: Final = "\033[92m\033[1m"
_GOOD: Final = "\033[34m"
_BAD: Final = "\033[2m\033[91m"
_VERY_BAD: Final = "\033[31m"
_TERMINATE: Final = "\033[0m"


class Colorize(enum.Enum):
    """Which times are compared by colour."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A table for each label: a row for each statement and number of threads, a column for each
    description."""

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim_significant_figures = False
        self._colorize = Colorize.NONE
        self._highlight_warnings = False

    def extend_results(self, results: list[Measurement]) -> None:
        """Add measurements.

        Raises:
            ValueError: something else is among them.
        """
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, got {type(each)} instead."
                )
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Tell only digits that count."""
        self._trim_significant_figures = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour the times by how good they are in their columns, or rows."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark times that differ much."""
        self._highlight_warnings = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        return "\n".join(self._render())

    def _render(self) -> list[str]:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(each.title if each.label is None else each.label for each in merged)
        return [self._table([m for m in merged if _label(m) == label], label) for label in labels]

    def _table(self, results: list[Measurement], label: str) -> str:
        columns = ordered_unique(each.description for each in results)
        unit, scale = select_unit(min(each.median for each in results))
        names = [str(each) if each is not None else "" for each in columns]
        rows: list[tuple[int, str, list[str]]] = []
        keys = ordered_unique((m.num_threads, m.env, m.as_row_name) for m in results)
        for threads, env, name in sorted(keys, key=lambda key: key[0]):
            found = [_find(results, (threads, env, name), column) for column in columns]
            rows.append((threads, name, [self._cell(each, scale, results) for each in found]))
        return _layout(label, names, rows, unit)

    def _cell(self, found: Measurement | None, scale: float, results: list[Measurement]) -> str:
        if found is None:
            return ""
        value, digits = found.median / scale, 1
        if self._trim_significant_figures:
            value = trim_sigfig(value, found.significant_figures)
            digits = 0 if found.significant_figures <= len(str(int(value))) else 1
        text = f"{value:.{digits}f}"
        if self._highlight_warnings and found.has_warnings:
            text += " (! XX%)".replace("XX", f"{found.iqr / found.median * 100:.0f}")
        if self._colorize is Colorize.NONE:
            return text
        same = [m for m in results if _group(m, self._colorize) == _group(found, self._colorize)]
        return _painted(text, found.median, min(m.median for m in same))


def _label(m: Measurement) -> str:
    return m.title if m.label is None else str(m.label)


def _group(m: Measurement, way: Colorize) -> object:
    row = m.num_threads, m.env, m.as_row_name
    return row if way is Colorize.ROWWISE else m.description


def _painted(text: str, value: float, best: float) -> str:
    ratio = value / best
    if ratio <= 1.02:
        color = _BEST
    elif ratio <= 1.1:
        color = _GOOD
    else:
        color = _VERY_BAD if ratio > 10 else _BAD if ratio > 2 else ""
    return f"{color}{text}{_TERMINATE}" if color else text


def _find(
    results: list[Measurement], key: tuple[int, str, str], column: str | None
) -> Measurement | None:
    for each in results:
        if (each.num_threads, each.env, each.as_row_name) == key and each.description == column:
            return each
    return None


def _layout(label: str, names: list[str], rows: list[tuple[int, str, list[str]]], unit: str) -> str:
    first = max(len(name) for _, name, _ in rows) + 6
    widths = [
        max(len(name), *(len(cells[i]) for _, _, cells in rows)) for i, name in enumerate(names)
    ]
    head = "  |  ".join([" " * first, *(n.center(w) for n, w in zip(names, widths, strict=True))])
    lines = [head]
    last = None
    for threads, name, cells in rows:
        if threads != last:
            lines.append(f"{threads} threads: ".ljust(len(head), "-"))
            last = threads
        shown = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        lines.append("  |  ".join([f"      {name}".ljust(first), *shown]))
    title = f"[{f' {label} '.center(max(len(head) - 2, len(label) + 2), '-')}]"
    return "\n".join([title, *lines, "", f"Times are in {unit_to_english(unit)} ({unit}).", ""])
