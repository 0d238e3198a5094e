"""How the operators of the table are spelt in Python, for stubs and documentation."""

from __future__ import annotations

import keyword
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rushlight.ops.eager.binding import Form
from rushlight.ops.eager.dispatch import EagerFunction
from rushlight.typecheck.definitions.schema import Argument
from rushlight.typecheck.types.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NUMBER,
    STRING,
    TENSOR,
    ListType,
    OptionalType,
    Type,
)

__all__ = ["parameters", "returned", "signatures"]

_SIMPLE = {
    **{INT: "_int", FLOAT: "_float", BOOL: "_bool", STRING: "_str", COMPLEX: "_complex"},
    **{NUMBER: "_Number", TENSOR: "Tensor", GENERATOR: "_Generator", DEVICE: "_Device | _str"},
}
_NUMBERED = {"dtype": "_DType", "layout": "_Layout", "memory_format": "_MemoryFormat"}


def _annotation(argument: Argument, type: Type) -> str:
    if isinstance(type, OptionalType):
        return f"{_annotation(argument, type.element)} | None"
    if argument.name in _NUMBERED and type == INT:
        return _NUMBERED[argument.name]
    if isinstance(type, ListType):
        element = _annotation(Argument("", type.element), type.element)
        one = f"{element} | " if argument.size is not None else ""
        return f"{one}Sequence[{element}]"
    return _SIMPLE.get(type, "Any")


def parameters(form: Form, as_method: bool) -> list[str]:
    """The parameters of an overload, with their annotations and `= ...` for defaults."""
    found: list[str] = []
    optional = star = False
    for place, argument in enumerate(form.arguments):
        if place == 0 and as_method:
            found.append("self")
            continue
        name = form.names[place]
        if argument.keyword_only and not star:
            found.append("*")
            star = True
        optional = (optional and not star) or argument.has_default
        name = f"{name}_" if keyword.iskeyword(name) else name
        text = f"{name}: {_annotation(argument, argument.type)}"
        found.append(f"{text} = ..." if optional else text)
    return found + _extras(form, as_method, star)


def _extras(form: Form, as_method: bool, star: bool) -> list[str]:
    """What eager calls take besides the schema's arguments."""
    returns = form.entry.signature.returns
    extras = []
    in_place = form.entry.name.endswith("_")
    if not (as_method or in_place) and returns and all(r.type == TENSOR for r in returns):
        kind = "Tensor" if len(returns) == 1 else "Sequence[Tensor]"
        if "out" not in form.names:
            extras.append(f"out: {kind} | None = ...")
    if "pin_memory" in form.names and "requires_grad" not in form.names:
        extras.append("requires_grad: _bool = ...")
    return ["*", *extras] if extras and not star else extras


def _result(type: Type) -> str:
    if type == TENSOR:
        return "Tensor"
    if isinstance(type, ListType):
        element = _result(type.element)
        return f"tuple[{element}, ...]" if type.element == TENSOR else f"list[{element}]"
    if isinstance(type, OptionalType):
        return f"{_result(type.element)} | None"
    return _SIMPLE.get(type, "Any")


def returned(form: Form) -> tuple[str, list[str]]:
    """The annotation of an overload's result, and the names of several results."""
    returns = form.entry.signature.returns
    if form.entry.schema.endswith("-> ScalarType"):
        return "_DType", []
    if len(returns) == 1:
        return _result(returns[0].type), []
    if not returns:
        return "None", []
    names = [r.name for r in returns]
    inner = ", ".join(_result(r.type) for r in returns)
    return f"tuple[{inner}]", names if all(names) else []


def signatures(function: EagerFunction, as_method: bool = False) -> list[tuple[list[str], Form]]:
    """The parameters of every overload, and of `view(2, 3)` where sizes may come one by one."""
    found: list[tuple[list[str], Form]] = []
    for form in function.forms:
        given = parameters(form, as_method)
        found.append((given, form))
        if form.spread is not None:
            place = next(i for i, text in enumerate(given) if "Sequence[_int]" in text)
            rest = [text for text in given[place + 1 :] if text != "*"]
            name = given[place].partition(":")[0]
            found.append(([*given[:place], f"*{name}: _int", *rest], form))
    return found
