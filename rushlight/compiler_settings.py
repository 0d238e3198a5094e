"""Modules of settings of torch's compiler (`torch._dynamo.config` and others), which is not here.

`compiler_settings.txt` is the one list: below `= module` stand the names by their values, `~` says
that a name is another one of some module.  Settings are kept, and nobody reads them.
"""

from __future__ import annotations

import pickle
import re
import sys
from ast import literal_eval
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from warnings import warn

from .module_names import torch_name

__all__ = ["settle"]

_OWN: Final = __name__.partition(".")[0]
_FILE: Final = Path(__file__).with_suffix(".txt")


class _Group:
    """Settings whose names begin alike: `triton` of `triton.cudagraphs`."""

    def __init__(self, shown: str) -> None:
        vars(self)["_shown"] = shown

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._shown}.{name} does not exist")

    def __setattr__(self, name: str, value: object) -> None:
        if name not in vars(self):
            raise AttributeError(f"{self._shown}.{name} does not exist")
        vars(self)[name] = value


class _Settings(ModuleType):
    _first: Mapping[str, object]
    _others: Mapping[str, tuple[str, str]]

    def __getattr__(self, name: str) -> Any:
        if name in self._others:
            module, other = self._others[name]
            return getattr(import_module(module), other)
        raise AttributeError(f"{torch_name(self.__name__)}.{name} does not exist")

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._others:
            module, other = self._others[name]
            setattr(import_module(module), other, value)
            return
        if not name.startswith("__") and name not in self._first and name not in vars(self):
            getattr(self, name)
        super().__setattr__(name, value)

    def patch(
        self,
        arg1: dict[str, Any] | str | None = None,
        arg2: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A block, or a decorator, with settings that end with it: `patch(verbose=True)`,
        `patch("verbose", True)`, `patch({"triton.cudagraphs": True})`."""
        assert arg1 is None or not kwargs, (
            "cannot pass both positional and keyword arguments to patch"
        )
        assert not isinstance(arg1, str) or arg2 is not None, (
            "first argument must be a dict when passing a single positional arg to patch"
        )
        return self._changed({arg1: arg2} if isinstance(arg1, str) else arg1 or kwargs)

    @contextmanager
    def _changed(self, changes: Mapping[str, Any]) -> Iterator[None]:
        before = {name: self._read(name) for name in changes}
        try:
            for name, wanted in changes.items():
                self._write(name, wanted)
            yield
        finally:
            for name, kept in before.items():
                self._write(name, kept)

    def get_config_copy(self) -> dict[str, Any]:
        """The settings by name, those of groups as `group.name`, as they are now."""
        return {name: deepcopy(self._read(name)) for name in (*self._first, *self._others)}

    to_dict = shallow_copy_dict = get_config_copy

    def save_config(self) -> bytes:
        """The settings as bytes that `load_config` takes."""
        return pickle.dumps(self.get_config_copy(), protocol=2)

    def load_config(self, maybe_pickled_config: bytes | dict[str, Any]) -> None:
        """Set what a dict, or bytes of `save_config`, says."""
        given = maybe_pickled_config
        for name, value in (given if isinstance(given, dict) else pickle.loads(given)).items():
            if name in self._first or name in self._others:
                self._write(name, value)
            else:
                warn(
                    f"key {name} with value {value} is not understood by this config", stacklevel=2
                )

    def codegen_config(self) -> str:
        """Lines of Python that set what is not as it was at first."""
        changed = [name for name, value in self._first.items() if self._read(name) != value]
        shown = torch_name(self.__name__)
        return "\n".join(f"{shown}.{name} = {self._read(name)!r}" for name in changed)

    def _read(self, name: str) -> Any:
        group, _, own = name.rpartition(".")
        return getattr(getattr(self, group) if group else self, own)

    def _write(self, name: str, value: object) -> None:
        group, _, own = name.rpartition(".")
        setattr(getattr(self, group) if group else self, own, value)


@cache
def _table() -> Mapping[str, tuple[dict[str, str], dict[str, str]]]:
    """By the modules of torch: each setting's value as it is written, and other names."""
    table = dict[str, tuple[dict[str, str], dict[str, str]]]()
    values, others = dict[str, str](), dict[str, str]()
    text = re.sub(r"\n {4}", " ", _FILE.read_text(encoding="utf-8"))
    for line in filter(None, text.splitlines()):
        name, sign, said = re.split(r"(?:(?<=\S) )?([=~:]) ", line, maxsplit=1)
        if not name:
            table[said] = values, others = {}, {}
        elif sign == ":":
            values.update(dict.fromkeys(said.split(), name))
        else:
            (values if sign == "=" else others)[name] = said
    return table


def settle(name: str) -> None:
    """Make a module, by its name here, one of settings, with the first value of each."""
    module, shown = sys.modules[name], torch_name(name)
    values, others = _table()[shown]
    first = {name: literal_eval(value) for name, value in values.items()}
    space = vars(module)
    for each, value in first.items():
        group, _, own = each.rpartition(".")
        place = vars(space.setdefault(group, _Group(f"{shown}.{group}"))) if group else space
        place[own] = deepcopy(value)
    space["_first"] = first
    space["_others"] = {
        each: (f"{_OWN}{module.removeprefix('torch')}", other)
        for each, (module, _, other) in ((k, v.rpartition(".")) for k, v in others.items())
    }
    module.__class__ = _Settings
