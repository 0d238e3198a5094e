"""Whether newer signatures take what was written for older ones, and back, as torch has it."""

from __future__ import annotations

import pytest

from rushlight import _C

OLD = "f(Tensor self, int a, int b=1) -> Tensor"
OUT = "f(Tensor self, *, int a, int b=1, Tensor(a!) out) -> Tensor(a!)"


@pytest.mark.parametrize(
    ("new", "old", "calls", "readers"),
    [
        (OLD, OLD, True, ""),
        ("f(Tensor self, int a, int b=1, int c=1) -> Tensor", OLD, True, ""),
        ("f(Tensor self, int a) -> Tensor", OLD, False, ""),
        ("f(Tensor self, int a, int b=4) -> Tensor", OLD, False, "'b' is not forward"),
        ("f(Tensor self, int a, int b) -> Tensor", OLD, False, "'b' is not forward"),
        ("f(Tensor self, int a=1, int b=1) -> Tensor", OLD, True, "'a' is not forward"),
        ("f(Tensor self, int? a, int b=1) -> Tensor", OLD, True, "'a' is not forward"),
        ("f(Tensor self, int a, int c=1, int b=1) -> Tensor", OLD, False, "'c' is not forward"),
        (
            "f(Tensor self, int a, int b=1, int[2] c=1) -> Tensor",
            OLD,
            True,
            "'c' of type int[] has",
        ),
        ("f(Tensor self, *, int a, int b=1) -> Tensor", OLD, False, "'a' is not forward"),
        (OLD, "f(Tensor self, *, int a, int b=1) -> Tensor", True, ""),
        ("f(Tensor self, int a, int b=1) -> Tensor?", OLD, False, ""),
        ("f(Tensor self, int a, int b=1) -> Tensor out", OLD, False, ""),
        ("f.x(Tensor self, int a, int b=1) -> Tensor", OLD, False, None),
        (OUT.replace("b=1, ", "b=1, int c=1, "), OUT, True, ""),
        (OUT.replace(") ->", ", Tensor(b!) x) ->"), OUT, True, "same number of out arguments"),
        (
            OUT.replace("Tensor(a!) out)", "Tensor(b!) x, Tensor(a!) out)"),
            OUT,
            False,
            "same number",
        ),
        (OUT.replace("out)", "x)"), OUT, False, "Out argument 'x' is not FC with the older"),
    ],
)
def test_signatures_fit(new: str, old: str, calls: bool, readers: str | None) -> None:
    one, other = _C.parse_schema(new), _C.parse_schema(old)
    fits, reason = one.check_forward_compatible_with(other)
    assert one.is_backward_compatible_with(other) is calls
    assert fits is (readers == "")
    assert (readers or "") in reason
    assert (hash(one) == hash(other)) is (new == old)
