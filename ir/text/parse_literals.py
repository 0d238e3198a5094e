"""Attribute values in graph text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...frontend.syntax.literal_text import unescape
from ...ops.memory.dtype import DTYPES, Device
from ...ops.random_numbers.random import Generator
from ...typecheck.trees.typed import EnumMember
from ...typecheck.types.tensor_facts import RefinedTensor
from ...typecheck.types.types import BOOL, DEVICE, FLOAT, DictType, ListType, TupleType, Type
from .text import SCALARS, TENSOR_CLASSES

if TYPE_CHECKING:
    from lark import Token, Tree

__all__ = ["LiteralReader"]


class LiteralReader:
    """Makes values of syntax trees; the type of a constant says what a number or string means.

    With `placeholders` a tensor that was too large to be printed becomes one of zeros.
    """

    placeholders = False

    def read(self, tree: Tree[Token], type: Type | None = None) -> object:
        """The value of a literal.

        Raises:
            ValueError: it is a tensor that is too large to be printed, a word without meaning, or a
                container where the type has none.
        """
        parts = cast("list[Any]", tree.children)
        match tree.data:
            case "number":
                return _number(str(parts[0]), type)
            case "complex":
                return _complex(str(parts[0]))
            case "string":
                text = unescape(str(parts[0])[1:-1])
                return Device(text) if type == DEVICE else text
            case "word":
                return _word(str(parts[0]))
            case "member":
                return _member(str(parts[0]), type)
            case "made":
                return _generator(
                    str(parts[0]), {str(n): self.read(v) for n, v in _pairs(parts[1:])}
                )
            case "annotated":
                return self.read(parts[1], type)
            case "tensor":
                number = _number(str(parts[0]), None)
                return _one_element(number, type)
            case "table":
                return _table(str(parts[0]))
            case "large":
                if self.placeholders and isinstance(type, RefinedTensor):
                    return _zeros(type)
                raise ValueError("a tensor that was too large to be printed cannot be read")
        return _of_type(self.container(tree, type), type)

    def container(self, tree: Tree[Token], type: Type | None) -> object:
        parts = cast("list[Any]", tree.children)
        if tree.data == "list":
            element = None if type is None else type.list_of
            return [self.read(part, element) for part in parts]
        if tree.data == "tuple":
            known = None if type is None else type.tuple_of
            types = (None,) * len(parts) if known is None else known
            return tuple(self.read(part, t) for part, t in zip(parts, types, strict=True))
        key, value = (None if type is None else type.dict_of) or (None, None)
        pairs = (part.children for part in parts)
        return {self.read(k, key): self.read(v, value) for k, v in pairs}


_CONTAINERS: dict[type, type[Type]] = {list: ListType, dict: DictType, tuple: TupleType}


def _pairs(settings: list[Any]) -> Iterator[list[Any]]:
    return (each.children for each in settings)


def _generator(name: str, settings: Mapping[str, object]) -> Generator:
    """`torch.Generator(device="cpu", seed=1)`."""
    if name != "torch.Generator" or not settings.keys() <= {"device", "seed"}:
        raise ValueError(f"`{name}(...)` is no constant")
    if settings.get("device", "cpu") != "cpu":
        raise ValueError("Only cpu device is supported for Generator at this time.")
    made = Generator()
    if "seed" in settings:
        seed = settings["seed"]
        if not isinstance(seed, int):
            raise ValueError("Expected int literal for seed argument")
        if seed < 0:
            raise ValueError("Seed must be a non-negative integer")
        if seed >= 1 << 63:
            raise ValueError("Number is too big")
        made.manual_seed(seed)
    return made


def _of_type(value: object, type: Type | None) -> object:
    """The container, if constants of the type are such.

    Raises:
        ValueError: they are not.
    """
    if type is not None and not isinstance(type, _CONTAINERS[value.__class__]):
        raise ValueError(f"a {value.__class__.__name__} is no constant of type {type}")
    return value


def _number(text: str, type: Type | None) -> object:
    if type == BOOL:
        return text != "0"
    if type != FLOAT and re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text)


def _one_element(number: object, type: Type | None) -> object:
    if isinstance(type, RefinedTensor) and type.scalar is not None:
        array = _zeros(type)
        array[...] = number
        return array
    return np.array(number, np.float32 if isinstance(number, float) else np.int64)


def _zeros(type: RefinedTensor) -> np.ndarray:
    """A tensor of the form that its type tells; sizes that are not known are 1."""
    sizes = [1 if size is None else size for size in type.sizes or ()]
    return np.zeros(sizes, DTYPES[SCALARS[type.scalar or "Float"]].numpy)


def _complex(text: str) -> complex:
    sign = max(i for i, c in enumerate(text) if c in "+-" and i > 0 and text[i - 1] != "e")
    return complex(float(text[:sign]), float(text[sign:-1]))


def _word(text: str) -> object:
    words = {"True": True, "False": False, "None": None}
    if text not in words:
        raise ValueError(f"{text} is not a value")
    return words[text]


def _member(text: str, type: Type | None) -> object:
    owner, _, name = text.rpartition(".")
    if type is None or not type.is_enum or type.annotation_str != owner:
        raise ValueError(f"{text} is not a value")
    return EnumMember(name, dict(type.enum_members).get(name))


def _table(text: str) -> object:
    """A tensor as `print` shows it: the matrices of its last two dimensions one after the other, of
    the others the first one fastest."""
    match = re.fullmatch(r"(?:(\S+) \*)?(.*)\[ (\w+)\{([\d,]*)\} \]", text, re.DOTALL)
    names = {spelling: name for name, spelling in TENSOR_CLASSES.items()}
    if match is None or match[3] not in names:
        raise ValueError("a tensor in a form that cannot be read")
    shape = [int(n) for n in match[4].split(",") if n]
    shown = re.sub(r"(?:\S+ \*|\(\S+\) =)", "", match[2])
    numbers = np.array([float(n) for n in shown.split()]) * float(match[1] or 1)
    outer = len(shape) - 2
    made = numbers.reshape((*shape[:outer][::-1], *shape[max(outer, 0) :]))
    order = (*range(outer)[::-1], *range(max(outer, 0), len(shape)))
    return made.transpose(order).astype(names[match[3]])
