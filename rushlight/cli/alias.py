"""`import torch` that means rushlight, for as long as a file is being checked."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["torch_is_rushlight"]

_OURS = __name__.split(".")[0]


class _Alias(MetaPathFinder, Loader):
    """Finds `torch.x` where `rushlight.x` is, and puts the very same module under both names."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.split(".")[0] != "torch":
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        real = _OURS + name.removeprefix("torch")
        try:
            sys.modules[name] = importlib.import_module(real)
        except ModuleNotFoundError as error:
            if error.name is None or not real.startswith(error.name):
                raise
            message = f"rushlight has no `{name}`"
            raise ModuleNotFoundError(message, name=name) from None


def _torch_modules() -> dict[str, ModuleType]:
    known = sys.modules.copy().items()  # other threads may import meanwhile
    return {n: m for n, m in known if n == "torch" or n.startswith("torch.")}


@contextmanager
def torch_is_rushlight() -> Iterator[None]:
    """In this context `import torch` and `import torch.nn as nn` import rushlight's modules."""
    alias = _Alias()
    before = _torch_modules()
    for name in before:
        del sys.modules[name]
    sys.meta_path.insert(0, alias)
    try:
        yield
    finally:
        sys.meta_path.remove(alias)
        for name in _torch_modules():
            del sys.modules[name]
        sys.modules.update(before)
