"""What verbose source says of nodes: where the user wrote them, and what tensors they give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ..ops.memory.dtype import DType
from ..ops.tensors.tensor import Tensor
from ._colors import Painter
from .node import Node

__all__ = ["Comments", "dtype_abbrs", "tensor_annotation"]

_KINDS: Final = {"uint": "u", "int": "i", "float": "f", "complex": "c", "bfloat": "bf"}
_FRAME: Final = re.compile(r'File "(.+)", line (\d+), in (.+)')


def dtype_abbrs(dtype: object) -> str:
    """`torch.float32` as `f32`."""
    name = str(dtype).rpartition(".")[2]
    if name == "bool":
        return "b8"
    found = re.fullmatch(r"([a-z]+)(\d+.*)", name)
    return _KINDS.get(found[1], found[1]) + found[2].replace("_", "") if found else name


@dataclass
class _ParsedStackTrace:
    """The innermost frame of a noted stack."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self) -> str:
        """One line that says it."""
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def _parse_stack_trace(
    stack_trace: str, filter_fn: Callable[[str, str, str], bool] | None = None
) -> _ParsedStackTrace | None:
    """The innermost frame of a stack's text; of those that `filter_fn` takes, if given."""
    lines = stack_trace.strip().split("\n")
    for place in range(len(lines) - 2, -1, -1):
        found = _FRAME.match(lines[place].strip())
        if found is None:
            continue
        code = lines[place + 1].strip()
        if filter_fn is None or filter_fn(found[1], found[3], code):
            return _ParsedStackTrace(found[1], found[2], found[3], code)
    return None


class Shaped(Protocol):
    """A tensor, or what is noted of one."""

    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> Iterable[object]: ...


def tensor_annotation(node: Node, stride: bool, device: bool) -> str:
    """`f32[3, 2]`, if it is known what tensor a node gives."""
    for key in ("val", "example_value"):
        value = node.meta.get(key)
        if isinstance(value, Tensor):
            more = str(list(value.stride())) if stride else ""
            return _shape(value) + more + (str(value.device) if device else "")
    known: Shaped | None = node.meta.get("tensor_meta")
    return _shape(known) if known is not None and hasattr(known, "dtype") else ""


def _shape(known: Shaped) -> str:
    return f"{dtype_abbrs(known.dtype)}{list(known.shape)}"


class Comments:
    """The comments between lines: one wherever what there is to say changes."""

    def __init__(self, additional_meta: Sequence[str], paint: Painter) -> None:
        self._keys = additional_meta
        self._paint = paint
        self._said = ""

    def before(self, node: Node) -> list[str]:
        """The comment before a node, if there is a new one."""
        if node.op in ("placeholder", "output"):
            return []
        said = "# " + " # ".join([*self._meta(node), self._place(node)])
        if said == self._said:
            return []
        self._said = said
        return ["\n" + self._paint("dim", said) + "\n"]

    def _meta(self, node: Node) -> list[str]:
        return [f"{key}: {node.meta[key]}" for key in self._keys if key in node.meta]

    def _place(self, node: Node) -> str:
        found = _parse_stack_trace(node.stack_trace) if node.stack_trace else None
        return found.get_summary_str() if found else "No stacktrace found for following nodes"
