"""The forms of facts: what a check may say, whoever says it."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["FACTS", "OF_FUNCTION", "fits"]

_MOST: Final = 2**31 - 1
"""The largest number that the protocol has."""

_PLACE: Final = (int, int, int, int)
_ELSEWHERE: Final = (str, _PLACE, str)
_FIX: Final = {"title": str, "edits": [_ELSEWHERE], "sure": bool}
_DIAGNOSTIC: Final = {
    **{"code": str, "severity": str, "message": str, "notes": [str]},
    **{"place": _PLACE, "related": [_ELSEWHERE], "fixes": [_FIX]},
}
_OF_BOTH: Final = {
    "types": [(_PLACE, str, {None, (str, _PLACE)})],
    "inlays": [(int, int, str)],
    "functions": [(_PLACE, str, str)],
}
FACTS: Final = {"diagnostics": [_DIAGNOSTIC], **_OF_BOTH}
"""Of a file (see `Facts`)."""
OF_FUNCTION: Final = {"line": int, "calls": [int], **_OF_BOTH}
"""Of a function (see `FunctionFacts`)."""


def fits(value: Any, form: Any) -> bool:
    """Whether a value of JSON has a form: a type, None, a list of any length of one form (in
    brackets), a list of such forms (in parentheses), an object, or one of several forms (a set).
    """
    if isinstance(form, set):
        return any(fits(value, each) for each in form)
    if form is int:
        return type(value) is int and 0 <= value <= _MOST
    if form is None or isinstance(form, type):
        return value is None if form is None else type(value) is form
    if isinstance(form, dict):
        return type(value) is dict and value.keys() == form.keys() and _all(value, form)
    if type(value) is not list:
        return False
    if isinstance(form, list):
        return all(fits(each, form[0]) for each in value)
    return len(value) == len(form) and all(map(fits, value, form))


def _all(value: dict[str, object], form: dict[str, object]) -> bool:
    return all(fits(value[name], form[name]) for name in form)
