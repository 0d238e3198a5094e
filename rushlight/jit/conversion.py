"""What conversions do to compiled modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from ..interpreter.values.histories import exchange_arrays
from ..nn.modules.module import Module
from ..ops.tensors.tensor import Parameter, Tensor

__all__ = ["CompiledConversions"]


class CompiledConversions(Module):
    """The part of a scripted module that changes what all its parameters and buffers hold."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """As any module does it; where lists, tuples and dicts hold parameters (`_flat_weights` of
        recurrent layers), they hold what those have now."""
        plain = [each for each in self.parameters(recurse) if type(each) in (Tensor, Parameter)]
        before = [each._array for each in plain]
        super()._apply(fn, recurse)
        pairs = zip(before, plain, strict=True)
        others = {id(old): new._array for old, new in pairs if new._array is not old}
        for module in self.modules() if others else ():
            exchange_arrays(module._c, others)
        return self
