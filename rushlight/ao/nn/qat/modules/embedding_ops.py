"""Tables of rows that round their weights."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from .....nn import functional as F
from .....nn.modules import sparse as floats
from .....nn.modules.module import Module
from .....ops.memory.dtype import QSCHEMES, Device, DType
from .....ops.tensors.tensor import Tensor

__all__ = ["Embedding", "EmbeddingBag"]


def _fake_quant(qconfig: Any, name: str) -> Any:
    """The fake quantizer of a table's weights.

    Raises:
        AssertionError: no configuration, or one without float zero points.
    """
    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")
    made = qconfig.weight()
    if made.qscheme is not QSCHEMES["per_channel_affine_float_qparams"]:
        raise AssertionError(
            f"{name} weights requires a qscheme of torch.per_channel_affine_float_qparams Got "
            f"{made.qscheme}"
        )
    return made


def _check(cls: Any, mod: Module) -> None:
    name = cls.__name__
    if type(mod) is not cls._FLOAT_MODULE:
        raise AssertionError(f" qat.{name}.from_float only works for {cls._FLOAT_MODULE.__name__}")
    if not getattr(mod, "qconfig", None):
        raise AssertionError("Input float module must have qconfig defined")
    scheme = mod.qconfig.weight().qscheme
    if scheme is not QSCHEMES["per_channel_affine_float_qparams"]:
        raise AssertionError(
            f"{name} weights requires a qscheme of torch.per_channel_affine_float_qparams Got "
            f"{scheme}"
        )


class Embedding(floats.Embedding):
    """`nn.Embedding` whose rows go through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration, or one without float zero points.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Embedding

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
        device: Device | str | None = None,
        dtype: DType | None = None,
        qconfig: Any = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            device=device,
            dtype=dtype,
        )
        self.weight_fake_quant = _fake_quant(qconfig, "Embedding")
        self.qconfig = qconfig

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight_fake_quant(self.weight),
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats, with its weight.

        Raises:
            AssertionError: another module; no configuration, or one without float zero points.
        """
        _check(cls, mod)
        made = cls(
            mod.num_embeddings,
            mod.embedding_dim,
            mod.padding_idx,
            mod.max_norm,
            mod.norm_type,
            mod.scale_grad_by_freq,
            mod.sparse,
            mod.weight,
            qconfig=mod.qconfig,
        )
        made.weight = mod.weight
        return made

    def to_float(self) -> Any:
        """The float layer, with the same weight."""
        made = floats.Embedding(
            self.num_embeddings,
            self.embedding_dim,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
            None,
        )
        made.weight = type(self.weight)(self.weight.detach())
        made.train(self.training)
        return made


class EmbeddingBag(floats.EmbeddingBag):
    """`nn.EmbeddingBag` whose rows go through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration, or one without float zero points.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.EmbeddingBag

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
        qconfig: Any = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            _weight,
            include_last_offset,
            padding_idx,
            device=device,
            dtype=dtype,
        )
        self.weight_fake_quant = _fake_quant(qconfig, "Embedding Bag")
        self.qconfig = qconfig

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight_fake_quant(self.weight),
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

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats, with its weight.

        Raises:
            AssertionError: another module; no configuration, or one without float zero points.
        """
        _check(cls, mod)
        made = cls(
            mod.num_embeddings,
            mod.embedding_dim,
            mod.max_norm,
            mod.norm_type,
            mod.scale_grad_by_freq,
            mod.mode,
            mod.sparse,
            mod.weight,
            mod.include_last_offset,
            mod.padding_idx,
            qconfig=mod.qconfig,
        )
        made.weight = mod.weight
        return made

    def to_float(self) -> Any:
        """The float layer, with the same weight."""
        made = floats.EmbeddingBag(
            self.num_embeddings,
            self.embedding_dim,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            None,
            self.include_last_offset,
            self.padding_idx,
        )
        made.weight = type(self.weight)(self.weight.detach())
        made.train(self.training)
        return made
