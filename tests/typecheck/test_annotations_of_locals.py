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


def _value(annotation: str, display: str) -> tuple[object, str]:
    """What a variable so annotated holds, and the type that it was made with."""
    unit = CompilationUnit(f"def f():\n    x: {annotation} = {display}\n    return x\n")
    graph = unit.f.graph
    made = graph.findNode("prim::DictConstruct") or graph.findNode("prim::ListConstruct")
    return unit.f(), made.output().type().annotation_str


@pytest.mark.parametrize(
    ("annotation", "display", "type"),
    [
        ("Union[Dict[str, int], Dict[str, Optional[int]]]", "{'a': 1}", "Dict[str, Optional[int]]"),
        (
            "Union[Dict[str, float], Dict[str, Optional[int]]]",
            "{'a': 1}",
            "Dict[str, Optional[int]]",
        ),
        (
            "Union[Dict[str, str], Dict[str, Optional[int]]]",
            "{'a': None}",
            "Dict[str, Optional[int]]",
        ),
        ("Union[List[float], List[Optional[int]]]", "[1]", "List[Optional[int]]"),
        ("Union[List[int], List[Optional[int]]]", "[x for x in [1]]", "List[Optional[int]]"),
        ("Union[int, Dict[str, Optional[int]]]", "dict(a=1)", "Dict[str, Optional[int]]"),
        ("Union[int, Dict[str, Optional[int]]]", "dict({'a': 1})", "Dict[str, Optional[int]]"),
        ("Union[int, Dict[str, Optional[int]]]", "dict([('a', 1)])", "Dict[str, Optional[int]]"),
        ("Dict[str, Optional[int]]", "dict({'a': 1}, b=None)", "Dict[str, Optional[int]]"),
        ("Union[int, Dict[str, float]]", "dict([])", "Dict[str, float]"),
        ("Union[int, Dict[str, float]]", "dict()", "Dict[str, float]"),
    ],
)
def test_a_container_is_of_the_type_that_a_union_names(
    annotation: str, display: str, type: str
) -> None:
    value, made = _value(annotation, display)
    assert made == type
    assert value == eval(display)


@pytest.mark.parametrize(
    ("annotation", "display", "words"),
    [
        (
            "Union[Dict[str, float], Dict[str, int]]",
            "dict(a=1)",
            "There are multiple candidate Dict types in the Union type annotation "
            "`Union[Dict[str, float], Dict[str, int]]`, and full type inference is not yet "
            "supported for the `dict()` constructor.",
        ),
        (
            "Union[int, str]",
            "dict(a=1)",
            "Expected an Union type annotation with an inner Dict type",
        ),
        ("int", "dict([('a', 1)])", "Expected an annotation of type Dict but got int"),
        (
            "Union[int, str]",
            "dict()",
            "Expected a type annotation of Dict for dict constructor dict(), got Union(int, str)",
        ),
        (
            "Union[int, Dict[str, int]]",
            "dict(a=1.5)",
            "Dict type annotation `Dict[str, int]` did not match the type of an actual value type "
            "`float`",
        ),
    ],
)
def test_a_dict_of_which_an_annotation_says_nothing(
    annotation: str, display: str, words: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        CompilationUnit(f"def f():\n    x: {annotation} = {display}\n    return x\n")
    assert words in str(caught.value)
