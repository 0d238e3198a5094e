"""`torch.distributed.rpc`: calls of functions in other processes, of which there are none."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import NoReturn

from ..module_names import names_in, names_of

__getattr__ = names_of(__name__)
__all__ = [*sorted(names_in(__name__)), "is_available"]


def is_available() -> bool:
    """No."""
    return False


def _require_initialized(func: Callable[..., object]) -> Callable[..., NoReturn]:
    """A function that needs calls between processes to have been set up, which they cannot be."""

    @wraps(func)
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(
            "RPC has not been initialized. Call torch.distributed.rpc.init_rpc first."
        )

    return refuse
