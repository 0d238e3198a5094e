"""Defaults and annotations of NamedTuple classes."""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple

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
    c: List[Elsewhere]

def f(x: Tensor) -> Tuple[int, Tensor]:
    inner = Inner(3)
    return inner.n, x

def g(o: Outer) -> int:
    return o.a
"""


def test_annotations_as_text_are_read_one_by_one() -> None:
    """The classes belong to no module, and one name is known nowhere."""
    linecache.cache["<fields>"] = (len(SOURCE), None, SOURCE.splitlines(True), "<fields>")
    space: dict[str, Any] = {"NamedTuple": NamedTuple, "Tensor": Tensor, "__name__": "nowhere"}
    exec("from typing import List, Tuple", space)
    exec(compile(SOURCE, "<fields>", "exec"), space)
    assert torch.jit.script(space["f"])(torch.ones(1))[0] == 3
    assert torch.jit.script(space["g"])(space["Outer"](4, torch.ones(1), torch.ones(1))) == 4
