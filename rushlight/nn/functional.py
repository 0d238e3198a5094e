"""Functions of layers without state.  Each is a Python function that can be scripted as well.

Their statements and local names show in the code of archives, where they are those of torch.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ops.dispatch import eager_function
from ..ops.tensor import Tensor
from . import (
    functional_activation,
    functional_attention,
    functional_class_loss,
    functional_convolution,
    functional_distance,
    functional_dropout,
    functional_embedding,
    functional_linear_loss,
    functional_loss,
    functional_more_pooling,
    functional_normalization,
    functional_pooling,
    functional_resizing,
)
from .functional_activation import *  # noqa: F403
from .functional_attention import *  # noqa: F403
from .functional_attention import _canonical_mask as _canonical_mask
from .functional_attention import _none_or_dtype as _none_or_dtype
from .functional_class_loss import *  # noqa: F403
from .functional_convolution import *  # noqa: F403
from .functional_distance import *  # noqa: F403
from .functional_dropout import *  # noqa: F403
from .functional_embedding import *  # noqa: F403
from .functional_linear_loss import *  # noqa: F403
from .functional_loss import *  # noqa: F403
from .functional_more_pooling import *  # noqa: F403
from .functional_normalization import *  # noqa: F403
from .functional_pooling import *  # noqa: F403
from .functional_resizing import *  # noqa: F403

__all__ = ["linear"]
__all__ += functional_activation.__all__
__all__ += functional_attention.__all__
__all__ += functional_class_loss.__all__
__all__ += functional_convolution.__all__
__all__ += functional_distance.__all__
__all__ += functional_dropout.__all__
__all__ += functional_embedding.__all__
__all__ += functional_linear_loss.__all__
__all__ += functional_loss.__all__
__all__ += functional_more_pooling.__all__
__all__ += functional_normalization.__all__
__all__ += functional_pooling.__all__
__all__ += functional_resizing.__all__

Operator = Callable[..., Tensor]

linear: Operator = eager_function("aten::linear")
"""`linear(input, weight, bias=None)`: `input @ weight.T + bias`."""
