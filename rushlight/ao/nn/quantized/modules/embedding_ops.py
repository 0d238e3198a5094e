"""Tables of rows with packed weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from importlib import import_module
from typing import ClassVar, Final, Self

from .....jit.decorators import export
from .....nn.modules import sparse as floats
from .....nn.modules.module import Module
from .....nn.state import Metadata, StateDict
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DTYPES, QSCHEMES, DType
from .....ops.tensors.tensor import Tensor
from .weighted import _hide_packed_params_repr, _quantize_weight, observed_weight

__all__ = ["Embedding", "EmbeddingBag", "EmbeddingPackedParams"]

_torch = import_module(__name__.partition(".")[0])
"""The package itself: script takes constants from modules alone."""

_bag_4bit = eager_function("quantized::embedding_bag_4bit")
_bag_byte = eager_function("quantized::embedding_bag_byte")
_embedding_4bit = eager_function("quantized::embedding_4bit")
_embedding_byte = eager_function("quantized::embedding_byte")
_ones = eager_function("aten::ones")
_prepack = eager_function("quantized::embedding_bag_prepack")
_quantize_per_channel = eager_function("aten::quantize_per_channel")
_unpack = eager_function("quantized::embedding_bag_unpack")
_zeros = eager_function("aten::zeros")

_QUINT8: Final = DTYPES["quint8"]
_QUINT4X2: Final = DTYPES["quint4x2"]
_FLOAT_SCHEME: Final = QSCHEMES["per_channel_affine_float_qparams"]


class EmbeddingPackedParams(Module):
    """A table (rows, columns), packed.

    Raises:
        NotImplementedError: a dtype other than quint8 and quint4x2.
    """

    _version = 1
    dtype: DType

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: DType = _QUINT8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype not in (_QUINT8, _QUINT4X2):
            raise NotImplementedError(
                "Unsupported dtype on quantized embedding! Supports quint8 and quint4x2. Got "
                f"dtype: {dtype}"
            )
        self.set_weight(
            _quantize_per_channel(
                _zeros([num_embeddings, embedding_dim], dtype=DTYPES["float32"]),
                _ones([num_embeddings], dtype=DTYPES["float32"]),
                _zeros([num_embeddings], dtype=DTYPES["float32"]),
                0,
                dtype,
            )
        )

    @export
    def set_weight(self, weight: Tensor) -> None:
        """Pack a quantized table."""
        if self.dtype == _torch.quint8 or self.dtype == _torch.quint4x2:
            self._packed_weight = _prepack(weight)
        else:
            raise NotImplementedError("Unsupported dtype for quantized embedding prepack!")

    @export
    def _weight(self) -> Tensor:
        if self.dtype == _torch.quint8 or self.dtype == _torch.quint4x2:
            return _unpack(self._packed_weight)
        else:
            raise NotImplementedError("Unsupported dtype for quantized embedding unpack!")

    def forward(self, x: Tensor) -> Tensor:
        return x

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}dtype"] = self.dtype
        destination[f"{prefix}_packed_weight"] = self._weight()

    def _load_from_state_dict(
        self,
        state_dict: StateDict,
        prefix: str,
        local_metadata: Metadata,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        self.dtype = state_dict.pop(f"{prefix}dtype")
        self.set_weight(state_dict.pop(f"{prefix}_packed_weight"))
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)

    def __repr__(self) -> str:
        return repr(self._weight())


class Embedding(Module):
    """`nn.Embedding` whose rows are quantized, each by its own scale; results are floats.

    Raises:
        AssertionError: weights of other sizes.
        NotImplementedError: a dtype other than quint8 and quint4x2.
    """

    _version = 1
    _NAME: ClassVar[str] = "Embedding"
    _packed_params: EmbeddingPackedParams

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
        dtype: DType = _QUINT8,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.dtype = dtype
        self._packed_params = EmbeddingPackedParams(num_embeddings, embedding_dim, dtype)
        if _weight is not None:
            sizes = [num_embeddings, embedding_dim]
            if list(_weight.shape) != sizes:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim: expected "
                    f"{sizes}, got {list(_weight.shape)}"
                )
            self._packed_params.set_weight(_weight)

    def forward(self, indices: Tensor) -> Tensor:
        if self.dtype == _torch.quint4x2:
            return _embedding_4bit(self._packed_params._packed_weight, indices)
        else:
            return _embedding_byte(self._packed_params._packed_weight, indices)

    def _get_name(self) -> str:
        return "QuantizedEmbedding"

    def __repr__(self) -> str:
        return _hide_packed_params_repr(self, EmbeddingPackedParams)

    def extra_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"dtype={self._packed_params.dtype}, qscheme={self.weight().qscheme()}"
        )

    def set_weight(self, w: Tensor) -> None:
        """Exchange the table."""
        self._packed_params.set_weight(w)

    def weight(self) -> Tensor:
        """The table, quantized."""
        return self._packed_params._weight()

    @classmethod
    def _of(cls, mod: Module, dtype: DType) -> Self:
        """The empty layer of the sizes of a float one."""
        return cls(mod.num_embeddings, mod.embedding_dim, dtype=dtype)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats, or of one that was trained for this.

        Raises:
            AssertionError: another module; no configuration; a scheme without float zero points.
        """
        name = cls._NAME
        if not hasattr(mod, "weight_fake_quant"):
            if type(mod) is not getattr(floats, name):
                raise AssertionError(f"nnq.{name}.from_float only works for {name}")
            if getattr(mod, "qconfig", None) is None:
                raise AssertionError(f"{name} input float module must have qconfig defined")
        observer = observed_weight(mod, mod.weight, use_precomputed_fake_quant)
        if observer.qscheme is not _FLOAT_SCHEME:
            raise AssertionError(
                f"{name} quantization is only supported with float_qparams_weight_only_qconfig."
            )
        if observer.dtype not in (_QUINT8, _QUINT4X2):
            raise AssertionError(
                f"The only supported weight dtype for nnq.{name} is torch.quint8 and "
                f"torch.quint4x2, got {observer.dtype}"
            )
        made = cls._of(mod, observer.dtype)
        made.set_weight(_quantize_weight(mod.weight.float(), observer))
        return made

    @classmethod
    def from_reference(cls, ref_embedding: Module) -> Self:
        """The layer of a reference one."""
        made = cls._of(ref_embedding, ref_embedding.weight_dtype)
        made.set_weight(ref_embedding.get_quantized_weight())
        return made


