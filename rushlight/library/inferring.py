"""The schema of an operator, from the annotations of the function that computes it."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ..ops.memory.dtype import Device, DType
from ..ops.tensors.tensor import Tensor
from ..types import Number

__all__ = ["infer_schema"]

_SEQUENCES: Final = (typing.Sequence, typing.List, collections.abc.Sequence, list)  # noqa: UP006
_BASES: Final[list[tuple[Any, str, str]]] = [
    # the type, its schema's, whether `T?`, `T[]`, `T?[]` and `T[]?` are taken
    (Tensor, "Tensor", "? [] ?[]"),
    (int, "SymInt", "? [] []?"),
    (float, "float", "? [] []?"),
    (bool, "bool", "? [] []?"),
    (str, "str", "?"),
    (Number, "Scalar", "? []"),
    (DType, "ScalarType", "?"),
    (Device, "Device", "?"),
]


def _parameter_types() -> Iterator[tuple[object, str]]:
    for base, name, forms in _BASES:
        yield base, name
        taken = forms.split()
        if "?" in taken:
            yield (base | None), f"{name}?"
        if "[]" in taken:
            yield from ((each[base], f"{name}[]") for each in _SEQUENCES)
        if "?[]" in taken:
            yield from ((each[(base | None)], f"{name}?[]") for each in _SEQUENCES)
        if "[]?" in taken:
            yield from (((each[base] | None), f"{name}[]?") for each in _SEQUENCES)


_PARAMETERS: Final[dict[object, str]] = dict(_parameter_types())
_RETURNS: Final[dict[object, str]] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    Number: "Scalar",
}


def infer_schema(
    prototype_function: Callable[..., object],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: object = (),
) -> str:
    """The schema that a function's annotations say: `(Tensor x, SymInt n=1) -> Tensor`.

    Args:
        prototype_function: all parameters and the result are annotated.
        mutates_args: the parameters that it changes in place, or `"unknown"` for all tensors.
        op_name: stands before the schema.
        tags: of no meaning here.

    Raises:
        ValueError: an annotation is absent, or is none that schemas know; `mutates_args` names no
            parameter.
    """
    del tags
    signature = inspect.signature(prototype_function, eval_str=False)

    def fail(what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    if isinstance(mutates_args, str):
        if mutates_args != "unknown":
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are "
                "mutated or the string 'unknown'. "
            )
        written = None
    else:
        written = set(mutates_args)
        strange = written - set(signature.parameters)
        if strange:
            raise fail(
                f"{strange} in mutates_args were not found in the custom op's signature. "
                "mutates_args should contain the names of all args that the custom op mutates, or "
                "just the string 'unknown' if you don't know."
            )
    parts: list[str] = []
    for number, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        parts.append(_parameter(prototype_function, parameter, number, written, fail))
    returns = _returns(_resolved(prototype_function, signature.return_annotation), fail)
    return f"{op_name or ''}({', '.join(parts)}) -> {returns}"


def _resolved(function: Callable[..., object], annotation: object) -> object:
    """An annotation that is a text, evaluated where the function was written."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, getattr(inspect.unwrap(function), "__globals__", {}))
    except Exception:
        raise ValueError(f"Unsupported type annotation {annotation}. It is not a type.") from None


def _parameter(
    function: Callable[..., object],
    parameter: inspect.Parameter,
    number: int,
    written: set[str] | None,
    fail: Callable[[str], ValueError],
) -> str:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise fail("We do not support positional-only args, varargs, or varkwargs.")
    if parameter.annotation is parameter.empty:
        raise fail(f"Parameter {parameter.name} must have a type annotation.")
    annotation = _resolved(function, parameter.annotation)
    kind = _kind(annotation)
    if kind is None:
        raise fail(_unsupported(parameter.name, annotation))
    if written is None or parameter.name in written:
        if kind.startswith("Tensor"):
            kind = f"Tensor(a{number}!){kind.removeprefix('Tensor')}"
        elif written is not None:
            raise fail(
                f"Parameter {parameter.name} is in mutable_args but only Tensors or collections of "
                "Tensors can be mutated"
            )
    text = f"{kind} {parameter.name}"
    if parameter.default is parameter.empty:
        return text
    return f"{text}={_default(parameter, fail)}"


def _kind(annotation: object) -> str | None:
    """The type of a schema that an annotation means."""
    try:
        found = _PARAMETERS.get(annotation)
    except TypeError:
        return None
    if found is not None or annotation is list:
        return found
    for known, kind in _PARAMETERS.items():  # `Tensor | None` is none of the keys, but equal
        if typing.get_origin(annotation) is not None and known == annotation:
            return kind
    return None


def _unsupported(name: str, annotation: object) -> str:
    known = f"The valid types are: {_PARAMETERS.keys()}."
    if typing.get_origin(annotation) is tuple:
        return (
            f"Parameter {name} has unsupported type {annotation}. We do not support Tuple inputs "
            "in schema. As a workaround, please try to use List instead. For example, "
            f"{_as_list(annotation)}.\n\n{known}"
        )
    return f"Parameter {name} has unsupported type {annotation}. {known}"


def _as_list(annotation: object) -> object:
    inside = {each for each in typing.get_args(annotation) if each is not Ellipsis}
    return list[inside.pop()] if len(inside) == 1 else list  # type: ignore[misc]


def _default(parameter: inspect.Parameter, fail: Callable[[str], ValueError]) -> str:
    value = parameter.default
    if value is None or isinstance(value, (int, float, bool)):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, DType):
        return str(value).removeprefix("torch.")
    if isinstance(value, Device):
        return f'"{value}"'
    raise fail(
        f"Parameter {parameter.name} has an unsupported default value type {type(value)}. Please "
        "file an issue on GitHub so we can prioritize this."
    )


def _returns(annotation: object, fail: Callable[[str], ValueError]) -> str:
    if annotation is inspect.Signature.empty:
        raise fail("No return type annotation was provided. Please add one.")
    if annotation is None:
        return "()"
    if annotation in _RETURNS:
        return _RETURNS[annotation]
    parts = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else ()
    names = [_RETURNS.get(part) for part in parts]
    if not parts or None in names:
        raise fail(f"Return has unsupported type {annotation}. The valid types are: {_RETURNS}.")
    return f"({', '.join(map(str, names))})"
