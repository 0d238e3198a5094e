"""The names under which files of `torch.save` speak of classes and functions.

What is ours goes by torch's names: `rushlight.nn.modules.linear.Linear` is written
`torch.nn.modules.linear.Linear`, so that torch finds it as well.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Final

from ..files.errors import archive_error

__all__ = ["found", "member", "name_in_torch", "name_of", "present_name", "torch_module"]

_ROOT: Final = __name__.partition(".")[0]

_PUBLIC: Final = (
    ("nn.functional.", "nn.functional"),
    ("nn.modules.lazy_layers", "nn"),
    ("optim.", "optim"),
    ("ops.tensors.tensor.Parameter", "nn.parameter"),
    ("ops.eager.typed_storage.", "storage"),
    ("ops.", ""),
    ("ops.", "nn"),
    ("ops.", "nn.functional"),
    ("ops.eager.", "_C._fft"),
    ("ops.eager.", "_C._linalg"),
    ("ops.eager.", "_C._nn"),
    ("ops.eager.", "_C._special"),
)
"""Where torch has what lies in files that it has not, by the beginning of its full name."""

_RENAMED: Final = {"__builtin__": "builtins", "copy_reg": "copyreg", "torch.torch": "torch"}

_PYTHON_2: Final = {"long": "int", "unicode": "str", "xrange": "range", "basestring": "str"}
"""Pickles of protocol 2 call some of Python's own types as Python 2 did."""


def name_of(value: Any, name: str = "") -> tuple[str, str]:
    """Module and name of a class or function, or of an object that says its `name`.

    Raises:
        ArchiveError: it is not found under its name, as one made in a function.
    """
    name = name or getattr(value, "__qualname__", None) or value.__name__
    module = getattr(value, "__module__", None) or "builtins"
    if sys.modules.get("torch") is sys.modules[_ROOT]:  # under torch's name ours says that one
        module = torch_module(module)
    for begin, public in _PUBLIC:
        if f"{module}.{name}".startswith(f"{_ROOT}.{begin}"):
            place = f"{_ROOT}.{public}".rstrip(".")
            is_rare = public.startswith("_C.")
            holder = import_module(place) if is_rare else sys.modules.get(place)
            if getattr(holder, name, None) is value:
                return f"torch.{public}".rstrip("."), name
    try:
        same = found(module, name) is value
    except (ImportError, AttributeError):
        same = False
    if not same:
        raise archive_error(
            "unsupported-value",
            f"`{module}.{name}` cannot be saved: it is not found under that name again",
            help="define it at the top of its module, or save `module.state_dict()`",
        )
    return name_in_torch(module), name


def found(module: str, name: str) -> Any:
    """The class or function of a name; its module is imported.

    Raises:
        ImportError: there is no such module.
        AttributeError: the module has nothing of that name.
    """
    module, name = present_name(module, name)
    if module.partition(".")[0] != "torch":
        return member(import_module(module), name)
    try:
        return member(import_module(torch_module(module)), name)
    except (ImportError, AttributeError):
        holder = import_module(f"{_ROOT}.nn")  # some layers lie in other files here
        if module.startswith("torch.nn.") and hasattr(holder, name):
            return getattr(holder, name)
        raise


def torch_module(name: str) -> str:
    """The name here of a module of torch's; names of other modules stay."""
    return _renamed(name, "torch", _ROOT)


def name_in_torch(module: str) -> str:
    """The name in torch of a module of ours; names of other modules stay."""
    return _renamed(module, _ROOT, "torch")


def present_name(module: str, name: str) -> tuple[str, str]:
    """What a class or function is called today that old pickles call otherwise."""
    module = _RENAMED.get(module, module)
    return module, _PYTHON_2.get(name, name) if module == "builtins" else name


def member(module: object, name: str) -> object:
    """What a module has under a name, dots included.

    Raises:
        AttributeError: it has nothing of that name.
    """
    for part in name.split("."):
        module = getattr(module, part)
    return module


def _renamed(module: str, old: str, new: str) -> str:
    first, _, rest = module.partition(".")
    return ".".join(filter(None, [new if first == old else first, rest]))
