"""How exact products of float32 have to be, as programs ask for it: in one word for all products of
matrices (`set_float32_matmul_precision`), or for each kind of product (`fp32_precision`)."""

from __future__ import annotations

import warnings
from typing import Final

from .frontend.foundations.chosen import Chosen
from .ops.kernels.precision import PRECISION

__all__ = [
    "OfAll",
    "Precision",
    "ask",
    "get_float32_matmul_precision",
    "set_float32_matmul_precision",
]

_WORDS: Final = {"highest": "ieee", "high": "tf32", "medium": "bf16"}
_KNOWN: Final = (*_WORDS.values(), "none")
_MIXED: Final = {"highest": ("tf32", "bf16"), "high": ("bf16",), "medium": ("tf32",)}
"""What products of matrices are not said to be in one word, when they are that."""

_ASKED: Final = {product: Chosen("none") for product in ("all", "matmul", "conv", "rnn")}
_WORD: Final = Chosen("highest")


def _of(product: str) -> str:
    own = _ASKED[product].now
    return _ASKED["all"].now if own == "none" else own


def ask(product: str, precision: str) -> None:
    """Say how exact one kind of product is, or "all".

    Raises:
        RuntimeError: there is no such precision.
    """
    if precision not in _KNOWN:
        raise RuntimeError(f"Unknown precision: {precision}")
    _ASKED[product].choose(precision)
    _settle()


def _settle() -> None:
    """Tell the kernels.  Convolutions that nothing is said of are as short as the one word says."""
    of_convolutions = _of("conv")
    word = _WORDS[_WORD.now] if of_convolutions == "none" else of_convolutions
    PRECISION.ask(products=_of("matmul") == "bf16", convolutions=word == "bf16")


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given.

    Raises:
        RuntimeError: `fp32_precision` says otherwise by now.
    """
    if _of("matmul") in _MIXED[_WORD.now]:
        raise RuntimeError(
            "PyTorch is checking the matmul precision without a specific backend name,Current "
            "status indicate that you have used mix of the legacy and new APIs to set the matmul "
            "precision. We suggest only using the new API for matmul precision. See also: "
            "https://pytorch.org/docs/main/notes/cuda.html"
            "#tensorfloat-32-tf32-on-ampere-and-later-devices"
        )
    return _WORD.now


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 matrices, and convolutions, have to be.

    For "medium" numbers may be rounded to bfloat16 before they are multiplied, which is done where
    the CPU has instructions for it and the product is large; sums are float32.  "high" and
    "highest" are the same: float32.  Another word is warned of.

    Raises:
        RuntimeError: not a string.
    """
    kind = type(precision)
    if not issubclass(kind, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {kind.__name__}")
    if precision not in _WORDS:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            stacklevel=2,
        )
        return
    _WORD.choose(precision)
    ask("matmul", _WORDS[precision])


class OfAll:
    """`fp32_precision` for everything that is not spoken of by itself."""

    @property
    def fp32_precision(self) -> str:
        """ "ieee", "tf32" (computed as "ieee"), "bf16", or "none" where nothing is said.

        Raises:
            RuntimeError: set to something else.
        """
        return _ASKED["all"].now

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        ask("all", precision)


class Precision:
    """How exact one kind of product is: `fp32_precision`, as `OfAll` says, and nothing else."""

    __slots__ = ("_product",)
    _product: str

    def __init__(self, product: str) -> None:
        object.__setattr__(self, "_product", product)

    def __getattr__(self, name: str) -> str:
        if name != "fp32_precision":
            raise AttributeError(f"Unknown attribute {name}")
        return _of(self._product)

    def __setattr__(self, name: str, value: str) -> None:
        if name != "fp32_precision":
            raise AttributeError(f"Unknown attribute {name}")
        ask(self._product, value)
