"""Inlined bodies are simplified: containers in sight, arithmetic, comparisons with oneself."""

from __future__ import annotations

import pytest

import rushlight


def first(x: int) -> int:
    return [x, 2][0]


def length(x: int) -> int:
    return len([x, x][1:])


def changed(x: int) -> int:
    numbers = [x]
    numbers.append(3)
    return len(numbers)


def looked_up(x: int) -> int:
    return {"a": x, "b": 2}["a"]


def merged(x: int) -> int:
    return (x + 1) - 3


def itself(x: float) -> bool:
    return x == x


def test_an_element_of_a_list_in_sight_is_used_itself() -> None:
    def call(x: int) -> int:
        return first(x)

    assert "__getitem__" not in str(rushlight.jit.script(call).inlined_graph)


def test_the_length_of_a_slice_is_a_constant() -> None:
    def call(x: int) -> int:
        return length(x)

    graph = str(rushlight.jit.script(call).inlined_graph)
    assert "aten::len" not in graph
    assert "value=1" in graph


def test_a_list_that_is_changed_is_read() -> None:
    def call(x: int) -> int:
        return changed(x)

    scripted = rushlight.jit.script(call)
    assert "aten::len" in str(scripted.inlined_graph)
    assert scripted(5) == 2


def test_an_entry_of_a_dict_in_sight_is_used_itself() -> None:
    def call(x: int) -> int:
        return looked_up(x)

    assert "DictConstruct" not in str(rushlight.jit.script(call).inlined_graph)


def test_constants_of_neighbouring_sums_are_merged() -> None:
    def call(x: int) -> int:
        return merged(x)

    scripted = rushlight.jit.script(call)
    assert "aten::add" not in str(scripted.inlined_graph)
    assert scripted(10) == 8


@pytest.mark.parametrize("value", [1.0, float("nan")])
def test_a_float_equals_itself(value: float) -> None:
    assert rushlight.jit.script(itself)(value) is True


def test_a_read_that_fails_but_is_not_needed_does_not_run() -> None:
    def call(x: dict[str, int]) -> int:
        y = x["missing"]  # noqa: F841
        return 3

    assert rushlight.jit.script(call)({}) == 3


def converted(x: int, y: float) -> float:
    whole = int(x / 1)
    return float(float(y) * float(whole)) + float(int(x))


def test_conversions_of_what_is_that_already_are_left_out() -> None:
    scripted = rushlight.jit.script(converted)
    rushlight._C._jit_pass_peephole(scripted.graph)
    assert str(scripted.graph).count("aten::Int") == 0
    assert str(scripted.graph).count("aten::Float") == 2  # of the whole numbers
    assert scripted(3, 2.5) == converted(3, 2.5)
