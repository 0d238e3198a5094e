"""How losses are summed up, by its word and by its number.

The flags `size_average` and `reduce` are the older way to say it.
"""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings

from ..ops.tensors.tensor import Tensor

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string", "number_of", "reduced", "word_of"]


def get_enum(reduction: str) -> int:
    """0 for "none", 1 for "mean", 2 for "sum".

    Raises:
        ValueError: another word.
    """
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    if reduction == "none":
        return 0
    if reduction != "elementwise_mean":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    warnings.warn(
        "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
        stacklevel=2,
    )
    return 1


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The word for the older flags, which are both on where nothing is said."""
    if reduce is not None and not reduce:
        word = "none"
    elif size_average is not None and not size_average:
        word = "sum"
    else:
        word = "mean"
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, "
            f"please use reduction='{word}' instead.",
            stacklevel=2,
        )
    return word


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number for the older flags."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def word_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The given word, or that of the older flags if one of them is given."""
    if size_average is None and reduce is None:
        return reduction
    return legacy_get_string(size_average, reduce)


def number_of(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """`word_of` as a number.

    Raises:
        ValueError: no word that is known.
    """
    if size_average is None and reduce is None:
        return get_enum(reduction)
    return legacy_get_enum(size_average, reduce)


def reduced(losses: Tensor, word: str) -> Tensor:
    """The losses themselves, their mean or their sum.

    Raises:
        ValueError: no word that is known.
    """
    if word == "mean":
        return losses.mean()
    if word == "sum":
        return losses.sum()
    if word != "none":
        raise ValueError(word + " is not valid")
    return losses
