"""Names of torch's that stand elsewhere here, or are refused, module by module.

`module_names.txt` is the one list.  A line `= torch.x` says of the names that follow, in the
modules named there, that they are those of `torch.x`; a line `! reason` that they are refused, and
why.  A module of torch that has no file here is made of its names when it is imported; one that
has takes them in by `__getattr__ = names_of(__name__)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import abc, import_module, machinery
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from .refused_names import refusing

__all__ = ["Finder", "names_in", "names_of", "refused"]

_OWN: Final = __package__ or "rushlight"
_FILE: Final = Path(__file__).with_name("module_names.txt")


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    """The rule (`= module` or `! reason`) of each name, by the modules of torch."""
    rule, table = "", dict[str, dict[str, str]]()
    text = re.sub(r"\n +", " ", _FILE.read_text(encoding="utf-8"))
    for line in text.splitlines():
        if line.startswith(("= ", "! ")):
            rule = line
        elif line:
            module, _, names = line.partition(":")
            table.setdefault(module, {}).update(dict.fromkeys(names.split(), rule))
    for module in list(table):
        while module := module.rpartition(".")[0]:
            table.setdefault(module, {})
    return table


def _torch_name(module: str) -> str:
    return module.replace(module.partition(".")[0], "torch", 1)


def names_in(module: str) -> Mapping[str, str]:
    """The names of a module, by its name here, with their rules; none if it is not in the list."""
    return _table().get(_torch_name(module), {})


def _value(module: str, name: str) -> Any:
    """What stands for a name of a module.

    Raises:
        AttributeError: the list has no such name.
    """
    rule = names_in(module).get(name)
    if rule is not None:
        kind, said = rule[0], rule[2:]
        if kind == "!":
            shown = module.replace(_OWN, import_module(_OWN).__name__, 1)  # torch, standing in
            return refusing(shown, name, said)[name]
        return getattr(import_module(said.replace("torch", _OWN, 1)), name)
    if not name.startswith("__") and _torch_name(f"{module}.{name}") in _table():
        return import_module(f"{module}.{name}")
    if name == "__path__" and any(each.startswith(f"{_torch_name(module)}.") for each in _table()):
        return []  # so that modules below one in a file are looked for
    raise AttributeError(f"module '{module}' has no attribute '{name}'")


def names_of(module: str, *later: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: its names in the list, and modules below it.

    Args:
        later: modules below it that have files, and are imported when they are first named.
    """

    def look_up(name: str) -> object:
        value = import_module(f"{module}.{name}") if name in later else _value(module, name)
        vars(import_module(module))[name] = value
        return value

    return look_up


def refused(name: str) -> Any:
    """What stands for a name of `torch` itself that is refused; None for other names."""
    rule = names_in(_OWN).get(name)
    return None if rule is None else _value(_OWN, name)


class _Called(ModuleType):
    """A module that takes the place of a function of its name in the package (`spawn.spawn`)."""

    _function: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


class Finder(abc.MetaPathFinder, abc.Loader):
    """Makes the modules that are nothing but names in the list."""

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> machinery.ModuleSpec | None:
        """Where such a module comes from; None for others."""
        del path, target
        if fullname.partition(".")[0] != _OWN or _torch_name(fullname) not in _table():
            return None
        return machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        name = module.__name__
        package, _, own = name.rpartition(".")
        function = vars(import_module(package)).get(own)
        if own in names_in(package):
            function = _value(package, own)
        if callable(function):
            module.__class__ = _Called
            vars(module)["_function"] = function
        vars(module).update(
            __doc__=f"`{_torch_name(name)}`: names that stand elsewhere, or that are refused.",
            __all__=sorted(names_in(name)),
            __getattr__=names_of(name),
        )
