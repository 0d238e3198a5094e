"""`torch.nn.attention`: which kernel computes attention; there is one, whatever is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from ...module_names import names_of

__all__ = [
    *("SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "current_flash_attention_impl"),
    *("list_flash_attention_impls", "sdpa_kernel"),
]

WARN_FOR_UNFUSED_KERNELS = False
"""Whether torch warns where no kernel does it all."""


def list_flash_attention_impls() -> list[str]:
    """The kernels of other packages that could be chosen: none."""
    return []


def current_flash_attention_impl() -> None:
    """The one that was chosen: none."""


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
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[None]:
    """A block in which attention is computed by some kernels only: always by the one there is.

    Raises:
        AssertionError: what is chosen is no kernel.
    """
    del set_priority
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            + type(backends).__name__
        )
    yield


__getattr__ = names_of(__name__)
