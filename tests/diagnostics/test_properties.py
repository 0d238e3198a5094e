"""Properties of diagnostics: one mistake is one error in its place, several are all told, and the
edits of a diagnostic take it away without making another."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight
import rushlight as torch  # noqa: F401 - the texts see it
from rushlight.frontend.diagnostics.diagnostics import Diagnostic, Help
from rushlight.frontend.diagnostics.edits import Edit


@dataclass(frozen=True)
class Part:
    """A correct function, and texts in it with what a slip of the pen makes of them."""

    text: str
    slips: tuple[tuple[str, str], ...]


PARTS = (
    Part(
        """
def scale_N(value: float, times: int) -> float:
    total = 0.0
    for step in range(times):
        total = total + value
    return total
""",
        (("+ value", "+ vlaue"), ("return total", "return totla"), ("range(times)", "range('a')")),
    ),
    Part(
        """
def longest_N(words: List[str]) -> str:
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best.upper()
""",
        ((".upper()", ".uper()"), ("best = word", "best = 3"), ("> len(best)", "> len(bets)")),
    ),
    Part(
        """
def helper_N(count: int, label: str) -> str:
    return label + str(count)

def caller_N(flag: bool) -> str:
    if flag:
        return helper_N(1, "yes")
    return helper_N(2, label="no")
""",
        (
            ('(1, "yes")', '("yes", "yes")'),
            ('label="no"', 'lable="no"'),
            ('helper_N(1, "yes")', "helper_N(1)"),
            ("if flag:", "if flga:"),
        ),
    ),
    Part(
        """
def maybe_N(value: Optional[int]) -> int:
    if value is not None:
        return value + 1
    return 0
""",
        (("is not None", "!= None"), ("return 0", 'return "0"'), ("Optional[int]", "Optionl[int]")),
    ),
    Part(
        """
def mix_N(x, y):
    z = torch.relu(x) + torch.tanh(y)
    return z.reshape(-1)
""",
        (("torch.relu", "torch.rellu"), (".reshape", ".reshap"), ("tanh(y)", "tanh(yy)")),
    ),
)

slips = st.sampled_from([(part, slip) for part in PARTS for slip in part.slips])


def found_in(text: str) -> list[Diagnostic]:
    """The errors of a text of functions."""
    try:
        rushlight.jit.CompilationUnit(text)
    except Exception as error:
        diagnostics: list[Diagnostic] = error.diagnostics  # type: ignore[attr-defined]
        return diagnostics
    return []


def apply(text: str, help: Help) -> str:
    """The text with all edits of a help."""
    edits: list[Edit] = sorted(help.edits, key=lambda e: e.span.whole.start, reverse=True)
    for edit in edits:
        span = edit.span.whole
        text = text[: span.start] + edit.text + text[span.end :]
    return text


def joined(chosen: list[tuple[Part, tuple[str, str]]]) -> tuple[str, list[tuple[int, int]]]:
    """The functions with their slips, and where these are."""
    text, places = "", []
    for number, (part, (old, new)) in enumerate(chosen):
        clean = part.text.replace("_N", f"_{number}")
        old, new = old.replace("_N", f"_{number}"), new.replace("_N", f"_{number}")
        at = len(text) + clean.index(old)
        text += clean.replace(old, new, 1)
        places.append((at, at + len(new)))
    return text, places


@pytest.mark.parametrize("part", PARTS)
def test_the_parts_are_correct(part: Part) -> None:
    assert found_in(part.text) == []


@settings(deadline=None)
@given(slips)
def test_one_slip_is_one_error_in_its_place(chosen: tuple[Part, tuple[str, str]]) -> None:
    text, [(start, end)] = joined([chosen])
    (error,) = found_in(text)
    assert error.primary is not None
    span = error.primary.span.whole
    line_start = text.rfind("\n", 0, start) + 1
    assert line_start <= span.start < end
    assert span.end <= text.find("\n", end)


@settings(deadline=None)
@given(st.lists(slips, min_size=2, max_size=5))
def test_all_slips_are_told_in_order(chosen: list[tuple[Part, tuple[str, str]]]) -> None:
    text, _ = joined(chosen)
    found = found_in(text)
    assert len(found) == len(chosen), [d.message for d in found]
    places = [d.primary.span.start for d in found if d.primary is not None]
    assert places == sorted(places)


@settings(deadline=None)
@given(st.lists(slips, min_size=1, max_size=3))
def test_edits_take_their_error_away(chosen: list[tuple[Part, tuple[str, str]]]) -> None:
    text, _ = joined(chosen)
    before = found_in(text)
    for error in before:
        for help in error.helps:
            if help.edits:
                after = found_in(apply(text, help))
                assert len(after) == len(before) - 1, (error.message, [d.message for d in after])
                assert error.message not in [d.message for d in after] or len(before) > 1
