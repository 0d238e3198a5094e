"""What the inputs and outputs of an exported program are, of which there are none here."""

from __future__ import annotations

from enum import Enum

from ..module_names import names_of

__all__ = ["InputKind", "OutputKind"]

InputKind = Enum(
    "InputKind",
    "USER_INPUT PARAMETER BUFFER CONSTANT_TENSOR CUSTOM_OBJ TOKEN",
    module=__name__,
)
OutputKind = Enum(
    "OutputKind",
    "USER_OUTPUT LOSS_OUTPUT BUFFER_MUTATION PARAMETER_MUTATION GRADIENT_TO_PARAMETER "
    "GRADIENT_TO_USER_INPUT USER_INPUT_MUTATION TOKEN",
    module=__name__,
)

__getattr__ = names_of(__name__)
