"""What operators raise.

`str(e)` is torch's sentence.  The code and the rest feed the diagnostic that a script failure
becomes; in eager code they are simply there to be read.  Tracebacks show the builtin class that
torch raises; pickled, an error becomes one of that class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from ...frontend.diagnostics.diagnostics import Diagnostic

__all__ = [
    *("BadNumber", "IndexOutOfRange", "KernelError", "LimitExceeded", "OperatorError"),
    *("Elsewhere", "OnConjugate", "OnDispatch", "OnMeta", "OnNested", "OnSlices", "OnSparse"),
    *(
        "NotCompiled",
        "NotHeld",
        "OutOfMemory",
        "UnsupportedDtype",
        "UnsupportedOperator",
        "WrongType",
    ),
    *("no_device", "out_of_memory", "unsupported"),
]


Error = TypeVar("Error", bound="type[BaseException]")


def _shown_as(builtin: type[BaseException]) -> Callable[[Error], Error]:
    """The decorated class goes by the name of a builtin one in tracebacks and pickles."""

    def rename(cls: Error) -> Error:
        cls.__name__ = cls.__qualname__ = builtin.__name__
        cls.__module__ = "builtins"

        def reduce(self: BaseException) -> tuple[object, ...]:
            return builtin, self.args

        cls.__reduce__ = reduce  # type: ignore[assignment]
        return cls

    return rename


class Elsewhere(NotImplementedError):
    """A tensor was met behind which no array stands.  Eager calls then go on in the room of its
    `kind` (`ops/eager/elsewhere.py`)."""

    kind = ""


@_shown_as(RuntimeError)
class OnConjugate(Elsewhere):
    """A view of conjugated or negated elements was met where memory is wanted that holds them."""

    kind = "conjugate"


@_shown_as(RuntimeError)
class OnDispatch(Elsewhere):
    """A tensor was met whose class is asked for operators."""

    kind = "dispatch"


@_shown_as(NotImplementedError)
class OnMeta(Elsewhere):
    """A tensor without data was met where data are wanted."""

    kind = "meta"


@_shown_as(NotImplementedError)
class OnNested(Elsewhere):
    """A nested tensor was met where a plain one is wanted."""

    kind = "nested"


@_shown_as(RuntimeError)
class OnSlices(Elsewhere):
    """A tensor that stands for slices of another one was met where a plain one is wanted."""

    kind = "slices"


@_shown_as(NotImplementedError)
class OnSparse(Elsewhere):
    """A sparse tensor was met where a dense one is wanted."""

    kind = "sparse"


@_shown_as(RuntimeError)
class OperatorError(RuntimeError):
    """An operator cannot do what it was asked.

    `code` is a slug of the error table; `headline`, if given, is the diagnostic's own message;
    `roles` says of an argument (by its name in the schema) what it is like ("has ...", "is ...")
    or what was wanted ("needs ...", "must ..."); `layer` is what to say of the layer that holds the
    argument `weight`, if there is one; `helps` advise, with arguments in braces.
    """

    def __init__(
        self,
        torch_message: str,
        *,
        code: str = "operator-failed",
        headline: str = "",
        roles: dict[str, str] | None = None,
        layer: str = "",
        helps: tuple[str, ...] = (),
    ) -> None:
        super().__init__(torch_message)
        self.code = code
        self.headline = headline
        self.roles = roles or {}
        self.layer = layer
        self.helps = helps


class LimitExceeded(OperatorError):
    """Code that is not trusted went beyond a bound."""

    def __init__(self, what: str = "it has run for more seconds than it may") -> None:
        super().__init__(what, code="limit-exceeded", headline=what)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is told where no place in the code is known."""
        return (Diagnostic(self.code, self.headline, None),)


@_shown_as(IndexError)
class IndexOutOfRange(OperatorError, IndexError):
    """An index or dimension outside its range."""

    def __init__(self, torch_message: str, *, headline: str = "") -> None:
        super().__init__(torch_message, code="index-out-of-range", headline=headline)


@_shown_as(ValueError)
class BadNumber(OperatorError, ValueError):
    """A number, or what numbers are in, that does not do and in torch is a ValueError."""


@_shown_as(TypeError)
class WrongType(OperatorError, TypeError):
    """A tensor of a dtype that an operator calls a wrong type."""


@_shown_as(NotImplementedError)
class UnsupportedOperator(OperatorError, NotImplementedError):
    """An operator, or a form of one, that does not exist here."""

    def __init__(self, torch_message: str, *, headline: str = "") -> None:
        super().__init__(torch_message, code="unknown-op", headline=headline)


@_shown_as(RuntimeError)
class KernelError(OperatorError):
    """What is told after the operands, and what is written in place, were found to fit."""


@_shown_as(NotImplementedError)
class UnsupportedDtype(OperatorError, NotImplementedError):
    """An operator that does not work on elements of a dtype."""

    def __init__(
        self, torch_message: str, *, headline: str = "", roles: dict[str, str] | None = None
    ) -> None:
        super().__init__(torch_message, code="dtype-mismatch", headline=headline, roles=roles)


@_shown_as(AssertionError)
class NotCompiled(OperatorError, AssertionError):
    """A device of which torch says that it was compiled without it."""


@_shown_as(AssertionError)
class NotHeld(OperatorError, AssertionError):
    """Arguments of which does not hold what torch asserts of them."""


_COMPILED: Final = {
    **{kind: f"Torch not compiled with {kind.upper()} enabled" for kind in ("cuda", "xpu")},
    "mtia": (
        "Torch not compiled with MTIA enabled. Ensure you have `import "
        "mtia.host_runtime.torch_mtia.dynamic_library` in your python src file and include "
        "`//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"
    ),
}


def no_device(kind: str) -> OperatorError:
    """What is raised where tensors shall be on a device of a kind that is not here."""
    headline = (
        f"there is no device `{kind}`: rushlight computes on the CPU alone, as does the code of an "
        'archive that is loaded with map_location="cpu"'
    )
    if kind in _COMPILED:
        return NotCompiled(_COMPILED[kind], headline=headline)
    text = f"PyTorch is not linked with support for {kind} devices"
    return OperatorError(text, headline=headline)


@_shown_as(RuntimeError)
class OutOfMemory(OperatorError):
    """There is not as much memory as an operator asked for."""


def out_of_memory(error: MemoryError) -> OutOfMemory:
    """A MemoryError as the error that it becomes; an array's one knows how much was asked for."""
    size = getattr(error, "_total_size", 0)
    asked = f": you tried to allocate {size} bytes." if size else ""
    return OutOfMemory(f"DefaultCPUAllocator: not enough memory{asked}", headline="out of memory")


def unsupported(name: str) -> UnsupportedOperator:
    """The error of an operator that does not take quantized tensors."""
    return UnsupportedOperator(
        f"Could not run 'aten::{name}' with arguments from the 'QuantizedCPU' backend.",
        headline="a quantized tensor is no argument of this operator: dequantize it first",
    )
