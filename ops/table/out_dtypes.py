"""What the dtype of `out` must be, and what is said where it is not.

By rule the result must be castable to it; a declaration says what is stricter (`out_dtype=`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from ..memory.dtype import DType
from ..memory.errors import OperatorError
from .promotion import can_cast
from .refusals import cpp_name

__all__ = [
    "ANY",
    "AS_EXPECTED",
    "AS_INPUT",
    "CAN_CAST",
    "CASTABLE",
    "COMPUTED",
    "FIELDS_SAFELY",
    "FOUND",
    "MADE",
    "SAFELY",
    "SAME",
    "SELF_AND_RESULT",
    "SPELLED_APART",
    "OutDtype",
    "check_out_dtype",
]


@dataclass(frozen=True)
class OutDtype:
    """A demand on the dtype of `out`, and the sentence for what does not meet it.

    `computed` is none: the operator computes in the dtype of `out`; `dtype` is its last argument.
    Nor is `made`: functions without tensors make elements of that dtype; nor `none`.
    In the sentence {result} and {out} are the dtypes' names, {cpp_result} and {cpp_out} as C++
    spells them, {name} the operator, {base} without its package, {field} which of several results
    it is.
    """

    demand: Literal["castable", "same", "complex", "floating", "computed", "made", "none"]
    sentence: str
    error: type[OperatorError] = OperatorError
    others: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Sentences for results of some names, and for a `complex` out."""

    def holds(self, result: DType, out: DType) -> bool:
        """Whether a result may be written into an `out`."""
        if self.demand == "same":
            return result is out
        if self.demand == "complex":
            return out.is_complex
        if self.demand == "floating":
            return out.is_floating_point
        if self.demand == "none":
            return True
        return can_cast(result.numpy, out.numpy)


CASTABLE: Final = OutDtype(
    "castable", "result type {result} can't be cast to the desired output type {out}"
)
"""The rule."""

# What operators of several files demand, each in its own words.

SAME: Final = OutDtype(
    "same",
    "Expected out tensor to have dtype {cpp_result}, but got {cpp_out} instead",
)
FOUND: Final = OutDtype("same", "Found dtype {out} but expected {result}")
SPELLED_APART: Final = OutDtype("same", "expected scalar_type {result} but found {out}")
AS_EXPECTED: Final = OutDtype("same", "expected scalar type {result} but found {out}")
AS_INPUT: Final = OutDtype("same", "result dtype {out} does not match input dtype {result}")
SELF_AND_RESULT: Final = OutDtype(
    "same", "{name}(): self and result must have the same scalar type"
)
SAFELY: Final = OutDtype(
    "castable",
    "{name}: Expected result to be safely castable from {result} dtype, but got result "
    "with dtype {out}",
)
FIELDS_SAFELY: Final = OutDtype(
    "castable",
    "torch.{name}: Expected {field} to be safely castable from {result} dtype, but got "
    "{field} with dtype {out}",
)
CAN_CAST: Final = OutDtype(
    "castable",
    "Expected canCast( typeMetaToScalarType(self.dtype()), "
    "typeMetaToScalarType(out.dtype())) to be true, but got false.  (Could this error "
    "message be improved?  If so, please report an enhancement request to PyTorch.)",
)
ANY: Final = OutDtype("none", CASTABLE.sentence)
MADE: Final = OutDtype("made", CASTABLE.sentence)
COMPUTED: Final = OutDtype("computed", CASTABLE.sentence)
"""Of sums and the like: no demand, as the result is computed in that dtype."""


_SPACES: Final = ("linalg_", "fft_", "special_")


def _spelled(name: str) -> str:
    """`linalg.eig` for `linalg_eig`."""
    for space in _SPACES:
        if name.startswith(space):
            return f"{space[:-1]}.{name.removeprefix(space)}"
    return name


def check_out_dtype(
    rule: OutDtype, name: str, result: DType, out: DType, place: str = "out"
) -> None:
    """Refuse an `out` of a dtype that the operator's result may not be written into.

    `name` is the operator's (`aten::linalg_eig`), `place` the name of the result, if there are
    several.

    Raises:
        OperatorError: the dtypes do not go together.
    """
    if result is out or rule.holds(result, out):
        return
    spelled = _spelled(name.partition("::")[2])
    of_complex = rule.others.get("complex", rule.sentence) if out.is_complex else rule.sentence
    raise rule.error(
        rule.others.get(place, of_complex).format(
            result=result.scalar_name,
            out=out.scalar_name,
            cpp_result=cpp_name(result),
            cpp_out=cpp_name(out),
            name=spelled,
            base=spelled.rpartition(".")[2],
            field=place,
            result_is_int32=result.name == "int32",
        ),
        code="dtype-mismatch",
        headline=f"a `{result}` result cannot be written into `out`, which is `{out}`",
        roles={"out": f"is `{out}`"},
    )
