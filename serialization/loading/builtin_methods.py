"""Classes that no archive defines; those of packed weights have methods that are written in the
language over their operators."""

from __future__ import annotations

from functools import cache
from typing import Final

from ...frontend.diagnostics.diagnostics import Collector
from ...frontend.diagnostics.exceptions import raise_for
from ...interpreter.running.evaluating import evaluate
from ...ir.functions.define import define_function
from ...ops.quantized_tensors.packed_weights import PACKED_CLASSES
from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE, LABEL_CLASS, builtin_class
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from .archive_table import ARCHIVE_TABLE
from .import_code import CodeFile, CodeImporter

__all__ = ["is_packed_method", "packed_class"]

_FILE = "__torch__.packed"
_PAIR = "Tuple[Tensor, Optional[Tensor]]"
_CONVOLUTION = {
    "unpack": _PAIR,
    **dict.fromkeys(("stride", "padding", "output_padding", "dilation"), "List[int]"),
    **dict.fromkeys(("groups",), "int"),
    "transpose": "bool",
}
_METHODS: Final = frozenset((*_CONVOLUTION, "weight", "bias"))


def _text(cls: str) -> str:
    """The methods of a class as free functions."""
    if "Conv" in cls:
        dims = cls[cls.index("Conv") + 4]
        lines = []
        for name, result in _CONVOLUTION.items():
            call = f"ops.quantized.conv{dims}d_{name}(self)"
            if name == "unpack":
                body = f"  weight, bias = {call}\n  return (weight, bias)\n"
            else:
                body = f"  return {f'bool({call})' if result == 'bool' else call}\n"
            lines.append(f"def {name}(self: {BUILTIN_NAMESPACE}{cls}) -> {result}:\n{body}")
        for name, result in (("weight", "Tensor"), ("bias", "Optional[Tensor]")):
            body = f"  weight, bias = ops.quantized.conv{dims}d_unpack(self)\n  return {name}\n"
            lines.append(f"def {name}(self: {BUILTIN_NAMESPACE}{cls}) -> {result}:\n{body}")
        return "".join(lines)
    if "Linear" in cls:
        self = f"self: {BUILTIN_NAMESPACE}{cls}"
        unpack = "  weight, bias = ops.quantized.linear_unpack(self)\n"
        return (
            f"def unpack({self}) -> {_PAIR}:\n{unpack}  return (weight, bias)\n"
            f"def bias({self}) -> Optional[Tensor]:\n{unpack}  return bias\n"
        )
    return ""


def packed_class(qualified: str) -> ClassType | None:
    """The class of packed weights of that name, with its methods, or of labels; None if there is
    none."""
    if qualified == LABEL_CLASS:
        return builtin_class(qualified)
    name = qualified.removeprefix(BUILTIN_NAMESPACE)
    if name not in PACKED_CLASSES or not qualified.startswith(BUILTIN_NAMESPACE):
        return None  # not remembered: archives may name what they like
    return _packed_class(qualified, name)


def is_packed_method(name: str) -> bool:
    """Whether packed weights have a method of that name, without arguments; objects of any of
    their classes find it from now on."""
    if name in _METHODS:
        for cls in PACKED_CLASSES:
            packed_class(f"{BUILTIN_NAMESPACE}{cls}")
    return name in _METHODS


@cache
def _packed_class(qualified: str, name: str) -> ClassType:
    cls = builtin_class(qualified)
    collector = Collector()
    text = _text(name)
    importer = CodeImporter(
        {_FILE: lambda: CodeFile(text)}, (), collector, ARCHIVE_TABLE.names, builtin=packed_class
    )

    def define(function: Function) -> None:
        define_function(function, importer.resolver, collector, ARCHIVE_TABLE, evaluate)
        raise_for(collector)

    def find(method: str) -> Function | None:
        definition = importer.function_named(f"{_FILE}.{method}") if text else None
        if definition is None:
            return None
        importer.read(definition)
        full = f"{qualified}.{method}"
        made = Function(full, definition.tree, define, owner=cls, is_text=True)
        return cls.methods.setdefault(method, made)

    cls.finder.append(find)
    return cls
