"""What `module._c` can do besides reading attributes: `_c.hasattr("weight")` and the like."""

from __future__ import annotations

from collections.abc import Callable

from ..interpreter.values.objects import ScriptObject
from ..interpreter.values.values import from_machine, to_machine
from ..jit.function import ScriptMethod
from ..ops.tensors.tensor import Tensor
from ..serialization.saving.save import save_archive, save_to_buffer
from ..typecheck.definitions.functions import Function
from .types import ClassType

__all__ = ["MEMBERS", "_jit_debug_module_iterators"]


def _has(owner: ScriptObject, name: str) -> bool:
    """Whether there is an attribute, or a constant, of that name."""
    return name in owner.cls.attributes or name in owner.cls.constants


def _get(owner: ScriptObject, name: str) -> object:
    """The value of an attribute.

    Raises:
        AttributeError: there is none of that name.
    """
    if name in owner.cls.constants:
        return owner.cls.constants[name]
    if name not in owner.cls.attributes:
        raise AttributeError(f"{owner.cls.in_unit} does not have a field with name '{name}'")
    value = owner.slots[owner.cls.slot(name)]
    if isinstance(value, ScriptObject | Tensor):
        return value
    return from_machine(value, owner.cls.attributes[name].type)


def _set(owner: ScriptObject, name: str, value: object) -> None:
    """Change an attribute.

    Raises:
        RuntimeError: there is none of that name.
    """
    if name not in owner.cls.attributes:
        raise RuntimeError(
            f"{owner.cls.qualified_name} does not have an attribute with name '{name}'"
        )
    plain = isinstance(value, ScriptObject | Tensor)
    inner = value if plain else to_machine(value, owner.cls.attributes[name].type)
    owner.slots[owner.cls.slot(name)] = inner


def _has_method(owner: ScriptObject, name: str) -> bool:
    """Whether there is a method of that name."""
    return owner.cls.method(name) is not None


def _method(owner: ScriptObject, name: str) -> ScriptMethod:
    """A method.

    Raises:
        RuntimeError: there is none of that name.
    """
    function = owner.cls.method(name)
    if function is None:
        raise RuntimeError(f"Method '{name}' is not defined.")
    return ScriptMethod(owner, function)


def _method_names(owner: ScriptObject) -> list[str]:
    """The names of the methods."""
    return list(owner.cls.methods)


def _methods(owner: ScriptObject) -> list[ScriptMethod]:
    """The methods."""
    return [ScriptMethod(owner, function) for function in owner.cls.methods.values()]


def _type(owner: ScriptObject) -> ClassType:
    """The class."""
    handle: ClassType = object.__new__(ClassType)
    handle._type = owner.cls
    return handle


def _hooks(kind: str) -> Callable[[ScriptObject], list[Function]]:
    def hooks(owner: ScriptObject) -> list[Function]:
        return list(getattr(owner.cls, kind))

    hooks.__doc__ = "The compiled hooks around `forward`."
    return hooks


def _dump_to_str(owner: ScriptObject, code: bool, attrs: bool, params: bool) -> str:
    """A description: parameters, attributes, methods, submodules."""
    return "\n".join(_description(owner, code, attrs, params, 0)) + "\n"


def _description(
    owner: ScriptObject, code: bool, attrs: bool, params: bool, level: int
) -> list[str]:
    attributes = owner.cls.attributes.values()
    inner = [(a.name, owner.slots[owner.cls.slot(a.name)]) for a in attributes]
    modules = [(n, v) for n, v in inner if isinstance(v, ScriptObject) and v.cls.is_module]
    kinds = {a.name: a.kind for a in attributes}
    lines = [f"module {owner.cls.qualified_name} {{", "  parameters {"]
    if params:
        lines += [f"    {n} = {v}" for n, v in inner if kinds[n] == "parameter"]
    lines += ["  }", "  attributes {"]
    if attrs:
        lines += [f"    {n} = {v}" for n, v in inner if (n, v) not in modules]
    lines += ["  }", "  methods {"]
    for name in owner.cls.methods if code else ():
        text = str(_method(owner, name).graph).rstrip("\n")
        lines += [f"    method {name} {{", *(f"      {t}" for t in text.split("\n")), "    }"]
    lines += ["  }", "  submodules {"]
    for _, module in modules:
        lines += _description(module, code, attrs, params, level + 2)
    lines += ["  }", "}"]
    return ["  " * level + line for line in lines] if level else lines


def _kept(owner: ScriptObject, kinds: tuple[str, ...] = ()) -> list[tuple[str, object]]:
    """The attributes of some kinds, or of all, as Python sees them, by name."""
    return [
        (each.name, _get(owner, each.name))
        for each in owner.cls.attributes.values()
        if not kinds or each.kind in kinds
    ]


def _children(owner: ScriptObject) -> list[tuple[str, ScriptObject]]:
    inner = _kept(owner)
    return [(n, v) for n, v in inner if isinstance(v, ScriptObject) and v.cls.is_module]


def _modules_below(owner: ScriptObject, prefix: str = "") -> list[tuple[str, ScriptObject]]:
    """A module and all below it, by their paths."""
    found = [(prefix, owner)]
    for name, child in _children(owner):
        found += _modules_below(child, f"{prefix}.{name}" if prefix else name)
    return found


def _below(owner: ScriptObject, kinds: tuple[str, ...] = ()) -> list[tuple[str, object]]:
    return [
        (f"{path}.{name}" if path else name, value)
        for path, module in _modules_below(owner)
        for name, value in _kept(module, kinds)
    ]


def _traced_inputs(owner: ScriptObject) -> dict[str, list[object]]:
    """What methods were traced with, by their names."""
    return dict(getattr(owner.handle, "_traced_inputs", {}))


def _jit_debug_module_iterators(module: ScriptObject) -> dict[str, list[object]]:
    """What a module is made of, as lists: its parts alone, and with all below it (`_r`)."""
    named: dict[str, list[tuple[str, object]]] = {
        "children": [*_children(module)],
        "modules": [*_modules_below(module)],
        "parameters": _kept(module, ("parameter",)),
        "parameters_r": _below(module, ("parameter",)),
        "buffers": _kept(module, ("buffer",)),
        "buffers_r": _below(module, ("buffer",)),
    }
    found: dict[str, list[object]] = {}
    for kind, pairs in named.items():
        found[kind] = [value for _, value in pairs]
        found[f"named_{kind}"] = [*pairs]
    found["named_attributes"] = [*_kept(module)]
    found["named_attributes_r"] = [*_below(module)]
    return found


def _no_change(owner: ScriptObject, enabled: bool) -> None:
    """A setting of torch's executor; code runs the same way."""


MEMBERS: dict[str, Callable[..., object]] = {
    "hasattr": _has,
    "getattr": _get,
    "setattr": _set,
    "_has_method": _has_method,
    "_get_method": _method,
    "_get_methods": _methods,
    "_retrieve_traced_inputs": _traced_inputs,
    "_method_names": _method_names,
    "_type": _type,
    "_get_forward_hooks": _hooks("forward_hooks"),
    "_get_forward_pre_hooks": _hooks("forward_pre_hooks"),
    "_properties": lambda owner: [(n, *fs) for n, fs in owner.cls.properties.items()],
    "dump_to_str": _dump_to_str,
    "dump": lambda owner, *parts: print(_dump_to_str(owner, *(parts or (True,) * 3))),
    "save": save_archive,
    "save_to_buffer": save_to_buffer,
    "_set_optimized": _no_change,
}
"""The members, each a function of the object and what it is called with."""
