"""`rushlight explain --op torch.add`: an operator's signatures in Python's spelling, and a call."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ..frontend.diagnostics.near_miss import near_misses
from ..ops.table.table import TABLE, Operator
from ..typecheck.definitions.schema import Argument
from ..typecheck.definitions.signature_text import python_signature
from ..typecheck.types.types import BOOL, FLOAT, INT, STRING, TENSOR, Type
from .failure import CommandError

__all__ = ["operator_page"]

_SCALAR = "Scalar"
_TRIES = 200
_TOUCHES_FILES = frozenset({"aten::save", "aten::from_file"})


def operator_page(name: str) -> str:
    """The page of an operator given as `torch.add`, `Tensor.add_`, `aten::add` or `add`.

    Raises:
        CommandError: there is no such operator; the message names near ones.
    """
    full_name = _full_name(name)
    entries = list(TABLE.operators(full_name))
    plain = full_name.partition("::")[2]
    lines = [f"{full_name}: {len(entries)} signature{'' if len(entries) == 1 else 's'}", ""]
    for entry in entries:
        lines.append(f"    {python_signature(entry.signature)}")
    example = next((e for e in map(_example, entries) if e), None)
    if example is not None:
        lines += ["", "Example:", "", *(f"    {line}" for line in example)]
    lines += ["", f"In graphs and archives this is `{full_name}`; in Python `{_spelling(plain)}`."]
    return "\n".join(lines)


def _full_name(name: str) -> str:
    if "::" in name:
        wanted = [name.partition(".")[0]]
    else:
        short = re.sub(r"^(torch|rushlight|Tensor)\.(?=.)", "", name)
        last = short.rpartition(".")[2]
        family = short.rpartition(".")[0].rpartition(".")[2]
        wanted = [f"aten::{family}_{last}", f"aten::{last}", f"prim::{last}"]
    for each in wanted:
        if TABLE.operators(each):
            return each
    known = {n.partition("::")[2]: n for n in TABLE.names() if "::_" not in n}
    close = near_misses(wanted[0].partition("::")[2], list(known))
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise CommandError(f"there is no operator `{name}`{hint}")


def _spelling(plain: str) -> str:
    import rushlight

    for family in ("linalg", "special", "fft"):
        short = plain.removeprefix(f"{family}_")
        if short != plain and hasattr(getattr(rushlight, family), short):
            return f"torch.{family}.{short}"
    if hasattr(rushlight, plain):
        return f"torch.{plain}"
    if hasattr(rushlight.nn.functional, plain):
        return f"torch.nn.functional.{plain}"
    return f"tensor.{plain}"


# -------------------------------------------------------------------------------- examples


def _example(entry: Operator) -> list[str] | None:
    """A call of an overload that works, and what it gives; None if none was found."""
    if entry.name in _TOUCHES_FILES:
        return None
    needed = [a for a in entry.signature.arguments if not a.has_default]
    choices = [_texts(a) for a in needed]
    if not needed or any(not choice for choice in choices):
        return None
    for texts in itertools.islice(itertools.product(*choices), _TRIES):
        call = _call(entry, needed, texts)
        try:
            shown = _run(call)
        except Exception:  # the arguments do not suit it: try others
            continue
        return [f">>> {call}", *shown]
    return None


def _texts(argument: Argument) -> list[str]:
    """Texts of values for an argument, the likeliest first."""
    type: Type = argument.type.inner
    if type == TENSOR:
        small = "torch.tensor([[4.0, 1.0], [2.0, 3.0]])"
        return [small, "torch.tensor([1.0, 2.0])", "torch.tensor([0, 1])", "torch.ones(1, 2, 4, 4)"]
    if type.list_of is not None:
        inner = _texts(Argument(argument.name, type.list_of))
        one = [f"[{text}]" for text in inner[:2]]
        return [f"[{inner[0]}, {inner[0]}]", *one] if inner else []
    table: dict[object, list[str]] = {
        INT: ["1", "0", "2"],
        FLOAT: ["0.5"],
        BOOL: ["True"],
        STRING: ["'mean'"],
    }
    if type in table:
        return table[type]
    return ["2"] if str(type) == _SCALAR else []


def _call(entry: Operator, needed: list[Argument], texts: tuple[str, ...]) -> str:
    plain = entry.name.partition("::")[2]
    words = [f"{a.name}={t}" if a.keyword_only else t for a, t in zip(needed, texts, strict=True)]
    spelled = _spelling(plain)
    if spelled.startswith("tensor."):
        return f"{words[0]}.{plain}({', '.join(words[1:])})"
    return f"{spelled}({', '.join(words)})"


def _run(call: str) -> Iterator[str]:
    import rushlight

    result = eval(call, {"torch": rushlight, "__builtins__": {}})
    return iter(repr(result).splitlines())
