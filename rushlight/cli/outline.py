"""What an archive holds besides code: its modules, weights, constants and extra files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from ..interpreter.values.objects import ScriptObject
from ..jit.module import RecursiveScriptModule
from ..ops.tensors.tensor import Tensor
from ..serialization.files.container import ArchiveReader
from ..serialization.files.identify import MOBILE_FLATBUFFER, identify
from ..serialization.mobile.code import INSTRUCTIONS, MobileCode
from ..serialization.mobile.load import MobileModule, opened_mobile

__all__ = ["bytecode_text", "constants_of", "extra_of", "modules_of", "tree_lines"]


class TensorLine(TypedDict):
    """A parameter, a buffer or another tensor of a module."""

    name: str
    kind: str
    dtype: str
    shape: list[int]
    numel: int
    bytes: int


ModuleTree = TypedDict(
    "ModuleTree",
    {
        "name": str,
        "class": str,
        "methods": list[str],
        "tensors": list[TensorLine],
        "parameters": int,
        "bytes": int,
        "modules": "list[ModuleTree]",
    },
)
"""A module with those in it; the numbers count what these hold, too."""


def modules_of(target: ScriptObject, name: str = "") -> ModuleTree:
    """A module as plain data: class, tensors of its own, submodules."""
    tensors, children = list[TensorLine](), list[ModuleTree]()
    for attribute, slot in zip(target.cls.attributes.values(), target.slots, strict=True):
        if isinstance(slot, Tensor):
            tensors.append(_tensor(attribute.name, attribute.kind, slot))
        elif isinstance(slot, ScriptObject) and slot.cls.is_module:
            children.append(modules_of(slot, attribute.name))
    own = sum(t["numel"] for t in tensors if t["kind"] == "parameter")
    return {
        "name": name,
        "class": target.cls.qualified_name,
        "methods": list(target.cls.methods),
        "tensors": tensors,
        "parameters": own + sum(child["parameters"] for child in children),
        "bytes": sum(t["bytes"] for t in tensors) + sum(child["bytes"] for child in children),
        "modules": children,
    }


def _tensor(name: str, kind: str, tensor: Tensor) -> TensorLine:
    return {
        "name": name,
        "kind": kind,
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "numel": tensor._array.size,
        "bytes": tensor._array.nbytes,
    }


def tree_lines(module: ModuleTree, depth: int = 0) -> Iterator[str]:
    """The modules as an indented tree with the sizes of what they hold."""
    indent = "  " * depth
    short = module["class"].rpartition(".")[2]
    title = f"{module['name']}: {short}" if module["name"] else short
    yield f"{indent}{title}  ({_count(module['parameters'])} parameters, {_size(module['bytes'])})"
    for tensor in module["tensors"]:
        shape = "x".join(map(str, tensor["shape"])) or "scalar"
        yield f"{indent}  {tensor['name']}: {tensor['dtype']} {shape} ({tensor['kind']})"
    for child in module["modules"]:
        yield from tree_lines(child, depth + 1)


def _count(number: int) -> str:
    return f"{number:,}"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError


def constants_of(module: RecursiveScriptModule) -> dict[str, str]:
    """The values that code names `CONSTANTS.c0` and so on, as text, over all methods."""
    found: dict[str, str] = {}
    for inner in module.modules():
        for name in inner._c.cls.methods:
            _, constants = inner._script_method(name).code_with_constants
            for constant, value in constants.items():
                found[f"{inner._c.cls.name}.{name}: {constant}"] = repr(value)
    return found


def extra_of(path: str) -> dict[str, int]:
    """The extra files and their sizes."""
    if identify(path) is MOBILE_FLATBUFFER:
        with opened_mobile(path) as contents:
            return {name: len(read()) for name, read in contents.extra.items()}
    with ArchiveReader(path) as archive:
        return {r.removeprefix("extra/"): archive.size(r) for r in archive.records("extra/")}


# --------------------------------------------------------------------------- mobile archives


def bytecode_text(module: MobileModule) -> str:
    """Every function's instructions, with what their operands stand for."""
    parts = []
    for code in module.codes.values():
        head = ", ".join(f"{a.name}: {a.type.annotation_str}" for a in code.arguments or ())
        lines = [f"{code.name}({head})  # {code.register_size} registers"]
        for place, (name, x, n) in enumerate(code.instructions):
            operands = " ".join(
                str(o) for o, kind in zip((x, n), INSTRUCTIONS[name], strict=True) if kind
            )
            told = _told(code, name, x, place)
            lines.append(
                f"  {place:4} {name} {operands}".rstrip() + (f"  # {told}" if told else "")
            )
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _told(code: MobileCode, name: str, x: int, place: int) -> str:
    match INSTRUCTIONS[name][0]:
        case "O":
            return code.operators[x].full_name
        case "C":
            text = repr(code.constants[x]).replace("\n", " ")
            return text if len(text) <= 60 else text[:57] + "..."
        case "T":
            return code.types[x].annotation_str
        case "P":
            return f"to {place + x}"
    return ""
