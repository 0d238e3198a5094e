"""`torch._dynamo.exc`: errors of the compiler that is not here, for who catches them."""

from __future__ import annotations

__all__ = [
    *("BackendCompilerFailed", "InternalTorchDynamoError", "ResetRequired", "TorchDynamoException"),
    *("TorchRuntimeError", "Unsupported", "UserError"),
]


class TorchDynamoException(RuntimeError):
    """Any of them."""


class InternalTorchDynamoError(TorchDynamoException):
    """A fault of the compiler."""


class BackendCompilerFailed(TorchDynamoException):
    """A back end failed."""


class ResetRequired(TorchDynamoException):
    """`reset` has to be called first."""


class TorchRuntimeError(TorchDynamoException):
    """What is compiled failed."""


class Unsupported(TorchDynamoException):
    """What shall be compiled cannot be."""


class UserError(Unsupported):
    """What shall be compiled is wrong."""
