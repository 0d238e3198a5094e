"""Operators over dicts, which are changed in place where the schema says so."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable
from types import MethodDescriptorType
from typing import Any, Final, cast

import numpy as np

from ..memory.errors import OperatorError
from ..table.inline import Inline, Native, inline, native
from ..table.table import operator
from .display_aten import format_for_print
from .lists import List
from .tensor_dict import TensorDict

__all__ = ["KEYS", "key_error"]

KEYS: Final = ("str", "int", "bool", "float", "complex")
"""The key types of dicts whose keys are looked up by their value; tensors are by identity."""

Dict = dict[Any, Any]

_MAYBE_NAN: Final = ("float", "complex")


def for_keys(
    *templates: str,
    written: tuple[Inline, ...] = (),
    natively: tuple[Native, ...] = (),
    instruction: str = "",
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Declare a forward for every key type; `KEY` in the schemas stands for it.

    It is `written` out in plans for keys that are never NaN.
    """

    def declare(forward: Callable[..., object]) -> Callable[..., object]:
        takes_key = ", KEY" in templates[0].partition("->")[0]
        for key in KEYS:
            careful = takes_key and key in _MAYBE_NAN
            made, forms = (_for_numbers(forward), ()) if careful else (forward, written)
            names = [text.replace("KEY", key) for text in templates]
            native_forms = () if key == "complex" else natively
            declared = operator(*names, inline=forms, native=native_forms, instruction=instruction)
            declared(made)
        names = [text.replace("KEY", "Tensor") for text in templates]
        operator(*names, instruction=instruction)(_for_tensors(forward))
        return forward

    return declare


def _for_numbers(forward: Callable[..., object]) -> Callable[..., object]:
    """The same where a key may be NaN, which equals no key, not even itself.

    Python finds a NaN by its identity; one made anew is never found.
    """

    def call(mapping: Dict, key: Any, *rest: object) -> Any:
        return forward(mapping, key if key == key else key + 0.0, *rest)

    return call


def _for_tensors(forward: Callable[..., object]) -> Callable[..., object]:
    """The same with `TensorDict` in the place of `dict`, whose methods know nothing of arrays."""
    if forward is dict:
        return TensorDict
    if isinstance(forward, MethodDescriptorType):
        return cast("Callable[..., Any]", getattr(TensorDict, forward.__name__))
    return forward


# --------------------------------------------------------------------------- dicts

for_keys(
    "aten::len.Dict_KEY(Dict(KEY, t) self) -> int",
    natively=native("len({0})"),
    instruction="length",
)(len)
for_keys(
    "aten::__contains__.KEY(Dict(KEY, t) dict, KEY key) -> bool",
    written=inline("{1} in {0}"),
    natively=native("{1} in {0}"),
)(python.contains)
for_keys("aten::keys.KEY(Dict(KEY, t) self) -> KEY[](*)", natively=native("{0}.keys()"))(list)
for_keys(
    "aten::clear.KEY(Dict(KEY, t)(a!) self) -> ()", natively=native("{0}.clear()", writes=True)
)(dict.clear)
for_keys(
    "aten::get.KEY(Dict(KEY, t) self, KEY key) -> t(*)?",
    "aten::get.default_KEY(Dict(KEY, t) self, KEY key, t default_value) -> t(*)",
    natively=native("looked_up({all})"),
)(dict.get)
for_keys(
    "aten::copy.Dict_KEY(Dict(KEY, t)(a) self) -> Dict(KEY, t)",
    "aten::dict.Dict_KEY(Dict(KEY, t)(a) self) -> Dict(KEY, t)",
    natively=native("{0}.copy()"),
)(dict)
for_keys(
    "aten::dict.KEY((KEY, tVal)[] inputs) -> Dict(KEY, tVal)",
    natively=native("dict_of_items({0})"),
)(dict)
for_keys(
    "aten::update.KEY(Dict(KEY, t)(a!) self, Dict(KEY, t)(a!) to_add) -> ()",
    natively=native("{0}.update({1})", writes=True),
)(dict.update)
for_keys(
    "aten::setdefault.KEY(Dict(KEY, t)(a!) self, KEY(b -> *) key, t(c -> *) default_value) -> t(*)",
    natively=native("{0}.setdefault({1}, {2})"),
)(dict.setdefault)
operator(
    "aten::dict() -> Dict(str, Tensor)",
    face="operator",
    order=(
        "- str Dict_str int Dict_int bool Dict_bool float Dict_float complex Dict_complex "
        "Tensor Dict_Tensor"
    ),
)(dict)


@for_keys("aten::values.KEY(Dict(KEY, t) self) -> t[](*)", natively=native("{0}.values()"))
def values_of(mapping: Dict) -> List:
    return list(mapping.values())


@for_keys("aten::items.KEY(Dict(KEY, t) self) -> ((KEY, t)[])", natively=native("{0}.items()"))
def items_of(mapping: Dict) -> list[tuple[object, object]]:
    return list(mapping.items())


def key_error(key: object) -> OperatorError:
    """The error of a key that a dict does not have."""
    text = format_for_print(key) if isinstance(key, np.ndarray) else key
    shown = "this tensor" if isinstance(key, np.ndarray) else f"key {key!r}"
    return OperatorError(
        f"KeyError: {text}", code="key-missing", headline=f"the dict has no {shown}"
    )


@for_keys(
    "aten::__getitem__.Dict_KEY(Dict(KEY, t) self, KEY key) -> t(*)",
    written=inline("{0}[{1}]"),
    natively=native("{0}[{1}]"),
)
def get_value(mapping: Dict, key: object) -> object:
    try:
        return mapping[key]
    except KeyError:
        raise key_error(key) from None


@for_keys(
    "aten::_set_item.KEY(Dict(KEY, t)(a!) l, KEY(b -> *) idx, t(c -> *) v) -> ()",
    written=inline("{0}[{1}] = {2}", writes=True),
    natively=native("{0}[{1}] = {2}", writes=True),
)
def set_value(mapping: Dict, key: object, value: object) -> None:
    mapping[key] = value


@for_keys(
    "aten::Delete.Dict_KEY(Dict(KEY, t)(a!) self, KEY key) -> ()",
    natively=native("{0}.delete({1})", writes=True),
)
def delete_key(mapping: Dict, key: object) -> None:
    try:
        del mapping[key]
    except KeyError:
        raise key_error(key) from None


@for_keys(
    "aten::pop.Dict_KEY(Dict(KEY, t)(a!) self, KEY key) -> t(*)", natively=native("{0}.pop({1})")
)
def pop_value(mapping: Dict, key: object) -> object:
    try:
        return mapping.pop(key)
    except KeyError:
        raise key_error(key) from None


for_keys(
    "aten::pop.Dict_default_KEY(Dict(KEY, t)(a!) self, KEY key, t default_value) -> t(*)",
    natively=native("{0}.pop_or({1}, {2})"),
)(dict.pop)


@for_keys("aten::popitem.KEY(Dict(KEY, t)(a!) self) -> ((KEY, t))")
def popitem(mapping: Dict) -> tuple[object, object]:
    """Take out the first item, unlike Python, which takes the last."""
    if not mapping:
        raise OperatorError("popitem(): dictionary is empty", code="key-missing")
    if not len(mapping) % (1 + math.isqrt(len(mapping))):  # the search passes what was taken before
        items = list(mapping.items())
        mapping.clear()
        mapping.update(items)
    key = next(iter(mapping))
    if isinstance(key, float | complex) and key != key:  # a NaN, which torch does not find again
        raise OperatorError("Expected to erase 1 item, found 0", code="key-missing")
    return key, mapping.pop(key)