class EmbeddingBag(Embedding):
    """`nn.EmbeddingBag` whose rows are quantized, each by its own scale; results are floats."""

    _version = 1
    _NAME: ClassVar[str] = "EmbeddingBag"

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "sum",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        dtype: DType = _QUINT8,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        self.mode = mode
        self.pruned_weights = False
        self.include_last_offset = include_last_offset

    def forward(
        self,
        indices: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
        compressed_indices_mapping: Tensor | None = None,
    ) -> Tensor:
        if self.dtype == _torch.quint4x2:
            return _bag_4bit(
                self._packed_params._packed_weight,
                indices,
                offsets,
                False,
                0,
                self.pruned_weights,
                per_sample_weights,
                compressed_indices_mapping,
                self.include_last_offset,
            )
        else:
            return _bag_byte(
                self._packed_params._packed_weight,
                indices,
                offsets,
                False,
                0,
                self.pruned_weights,
                per_sample_weights,
                compressed_indices_mapping,
                self.include_last_offset,
            )

    def _get_name(self) -> str:
        return "QuantizedEmbeddingBag"

    @classmethod
    def _of(cls, mod: Module, dtype: DType) -> Self:
        last = mod.include_last_offset
        return cls(
            mod.num_embeddings,
            mod.embedding_dim,
            max_norm=mod.max_norm,
            norm_type=mod.norm_type,
            mode=mod.mode,
            include_last_offset=last,
            dtype=dtype,
        )
