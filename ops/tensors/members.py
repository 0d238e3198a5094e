"""The attributes of a parameter, as programs see them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from .differentiable import Differentiable

__all__ = ["NOT_COPIED", "NO_GRADIENTS", "Members", "attributes_of"]

NOT_COPIED = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
    "the moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)
"""Why tensors with a history have no deep copies."""

NO_GRADIENTS = (
    "data set to a tensor that requires gradients must be floating point or complex dtype"
)


class Members(MutableMapping[str, Any]):
    """The attributes that programs gave a parameter: what it knows of gradients is none of them.

    Packages make a parameter anew by `type(p)(data, **p.__dict__)`.
    """

    def __init__(self, members: dict[str, object]) -> None:
        self._all = members

    def __getitem__(self, name: str) -> Any:
        if name in vars(Differentiable):
            raise KeyError(name)
        return self._all[name]

    def __setitem__(self, name: str, value: object) -> None:
        self._all[name] = value

    def __delitem__(self, name: str) -> None:
        del self._all[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._all if name not in vars(Differentiable))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))


def attributes_of(tensor: object) -> dict[str, object]:
    """The attributes that programs gave a tensor."""
    members = tensor.__dict__
    return dict(members if isinstance(members, Members) else Members(members))
