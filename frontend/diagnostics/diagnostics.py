"""Diagnostics as values: what went wrong, where, why there, and what to do about it.

A stage makes a `Diagnostic` and adds it to a `Collector`; nothing here formats text (see `render`)
and nothing here raises.  The message stands alone, begins in lower case, has no full stop, and puts
code in backticks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ..foundations.port import Port
from ..foundations.value_class import value_class
from ..sources.source import Span
from .edits import Edit, hunks
from .paths import shown
from .silencing import is_silenced

__all__ = ["Collector", "Demand", "Diagnostic", "Edit", "Frame", "Help", "Label", "ValueNote"]
__all__ += ["sorted_by_place"]


@value_class(frozen=True, slots=True)
class Label:
    """A span with a few words: what is there, or why it matters."""

    span: Span
    text: str


@value_class(frozen=True, slots=True)
class Help:
    """Advice.  Its edits are all applied or none; `machine` edits are sure to be right."""

    text: str
    edits: tuple[Edit, ...] = ()
    applicability: Literal["machine", "suggestion"] = "suggestion"


@value_class(frozen=True, slots=True)
class ValueNote:
    """An expression of the user's and its value at run time, as text."""

    expression: str
    value: str


@value_class(frozen=True, slots=True)
class Frame:
    """One call on the way to the error: the function that calls, and the call in it."""

    function: str
    span: Span


@value_class(frozen=True, slots=True)
class Demand:
    """`callee` is compiled because `caller` calls it at `span`; both by qualified name.

    `written` is the callee alone, as the call writes it; `holder` and `attribute` say of which
    class of modules it is a value, and how it is called there.
    """

    callee: str
    caller: str
    span: Span
    written: Span | None = None
    holder: str = ""
    attribute: str = ""


@value_class(frozen=True, slots=True)
class Diagnostic:
    """One cause, once.

    `code` is a slug of `codes.CODES`; `primary` the smallest span to change; `where` reads
    "in function `f`" or "in method `C.f`"; `stack` lists calls outermost first; `torch_message` is
    torch's sentence for the same fault, `torch_span` what torch underlines if not `primary`, and
    `exception` the class that torch raises.  `demands` says, outermost first, why the function at
    fault is compiled at all; torch finds an `is_early` one before it counts the last of them.
    `torch_text` replaces all of torch's text where it is not made of sentence, place and demands.
    """

    code: str
    message: str
    primary: Label | None
    where: str = ""
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    values: tuple[ValueNote, ...] = ()
    stack: tuple[Frame, ...] = ()
    helps: tuple[Help, ...] = ()
    torch_message: str = ""
    torch_span: Span | None = None
    exception: str = "RuntimeError"
    severity: Literal["error", "warning", "bug"] = "error"
    demands: tuple[Demand, ...] = ()
    torch_text: str = ""
    is_early: bool = False

    def labels(self) -> list[tuple[Label, bool]]:
        """The labels in the order of their places, each with whether it is the primary one."""
        found = [(label, False) for label in self.secondary]
        if self.primary is not None:
            found.append((self.primary, True))
        return sorted(found, key=lambda pair: _place(pair[0].span))

    def _repr_html_(self) -> str | None:
        """What notebooks show: the readable form."""
        return None if HTML.installed is None else HTML.installed(self)

    def to_dict(self) -> dict[str, object]:
        """The diagnostic as plain data: lines and columns count from 1, ends are exclusive."""
        return {
            "schema": 1,
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "function": self.where,
            "spans": [
                {**_span_dict(label.span), "primary": primary, "label": label.text}
                for label, primary in self.labels()
            ],
            "notes": list(self.notes),
            "values": [{"expression": v.expression, "value": v.value} for v in self.values],
            "stack": [
                {
                    "function": frame.function,
                    "file": shown(frame.span.filename),
                    "line": frame.span.line,
                    "text": frame.span.text,
                }
                for frame in self.stack
            ],
            "helps": [_help_dict(help) for help in self.helps],
            "torch_message": self.torch_message or self.torch_text,
            "explain": f"rushlight explain {self.code}",
        }


HTML: Final[Port[Callable[[Diagnostic], str]]] = Port()
"""What makes the readable form for notebooks: `render.py`, once anything is rendered."""


def _place(span: Span) -> tuple[str, int, int]:
    whole = span.whole
    return (whole.filename or "", whole.line, whole.column)


def _span_dict(span: Span) -> dict[str, object]:
    whole = span.whole
    return {
        "file": shown(whole.filename),
        "start": {"line": whole.line, "column": whole.column + 1},
        "end": {"line": whole.end_line, "column": whole.end_column + 1},
    }


def _help_dict(help: Help) -> dict[str, object]:
    return {
        "message": help.text,
        "applicability": help.applicability,
        "edits": [
            {
                "file": shown(hunk.filename),
                "line": hunk.line,
                "remove": list(hunk.remove),
                "insert": list(hunk.insert),
            }
            for hunk in hunks(help.edits)
        ],
    }


@dataclass
class Collector:
    """The diagnostics of one compilation, in order of discovery (which is torch's order).

    `demands` are the calls that lead to what is being compiled at the moment, outermost first, and
    `at` the statement that is; without `warnings`, they are not kept.
    """

    found: list[Diagnostic] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    at: Span | None = None
    warnings: bool = True

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic, unless one with the same code already points at the same text.

        It gets the demands of the moment, if it has none of its own.
        """
        if diagnostic.severity == "warning" and not self._wants(diagnostic):
            return
        if any(self._same(diagnostic, other) for other in self.found):
            return
        if self.demands and not diagnostic.demands:
            diagnostic = replace(diagnostic, demands=tuple(self.demands))
        self.found.append(diagnostic)

    def forgetting(self) -> Callable[[], None]:
        """What forgets all that is found from now on, for work that is begun anew."""
        kept = len(self.found)

        def forget() -> None:
            del self.found[kept:]

        return forget

    def taking_back(self) -> Callable[[], list[Diagnostic]]:
        """What takes out, and gives, all that is found from now on, to be added later."""
        kept = len(self.found)

        def taken() -> list[Diagnostic]:
            late = self.found[kept:]
            del self.found[kept:]
            return late

        return taken

    def move_up(
        self, since: int, to: int, wanted: Callable[[Diagnostic], bool] = lambda _: True
    ) -> None:
        """Put what was found from `since` on, as far as it is wanted, where the `to`th stands."""
        late = self.found[since:]
        moved = [each for each in late if wanted(each)]
        self.found[since:] = [each for each in late if not wanted(each)]
        self.found[to:to] = moved

    def _wants(self, warning: Diagnostic) -> bool:
        label = warning.primary
        return self.warnings and (label is None or not is_silenced(warning.code, label.span))

    @staticmethod
    def _same(one: Diagnostic, other: Diagnostic) -> bool:
        if one.primary is None or other.primary is None:
            return one == other
        a, b = one.primary.span, other.primary.span
        return one.code == other.code and (a.filename, a.line, a.column) == (
            b.filename,
            b.line,
            b.column,
        )

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.found if d.severity != "warning"]


def _order(diagnostic: Diagnostic) -> tuple[str, int, int]:
    return ("", 0, 0) if diagnostic.primary is None else _place(diagnostic.primary.span)


def sorted_by_place(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, line and column; what has no place comes first."""
    return sorted(diagnostics, key=_order)
