"""What stands for names that share work out over several processes: one process refuses them."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["refusing_class", "refusing_function"]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(f"{name}: rushlight runs one process")


def refusing_function(name: str) -> Any:
    """A function that raises NotImplementedError, which names it: `torch.distributed...`."""

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        _refuse(name)

    refuse.__name__ = name.rpartition(".")[2]
    refuse.__doc__ = "Refused by NotImplementedError, since there is one process."
    return refuse


def refusing_class(name: str, *bases: type) -> Any:
    """A class of which there are no instances: making one raises NotImplementedError."""

    def new(cls: type, *args: object, **kwargs: object) -> NoReturn:
        _refuse(name)

    return type(name.rpartition(".")[2], bases, {"__new__": new, "__module__": "rushlight"})
