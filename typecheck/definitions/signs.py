"""Python's signs, and the operators and methods that they stand for."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BETWEEN", "COMPARING", "IN_FRONT", "Sign"]


class Sign(NamedTuple):
    """What one sign means."""

    word: str
    """The middle of its methods' names: `__add__`, `__radd__`, `__iadd__`."""

    operator: str
    """The operator of tensors, and of what else scripts put it between."""

    in_place: str = ""
    """The operator by which Python changes a tensor with it; "" where it makes a new one."""

    on_elements: str = ""
    """The operator by which scripts do; powers and bits are not changed in place there, so that
    elements and views stay as they are."""

    of_numbers: str = ""
    """The operator in scripts, where it is another one."""

    @property
    def method(self) -> str:
        """`__add__`."""
        return f"__{self.word}__"

    @property
    def in_scripts(self) -> str:
        """The operator that scripts call."""
        return f"aten::{self.of_numbers or self.operator}"


BETWEEN: Final = {
    "+": Sign("add", "add", "add_", "add_"),
    "-": Sign("sub", "sub", "sub_", "sub_"),
    "*": Sign("mul", "mul", "mul_", "mul_"),
    "/": Sign("truediv", "div", "div_", "div_"),
    "//": Sign("floordiv", "floor_divide", "floor_divide_", of_numbers="floordiv"),
    "%": Sign("mod", "remainder", "remainder_", "fmod_"),
    "**": Sign("pow", "pow", "pow_", "pow"),
    "@": Sign("matmul", "matmul"),
    "&": Sign("and", "__and__", "bitwise_and_", "bitwise_and"),
    "|": Sign("or", "__or__", "bitwise_or_", "bitwise_or"),
    "^": Sign("xor", "__xor__", "bitwise_xor_", "bitwise_xor"),
    "<<": Sign("lshift", "__lshift__", "bitwise_left_shift_", "__ilshift__"),
    ">>": Sign("rshift", "__rshift__", "bitwise_right_shift_", "__irshift__"),
}
"""Those between two operands that give a value."""

COMPARING: Final = {
    "==": Sign("eq", "eq"),
    "!=": Sign("ne", "ne"),
    "<": Sign("lt", "lt"),
    "<=": Sign("le", "le"),
    ">": Sign("gt", "gt"),
    ">=": Sign("ge", "ge"),
}
"""Those that compare."""

IN_FRONT: Final = {
    "-": Sign("neg", "neg"),
    "+": Sign("pos", "positive"),
    "~": Sign("invert", "bitwise_not"),
}
"""Those in front of one operand."""
