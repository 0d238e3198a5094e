"""Defaults and annotations of NamedTuple classes."""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple, Optional

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor


class Kept(NamedTuple):
    x: Tensor
    counts: dict[str, int] = {"k": 1}  # noqa: RUF012
    places: list[int] = [1, 2]  # noqa: RUF012


def what_another_has(x: Tensor) -> tuple[dict[str, int], list[int]]:
    first = Kept(x)
    first.counts["z"] = 2
    first.places.append(3)
    second = Kept(x)
    return second.counts, second.places


def test_tuples_share_their_defaults_and_python_keeps_its_own() -> None:
    scripted = torch.jit.script(what_another_has)
    assert scripted(torch.ones(1)) == ({"k": 1, "z": 2}, [1, 2, 3])
    assert scripted(torch.ones(1)) == ({"k": 1, "z": 2}, [1, 2, 3, 3])
    assert Kept._field_defaults == {"counts": {"k": 1}, "places": [1, 2]}


SOURCE = """
from __future__ import annotations

class Inner(NamedTuple):
    n: int

class Outer(NamedTuple):
    a: int
    b: Tensor
    c: List[int]

class Unknown(NamedTuple):
    a: int
    b: List[Elsewhere]

def f(x: Tensor) -> Tuple[int, Tensor]:
    inner = Inner(3)
    return inner.n, x

def g(o: Outer) -> int:
    return o.a

def h(o: Unknown) -> int:
    return o.a
"""


def test_annotations_as_text_are_read_one_by_one() -> None:
    """The classes belong to no module."""
    linecache.cache["<fields>"] = (len(SOURCE), None, SOURCE.splitlines(True), "<fields>")
    space: dict[str, Any] = {"NamedTuple": NamedTuple, "Tensor": Tensor, "__name__": "nowhere"}
    exec("from typing import List, Tuple", space)
    exec(compile(SOURCE, "<fields>", "exec"), space)
    assert torch.jit.script(space["f"])(torch.ones(1))[0] == 3
    assert torch.jit.script(space["g"])(space["Outer"](4, torch.ones(1), [5])) == 4
    with pytest.raises(
        ValueError, match=r"'ForwardRef\('List\[Elsewhere\]'\)' in NamedTuple Unknown"
    ):
        torch.jit.script(space["h"])


class Raw(NamedTuple):
    name: str
    data: bytes


def test_a_field_of_a_type_that_script_does_not_know_is_refused() -> None:
    def named(x: Raw) -> str:
        return x.name

    with pytest.raises(ValueError, match="Unknown type annotation: '<class 'bytes'>' at   File"):
        torch.jit.script(named)
    with pytest.raises(ValueError, match="x: Raw") as caught:
        torch.jit.script(named)
    assert "the field `data` of `Raw`" in str(caught.value.__notes__)


class Sides(NamedTuple):
    n: int = 1
    one: list[int] = [4]  # noqa: RUF012
    two: list[float] = [4.0, 5.0]  # noqa: RUF012
    three: Optional[list[int]] = None  # noqa: UP045


def of_numbers() -> Sides:
    return Sides(1, 2, 3.0, 4)


def of_defaults() -> Sides:
    return Sides()


def of_nothing() -> Sides:
    return Sides(two=[], one=[])


def of_tuples(n: int) -> Sides:
    return Sides(n, (n, 2), (1.0, 2.0), ())


@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        (of_numbers, (), Sides(1, [2], [3.0, 3.0], [4, 4, 4])),
        (of_defaults, (), Sides(1, [4], [4.0, 5.0], None)),
        (of_nothing, (), Sides(1, [], [], None)),
        (of_tuples, (3,), Sides(3, [3, 2], [1.0, 2.0], [])),
    ],
)
def test_a_number_is_repeated_for_a_list_as_often_as_its_place_says(
    call: Any, arguments: tuple[Any, ...], expected: Sides
) -> None:
    assert torch.jit.script(call)(*arguments) == expected


class Last(NamedTuple):
    n: int
    rest: list[int] = [1]  # noqa: RUF012


def gathers(n: int) -> Last:
    return Last(n, 2, 3)


def test_a_field_that_is_a_list_takes_no_further_arguments() -> None:
    with pytest.raises(RuntimeError, match="Expected at most 2 arguments but found 3") as caught:
        torch.jit.script(gathers)
    assert "Last(int n, int[1] rest=[1]) -> ():" in str(caught.value)


class Pair(NamedTuple):
    first: float
    second: tuple[float, int]


def of_tensors(x: Tensor) -> Pair:
    return Pair(second=(x, 2), first=x + 1)


def test_fields_are_converted_in_their_order_after_all_is_evaluated() -> None:
    script = torch.jit.script(of_tensors)
    assert script(torch.tensor(3.0)) == Pair(4.0, (3.0, 2))
    kinds = [node.kind() for node in script.graph.nodes() if node.kind() != "prim::Constant"]
    assert kinds == [
        *("aten::add", "aten::FloatImplicit", "aten::FloatImplicit"),
        *("prim::TupleConstruct", "prim::TupleConstruct"),
    ]


class OfAnArray(NamedTuple):
    x: np.ndarray  # type: ignore[type-arg]


class OfNothing(NamedTuple):
    x: "np.no_such_name"  # type: ignore # noqa: UP037


def of_an_array(x):  # type: ignore[no-untyped-def]
    return OfAnArray(x)


def of_nothing_known(x):  # type: ignore[no-untyped-def]
    return OfNothing(x)


def test_classes_without_source_are_no_types_of_fields() -> None:
    with pytest.raises(ValueError, match=r"annotation: '<class 'numpy\.ndarray'>' at"):
        torch.jit.script(of_an_array)
    told = r"Unknown type annotation: 'ForwardRef\(.*no_such_name.*\)' in NamedTuple OfNothing"
    with pytest.raises(ValueError, match=told):
        torch.jit.script(of_nothing_known)
