"""Dicts with tensors as keys: a tensor is found by its identity."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.python_values.tensor_dict import TensorDict


def lookups(
    a: torch.Tensor, b: torch.Tensor
) -> tuple[bool, bool, bool, int, int, list[torch.Tensor]]:
    found: dict[torch.Tensor, int] = {a: 1}
    found[b] = 2
    found[a] = 3
    same = a
    return same in found, a.clone() in found, a[:] in found, found[same], len(found), list(found)


def changes(a: torch.Tensor, b: torch.Tensor) -> tuple[int, int, int, int, bool]:
    found: dict[torch.Tensor, int] = {}
    found[a] = 1
    other = found.copy()
    other.update({b: 5})
    taken = other.pop(a)
    kept = other.setdefault(a, 7)
    other.pop(b)
    last, value = other.popitem()
    missing = found.pop(b, 4)
    del found[a]
    return taken, kept, value, missing, last in other or a in found


def comprehended(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    found = {key: key + 1 for key in [a, b]}
    again = dict(found.items())
    out: list[torch.Tensor] = []
    for key, value in again.items():
        out += [key, value]
    return out + list(found.values())


CASES: list[Callable[..., Any]] = [lookups, changes, comprehended]


def saved_and_loaded(scripted: Any) -> Any:
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    return torch.jit.load(io.BytesIO(buffer.getvalue()))


def plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return [(plain(k), plain(v)) for k, v in value.items()]
    return value


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("recorded", [False, True])
def test_python_script_and_archive_agree(function: Callable[..., Any], recorded: bool) -> None:
    a = torch.ones(2, requires_grad=recorded)
    b = torch.ones(2)
    wanted = plain(function(a, b))
    scripted = torch.jit.script(function)
    assert plain(scripted(a, b)) == wanted
    assert plain(scripted(a, b)) == wanted  # by its plan
    assert plain(saved_and_loaded(scripted)(a, b)) == wanted


def test_dicts_cross_to_python_and_back() -> None:
    @torch.jit.script
    def grow(given: dict[torch.Tensor, str], x: torch.Tensor) -> dict[torch.Tensor, str]:
        given[x] = given.get(x, "new")
        return given

    a, b = torch.ones(1), torch.zeros(1)
    assert plain(grow({a: "old"}, b)) == [([1.0], "old"), ([0.0], "new")]
    assert plain(grow({a: "old"}, a)) == [([1.0], "old")]
    with pytest.raises(RuntimeError, match="Unable to cast 1 to Tensor"):
        grow({1: "x"}, a)


def test_a_missing_tensor_is_a_key_error() -> None:
    @torch.jit.script
    def look(given: dict[torch.Tensor, int], x: torch.Tensor) -> int:
        return given[x]

    with pytest.raises(RuntimeError, match="KeyError: "):
        look({torch.ones(1): 1}, torch.ones(1))


class Holder(torch.nn.Module):
    table: dict[torch.Tensor, int]
    empty: dict[torch.Tensor, int]

    def __init__(self) -> None:
        super().__init__()
        self.key = torch.nn.Buffer(torch.ones(2))
        self.table = {torch.zeros(2): 1}
        self.empty = {}

    def forward(self, x: torch.Tensor) -> tuple[int, bool, dict[torch.Tensor, int]]:
        self.empty[x] = 4
        return len(self.table), x in self.empty, self.table


def test_attributes_are_saved_with_their_keys() -> None:
    x = torch.ones(2)
    loaded = saved_and_loaded(torch.jit.script(Holder()))
    assert plain(loaded(x)) == [1, True, [([0.0, 0.0], 1)]]
    assert plain(loaded.empty) == [([1.0, 1.0], 4)]
    buffer = io.BytesIO(torch.jit.script(Holder())._save_to_buffer_for_lite_interpreter())
    mobile = torch.jit.mobile._load_for_lite_interpreter(buffer)
    assert plain(mobile(x)) == [1, True, [([0.0, 0.0], 1)]]


def test_the_dict_behaves_as_one_of_objects() -> None:
    first, second = (torch.ones(1)._array for _ in range(2))
    made = TensorDict([(first, 1), (second, 2), (first, 3)])
    assert [id(key) for key in made] == [id(first), id(second)]
    assert list(made.values()) == [3, 2]
    assert made == made.copy()
    assert made != TensorDict([(first, 3)])
    assert made.get(second) == 2
    assert made.get(first[:]) is None
    with pytest.raises(KeyError):
        made.pop(first[:])
