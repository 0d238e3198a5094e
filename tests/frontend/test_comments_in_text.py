"""Signature comments in functions given as text, and comments that leave the result open."""

from __future__ import annotations

from rushlight import ones
from rushlight.jit import CompilationUnit, ScriptModule, script


def twice(text):
    # type: (str)
    return text + text


def test_comment_without_result_leaves_it_open() -> None:
    assert str(script(twice).schema) == "twice(str text) -> str"


def test_comment_opens_a_body_of_text() -> None:
    unit = CompilationUnit(
        """
        def add(a, b):

            # the sum
            # type: (int, Tuple[int, float]) -> float
            return a + b[1]

        def shift(a,
                  b):
            # type: (int, int)
            return a << b
        """
    )
    assert str(unit.add.schema) == "add(int a, (int, float) b) -> float"
    assert unit.add(1, (2, 0.5)) == 1.5
    assert str(unit.shift.schema) == "shift(int a, int b) -> int"


def test_later_comments_of_text_are_comments() -> None:
    unit = CompilationUnit("def f(x):\n    y = x + 1\n    # type: (int) -> int\n    return y")
    assert str(unit.f.schema) == "f(Tensor x) -> Tensor"


def test_comment_of_a_method_leaves_out_self() -> None:
    class Half(ScriptModule):
        def __init__(self) -> None:
            super().__init__()
            self.define("def forward(self, x):\n    # type: (int) -> float\n    return x / 2")

    assert Half()(3) == 1.5


def test_ellipsis_by_name() -> None:
    unit = CompilationUnit("def f(x):\n    return x[Ellipsis, 0:2].size()")
    assert unit.f(ones(3, 4)) == [3, 2]
