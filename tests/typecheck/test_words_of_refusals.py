"""Torch's words where ranges, starred parts, tuple indices and loops are refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import rushlight
from rushlight import ones
from rushlight.jit import CompilationUnit, script


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("for i in range():\n        pass", "range expected at least 1 arguments, got 0"),
        ("for i in range(1, 2, 3, 4):\n        pass", "range expected at most 3 arguments, got 4"),
        ("for i in enumerate():\n        pass", "enumerate expected at least 1 arguments, got 0"),
        ("a, *b, *c = (1, 2, 3)", "Only one starred expression is allowed on the lhs"),
        ("return (1, 2)['a']", "tuple index must be an integer"),
        (
            "y = [x]\n    y.z = 3",
            "Tried to set an attribute: z on a non-class: List[Tensor]",
        ),
        (
            "del x.grad",
            "del statements are only supported for deleting list and dict items and variables",
        ),
        ("break", "SyntaxError: 'break' outside loop"),
        (
            "y: List[str] = x.tolist()",
            "str is not one of the supported element types for tolist: int, float, complex, bool",
        ),
        (
            "x.grad = x",
            "Tried to set an attribute: grad on a non-class: Tensor (inferred)",
        ),
        (
            "if x:\n        y = 1\n    else:\n        y = x\n    return y",
            "y is set to type int in the true branch and type Tensor (inferred) in the false "
            "branch",
        ),
        ("return ...", "\nCannot emit expr for: (dots)\n:"),
        (
            "return set([1])",
            "\nset(Tensor 0) -> Tensor 0:\nExpected a value of type 'Tensor' for argument '0' but "
            "instead found type 'List[int]'.\n:",
        ),
        (
            "y = []\n    return 1 in y",
            "but instead found type 'List[Tensor]'.\n  Empty lists default to List[Tensor]. Add a ",
        ),
        (
            "return sorted([1], reverse=True)",
            "  Expected a value of type 'List[float]' for argument 'input' but instead found type "
            "'List[int]'.\n  \n  aten::sorted.Tensor(Tensor[](a) input) -> Tensor[]:",
        ),
    ],
)
def test_words(body: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        CompilationUnit(f"def f(x):\n    {body}\n")
    assert words in str(caught.value)


def steps(x, n: int):
    for _i in range(0, 5, n):
        x = x + 1
    return x


def listed(n: int):
    total = 0
    for i in range(0, 5, n):
        total += i
    return total


@pytest.mark.parametrize("times", [1, 40])
def test_step_of_zero_fails_when_it_is_reached(times: int) -> None:
    add, walk = script(steps), script(listed)
    for _ in range(times):
        assert walk(2) == 6
        assert add(ones(1), -1).item() == 1
    with pytest.raises(RuntimeError, match=r"range\(\) arg 3 must not be zero"):
        add(ones(1), 0)
    with pytest.raises(RuntimeError, match=r"range\(\) arg 3 must not be zero"):
        walk(0)


@pytest.mark.parametrize(
    ("call", "words", "underlined"),
    [
        ("list(x, x)", "list expected exactly 1 arguments but found 2", "list(x, x"),
        ("list(x, a=1)", "list takes no keyword arguments", "list(x, a=1"),
        ("hasattr(x)", "hasattr expected exactly 2 arguments but found 1", "hasattr(x"),
        (
            "getattr(x)",
            "getattr expected to have number of arguments between 2 and 3 but found 1",
            "getattr(x",
        ),
        (
            "hasattr(divmod(3, 2), 'a')",
            "hasattr's first argument must be a object or NamedTuple, but got a normal Tuple "
            "Tuple[int, int] instead",
            "divmod(3, 2",
        ),
        (
            "getattr(x, 'shape', 1)",
            "hasattr's first argument must be an object or NamedTuple, got Tensor (inferred) "
            "instead",
            "getattr(x, 'shape', 1",
        ),
    ],
)
def test_words_and_place_of_calls(call: str, words: str, underlined: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        CompilationUnit(f"def f(x):\n    return {call}\n")
    shown = str(caught.value)
    assert words in shown
    assert f" {'~' * len(underlined)} <--- HERE" in shown


NUMBERS = [1, 2]


def as_value() -> int:
    return math  # type: ignore[return-value]


def as_elements() -> int:
    for _ in NUMBERS:
        pass
    return 1


def as_cast() -> int:
    return int  # type: ignore[return-value]


def as_exception() -> int:
    return ValueError  # type: ignore[return-value]


def as_builtin() -> int:
    for _ in abs:  # type: ignore[attr-defined]
        pass
    return 1


def as_parts() -> int:
    _a, _b = len  # type: ignore[misc]
    return 1


def as_type() -> int:
    return set  # type: ignore[return-value]


def as_owner() -> int:
    return len(dict.foo)  # type: ignore[attr-defined]


def as_owner_of_elements() -> int:
    return len(NUMBERS.keys())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (as_owner_of_elements, "attribute lookup is not defined on python value of type 'list'"),
        (as_value, "python value of type 'module' cannot be used as a value. Perhaps it is"),
        (as_elements, "python value of type 'list' cannot be used as an iterable"),
        (as_cast, "__int__ cannot be used as a value"),
        (as_exception, "Python exception cannot be used as a value"),
        (as_builtin, "builtin cannot be used as an iterable"),
        (as_parts, "__len__ cannot be used as a tuple"),
        (as_type, "python value of type 'type' cannot be used as a value. Perhaps it is"),
        (as_owner, "attribute lookup is not defined on dict"),
    ],
)
def test_words_for_what_is_no_value(function: Callable[[], int], words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        script(function)
    assert words in str(caught.value)


def named() -> int:
    _held = NUMBERS
    return 1


def test_a_name_may_stand_for_what_is_no_value() -> None:
    assert script(named)() == 1


def sets_threads(x: int) -> int:
    rushlight.set_num_threads(x)
    return x


def sets_a_dtype(x: int) -> int:
    rushlight.set_default_dtype(rushlight.float64)
    return x


@pytest.mark.parametrize("function", [sets_threads, sets_a_dtype])
def test_functions_of_ours_that_are_pythons_are_unknown_operators(
    function: Callable[[int], int],
) -> None:
    """As torch has it: how they are written here concerns nobody."""

    def calls(x: int) -> int:
        return function(x)

    with pytest.raises(RuntimeError) as caught:
        script(calls)
    text = str(caught.value)
    name = function.__code__.co_names[1]
    assert f"Unknown builtin op: aten::{name}.\nCould not find any similar ops to" in text
    assert f"    rushlight.{name}(" in text
    assert f"    {'~' * len('rushlight.' + name)} <--- HERE" in text
    assert f"'{function.__name__}' is being compiled since it was called from 'calls'" in text
    assert caught.value.__class__ is RuntimeError


@pytest.mark.parametrize("name", ["finfo", "iinfo", "Event", "memory_format"])
def test_classes_of_ours_are_unknown_operators(name: str) -> None:
    kind = getattr(rushlight, name)

    def limit(x: rushlight.Tensor) -> rushlight.Tensor:
        return x * kind(x).min

    with pytest.raises(RuntimeError, match=rf"Unknown builtin op: aten::{name}\.\n") as caught:
        script(limit)
    similar = {"finfo": "find", "iinfo": "isinf"}.get(name)
    said = f"Here are some suggestions: \n\taten::{similar}\n\nThe original call is:\n"
    assert (said in str(caught.value)) == (similar is not None)
    assert "kind(x).min\n                   ~~~~ <--- HERE" in str(caught.value)


def test_a_parameter_without_a_type_is_said_to_be_a_tensor() -> None:
    with pytest.raises(RuntimeError) as caught:
        CompilationUnit("def g(x):\n    return x\ndef f(n: int):\n    return g(n)\n")
    assert (
        "Expected a value of type 'Tensor (inferred)' for argument 'x' but instead found type "
        "'int'.\nInferred 'x' to be of type 'Tensor' because it was not annotated with an explicit "
        "type.\n"
    ) in str(caught.value)


class Counter:
    def __init__(self, start: int) -> None:
        self.count = start


def called() -> int:
    return Counter(1)(2)


def listed_anything(x: list) -> int:
    return 1


@rushlight.jit.unused
def gone(x: int, y: str) -> str:
    return y


def incomplete(x: int) -> str:
    return gone(x)


def test_an_object_without_a_call_is_not_called() -> None:
    with pytest.raises(RuntimeError, match=r"object has no attribute or method '__call__'\. Did"):
        script(called)


def test_a_list_of_whatever_is_no_value_of_python() -> None:
    with pytest.raises(RuntimeError, match=r"toIValue\(\) cannot handle converting to type: list"):
        script(listed_anything)([1])


def test_results_of_python_functions_have_numbers_for_names() -> None:
    with pytest.raises(RuntimeError, match=r"gone\(int x, str y\) -> str 0:"):
        script(incomplete)


def with_another_keyword(x: rushlight.Tensor) -> rushlight.Tensor:
    return rushlight.sum(x, dims=1)


def with_another_keyword_unannotated(x):
    return rushlight.sum(x, dims=1)


def test_what_is_given_beside_the_arguments_is_told_of_as_varargs() -> None:
    with pytest.raises(RuntimeError, match="Inferred the value for argument '<varargs>' to be"):
        script(with_another_keyword_unannotated)
    with pytest.raises(RuntimeError, match="for argument '<varargs>' but instead found type 'Tens"):
        script(with_another_keyword)
