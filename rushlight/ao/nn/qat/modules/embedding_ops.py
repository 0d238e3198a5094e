"""Tables of rows that round their weights."""

from __future__ import annotations

from typing import ClassVar, Self

from .....nn import functional as F
from .....nn.modules import sparse as floats
from .....nn.modules.module import Module
from .....ops.memory.dtype import QSCHEMES, Device, DType
from .....ops.tensors.tensor import Tensor
from ...configuration import Configuration, configuration_of, weight_quantizer

__all__ = ["Embedding", "EmbeddingBag"]


def _fake_quant(qconfig: Configuration | None, name: str, device: object, dtype: object) -> Module:
    """The fake quantizer of a table's weights.

    Raises:
        AssertionError: no configuration, or one without float zero points.
    """
    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")
    return _with_float_zero_points(weight_quantizer(qconfig, device, dtype), name)


def _with_float_zero_points(quantizer: Module, name: str) -> Module:
    if quantizer.qscheme is not QSCHEMES["per_channel_affine_float_qparams"]:
        raise AssertionError(
            f"{name} weights requires a qscheme of torch.per_channel_affine_float_qparams Got "
            f"{quantizer.qscheme}"
        )
    return quantizer


def _check(cls: type[_RoundsRows], mod: Module) -> None:
    name = cls.__name__
    if type(mod) is not cls._FLOAT_MODULE:
        raise AssertionError(f" qat.{name}.from_float only works for {cls._FLOAT_MODULE.__name__}")
    _with_float_zero_points(configuration_of(mod).weight(), name)


class _RoundsRows(Module):
    """What tables that round their rows have in common: the float layer, and back to it."""

    _FLOAT_MODULE: ClassVar[type[Module]]
    _SETTINGS: ClassVar[tuple[str, ...]]

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats, with its weight.

        Raises:
            AssertionError: another module; no configuration, or one without float zero points.
        """
        _check(cls, mod)
        make = cls
        made: Self = make(**cls._settings(mod), _weight=mod.weight, qconfig=mod.qconfig)
        made.weight = mod.weight
        return made

    def to_float(self) -> Module:
        """The float layer, with the same weight."""
        made = self._FLOAT_MODULE(**self._settings(self))
        made.weight = type(self.weight)(self.weight.detach())
        made.train(self.training)
        return made

    @classmethod
    def _settings(cls, mod: Module) -> dict[str, object]:
        return {name: getattr(mod, name) for name in cls._SETTINGS}


class Embedding(_RoundsRows, floats.Embedding):
    """`nn.Embedding` whose rows go through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration, or one without float zero points.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Embedding
    _SETTINGS = (
        *("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type"),
        *("scale_grad_by_freq", "sparse"),
    )

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
        qconfig: Configuration | None = None,
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
        self.weight_fake_quant = _fake_quant(qconfig, "Embedding", device, dtype)
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


class EmbeddingBag(_RoundsRows, floats.EmbeddingBag):
    """`nn.EmbeddingBag` whose rows go through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration, or one without float zero points.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.EmbeddingBag
    _SETTINGS = (
        *("num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq"),
        *("mode", "sparse", "include_last_offset", "padding_idx"),
    )

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
        qconfig: Configuration | None = None,
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
        self.weight_fake_quant = _fake_quant(qconfig, "Embedding Bag", device, dtype)
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
