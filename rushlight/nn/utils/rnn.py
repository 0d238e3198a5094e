"""Sequences of different lengths: packed for recurrent layers, or padded to one length.

Packed data holds the first steps of all sequences, then the second steps of those that have one,
and so on.  The sequences stand in the order of falling length; `sorted_indices` says where each
came from, `unsorted_indices` leads back.  All functions can be scripted.
"""

# No postponed annotations here: script reads those of the tuple's fields.
# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, no-untyped-call, unreachable, assignment"

from collections.abc import Callable
from typing import NamedTuple, Self, Union

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES
from ...ops.tensors.construct import as_tensor
from ...ops.tensors.tensor import Tensor
from .. import dtype_names
from ..sizes import is_scripting

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

Operator = Callable[..., Tensor]

_arange: Operator = eager_function("aten::arange")
_as_tensor = as_tensor
_empty_like: Operator = eager_function("aten::empty_like")
_pack: Operator = eager_function("aten::_pack_padded_sequence")
_pad: Operator = eager_function("aten::pad_sequence")
_pad_packed: Operator = eager_function("aten::_pad_packed_sequence")
_sort: Operator = eager_function("aten::sort")

# ruff: noqa: UP007


class PackedSequence_(NamedTuple):
    """What a `PackedSequence` holds."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences of different lengths one after the other; `batch_sizes` (T) counts those of a step.

    Made by `pack_sequence` and `pack_padded_sequence`.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        given = _packed_sequence_init_args(data, batch_sizes, sorted_indices, unsorted_indices)
        return super().__new__(cls, *given)

    def to(self, *args: object, **kwargs: object) -> "PackedSequence":
        """With data of another dtype or device; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self, *args: object, **kwargs: object) -> "PackedSequence":
        """On the CPU, as all is; `to` reads what else is given."""
        return self.to(*args, **kwargs) if args or kwargs else self

    def cuda(self, *args: object, **kwargs: object) -> "PackedSequence":
        """On a device that is not there: fails as `Tensor.cuda` does."""
        return type(self)(self.data.cuda(*args, **kwargs), *self[1:])

    def pin_memory(self) -> "PackedSequence":
        """With data in pinned memory, as far as `Tensor.pin_memory` does that."""
        data: Tensor = self.data.pin_memory()
        return self if data is self.data else type(self)(data, *self[1:])

    def double(self) -> "PackedSequence":
        """With data in float64."""
        return self.to(DTYPES["float64"])

    def float(self) -> "PackedSequence":
        """With data in float32."""
        return self.to(DTYPES["float32"])

    def half(self) -> "PackedSequence":
        """With data in float16."""
        return self.to(DTYPES["float16"])

    def long(self) -> "PackedSequence":
        """With data in int64."""
        return self.to(DTYPES["int64"])

    def int(self) -> "PackedSequence":
        """With data in int32."""
        return self.to(DTYPES["int32"])

    def short(self) -> "PackedSequence":
        """With data in int16."""
        return self.to(DTYPES["int16"])

    def char(self) -> "PackedSequence":
        """With data in int8."""
        return self.to(DTYPES["int8"])

    def byte(self) -> "PackedSequence":
        """With data in uint8."""
        return self.to(DTYPES["uint8"])

    @property
    def is_cuda(self) -> bool:
        """Never."""
        return False

    def is_pinned(self) -> bool:
        """Never."""
        return False


def _packed_sequence_init_args(
    data: Tensor,
    batch_sizes: Tensor | None = None,
    sorted_indices: Tensor | None = None,
    unsorted_indices: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """All four parts, from those that are given."""
    back = invert_permutation(sorted_indices) if unsorted_indices is None else unsorted_indices
    if batch_sizes is None:
        if not (isinstance(data, (list, tuple)) and len(data) == 2):
            raise AssertionError("Expected data to be a list or tuple of length 2")
        return data[0], data[1], sorted_indices, back
    if batch_sizes.device.type != "cpu":
        raise ValueError(
            "batch_sizes should always be on CPU. "
            "Instances of PackedSequence should never be created manually. "
            "They should be instantiated by functions like pack_sequence "
            "and pack_padded_sequences in nn.utils.rnn. "
            "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
        )
    return data, batch_sizes, sorted_indices, back


def _packed_sequence_init(
    data: Tensor,
    batch_sizes: Tensor | None = None,
    sorted_indices: Tensor | None = None,
    unsorted_indices: Tensor | None = None,
) -> PackedSequence:
    data, batch_sizes, sorted_indices, unsorted_indices = _packed_sequence_init_args(
        data, batch_sizes, sorted_indices, unsorted_indices
    )
    return PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that leads back."""
    if permutation is None:
        return None
    output = _empty_like(permutation, memory_format=dtype_names.contiguous_format)
    output.scatter_(0, permutation, _arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | list[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack sequences padded to one length: (T, B, *), or (B, T, *) with `batch_first`.

    They must come in the order of falling length, unless `enforce_sorted` is False.
    """
    if not isinstance(lengths, Tensor):
        lengths = _as_tensor(lengths, dtype=dtype_names.int64, device="cpu")
    else:
        lengths = lengths.to(dtype=dtype_names.int64)
    if enforce_sorted:
        sorted_indices = None
    else:
        lengths, sorted_indices = _sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        batch_dim = 0 if batch_first else 1
        input = input.index_select(batch_dim, sorted_indices)
    data, batch_sizes = _pack(input, lengths, batch_first)
    return _packed_sequence_init(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The sequences padded to one length, in the order they had before, and their lengths."""
    longest = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length "
            "of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    steps = longest if total_length is None else total_length
    padded, lengths = _pad_packed(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, steps
    )
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]


def pad_sequence(
    sequences: Union[Tensor, list[Tensor]],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (L, *) as one tensor (T, B, *), or (B, T, *) with `batch_first`."""
    if not is_scripting():
        if not hasattr(sequences, "__iter__"):
            raise RuntimeError(
                "pad_sequence: Expected iterable for input sequences, but got arg of type: "
                f"{type(sequences)}"
            )
        sequences = tuple(sequences)
    elif isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    return _pad(sequences, batch_first, padding_value, padding_side)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences without what pads them.

    Raises:
        ValueError: there are more sequences than lengths, or fewer.
    """
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    rows, given = padded_sequences.size(0), lengths.size(0)
    if rows != given:
        word = "shorter" if given < rows else "longer"
        raise ValueError(f"zip() argument 2 is {word} than argument 1")
    places = _arange(padded_sequences.size(1), device=lengths.device)
    pairs = zip(padded_sequences, lengths)  # noqa: B905  (script knows no `strict`)
    return [sequence[places < length] for sequence, length in pairs]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (L, *)."""
    lengths = _as_tensor([v.size(0) for v in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences again, in the order they had before."""
    padded_sequences, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    unpacked_sequences = unpad_sequence(padded_sequences, lengths, batch_first=True)
    return unpacked_sequences
