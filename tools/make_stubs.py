"""Write the stubs from the operator table: `python tools/make_stubs.py [--check]`.

Editors and type checkers then know the overloads of every `torch.…` name (`rushlight/__init__.pyi`)
and of the methods that operators give to tensors (`ops/tensors/operator_methods.pyi`, a base class
of `Tensor` for type checkers alone).
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, get_overloads

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from spelling import returned, signatures

import rushlight
from rushlight import nn
from rushlight.module_names import names_in
from rushlight.ops.eager.dispatch import EagerFunction, eager_function
from rushlight.ops.eager.namespace import public_names
from rushlight.ops.memory.dtype import DType, Layout, MemoryFormat, QScheme
from rushlight.ops.random_numbers.random import Generator
from rushlight.ops.table.table import TABLE
from rushlight.ops.tensors.tensor import Tensor

FUNCTIONS = ROOT / "rushlight" / "__init__.pyi"
METHODS = ROOT / "ops" / "tensors" / "operator_methods.pyi"
_GATHERED = (nn, nn.modules, nn.functional)
"""Packages of what the modules in them have."""

_WRITTEN_BY = """\
# Written by tools/make_stubs.py: change the operator table, not this file.
# mypy: ignore-errors
# ruff: noqa
"""
_HEAD = f"""{_WRITTEN_BY}
from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, NoReturn, overload
"""

_KINDS = """\
from {ops}.memory.dtype import Device as _Device
from {ops}.memory.dtype import DType as _DType
from {ops}.memory.dtype import Layout as _Layout
from {ops}.memory.dtype import MemoryFormat as _MemoryFormat
from {ops}.memory.dtype import QScheme as _QScheme
from {ops}.random_numbers.random import Generator as _Generator
from {ops}.tensors.sizes import Size as _Size

_Number = _int | _float | _complex | _bool
"""

_IN_ANNOTATIONS = {
    **{name: f"_{name}" for name in ("bool", "complex", "float", "int", "str")},
    **{"Any": "Any", "Sequence": "Sequence", "None": "None", "Callable": "Callable"},
    **{"list": "list", "tuple": "tuple", "type": "type", "NoReturn": "NoReturn"},
    **{"DType": "_DType", "Device": "_Device", "MemoryFormat": "_MemoryFormat"},
    **{"Generator": "_Generator", "Size": "_Size", "QScheme": "_QScheme"},
    **{"Tensor": "Tensor", "Self": "Tensor", "object": "Any"},
}

_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
_COMPARISONS = "eq ne lt le gt ge".split()


def _annotation(text: Any) -> str:
    """An annotation of this package's code in the stub's words; Any if it needs others."""
    if not isinstance(text, str) or not text or "'" in text:
        return "Any"
    words = set(re.findall(r"[A-Za-z_][\w.]*", re.sub(r"Literal\[\w+\]", "", text)))
    if not words <= _IN_ANNOTATIONS.keys():
        return "Any"
    return re.sub(r"[A-Za-z_]\w*", lambda m: _IN_ANNOTATIONS.get(m[0], m[0]), text)


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    text = stars.get(parameter.kind, "") + parameter.name
    text += f": {_annotation(parameter.annotation)}"
    return text if parameter.default is inspect.Parameter.empty else f"{text} = ..."


def _written_by_hand(name: str, function: Callable[..., Any], method: bool) -> list[str]:
    """What a function of this package says of itself, in as many overloads as it has."""
    forms = get_overloads(function) or [function]
    lines = [_signature(name, form, method) for form in forms]
    return lines if len(lines) < 2 else [f"@overload\n{line}" for line in lines]


def _signature(name: str, function: Callable[..., Any], method: bool) -> str:
    signature = inspect.signature(function)
    given: list[str] = []
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not any(
            text.startswith("*") for text in given
        ):
            given.append("*")
        given.append("self" if method and place == 0 else _parameter(parameter))
    result = _annotation(signature.return_annotation)
    return _line(name, given, _of_operator(name) if result == "Any" else result)


def _of_operator(name: str) -> str:
    """What the operator of a name returns, if that is one thing for all its overloads."""
    if not TABLE.operators(f"aten::{name}"):
        return "Any"
    found = {returned(form)[0] for form in eager_function(f"aten::{name}").forms}
    return found.pop() if len(found) == 1 else "Any"


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


def _methods(results: _Results) -> list[str]:
    """What the operator table and `ops/eager` put into the class of tensors."""
    lines = [
        "class OperatorMethods(Differentiable):",
        '    """The methods of tensors that operators are behind."""',
    ]
    for name in sorted(vars(Tensor)):
        value = getattr(Tensor, name)
        body: list[str] = []
        if isinstance(value, EagerFunction):
            body = _eager(name, value, True, results)
        elif inspect.isfunction(value) and name not in _WRITTEN_THERE and _is_public(name):
            body = _written_by_hand(name, value, True)
        lines += [textwrap.indent(line, "    ") for line in body]
    lines += [f"    {line}" for line in _protocol()]
    return [*lines, ""]


def _is_public(name: str) -> bool:
    return name[0] != "_" or name in ("__dlpack__", "__dlpack_device__")


def _names_in(file: Path, cls: str) -> frozenset[str]:
    """The methods and properties that a class has where it is written."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == cls:
            return frozenset(n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef))
    raise LookupError(cls)


