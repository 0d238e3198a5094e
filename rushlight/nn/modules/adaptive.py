"""A softmax over many classes, the rare ones in clusters (Grave et al., arXiv:1609.04309)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Tensor
from ..functional import log_softmax
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_argmax = eager_function("aten::argmax")

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])
_ASMoutput.__qualname__ = "_ASMoutput"


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of the right classes, and their negative mean.

    The head decides among the first `cutoffs[0]` classes and the clusters; cluster i, with its own
    narrower projection, among classes `cutoffs[i]` up to `cutoffs[i + 1]`.
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        _check_cutoffs(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (first, end) in enumerate(zip(cutoffs, self.cutoffs[1:], strict=True)):
            width = int(in_features // div_value ** (i + 1))
            narrow = Linear(in_features, width, False, device, dtype)
            self.tail.append(Sequential(narrow, Linear(width, end - first, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draw all projections anew."""
        self.head.reset_parameters()
        for pair in self.tail:
            for layer in pair.children():
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Of inputs (N, in_features) or (in_features) and targets (N) or ().

        Raises:
            RuntimeError: the shapes do not fit together, or a target is no class.
        """
        _check_batch(input_, target_)
        rows = input_ if target_.dim() > 0 else input_.unsqueeze(0)
        target = target_ if target_.dim() > 0 else target_.unsqueeze(0)
        if target.numel():
            low, high = int(target.min().item()), int(target.max().item())
            if low < 0 or high >= self.n_classes:
                raise RuntimeError(
                    f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                    f"[{low}, {high}] were found. "
                )
        scores = log_softmax(self.head(rows), dim=1)
        in_head = target.clone()
        found = rows.new_zeros(target.size(0))
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            chosen = ((target >= first) & (target < end)).nonzero().squeeze(1)
            if chosen.numel():
                inside = log_softmax(self.tail[i](rows.index_select(0, chosen)), dim=1)
                relative = (target.index_select(0, chosen) - first).unsqueeze(1)
                found.index_copy_(0, chosen, inside.gather(1, relative).squeeze(1))
                in_head.index_fill_(0, chosen, self.shortlist_size + i)
        found = found + scores.gather(1, in_head.unsqueeze(1)).squeeze()
        loss = (-found).mean()
        return _ASMoutput(found if target_.dim() > 0 else found.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """All log probabilities, given the scores of the head."""
        out: Tensor = input.new_empty((head_output.size(0), self.n_classes))
        head = log_softmax(head_output, dim=1)
        short = self.shortlist_size
        out[:, :short] = head[:, :short]
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            inside = log_softmax(self.tail[i](input), dim=1)
            out[:, first:end] = inside + head[:, short + i].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities of all classes: (N, in_features) -> (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of every row; clusters are looked into only where needed."""
        head = self.head(input)
        output: Tensor = _argmax(head, dim=1)
        rare = output >= self.shortlist_size
        if not rare.any():
            return output
        chosen = rare.nonzero().squeeze(1)
        full = self._get_full_log_prob(input[chosen], head[chosen])
        output[chosen] = _argmax(full, dim=1)
        return output


def _check_cutoffs(cutoffs: list[int], classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    rising = all(a < b for a, b in pairwise(cutoffs))
    if not rising or cutoffs[0] <= 0 or cutoffs[-1] > classes - 1 or any(map(_broken, cutoffs)):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1"
        )


def _broken(number: float) -> bool:
    return int(number) != number


def _check_batch(input: Tensor, target: Tensor) -> None:
    if target.dim() == 1:
        if input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != 2:
            raise RuntimeError(
                "1D target tensor expects 2D input tensors, "
                f"but found inputs with size {input.size()}"
            )
    elif target.dim() == 0:
        if input.dim() != 1:
            raise RuntimeError(
                "0D target tensor expects 1D input tensors, "
                f"but found inputs with size {input.size()}"
            )
    else:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
