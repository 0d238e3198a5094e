"""Slots that old archives declare by another type than they hold.

Before PyTorch 1.5 packed weights were tensors to the type system, and its quantized layers declared
`_packed_params : Tensor`.  The operators that make and take them have since got classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE

__all__ = ["declared_before"]

_MANGLED: Final = re.compile(r"\.___torch_mangle_\d+")
_SLOT: Final = ("_packed_params", "Tensor")


def _layers() -> Iterator[tuple[str, str]]:
    """The layers and the class of what their slot holds; they have moved once."""
    for home in ("__torch__.torch.nn", "__torch__.torch.ao.nn"):
        linear = f"{BUILTIN_NAMESPACE}quantized.LinearPackedParamsBase"
        yield f"{home}.quantized.modules.linear.LinearPackedParams", linear
        yield f"{home}.quantized.modules.linear.Linear", linear
        yield f"{home}.quantized.dynamic.modules.linear.Linear", linear
        for dims in (2, 3):
            convolution = f"{BUILTIN_NAMESPACE}quantized.Conv{dims}dPackedParamsBase"
            yield f"{home}.quantized.modules.conv.Conv{dims}d", convolution
            for intrinsic in ("intrinsic", "_intrinsic"):
                fused = f"{intrinsic}.quantized.modules.conv_relu"
                yield f"{home}.{fused}.ConvReLU{dims}d", convolution


_CLASSES: Final[Mapping[str, str]] = dict(_layers())


def declared_before(cls: str, attribute: str, annotation: str) -> str | None:
    """The name of the class that a slot holds today; None where the declaration still stands.

    `cls` is the qualified name of the slot's own class, `annotation` what the archive declares.
    """
    if (attribute, annotation) != _SLOT:
        return None
    return _CLASSES.get(_MANGLED.sub("", cls))
