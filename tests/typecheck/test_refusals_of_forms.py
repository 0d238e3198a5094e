"""torch's words for forms that are no assignment, no annotation, no step or no condition."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.jit import CompilationUnit


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("*b, = (x, x)", "A Starred expression may only appear on the lhs within the presence of "),
        ("a, *1 = (3, 4, 5)", "Cannot pack a tuple into a non-variable"),
        ("a, 1 = x", "lhs of assignment must be a variable, subscript, or starred expression"),
        ("1 = x", "unexpected expression on left-hand side of assignment"),
        ("a = [x x]", "expected ] but found 'ident' here"),
        ("a = (x x)", "expected ) but found 'ident' here"),
        ("print('", "expected a valid token but found ''' here"),
        ("for *a in [1, 2]:\n        pass", "A Starred expression may only appear on the lhs"),
    ],
)
def test_a_line_that_is_no_statement(line: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        CompilationUnit(f"def f(x):\n    {line}\n    return x\n")
    assert words in str(caught.value)


def test_a_broadcasting_list_says_how_many() -> None:
    text = "def f(x):\n    # type: (BroadcastingListx[int]) -> List[int]\n    return x\n"
    with pytest.raises(RuntimeError, match="Broadcastable list must be a positive integer"):
        CompilationUnit(text)


class NoBool:
    def __init__(self) -> None:
        pass

    def __bool__(self) -> tuple[int, int]:  # type: ignore[override]
        return (1, 2)


def test_the_truth_of_an_object_is_a_bool() -> None:
    def asks() -> int:
        if NoBool():
            return 1
        return 2

    with pytest.raises(RuntimeError, match="expected a bool expression for condition but found Tu"):
        torch.jit.script(asks)


@pytest.mark.parametrize("kind", ["List[int]", "str"])
def test_the_smallest_step_is_refused(kind: str) -> None:
    step = CompilationUnit(f"def f(x: {kind}):\n    return x[::{-(1 << 63)}]\n").f
    with pytest.raises(RuntimeError, match="List slice step is out of bounds"):
        step("abc" if kind == "str" else [1, 2])


def test_lists_of_tensors_are_put_in_order_by_single_elements() -> None:
    text = "def f(x: List[Tensor]):\n    x.sort()\n    return x\n"
    ordered = CompilationUnit(text).f
    assert [t.item() for t in ordered([torch.tensor([3.0]), torch.tensor(1)])] == [1, 3.0]
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is"):
        ordered([torch.zeros(2), torch.ones(2)])


def test_an_unwrapped_none_has_no_type() -> None:
    with pytest.raises(RuntimeError, match=r"Optional\[t\] could not be inferred from actual type"):
        CompilationUnit("def f():\n    return torch.jit._unwrap_optional(None)\n")


def test_bytes_are_taken_as_a_string() -> None:
    assert CompilationUnit("def f(x: str):\n    return ord(x)\n").f(b"\xc2") == 194


@torch.jit.ignore  # type: ignore[untyped-decorator]
def pair() -> Tensor:
    return ((3, 4),)  # type: ignore[return-value]


@torch.jit.ignore  # type: ignore[untyped-decorator]
def numbers() -> list[int]:
    return (1, 2.5)  # type: ignore[return-value]


def asks_pair() -> Tensor:
    return pair()  # type: ignore[no-any-return]


def asks_numbers() -> list[int]:
    return numbers()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("asks", "words"),
    [
        (asks_pair, "Tensor for return value but instead got value of type tuple.\nValue: ((3"),
        (asks_numbers, "int[] for return value but instead got value of type tuple.\nValue: (1, "),
    ],
)
def test_what_a_python_function_gives_is_of_its_type(
    asks: Callable[[], object], words: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(asks)()
    assert f"RuntimeError:  expected value of type {words}" in str(caught.value)


def test_errors_of_programs_are_theirs_when_rushlight_stands_in() -> None:
    """Under torch's name the exceptions of the machine say another module."""
    from rushlight.interpreter.code.outside import comes_from_outside

    renamed = type("Raised", (Exception,), {"__module__": "torch.interpreter.values.actions"})
    assert not comes_from_outside(renamed("x"))
