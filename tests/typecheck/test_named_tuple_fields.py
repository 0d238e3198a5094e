"""Defaults and annotations of NamedTuple classes."""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple

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
