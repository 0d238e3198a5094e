"""Arguments that fit no overload: what torch says of them.

`python_forms.txt` holds the signatures that torch lists for a function, in its order (`.name` for a
method); a function that is not there has one, the first of ours.  If only one of several takes so
many arguments, the text is about that one; else all are listed, with what is wrong about those
whose parts, as they are printed, are as many as the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from .binding import Form, type_name
from .keyword_order import hash_order

__all__ = ["refusal"]

_OPTIONS: Final = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False"
)
Keywords = Mapping[str, object]


class _Written:
    """A signature as torch prints it."""

    def __init__(self, text: str) -> None:
        self.text = f"({text})"
        self.parts = text.split(", ")
        parameters = [part for part in self.parts if part not in ("", "*")]
        self.names = [part.partition(" = ")[0].rpartition(" ")[2] for part in parameters]
        self.most = len(parameters)
        self.least = sum(" = " not in part for part in parameters)

    def fault(self, args: Sequence[object], kwargs: Keywords) -> str:
        """Torch's line about arguments that are as many as the printed parts; "" if they are not.

        It takes `*` for a part, and a default for the name of its parameter.
        """
        if len(args) + len(kwargs) != len(self.parts):
            return ""
        split = [part.rpartition(" ") for part in self.parts]
        unknown = [key for key in hash_order(kwargs) if key not in [name for *_, name in split]]
        begin = "      didn't match because some of the"
        if unknown:
            return f"{begin} keywords were incorrect: {', '.join(unknown)}\n"
        shown = []
        for place, (kind, _, name) in enumerate(split):
            is_keyword = place >= len(args)
            value = kwargs.get(name) if is_keyword else args[place]
            text = (f"{name}=" if is_keyword else "") + _type_with_elements(value)
            shown.append(text if type_name(value) in _KINDS.get(kind, (kind,)) else f"!{text}!")
        end = "" if args else ", "  # torch's own comma
        return f"{begin} arguments have invalid types: ({', '.join(shown)}{end})\n"


_KINDS: Final = {"float": ("float", "int", "long"), "int": ("int", "long")}


def _type_with_elements(value: object) -> str:
    if not isinstance(value, (tuple, list)):
        return type_name(value)
    names = ", ".join(map(type_name, value))
    if isinstance(value, tuple):
        return f"tuple of ({names}{',' if len(value) == 1 else ''})"
    return f"list of [{names}]"


@cache
def _written() -> dict[str, list[_Written]]:
    found = {}
    text = (Path(__file__).parent / "python_forms.txt").read_text("utf-8")
    for line in text.splitlines():
        name, *forms = line.replace("OPTIONS", _OPTIONS).split(" |")
        found[name] = [_Written(form.strip()) for form in forms]
    return found


def _own_form(forms: Sequence[Form]) -> Form:
    """The overload that is the one of torch's Python function."""
    return next((form for form in forms if form.entry.overload in ("", "Tensor")), forms[0])


def _form_of(written: _Written, forms: Sequence[Form]) -> Form | None:
    """Our overload of those parameters."""

    def shared(form: Form) -> int:
        return sum(name in form.names for name in written.names)

    best = max(forms, key=shared, default=None)
    return best if best is not None and shared(best) else None


def refusal(
    operator_name: str, name: str, forms: Sequence[Form], args: Sequence[object], kwargs: Keywords
) -> str:
    """What to say where no one of an eager function's forms takes the arguments.

    Args:
        operator_name: `aten::eq`.
        name: of the function in texts.
        forms: its overloads.
        args: as they were given; of a method without the object before the dot.
        kwargs: as they were given, `out` too.
    """
    as_method = forms[0].as_method
    short = operator_name.partition("::")[2]
    listed = _written().get("." * as_method + short)
    if listed is None:
        return _own_form(forms).fault(args, kwargs)
    count = len(args) + len(kwargs)
    plausible = [each for each in listed if each.least <= count <= each.most]
    if len(plausible) == 1:
        form = _form_of(plausible[0], forms)
        if form is not None:
            return form.fault(args, kwargs)
    for form in forms:  # lists are looked into when others do not fit either
        fault = form.fault(args, kwargs)
        if " failed to unpack " in fault or fault.startswith("expected Tensor"):
            return fault
    start = f"{name}() received an invalid combination of arguments - got "
    given = [type_name(a) for a in args]
    given += [f"{key}={type_name(kwargs[key])}" for key in hash_order(kwargs)]
    given += [""] if kwargs and not args else []  # torch's own comma
    got = f"({', '.join(given)})"
    if len(listed) == 1:
        return f"{start}{got}, but expected {listed[0].text}"
    lines = [f" * {each.text}\n{each.fault(args, kwargs)}" for each in listed]
    return f"{start}{got}, but expected one of:\n{''.join(lines)}"
