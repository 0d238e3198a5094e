"""Laws told by probabilities or by their logits, whichever is at hand."""

from __future__ import annotations

from typing import ClassVar, Self, overload

from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["ProbsOrLogits", "which_is_given"]


@overload
def which_is_given(probs: Tensor | None, logits: Tensor | None) -> tuple[str, Tensor]: ...
@overload
def which_is_given(
    probs: Tensor | float | None, logits: Tensor | float | None
) -> tuple[str, Tensor | float]: ...
def which_is_given(
    probs: Tensor | float | None, logits: Tensor | float | None
) -> tuple[str, Tensor | float]:
    """The name and value of the one that is not None.

    Raises:
        ValueError: both are given, or neither.
    """
    if probs is None and logits is not None:
        return "logits", logits
    if probs is not None and logits is None:
        return "probs", probs
    raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class ProbsOrLogits(Distribution):
    """One of `probs` and `logits` is given, the other computed when asked for."""

    _is_binary: ClassVar[bool] = True
    _param: Tensor

    def _keep_given(self, name: str, value: Tensor) -> None:
        self._param = vars(self)[name] = value

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities, from logits."""
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    @lazy_property
    def logits(self) -> Tensor:
        """Log-odds, or logarithms of probabilities, from those."""
        return probs_to_logits(self.probs, is_binary=self._is_binary)

    @property
    def param_shape(self) -> Size:
        """The shape of `probs` and `logits`."""
        return self._param.shape

    def _new(self, *args: object, **options: object) -> Tensor:
        """A new tensor of the parameter's dtype."""
        return self._param.new(*args, **options)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        if "_param" in vars(self):
            new._param = vars(new)["logits" if "logits" in vars(new) else "probs"]
