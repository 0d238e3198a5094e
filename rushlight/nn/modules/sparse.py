"""Embeddings: rows of a table, one by one or in bags."""

from __future__ import annotations

from typing import ClassVar

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import functional as F
from .. import init
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]

_empty = eager_function("aten::empty")


def _row(padding_idx: int | None, rows: int, word: str) -> int | None:
    """The row of padding, counted from the start.

    Raises:
        AssertionError: there is no such row.
    """
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{word} must be within num_embeddings")
    return padding_idx % rows if padding_idx < 0 else padding_idx


def _checked(weight: Tensor, rows: int, columns: int) -> Tensor:
    if list(weight.shape) != [rows, columns]:
        raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
    return weight


def _table(embeddings: Tensor) -> tuple[int, int]:
    """The shape of a table given from outside."""
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    return embeddings.shape[0], embeddings.shape[1]


class Embedding(Module):
    """The rows of a table that the input names: (*) -> (*, embedding_dim)."""

    __constants__: ClassVar[list[str]] = [
        *("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type"),
        *("scale_grad_by_freq", "sparse"),
    ]
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: Tensor
    freeze: bool
    sparse: bool

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is None:
            made: dict[str, object] = {"device": device, "dtype": dtype}
            table = _empty(num_embeddings, embedding_dim, **made)
            self.weight = Parameter(table, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            given = _checked(_weight, num_embeddings, embedding_dim)
            self.weight = Parameter(given, requires_grad=not _freeze)
        self.sparse = sparse

    def reset_parameters(self) -> None:
        """Draw the table from the standard normal distribution; padding is 0."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            shown.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            shown.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            shown.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            shown.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        if self.sparse is not False:
            shown.append("sparse=True")
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """An embedding with a table that is there; `freeze` keeps it from being trained.

        Raises:
            AssertionError: the table has not two dimensions.
        """
        return cls(
            *_table(embeddings),
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(Module):
    """Sums, means or maxima of bags of rows of a table."""

    __constants__: ClassVar[list[str]] = [
        *("num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq"),
        *("mode", "sparse", "include_last_offset", "padding_idx"),
    ]
    num_embeddings: int
    embedding_dim: int
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: Tensor
    mode: str
    sparse: bool
    include_last_offset: bool
    padding_idx: int | None

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _row(padding_idx, num_embeddings, "padding_idx")
        if _weight is None:
            made: dict[str, object] = {"device": device, "dtype": dtype}
            self.weight = Parameter(_empty(num_embeddings, embedding_dim, **made))
            self.reset_parameters()
        else:
            self.weight = Parameter(_checked(_weight, num_embeddings, embedding_dim))
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def reset_parameters(self) -> None:
        """Draw the table from the standard normal distribution; padding is 0."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx].fill_(0)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Apply the layer."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            shown.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            shown.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            shown.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        shown.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            shown.append(f"padding_idx={self.padding_idx}")
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Bags of rows of a table that is there; `freeze` keeps it from being trained.

        Raises:
            AssertionError: the table has not two dimensions.
        """
        bag = cls(
            *_table(embeddings),
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag
