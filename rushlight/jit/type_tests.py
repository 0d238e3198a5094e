"""`torch.jit.isinstance` as Python runs it, and questions about annotations."""

from __future__ import annotations

import builtins
import types
import typing
import warnings
from collections.abc import Hashable
from typing import Any, Final

from .._awaits import _Await
from ..interpreter.values.tasks import Future

__all__ = [
    "check_empty_containers",
    "is_await",
    "is_dict",
    "is_final",
    "is_future",
    "is_list",
    "is_optional",
    "is_tuple",
    "is_union",
    "isinstance",
    "refuse_without_parts",
]

_ONE, _MORE = "a contained type", "contained types"
_EXAMPLES = {"List": (_ONE, "[int]"), "Tuple": (_ONE, "[int]"), "Dict": (_MORE, "[int, int]")}
_CAPITAL: dict[str, object] = {name: getattr(typing, name) for name in _EXAMPLES}
_BUILTIN: dict[str, object] = {"List": list, "Tuple": tuple, "Dict": dict}
_WITHOUT_PARTS: dict[object, tuple[str, str]] = {
    **{_CAPITAL[name]: (missing, name + of) for name, (missing, of) in _EXAMPLES.items()},
    **{_BUILTIN[name]: (missing, name.lower() + of) for name, (missing, of) in _EXAMPLES.items()},
    typing.Optional: (_ONE, "Optional[int]"),
    typing.Union: (_ONE, "Union[int]"),
    Future: (_ONE, "Future[int]"),
}
"""Types that need parts, with the words of the error and an example."""


def refuse_without_parts(target_type: object) -> None:
    """Refuse a container's type that doesn't say what it contains.

    Raises:
        RuntimeError: the type is `List`, `dict` or the like.
    """
    if builtins.isinstance(target_type, Hashable) and target_type in _WITHOUT_PARTS:
        missing, example = _WITHOUT_PARTS[target_type]
        asked = missing.removesuffix("s")
        raise RuntimeError(
            f"Attempted to use {example.partition('[')[0]} without {missing}. "
            f"Please add {asked}, e.g. {example}"
        )


def is_list(ann: object) -> bool:
    """Whether an annotation is `List[...]`; `List` alone is a RuntimeError."""
    return _is_generic(ann, list, _CAPITAL["List"])


def is_tuple(ann: object) -> bool:
    """Whether an annotation is `Tuple[...]`; `Tuple` alone is a RuntimeError."""
    return _is_generic(ann, tuple, _CAPITAL["Tuple"])


def is_dict(ann: object) -> bool:
    """Whether an annotation is `Dict[...]`; `Dict` alone is a RuntimeError."""
    return _is_generic(ann, dict, _CAPITAL["Dict"])


def is_future(ann: object) -> bool:
    """Whether an annotation is `Future[...]`; `Future` alone is a RuntimeError."""
    return _is_generic(ann, Future, Future)


def is_await(ann: object) -> bool:
    """Whether an annotation is `_Await`, with or without what is awaited."""
    return ann is _Await or typing.get_origin(ann) is _Await


def is_union(ann: object) -> bool:
    """Whether an annotation is a union; `Optional[...]` is one too."""
    return _is_generic(ann, typing.Union, typing.Union) or builtins.isinstance(ann, types.UnionType)


def is_optional(ann: object) -> bool:
    """Whether an annotation is a union of two types of which one is None."""
    if ann is typing.Optional:
        refuse_without_parts(ann)
    parts = typing.get_args(ann)
    return is_union(ann) and len(parts) == 2 and types.NoneType in parts


def is_final(ann: object) -> bool:
    """Whether an annotation is `Final` or `Final[...]`."""
    return Final in (ann, typing.get_origin(ann))


def _is_generic(ann: object, origin: object, name: object) -> bool:
    if ann is name:
        refuse_without_parts(ann)
    return typing.get_origin(ann) is origin


def check_empty_containers(obj: object) -> None:
    """Warn of an empty list, dict or tuple: its type cannot be told from its elements."""
    if builtins.isinstance(obj, list | dict | tuple) and not obj:
        warnings.warn(
            "The inner type of a container is lost when calling torch.jit.isinstance in eager "
            "mode. For example, List[int] would become list and therefore falsely return True "
            "for List[float] or List[str].",
            stacklevel=2,
        )


def isinstance(obj: object, target_type: object) -> bool:
    """`isinstance` that also takes `List[int]` and the like; in script the type test.

    Raises:
        RuntimeError: the second argument is no type, or doesn't say what it contains.
    """
    if builtins.isinstance(target_type, list | dict | set):
        raise RuntimeError(
            "The second argument to `torch.jit.isinstance` must be a type or a tuple of types"
        )
    wanted = target_type if builtins.isinstance(target_type, tuple) else (target_type,)
    return any(_is_of(obj, one) for one in wanted)


def _is_of(value: object, wanted: Any) -> bool:
    """Whether a value is of a type, with all that containers hold."""
    refuse_without_parts(wanted)
    if wanted is Any:
        return True
    origin, parts = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is None:
        return builtins.isinstance(value, wanted)
    if origin in (typing.Union, types.UnionType):
        return any(_is_of(value, part) for part in parts)
    check_empty_containers(value)
    if not builtins.isinstance(value, origin):
        return False
    if origin is list:
        return all(_is_of(element, parts[0]) for element in value)
    if origin is dict:
        return all(_is_of(k, parts[0]) and _is_of(v, parts[1]) for k, v in value.items())
    return len(value) == len(parts) and all(map(_is_of, value, parts))
