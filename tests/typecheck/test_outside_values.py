"""Values of the outside that script code names: modules, members of enumerations, ordered dicts."""

from __future__ import annotations

import collections
from collections import OrderedDict
from enum import Enum

import pytest

import rushlight as torch
from rushlight import Tensor, nn


class Shade(Enum):
    DARK = "d"
    LIGHT = "l"


FAVOURITE = Shade.LIGHT


def test_a_module_of_the_outside_is_called_in_python() -> None:
    layer = nn.Linear(2, 2)

    def f(x: Tensor) -> Tensor:
        return layer(x) + 1

    scripted = torch.jit.script(f)
    assert "^<python_value>[]()(%x.1)" in str(scripted.graph)
    x = torch.ones(1, 2)
    assert scripted(x).tolist() == (layer(x) + 1).tolist()
    scripted(x).sum().backward()
    assert layer.bias.grad is not None
    assert layer.bias.grad.tolist() == [1.0, 1.0]
    with torch.no_grad():
        assert not scripted(x).requires_grad


def test_a_module_of_the_outside_is_no_value() -> None:
    layer = nn.Linear(2, 2)

    def f(x: Tensor):
        return layer

    with pytest.raises(RuntimeError, match="python value of type 'Linear' cannot be used"):
        torch.jit.script(f)


def test_members_of_enumerations() -> None:
    def f():
        return FAVOURITE.value, FAVOURITE.name, FAVOURITE == Shade.DARK, FAVOURITE

    assert torch.jit.script(f)() == ("l", "LIGHT", False, Shade.LIGHT)


def test_ordered_dicts() -> None:
    def f(x: Tensor):
        empty = OrderedDict()
        empty["x"] = x
        return empty, collections.OrderedDict([(1, 2), (3, 4)]), OrderedDict({"a": 1.5})

    scripted = torch.jit.script(f)
    one, two, three = scripted(torch.ones(1))
    assert list(one) == ["x"]
    assert (two, three) == ({1: 2, 3: 4}, {"a": 1.5})
    assert str(scripted.graph).count("aten::dict") == 3


def test_constants_of_modules_cannot_be_set() -> None:
    class Scaled(nn.Module):
        __constants__ = ("factor", "shape")

        def __init__(self) -> None:
            super().__init__()
            self.factor = 2
            self.shape = [1, 2]

        def forward(self, x: Tensor) -> Tensor:
            return x * self.factor

    scripted = torch.jit.script(Scaled())
    with pytest.raises(RuntimeError, match="Can't set constant 'factor' which has value:2"):
        scripted.factor = 3
    with pytest.raises(RuntimeError, match=r"'shape' which has value:\(1, 2\)"):
        scripted.shape = [3]


def test_methods_must_have_a_self_argument() -> None:
    class Lost(torch.jit.ScriptModule):
        @torch.jit.script_method
        def forward():  # type: ignore[no-untyped-def, misc]
            return 1

    with pytest.raises(RuntimeError, match="methods must have a self argument"):
        Lost()


def test_functions_of_a_text_are_found_by_name() -> None:
    unit = torch.jit.CompilationUnit("def double(x):\n    return x * 2\n")
    found = unit.find_function("double")
    assert found is not None
    assert found(torch.ones(1)).tolist() == [2.0]
    assert unit.find_function("triple") is None


def test_an_attribute_that_is_a_tuple_whose_class_refuses_to_say_its_length() -> None:
    class Pair(tuple):
        def __len__(self) -> int:
            raise NotImplementedError

    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.pair = Pair((2, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.pair[1]

    assert torch.jit.script(Scaled())(torch.ones(1)).tolist() == [3.0]


class Named:
    @torch.jit.ignore
    def __call__(self, *args) -> str:  # type: ignore[no-untyped-def]
        return " ".join(type(each).__name__ for each in args)

    @torch.jit.ignore
    def shape(self, x: Tensor) -> list[int]:
        return list(x.shape)


def test_objects_and_methods_that_are_left_to_python_are_called() -> None:
    named = Named()
    shape = named.shape

    def f(x: Tensor) -> tuple[str, list[int]]:
        return named(x, x), shape(x)

    assert torch.jit.script(f)(torch.ones(2, 3)) == ("Tensor Tensor", [2, 3])


class Counter:
    def __init__(self, n: int) -> None:
        self.n = n


def test_objects_have_an_identity() -> None:
    def f() -> tuple[bool, bool, int]:
        a, b = Counter(1), Counter(2)
        c = a
        return id(a) == id(c), id(a) == id(b), id(None)

    def of_number() -> int:
        return id(2)

    assert torch.jit.script(f)() == (True, False, 0)
    with pytest.raises(RuntimeError, match=r"Expected a value of type 'Optional\[AnyClassType\]'"):
        torch.jit.script(of_number)


def test_what_moves_to_a_card_is_compiled_and_fails_when_it_runs() -> None:
    def f(x: Tensor, moves: bool) -> Tensor:
        return x.cuda() if moves else x

    scripted = torch.jit.script(f)
    assert scripted(torch.ones(1), False).tolist() == [1.0]
    with pytest.raises(RuntimeError, match="not compiled with CUDA enabled"):
        scripted(torch.ones(1), True)
