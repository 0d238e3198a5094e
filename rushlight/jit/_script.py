"""`torch.jit._script`: what pickles of packages call for scripted modules; its other names are in
`module_names.txt`."""

from __future__ import annotations

from typing import Any, Protocol

from ..module_names import names_of

__all__ = ["unpackage_script_module"]

__getattr__ = names_of(__name__)


class Importer(Protocol):
    """What opens the package."""

    def script_module(self, number: str) -> Any:
        """The scripted module of a number."""


def unpackage_script_module(importer: Importer, script_module_id: str) -> Any:
    """The scripted module that a pickle of a package speaks of.

    Raises:
        RuntimeError: the package has no such module, or it is damaged.
    """
    return importer.script_module(script_module_id)
