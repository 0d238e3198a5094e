"""`torch._tensor_str`: the text of tensors, as packages ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .ops.tensors.display import PRINT_OPTIONS as PRINT_OPTS
from .ops.tensors.display import format_elements, set_printoptions
from .ops.tensors.tensor import Parameter, Tensor, text_of

__all__ = ["PRINT_OPTS", "printoptions", "set_printoptions"]

_WIDTH = 80


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements of a tensor in nested brackets, lines after the first indented so far."""
    array = self.detach().resolve_conj().resolve_neg()._array
    return format_elements(array, indent) if array.size else "[]"


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """What `repr(tensor)` gives where nobody has put another function in its place."""
    if type(self).__repr__ in (Tensor.__repr__, Parameter.__repr__):
        return text_of(self)
    return repr(self)


_str_intern = _str


def _add_suffixes(
    tensor_str: str, suffixes: Sequence[str], indent: int, force_newline: bool
) -> str:
    """A text, open so far, with what follows its elements, and the closing bracket.

    Args:
        indent: where lines begin that are added since one would grow longer than 80.
        force_newline: begin one in any case.
    """
    lines = [tensor_str]
    length = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > _WIDTH:
            lines.append(",\n" + " " * indent + suffix)
            length, force_newline = indent + len(suffix), False
        else:
            lines.append(f", {suffix}")
            length += len(suffix) + 2
    return "".join(lines) + ")"


@contextmanager
def printoptions(**kwargs: object) -> Iterator[None]:
    """Print tensors so for a while: `set_printoptions`, and what was before."""
    before = {name: getattr(PRINT_OPTS, name) for name in PRINT_OPTS.__slots__}
    set_printoptions(**kwargs)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(PRINT_OPTS, name, value)
