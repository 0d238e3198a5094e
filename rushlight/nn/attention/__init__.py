"""`torch.nn.attention`: which kernel computes attention; there is one, whatever is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """The kernels of torch."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: Sequence[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[None]:
    """A block in which attention is computed by some kernels only: always by the one there is.

    Raises:
        AssertionError: what is chosen is no kernel.
    """
    del set_priority
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not all(isinstance(each, SDPBackend) for each in chosen):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend")
    yield
