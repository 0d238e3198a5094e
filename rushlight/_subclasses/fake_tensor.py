"""`torch._subclasses.fake_tensor`: tensors without data that torch's compiler looks at.

None is ever made here, so whoever asks hears that nothing is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from ..ops.tensors.tensor import Tensor

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake", "unset_fake_temporarily"]


class FakeTensor(Tensor):
    """The class of such tensors; it has no instances.

    Raises:
        NotImplementedError: one is to be made.
    """

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        del args, kwargs
        raise NotImplementedError(_REFUSAL)


class FakeTensorMode:
    """A block in which torch makes such tensors.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, **settings: object) -> None:
        del settings
        raise NotImplementedError(_REFUSAL)


_REFUSAL = (
    "rushlight has no fake tensors; tensors of torch.device('meta') have sizes and a dtype and no "
    "data"
)


def is_fake(x: object) -> bool:
    """Whether a value is such a tensor, or is made of one: never."""
    del x
    return False


@contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    """A block in which no such tensors are made: no block differs."""
    yield
