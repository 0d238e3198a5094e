"""Names of torch's that stand elsewhere here, or are refused, module by module.

`module_names.txt` is the one list.  A line `= torch.x` says of the names that follow, in the
modules named there, that they are those of `torch.x`; a line `! reason` that they are refused, and
why.  A module of torch that has no file here is made of its names when it is imported (see
`made_modules`); one that has takes them in by `__getattr__ = names_of(__name__)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from .refused_names import refusing

__all__ = ["is_listed", "listed", "names_in", "names_of", "torch_name", "value_of"]

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


@cache
def _packages() -> frozenset[str]:
    """The modules that have others below them."""
    return frozenset(module.rpartition(".")[0] for module in _table())


def torch_name(module: str) -> str:
    """The name in torch of a module, by its name here."""
    return module.replace(module.partition(".")[0], "torch", 1)


def names_in(module: str) -> Mapping[str, str]:
    """The names of a module, by its name here, with their rules; none if it is not in the list."""
    return _table().get(torch_name(module), {})


def is_listed(module: str) -> bool:
    """Whether a module, by its name here, is in the list, or has others below it that are."""
    return torch_name(module) in _table()


@cache
def _deepest(module: str, name: str) -> str:
    """The module of torch that has what is refused: below a package that has the name, too, by the
    same rule, the one that does."""
    found, rule = torch_name(module), names_in(module)[name]
    below = [each for each, names in _table().items() if names.get(name) == rule]
    return max([found, *(each for each in below if each.startswith(f"{found}."))], key=len)


def value_of(module: str, name: str) -> Any:
    """What stands for a name of a module.

    Raises:
        AttributeError: the list has no such name.
    """
    rule = names_in(module).get(name)
    if rule is not None:
        kind, said = rule[0], rule[2:]
        if kind == "!":
            shown = module.replace(_OWN, import_module(_OWN).__name__, 1)  # torch, standing in
            refused = refusing(shown, name, said)[name]
            refused.__module__ = _deepest(module, name).replace("torch", shown.partition(".")[0], 1)
            return refused
        return getattr(import_module(said.replace("torch", _OWN, 1)), name)
    if name == "torch":  # modules of torch import it
        return import_module(_OWN)
    if not name.startswith("__") and is_listed(f"{module}.{name}"):
        return import_module(f"{module}.{name}")
    if name == "__path__" and torch_name(module) in _packages():
        return []  # so that modules below one in a file are looked for
    raise AttributeError(f"module '{module}' has no attribute '{name}'")


def names_of(module: str, /, *later: str, **homes: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: its names in the list, and modules below it.

    Args:
        later: modules below it that have files, and are imported when they are first named.
        homes: names, each with the module below it that has it, which is imported then, too.
    """

    def look_up(name: str) -> object:
        value: object
        if name in later:
            value = import_module(f"{module}.{name}")
        elif name in homes:
            value = getattr(import_module(f"{module}.{homes[name]}"), name)
        else:
            value = value_of(module, name)
        vars(import_module(module))[name] = value
        return value

    return look_up


def listed(name: str) -> Any:
    """What stands for a name of `torch` itself that is in the list; None for other names."""
    return value_of(_OWN, name) if name in names_in(_OWN) else None
