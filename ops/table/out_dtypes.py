"""What the dtype of `out` must be, from `out_dtypes.txt`, which lists the operators with rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ..memory.dtype import DType
from ..memory.errors import OperatorError, WrongType
from .promotion import can_cast
from .refusals import cpp_name

__all__ = ["check_out_dtype"]


@dataclass(frozen=True)
class _Rule:
    """One demand, and the sentence for `out` that does not meet it."""

    demand: str
    sentence: str
    error: type[OperatorError] = OperatorError

    def holds(self, result: DType, out: DType) -> bool:
        if self.demand == "same":
            return result is out
        if self.demand == "complex":
            return out.is_complex
        if self.demand == "floating":
            return out.is_floating_point
        return can_cast(result.numpy, out.numpy)


_GENERAL: Final = _Rule(
    "castable", "result type {result} can't be cast to the desired output type {out}"
)
_TYPE_ERROR: Final = "TypeError: "


@cache
def _rules() -> dict[str, _Rule]:
    """The rule of each operator that has one of its own."""
    found: dict[str, _Rule] = {}
    rule = _GENERAL
    for line in (Path(__file__).parent / "out_dtypes.txt").read_text("utf-8").splitlines():
        if line.startswith("  "):
            found |= dict.fromkeys(line.split(), rule)
        elif line and not line.startswith("#"):
            demand, _, sentence = line.partition(" ")
            error = WrongType if sentence.startswith(_TYPE_ERROR) else OperatorError
            rule = _Rule(demand, sentence.removeprefix(_TYPE_ERROR), error)
    return found


_SPACES: Final = ("linalg_", "fft_", "special_")


def _spelled(name: str) -> str:
    """`linalg.eig` for `linalg_eig`."""
    for space in _SPACES:
        if name.startswith(space):
            return f"{space[:-1]}.{name.removeprefix(space)}"
    return name


def check_out_dtype(name: str, result: DType, out: DType, field: str = "out") -> None:
    """Refuse an `out` of a dtype that the operator's result may not be written into.

    `name` is the operator's (`linalg_eig`), `field` the name of the result, if there are several.

    Raises:
        OperatorError: the dtypes do not go together.
    """
    if result is out:
        return
    rule = _rules().get(name, _GENERAL)
    if rule.holds(result, out):
        return
    spelled = _spelled(name)
    raise rule.error(
        rule.sentence.format(
            result=result.scalar_name,
            out=out.scalar_name,
            cpp_result=cpp_name(result),
            cpp_out=cpp_name(out),
            name=spelled,
            base=spelled.rpartition(".")[2],
            field=field,
            result_is_int32=result.name == "int32",
        ),
        code="dtype-mismatch",
        headline=f"a `{result}` result cannot be written into `out`, which is `{out}`",
        roles={"out": f"is `{out}`"},
    )
