"""Annotations by names that are local to what made a class; `_size_2_t`; unions of containers."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.jit import CompilationUnit
from tests.typecheck.local_annotations import made, of_sizes


def test_a_class_knows_the_annotations_of_its_maker() -> None:
    assert made()(torch.device("cpu")) == (torch.device("cpu"), 3)


def test_sizes_of_one_number_or_several() -> None:
    summed = torch.jit.script(of_sizes)
    assert str(summed.schema) == "of_sizes(int[2] x, int[3]? y=None) -> int"
    assert summed(4) == 8
    assert summed([1, 2], 5) == 18


@pytest.mark.filterwarnings("ignore:.*mixes types")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "x: Union[List[str], List[Tensor]] = [torch.arange(5), 1]",
            "none of those types match the types of the given list elements, which were unified to "
            "Union[Tensor, int]",
        ),
        (
            "x: Union[List[str], List[Tensor]] = [i for i in [1, 2]]",
            "can hold List[Tensor] or List[str], but none of those types match the types of the "
            "given list elements, which were unified to int",
        ),
        (
            "x: Union[Dict[str, int], Dict[str, str]] = {1: 2}",
            "none of those dict types can hold the types of the given keys and values, which were "
            "unified to Dict[int, int",
        ),
    ],
)
def test_a_display_that_no_part_of_a_union_can_hold(line: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        CompilationUnit(f"def f():\n    {line}\n    return x\n")
    assert words in str(caught.value)


def test_a_display_that_one_part_of_a_union_can_hold() -> None:
    line = "x: Union[List[str], List[int]] = [1, 2]"
    assert CompilationUnit(f"def f():\n    {line}\n    return x\n").f() == [1, 2]
