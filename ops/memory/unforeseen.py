"""Errors that operators never meant to raise: Python's and NumPy's own, and ends of memory.

Wherever an operator is called, what it raises goes through `told`.  What it raises on purpose has a
`raise` of its own, and stays; anything else becomes torch's sentence where NumPy's error says as
much, or the error's own text behind the operator's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dis import opmap
from pathlib import Path
from typing import Final

import numpy as np
from numpy.exceptions import AxisError

from .dims import broadcast_error, wrap_dim
from .errors import IndexOutOfRange, OperatorError, out_of_memory, unsupported

__all__ = ["told"]

_RAISE: Final = opmap["RAISE_VARARGS"]
_OPS: Final = Path(__file__).parent.parent
_OWN: Final = (str(_OPS), str(_OPS.parent / "frontend"))
_NUMPY: Final = str(Path(np.__file__).parent)
_STUMBLED: Final = (
    *(ArithmeticError, AssertionError, AttributeError),
    *(LookupError, TypeError, ValueError),
)


def told(error: Exception, operator: str = "") -> Exception:
    """An OperatorError where memory was at an end, or where Python or NumPy stumbled over arguments
    that nobody thought of; else the error itself.  `operator` is the name, `aten::tanh`."""
    if isinstance(error, MemoryError):
        made: OperatorError = out_of_memory(error)
    elif isinstance(error, _STUMBLED) and _is_unforeseen(error):
        made = _in_our_words(error, operator)
    else:
        return error
    made.__suppress_context__ = True
    return made


def _is_unforeseen(error: Exception) -> bool:
    """Whether an error has no `raise` of an operator at the end of its traceback."""
    place = error.__traceback__
    if place is None:
        return False
    while place.tb_next is not None:
        place = place.tb_next
    code = place.tb_frame.f_code
    if code.co_filename.startswith(_OWN):
        return type(error) is AssertionError or code.co_code[place.tb_lasti] != _RAISE
    return code.co_filename.startswith(_NUMPY)


# --------------------------------------------------------------------------- sentences


def _in_our_words(error: Exception, operator: str) -> OperatorError:
    if isinstance(error, AxisError) and error.axis is not None and error.ndim is not None:
        return _outside(error.axis, error.ndim)
    text = str(error) or type(error).__name__
    for pattern, sentence in _SENTENCES:
        found = re.search(pattern, text)
        if found is not None:
            return sentence(found, operator)
    if operator:
        text = f"{operator} cannot do this: {text}"
    return IndexOutOfRange(text) if isinstance(error, IndexError) else OperatorError(text)


def _outside(axis: int, ndim: int) -> OperatorError:
    try:
        wrap_dim(axis, ndim)
    except IndexOutOfRange as error:
        return error
    return IndexOutOfRange("Dimension specified as 0 but tensor has no dimensions")


def _shapes(found: re.Match[str], operator: str) -> OperatorError:
    """The first two of the shapes in a text that do not broadcast."""
    texts = re.findall(r"(?<!->)\(([\d, ]*)\)", found.string)
    shapes = [tuple(int(n) for n in text.split(",") if n.strip()) for text in texts]
    if "input array" in found.string:
        shapes.reverse()  # torch names the target first
    if not shapes:
        return OperatorError(f"{operator} cannot do this: {found.string}")
    pairs = [(a, b) for i, a in enumerate(shapes) for b in shapes[i + 1 :] if _meet(a, b)]
    if pairs:
        return broadcast_error(*pairs[0], ("self", "other"))
    target, wide = list(shapes[0]), list(np.broadcast_shapes(*shapes))
    return OperatorError(f"output with shape {target} doesn't match the broadcast shape {wide}")


def _meet(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes have different sizes in one place, neither of them 1."""
    return any(x != y and 1 not in (x, y) for x, y in zip(a[::-1], b[::-1], strict=False))


def _quantized(found: re.Match[str], operator: str) -> OperatorError:
    return unsupported(operator.rpartition("::")[2])


def _too_large(found: re.Match[str], operator: str) -> OperatorError:
    return OperatorError("Storage size calculation overflowed")


_SENTENCES: Final[tuple[tuple[str, Callable[[re.Match[str], str], OperatorError]], ...]] = (
    (r"^(array is too big|Maximum allowed dimension|maximum supported dimension)", _too_large),
    (r"^(operands could not be broadcast|could not broadcast input array)", _shapes),
    (r"^shape mismatch: objects cannot be broadcast", _shapes),
    (r"VoidDType|numpy\.void|structured or void|field names", _quantized),
)
"""How NumPy's errors begin, or what is in them, and what torch says instead; the elements of
quantized tensors are records (`void`)."""
