"""Files whose tensors' contents are left out, in writing or reading them."""

from __future__ import annotations

import threading
from types import TracebackType

__all__ = ["SKIPPING", "skip_data"]


class _Skipping(threading.local):
    data = False
    """Whether this thread leaves contents out."""


SKIPPING = _Skipping()


class skip_data:  # a name of torch's
    """A block in which `torch.save` writes zeros in place of the contents of tensors.

    The file has all sizes, so that somebody can write the contents later; `torch.load` in such a
    block gives tensors of zeros without reading any.

    Args:
        materialize_fake_tensors: changes nothing, for there are no fake tensors.
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(SKIPPING.data)
        SKIPPING.data = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        SKIPPING.data = self._before.pop()
