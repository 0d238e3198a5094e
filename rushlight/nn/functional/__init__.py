"""Functions of layers without state.  Each is a Python function that can be scripted as well.

Archives know all of them, and what they call, by names in `torch.nn.functional`.
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType

from ...module_names import names_of
from .. import _reduction as _Reduction  # noqa: F401
from . import (
    activations,
    attention,
    class_losses,
    convolutions,
    distances,
    dropouts,
    embeddings,
    fractional_pooling,
    grids,
    linear_loss,
    losses,
    normalizations,
    pooling,
    power_pooling,
    resizing,
    unpooling,
)
from .activations import _threshold as _threshold
from .attention import _canonical_mask as _canonical_mask
from .attention import _none_or_dtype as _none_or_dtype

_PARTS = (
    *(activations, attention, class_losses, convolutions, distances, dropouts, embeddings),
    *(fractional_pooling, grids, linear_loss, losses, normalizations, pooling, power_pooling),
    *(resizing, unpooling),
)
globals().update({name: vars(part)[name] for part in _PARTS for name in part.__all__})
__all__ = sorted(name for part in _PARTS for name in part.__all__)

for _name in __all__:
    if isinstance(globals()[_name], FunctionType):
        globals()[_name].__module__ = __name__  # where users, pickles and `help` look for it

__getattr__ = names_of(__name__)


class _Functions(ModuleType):
    """The module's class: functions lie in several files here, and what a program exchanges (tools
    that count what functions do) is exchanged in all of them."""

    def __setattr__(self, name: str, value: object) -> None:
        before = vars(self).get(name)
        super().__setattr__(name, value)
        if not callable(before):
            return
        known = sys.modules.copy().items()  # other threads may import meanwhile
        files = [found for key, found in known if key.startswith(f"{__package__}.")]
        for members in map(vars, files):
            for own in [each for each, held in members.items() if held is before]:
                members[own] = value


sys.modules[__name__].__class__ = _Functions
