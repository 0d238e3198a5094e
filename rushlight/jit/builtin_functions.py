"""Python functions that script knows under an operator's name."""

from __future__ import annotations

import builtins
import cmath
import collections
import math
import warnings
from collections.abc import Callable, Iterator
from functools import cache

from ..typecheck.definitions.names import Meaning, OperatorName, SpecialForm

__all__ = ["builtin_meaning"]

# Those whose operator has another name; all other functions of math and cmath keep theirs.
_RENAMED = {"math.remainder": "mathremainder", "cmath.phase": "angle", "cmath.rect": "polar"}

_MATH = """acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees erf erfc exp expm1
fabs factorial floor fmod frexp gamma gcd isfinite isinf isnan ldexp lgamma log log10 log1p modf pow
radians remainder sin sinh sqrt tan tanh""".split()
_CMATH = """acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log log10 phase rect
sin sinh sqrt tan tanh""".split()

_SPECIAL = """abs all any bin bool chr complex delattr dict divmod enumerate filter float format
getattr hasattr hash hex id int isinstance iter len list map max min next oct ord pow print range
reversed round set setattr slice sorted str sum super tuple type zip""".split()


def _entries() -> Iterator[tuple[Callable[..., object], Meaning]]:
    for module, names in ((math, _MATH), (cmath, _CMATH)):
        for name in names:
            renamed = _RENAMED.get(f"{module.__name__}.{name}", name)
            yield getattr(module, name), OperatorName(f"aten::{renamed}")
    yield warnings.warn, OperatorName("aten::warn")
    for name in _SPECIAL:
        yield getattr(builtins, name), SpecialForm(name)
    yield collections.OrderedDict, OperatorName("aten::dict")


@cache
def _table() -> dict[int, tuple[object, Meaning]]:
    """By identity: `math.pow` and the builtin `pow` must not be mixed up by equality."""
    return {id(function): (function, meaning) for function, meaning in _entries()}


def builtin_meaning(value: object) -> Meaning | None:
    """What a builtin function, or one of `math` and `cmath`, means in script."""
    found = _table().get(id(value))
    return found[1] if found is not None else None
