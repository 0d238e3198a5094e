"""Write rushlight/__init__.pyi from the operator table: `python tools/make_stubs.py [--print]`.

Editors and type checkers then know the overloads of every `torch.…` name and method.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from spelling import returned, signatures

import rushlight
from rushlight.ops.eager.dispatch import EagerFunction
from rushlight.ops.eager.namespace import public_names
from rushlight.ops.memory.dtype import DType, Layout, MemoryFormat
from rushlight.ops.tensors.tensor import Tensor

STUB = ROOT / "rushlight" / "__init__.pyi"

_HEAD = """\
# Written by tools/make_stubs.py: change the operator table, not this file.
# mypy: ignore-errors
# ruff: noqa
from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from .jit.graph_text import parse_ir as parse_ir
from .weights import load as load
from .weights import save as save
from .ops.memory.dtype import Device as _Device
from .ops.memory.dtype import DType as _DType
from .ops.memory.dtype import Layout as _Layout
from .ops.memory.dtype import MemoryFormat as _MemoryFormat
from .ops.random_numbers.random import Generator as _Generator
from .ops.tensors.sizes import Size as _Size
from .ops.tensors.tensor import Tensor as _Tensor
"""

_IN_ANNOTATIONS = {
    **{name: f"_{name}" for name in ("bool", "complex", "float", "int", "str")},
    **{"Any": "Any", "Sequence": "Sequence", "None": "None", "Iterator": "Iterator"},
    **{"list": "list", "tuple": "tuple", "DType": "_DType", "Device": "_Device"},
    **{"Generator": "_Generator", "Size": "_Size", "Tensor": "Tensor", "Self": "Tensor"},
}

_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
_COMPARISONS = "eq ne lt le gt ge".split()


def _annotation(text: Any, result: bool) -> str:
    """An annotation of this package's code in the stub's words; Any if it needs others."""
    if not isinstance(text, str) or not text or "'" in text or '"' in text:
        return "Any"
    words = set(re.findall(r"[A-Za-z_][\w.]*", text))
    if not words <= _IN_ANNOTATIONS.keys():
        return "Any"
    changed = re.sub(r"[A-Za-z_]\w*", lambda m: _IN_ANNOTATIONS[m[0]], text)
    return changed if result else re.sub(r"\bTensor\b", "_Tensor", changed)


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    text = stars.get(parameter.kind, "") + parameter.name
    text += f": {_annotation(parameter.annotation, result=False)}"
    return text if parameter.default is inspect.Parameter.empty else f"{text} = ..."


def _written_by_hand(name: str, function: Callable[..., Any], method: bool) -> list[str]:
    signature = inspect.signature(function)
    given: list[str] = []
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not any(
            text.startswith("*") for text in given
        ):
            given.append("*")
        given.append("self" if method and place == 0 else _parameter(parameter))
    return [_line(name, given, _annotation(signature.return_annotation, result=True))]


def _line(name: str, given: list[str], result: str) -> str:
    return f"def {name}({', '.join(given)}) -> {result}: ..."


class _Results:
    """The classes of named results that the functions return."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}

    def annotation(self, name: str, form: Any) -> str:
        result, fields = returned(form)
        if not fields:
            return result
        cls = f"_{name}_{'_'.join(fields)}"
        types = re.split(r", (?![^\[]*\])", result[len("tuple[") : -1])
        pairs = zip(fields, types, strict=True)
        body = [f"    {field}: {type}" for field, type in pairs]
        self.lines[cls] = [f"class {cls}(NamedTuple):", *body, ""]
        return cls


def _eager(name: str, function: EagerFunction, method: bool, results: _Results) -> list[str]:
    lines = [
        _line(name, given, results.annotation(function.__name__, form))
        for given, form in signatures(function, method)
    ]
    lines = list(dict.fromkeys(lines))
    return lines if len(lines) < 2 else [f"@overload\n{line}" for line in lines]


def _tensor_class(results: _Results) -> list[str]:
    lines = ["class Tensor(_Tensor):"]
    for name in sorted(vars(Tensor)):
        value = getattr(Tensor, name)
        body: list[str] = []
        if isinstance(value, EagerFunction):
            body = _eager(name, value, True, results)
        elif isinstance(value, property) and value.fget is not None:
            kind = _annotation(value.fget.__annotations__.get("return"), result=True)
            body = [f"@property\ndef {name}(self) -> {kind}: ..."] if kind == "Tensor" else []
        elif inspect.isfunction(value) and (
            not name.startswith("_") or name in ("__getitem__", "__iter__", "__reversed__")
        ):
            body = _written_by_hand(name, value, True)
        lines += [textwrap.indent(line, "    ") for line in body]
    lines += [f"    {line}" for line in _protocol()]
    return [*lines, ""]


def _protocol() -> list[str]:
    forms = ("__{}__", "__r{}__", "__i{}__")
    names = [form.format(name) for name in _OPERATORS for form in forms]
    names += [f"__{name}__" for name in _COMPARISONS]
    lines = [f"def {name}(self, other: Any) -> Tensor: ..." for name in names]
    unary = ("__neg__", "__pos__", "__abs__", "__invert__")
    return lines + [f"def {name}(self) -> Tensor: ..." for name in unary]


def _import_of(name: str, value: Any) -> str | None:
    """`from .ops.memory.dtype import Device as device`, if that is where the value is."""
    module = getattr(value, "__module__", "")
    own = getattr(value, "__name__", "")
    if module.startswith("rushlight.") and own:
        return f"from {module.removeprefix('rushlight')} import {own} as {name}"
    return None


def stub_text() -> str:
    """The whole stub."""
    results = _Results()
    imports, names = [], []
    packages = sorted(name for name in rushlight._PACKAGES if not name.startswith("_"))
    imports += [f"from . import {name} as {name}" for name in packages]
    more = {name: getattr(rushlight, name) for name in ("cdist", "pca_lowrank", "svd_lowrank")}
    for name, value in sorted({**public_names(), **more}.items()):
        if value is Tensor:
            continue
        if isinstance(value, EagerFunction):
            names += _eager(name, value, False, results)
        elif isinstance(value, type) and _import_of(name, value):
            imports.append(str(_import_of(name, value)))
        elif inspect.isfunction(value):
            names += _written_by_hand(name, value, False)
        else:
            names.append(f"{name}: {_kind(value)}")
    tensor = _tensor_class(results)
    named = [line for lines in results.lines.values() for line in lines]
    parts = [_HEAD, *imports, "", "__version__: _str", "", *named, *tensor, *names]
    return "\n".join(parts) + "\n"


def _kind(value: Any) -> str:
    kinds = {DType: "_DType", Layout: "_Layout", MemoryFormat: "_MemoryFormat", float: "_float"}
    return kinds.get(type(value), "_Generator" if "Generator" in type(value).__name__ else "Any")


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(stub_text(), end="")
    else:
        STUB.write_text(stub_text(), encoding="utf-8")
        print(f"wrote {STUB.relative_to(ROOT)}")
