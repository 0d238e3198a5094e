"""The names under which live functions and classes are compiled: `__torch__.module.Name`."""

from __future__ import annotations

from itertools import count

from ..frontend.foundations.locks import DEFINING

__all__ = ["forget_names", "mangled", "qualified_name", "unmangled"]

_used: set[str] = set()
_counter = count()


def qualified_name(thing: object) -> str:
    """`__torch__.` and the module and name; `__main__` is left out, rushlight's own are torch's.

    Raises:
        RuntimeError: the object has no name or module, or is a lambda.
    """
    name = getattr(thing, "_jit_override_qualname", None)
    if isinstance(name, str):
        return name
    name = getattr(thing, "__name__", None)
    module = getattr(thing, "__module__", None)
    if not isinstance(name, str):
        raise RuntimeError("Could not get name of python class object")
    if name == "<lambda>":
        name = "_lambda"
    if not isinstance(module, str):
        raise RuntimeError(
            f"Could not get qualified name for class '{name}': __module__ can't be None."
        )
    module = module.replace("<", "_").replace(">", "_")  # `<torch_package_0>` in packages
    if module == "__main__":
        return f"__torch__.{name}"
    if module.split(".")[0] in ("rushlight", "torch"):  # what as_torch() has loaded says torch
        module = ".".join(["torch", *module.split(".")[1:]])
        if module.startswith("torch.nn.functional."):  # one module in torch, several files here
            module = "torch.nn.functional"
        elif module == "torch.functional_in_script":
            module = "torch.functional"
    return f"__torch__.{module}.{name}"


def mangled(name: str) -> str:
    """The name itself the first time, then `__torch__.module.___torch_mangle_N.Name`."""
    with DEFINING:
        if name not in _used:
            _used.add(name)
            return name
    prefix, _, last = name.rpartition(".")
    while True:
        candidate = f"{prefix}.___torch_mangle_{next(_counter)}.{last}"
        if candidate not in _used:  # no number is given twice
            return candidate


def unmangled(name: str) -> str:
    """The name without its number."""
    parts = name.split(".")
    return ".".join(part for part in parts if not part.startswith("___torch_mangle_"))


def forget_names() -> None:
    """Let names be given once more; archives keep apart what is called alike."""
    with DEFINING:
        _used.clear()
