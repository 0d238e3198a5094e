"""`torch.fx.experimental.proxy_tensor`: tracing of operators below gradients, which is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from ...module_names import names_of

__all__ = ["get_proxy_mode", "make_fx", "maybe_disable_fake_tensor_mode"]


def make_fx(f: Callable[..., object], *args: object, **kwargs: object) -> NoReturn:
    """The graph of a function's operators.

    Raises:
        NotImplementedError: always; `torch.fx.symbolic_trace` and `torch.jit.trace` make graphs.
    """
    del f, args, kwargs
    raise NotImplementedError(
        "make_fx: rushlight has no __torch_dispatch__, so operators cannot be traced below "
        "gradients; use torch.fx.symbolic_trace or torch.jit.trace"
    )


def get_proxy_mode() -> None:
    """The tracing that is at work: never any."""


get_innermost_proxy_mode = get_proxy_mode


@contextmanager
def maybe_disable_fake_tensor_mode() -> Iterator[None]:
    """A block without fake tensors, of which there are none."""
    yield


@contextmanager
def disable_proxy_modes_tracing() -> Iterator[None]:
    """A block without tracing, of which there is none."""
    yield


__getattr__ = names_of(__name__)