_TENSORS = ROOT / "ops" / "tensors"
_WRITTEN_THERE = _names_in(_TENSORS / "tensor.py", "Tensor") | _names_in(
    _TENSORS / "differentiable.py", "Differentiable"
)


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
        shown = f"from {module.removeprefix('rushlight')} import {own}"
        # under another name it would be private
        return f"{shown} as {own}" if own == name else f"{shown} as _{own}\n{name} = _{own}"
    return None


def stubs() -> dict[Path, str]:
    """The text of each stub."""
    results = _Results()
    functions, methods = _functions(results), _methods(results)
    named = [line for lines in results.lines.values() for line in lines]
    given = [
        f"from .ops.tensors.operator_methods import {name} as {name}" for name in results.lines
    ]
    kinds, own = _KINDS.format(ops=".ops"), _KINDS.format(ops="..")
    own_imports = [
        "from .differentiable import Differentiable",
        "from .tensor import Tensor as Tensor",
    ]
    texts = {
        FUNCTIONS: [_HEAD, kinds, *given, "", *functions],
        METHODS: [_HEAD, own.replace("...", ".."), *own_imports, "", *named, *methods],
        **{_stub_of(package): [_WRITTEN_BY, *_gathered(package)] for package in _GATHERED},
    }
    return {file: "\n".join(lines) + "\n" for file, lines in texts.items()}


def _stub_of(package: ModuleType) -> Path:
    return Path(str(package.__file__)).with_suffix(".pyi")


def _gathered(package: ModuleType) -> list[str]:
    """The names of a package that gathers what the `__all__` of other modules say, and of what it
    loads when it is asked for."""
    own = package.__name__
    below = sorted(name for _, name, _ in iter_modules(package.__path__) if name[0] != "_")
    lines = [f"from . import {name} as {name}" for name in below]
    later = [name for name, rule in names_in(own).items() if rule.startswith("= ")]
    homes = {name: each for each in below for name in _names_of(package, each)}
    inner = [name for name in vars(package) if name[0] == "_" and name in homes]
    for name in sorted({*package.__all__, *later, *inner}):
        value = getattr(package, name)
        if not isinstance(value, ModuleType):
            is_found = name in homes and not isinstance(value, type)
            module = f"{own}.{homes[name]}" if is_found else value.__module__
            path = "." + module.removeprefix(f"{own}.") if module.startswith(own) else module
            lines.append(f"from {path} import {name} as {name}")
    return lines


def _names_of(package: ModuleType, module: str) -> list[str]:
    """The names a module of a package says it has, and of its functions those that the package
    has, too."""
    members = vars(import_module(f"{package.__name__}.{module}"))
    shared = [name for name, value in vars(package).items() if members.get(name) is value]
    functions = [name for name in shared if inspect.isfunction(members[name])]
    return [*functions, *members.get("__all__", ())]


def _functions(results: _Results) -> list[str]:
    """What `rushlight` itself offers."""
    imports, names = [], []
    packages = sorted(name for name in rushlight._PACKAGES if not name.startswith("_"))
    imports += [f"from . import {name} as {name}" for name in packages]
    elsewhere = {n: m for n, m in rushlight._ELSEWHERE.items() if not n.startswith("_")}
    imports += [f"from {module} import {name} as {name}" for name, module in elsewhere.items()]
    for name, value in sorted(public_names().items()):
        if name in elsewhere:
            continue
        if isinstance(value, EagerFunction):
            names += _eager(name, value, False, results)
        elif isinstance(value, type) and _import_of(name, value):
            imports.append(str(_import_of(name, value)))
        elif inspect.isfunction(value):
            names += _written_by_hand(name, value, False)
        else:
            names.append(f"{name}: {_kind(value)}")
    return [*imports, "", "__version__: _str", "", *names]


def _kind(value: Any) -> str:
    kinds = {DType: "_DType", Layout: "_Layout", MemoryFormat: "_MemoryFormat", QScheme: "_QScheme"}
    kinds |= {float: "_float", type(None): "None"}
    return kinds.get(type(value), "_Generator" if isinstance(value, Generator) else "Any")


if __name__ == "__main__":
    stale = False
    for file, text in stubs().items():
        if "--check" in sys.argv:
            stale = stale or file.read_text(encoding="utf-8") != text
        else:
            file.write_text(text, encoding="utf-8")
            print(f"wrote {file.relative_to(ROOT)}")
    sys.exit("the stubs are old: run tools/make_stubs.py" if stale else None)
