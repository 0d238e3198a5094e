"""Functions that move elements: they do the same with the mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...ops.eager.packets import Namespace
from ...ops.memory.dtype import DTYPES
from .core import FORMS, Called, data_of, mask_of, paired

__all__: list[str] = []

_NAMES: Final = """select transpose split t slice slice_backward select_backward index expand view
    _unsafe_view _reshape_alias cat unsqueeze unfold unfold_backward im2col col2im stack""".split()
_MADE_OF_THEM: Final = """__getitem__ adjoint atleast_1d atleast_2d atleast_3d broadcast_to chunk
    concat concatenate dsplit expand_as flatten fold hsplit hstack dstack vstack narrow
    reshape reshape_as swapaxes swapdims split_with_sizes tensor_split unflatten view_as
    vsplit""".split()
"""Functions that torch puts together of these."""


def _moved(func: Called, *args: object, **kwargs: object) -> object:
    def of(part: Callable[[object], object]) -> Any:
        return func(*map(part, args), **{name: part(value) for name, value in kwargs.items()})

    def of_masks(value: object) -> object:
        """Windows of images are of numbers only."""
        found = mask_of(value)
        return found.to(DTYPES["uint8"]) if found is not value else found

    name = func.__name__.partition(".")[0]
    if name in ("im2col", "col2im", "fold") or getattr(func, "__module__", "").endswith("folding"):
        return paired(of(data_of), of(of_masks).to(DTYPES["bool"]))
    return paired(of(data_of), of(mask_of))


FORMS.put((*_NAMES, *_MADE_OF_THEM), _moved)

_ATEN = Namespace("aten")
PASSTHROUGH_FNS: Final = [getattr(_ATEN, name) for name in _NAMES if hasattr(_ATEN, name)]
"""Those of them that are operators here: gradients of slices have no operators of their own."""
