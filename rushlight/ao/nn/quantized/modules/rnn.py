"""A long short-term memory whose steps are quantized."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar, Final, Self

from .....nn.modules.module import Module
from ...configuration import Configuration
from ...quantizable.modules import rnn as observed

__all__ = ["LSTM"]

_OWN: Final = __name__.partition(".")[0]


class LSTM(observed.LSTM):
    """What `quantizable.LSTM` becomes when a model is converted."""

    _FLOAT_MODULE: ClassVar[type[Module]] = observed.LSTM

    def _get_name(self) -> str:
        return "QuantizedLSTM"

    @classmethod
    def from_float(
        cls, other: object, qconfig: Configuration | None = None, split_gates: bool = False
    ) -> Self:
        """Raises: NotImplementedError: a float layer is observed first."""
        raise NotImplementedError(
            "It looks like you are trying to convert a non-observed LSTM module. Please, see the "
            "examples on quantizable LSTMs."
        )

    @classmethod
    def from_observed(cls, other: Module) -> Self:
        """The quantized layer of an observed one.

        Raises:
            AssertionError: it is another module.
        """
        if not isinstance(other, cls._FLOAT_MODULE):
            raise AssertionError(f"Expected module type {cls._FLOAT_MODULE}, got {type(other)}")
        convert = import_module(f"{_OWN}.ao.quantization.quantize").convert
        made: Self = convert(other, inplace=False, remove_qconfig=True)
        made.__class__ = cls
        return made
