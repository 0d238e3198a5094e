"""Lists, dicts and objects that Python shares with scripted code, and `torch.jit.isinstance`."""

import typing
import warnings
from typing import Any, Optional

import pytest

import rushlight as torch
from rushlight import Tensor


def push(values: list[int], value: int) -> None:
    values.append(value)


def test_scripted_code_changes_the_list_itself() -> None:
    shared = torch.jit.script([1, 2])
    assert isinstance(shared, torch._C.ScriptList)
    torch.jit.script(push)(shared, 3)
    assert list(shared) == [1, 2, 3]
    assert torch.jit.script(shared) is shared


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.append("a"),
        lambda v: v.extend([1.5]),
        lambda v: v.count("a"),
        lambda v: v.remove("a"),
        lambda v: "a" in v,
        lambda v: v.__setitem__(0, "a"),
        lambda v: v["a"],
    ],
)
def test_a_list_refuses_elements_of_another_type(change: Any) -> None:
    with pytest.raises(TypeError):
        change(torch._C.ScriptList([1, 2]))


def test_a_list_keeps_its_length_in_slice_assignment_and_its_places_in_insert() -> None:
    shared = torch._C.ScriptList([1, 2, 3])
    shared[:2] = [7, 8]
    assert list(shared) == [7, 8, 3]
    with pytest.raises(RuntimeError, match="different sizes"):
        shared[:2] = [1]
    with pytest.raises(IndexError, match="list index out of range"):
        shared.insert(9, 1)


def test_a_dict_refuses_keys_and_values_of_another_type() -> None:
    shared = torch.jit.script({1: 2})
    assert isinstance(shared, torch._C.ScriptDict)
    for wrong in ((1, "a"), ("a", 1)):
        with pytest.raises(TypeError):
            shared[wrong[0]] = wrong[1]
    with pytest.raises(KeyError):
        "a" in shared  # noqa: B015
    with pytest.raises(KeyError):
        shared[9]
    with pytest.raises(TypeError):
        del shared["a"]
    assert dict(shared) == {1: 2}


def test_what_is_made_empty_holds_tensors() -> None:
    tensors, named = torch.jit.script([]), torch.jit.script({})
    tensors.append(torch.ones(1))
    named["a"] = torch.ones(1)
    assert len(tensors) == len(named) == 1
    with pytest.raises(TypeError):
        tensors.append(1)
    with pytest.raises(TypeError):
        named["a"] = 1


class Counter:
    def __init__(self, start: int) -> None:
        self.count = start

    def step(self, by: int) -> int:
        self.count += by
        return self.count

    @property
    def twice(self) -> int:
        return 2 * self.count

    def __len__(self) -> int:
        return self.count


def advance(counter: Counter) -> None:
    counter.step(10)


def test_an_object_of_a_class_is_shared() -> None:
    shared = torch.jit.script(Counter(1))
    assert isinstance(shared, torch.jit.RecursiveScriptClass)
    assert (shared.step(2), shared.count, shared.twice, len(shared)) == (3, 3, 6, 3)
    torch.jit.script(advance)(shared)
    assert shared.count == 13
    shared.count = 5
    assert shared.step(1) == 6
    with pytest.raises(RuntimeError, match="Unable to cast"):
        shared.count = "a"
    with pytest.raises(RuntimeError, match="does not have an attribute with name 'other'"):
        shared.other = 1
    with pytest.raises(AttributeError):
        shared.other  # noqa: B018


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(TypeError, match="<class 'int'> is a built-in class"):
        torch.jit.script(3)


def test_script_takes_the_arguments_that_it_once_had() -> None:
    torch.jit.script(push, None)
    with pytest.warns(FutureWarning, match="`optimize` is deprecated"):
        torch.jit.script(push, True)


@pytest.mark.parametrize(
    ("value", "wanted", "message"),
    [
        ([1], list, "Attempted to use list without a contained type"),
        ({}, dict, "Attempted to use dict without contained types. Please add contained type"),
        (1, Optional, r"Please add a contained type, e.g. Optional\[int\]"),
        ([1], [int], "must be a type or a tuple of types"),
        ([1], int | list, "Attempted to use list without a contained type"),
    ],
)
def test_types_that_do_not_say_what_they_contain(value: Any, wanted: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.jit.isinstance(value, wanted)


def test_an_empty_container_has_lost_the_type_of_its_elements() -> None:
    with pytest.warns(UserWarning, match="inner type of a container is lost"):
        assert torch.jit.isinstance([], list[int])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.jit.isinstance([1], list[int])
        assert not torch.jit.isinstance(2, list[int])
        torch._jit_internal.check_empty_containers(torch.tensor([]))


def test_questions_about_annotations() -> None:
    internal = torch._jit_internal
    assert not internal.is_list(list)
    with pytest.raises(RuntimeError, match="Attempted to use List without"):
        internal.is_list(getattr(typing, "List"))  # noqa: B009
    internal = torch._jit_internal
    assert internal.is_list(list[int])
    assert not internal.is_list(tuple[int])
    assert internal.is_dict(dict[int, int])
    assert internal.is_tuple(tuple[int])
    assert internal.is_optional(int | None)
    assert not internal.is_optional(int | str)
    assert internal.is_union(int | str)
    assert internal.is_future(torch.jit.Future[int])
    with pytest.raises(RuntimeError, match="without a contained type"):
        internal.is_future(torch.jit.Future)
    with pytest.raises(RuntimeError, match=r"Please add a contained type, e.g. Union\[int\]"):
        internal.is_union(__import__("typing").Union)


def test_names_of_arguments() -> None:
    def positional(x: Tensor, /, y: Tensor, *rest: Tensor, z: Tensor) -> None: ...

    assert torch._jit_internal.get_callable_argument_names(positional) == ["y"]
    assert torch._jit_internal.get_callable_argument_names(1) == []


def test_what_is_not_yet_an_object_has_no_attributes() -> None:
    """As where one is copied or loaded."""
    empty = torch.jit.RecursiveScriptClass.__new__(torch.jit.RecursiveScriptClass)
    for name in ("count", "_c", "__count__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(empty, name)
