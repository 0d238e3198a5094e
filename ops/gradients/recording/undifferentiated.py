"""The refusal of gradients for arguments that torch has none for."""

from __future__ import annotations

from collections.abc import Sequence

from ...tensors.tensor import Tensor
from ..nodes.autograd import is_wanted
from ..nodes.bound import Bound

__all__ = ["check_refused"]


def check_refused(bound: Bound, values: Sequence[object], handles: Sequence[object]) -> None:
    """Refuse a call, of which handles stand in the places of its machine values.

    Raises:
        RuntimeError: an argument requires a gradient that there is none of.
    """
    for at, refusing in bound.refuses.items():
        handle = handles[at] if at < len(handles) else None
        if isinstance(handle, Tensor) and is_wanted(handle):
            name = refusing if isinstance(refusing, str) else refusing(values)
            if name is not None:
                name = name or bound.entry.name.partition("::")[2]
                argument = bound.entry.signature.arguments[at].name
                raise RuntimeError(
                    f"The function '{name}' is not differentiable with respect to argument "
                    f"'{argument}'. This input cannot have requires_grad True."
                )
