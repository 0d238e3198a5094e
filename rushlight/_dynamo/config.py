"""`torch._dynamo.config`: settings of the compiler that is not here.  They are kept, and nobody
reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

__all__ = ["patch"]

suppress_errors = False
verbose = False
disable = False
cache_size_limit = 8
recompile_limit = 8
accumulated_cache_size_limit = 256
accumulated_recompile_limit = 256
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
automatic_dynamic_shapes = True
assume_static_by_default = True
dynamic_shapes = True
specialize_int = False
guard_nn_modules = True
allow_unspec_int_on_nn_module = False
optimize_ddp = True
compiled_autograd = False
error_on_recompile = False


@contextmanager
def patch(
    changes: dict[str, object] | str | None = None, value: object = None, **more: object
) -> Iterator[None]:
    """A block, or a function, with settings that end with it: `patch(verbose=True)`,
    `patch("verbose", True)`, `patch({"verbose": True})`."""
    told = {changes: value} if isinstance(changes, str) else changes or {}
    named = {**told, **more}
    module = sys.modules[__name__]
    before = {name: getattr(module, name) for name in named}
    try:
        for name, wanted in named.items():
            setattr(module, name, wanted)
        yield
    finally:
        for name, kept in before.items():
            setattr(module, name, kept)


class _Settings(ModuleType):
    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"torch._dynamo.config.{name} does not exist")

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("__"):
            getattr(self, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Settings
