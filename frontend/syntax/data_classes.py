"""The methods that `dataclasses` writes for a class, as source text.

Python makes them at run time and keeps no source; here they are written anew, in terms that script
has: comparison goes field by field, and a field that may be None is tested first.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping

from ..sources.source import Source

__all__ = ["MAGIC_METHODS", "field_names", "written_method"]

_ORDERINGS = {"__lt__": ("<", False), "__le__": ("<", True), "__gt__": (">", False)}
_ORDERINGS["__ge__"] = (">", True)

MAGIC_METHODS = frozenset({"__init__", "__repr__", "__hash__", "__eq__", "__ne__", *_ORDERINGS})
"""What `dataclasses` may have written."""


def written_method(cls: type, name: str, function: Callable[..., object]) -> Source | None:
    """The source of a method that `dataclasses` made; None if the class wrote it itself.

    Raises:
        NotImplementedError: a field has a default factory.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    generated = code is not None and code.co_filename.startswith("<")
    if not dataclasses.is_dataclass(cls) or name not in MAGIC_METHODS or not generated:
        return None
    if name == "__init__":
        head, body = _init(cls)
    elif name == "__repr__":
        head, body = "(self) -> str", [f"return {_shown(cls)!r}"]
    elif name == "__hash__":
        text = "__hash__ is not supported for dataclasses in TorchScript"
        head, body = "(self) -> int", [f"raise NotImplementedError({text!r})"]
    else:
        head, body = f"(self, other: {cls.__name__}) -> bool", _comparison(cls, name)
    text = f"def {name}{head}:\n" + "".join(f"    {line}\n" for line in body)
    return Source(text, f"<dataclass {cls.__name__}>", 1, name)


def field_names(cls: type) -> dict[str, object]:
    """What the names of types in written methods stand for."""
    if not dataclasses.is_dataclass(cls):
        return {}
    found: dict[str, object] = {}
    for name, parameter in _parameters(cls).items():
        found[f"_type_{name}"] = _type_of(parameter)
    return found


def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    """The parameters of `__init__`; annotations that are strings are evaluated if they can be."""
    try:
        return inspect.signature(cls, eval_str=True).parameters
    except (NameError, AttributeError, TypeError, SyntaxError):
        return inspect.signature(cls).parameters


def _type_of(parameter: inspect.Parameter) -> object:
    annotation = parameter.annotation
    return annotation.type if isinstance(annotation, dataclasses.InitVar) else annotation


def _init(cls: type) -> tuple[str, list[str]]:
    """The head and lines of `__init__`; the defaults are those of the live method."""
    fields = dataclasses.fields(cls)
    if any(field.default_factory is not dataclasses.MISSING for field in fields):
        raise NotImplementedError(
            "Default factory initializers are not supported in TorchScript dataclasses"
        )
    parameters, variables = ["self"], []
    for name, parameter in _parameters(cls).items():
        if isinstance(parameter.annotation, dataclasses.InitVar):
            variables.append(name)
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        annotation = _type_of(parameter)
        written = annotation if isinstance(annotation, str) else f"_type_{name}"
        default = "" if parameter.default is parameter.empty else f" = _default_{name}"
        parameters.append(f"{name}: {written}{default}")
    lines = [f"self.{f.name} = {f.name}" for f in fields if f.init]
    if hasattr(cls, "__post_init__"):
        lines.append(f"self.__post_init__({', '.join(variables)})")
    return f"({', '.join(parameters)}) -> None", lines or ["pass"]


def _shown(cls: type) -> str:
    shown = ", ".join(f"{f.name}=self.{f.name}" for f in dataclasses.fields(cls) if f.repr)
    return f"{cls.__name__}({shown})"


def _comparison(cls: type, name: str) -> list[str]:
    """The lines of a comparison: the first fields that differ decide."""
    if name in ("__eq__", "__ne__"):
        converse = "!=" if name == "__eq__" else "=="
        inner, result = [f"if mine {converse} theirs:", "    return False"], True
    else:
        symbol, result = _ORDERINGS[name]
        inner = [f"if mine {symbol} theirs:", "    return True"]
        inner += [f"elif theirs {symbol} mine:", "    return False"]
    refusal = f"raise TypeError('Cannot compare {cls.__name__} with None')"
    otherwise = refusal if name in _ORDERINGS else "return False"
    lines: list[str] = []
    for field in dataclasses.fields(cls):
        if not field.compare:
            continue
        lines += [f"mine = self.{field.name}", f"theirs = other.{field.name}"]
        if _may_be_none(field.type):
            lines.append("if mine is not None and theirs is not None:")
            lines += [f"    {line}" for line in inner]
            lines += ["elif (mine is None) != (theirs is None):", f"    {otherwise}"]
        else:
            lines += inner
    return [*lines, f"return {result}"]


def _may_be_none(annotation: object) -> bool:
    if isinstance(annotation, str):
        return "Optional" in annotation or "None" in annotation
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return is_union and type(None) in typing.get_args(annotation)
