"""What `script` compiles besides functions and modules, and what objects want compiled instead."""

from __future__ import annotations

import numbers
import types
import typing
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.jit.frontend import FrontendError, NotSupportedError


class Doubles(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class PreparesDoubles(nn.Module):
    def __prepare_scriptable__(self) -> nn.Module:
        return Doubles()

    def forward(self, x: Tensor) -> Tensor:
        return x


def test_a_module_names_what_is_compiled() -> None:
    assert torch.jit.script(PreparesDoubles())(torch.ones(1)).tolist() == [2.0]


def test_modules_inside_are_exchanged_once() -> None:
    shared = PreparesDoubles()
    model = nn.Sequential(shared, nn.Sequential(PreparesDoubles(), shared))
    scripted = torch.jit.script(model)
    assert scripted(torch.ones(1)).tolist() == [8.0]
    assert model[0] is model[1][1]


def test_modules_that_know_each_other_outside_their_tables() -> None:
    parent, child = nn.Module(), nn.Module()
    parent.__dict__["_c"] = child
    child.__dict__["_p"] = parent
    torch.jit.script(parent)


class Adder:
    def __init__(self, n: int) -> None:
        self.n = n

    def add(self, x: int) -> int:
        return self.n + x


def test_an_object_is_copied_as_a_script_object() -> None:
    scripted = torch.jit.script(Adder(3))
    assert scripted.add(4) == 7
    scripted.n = 10
    assert scripted.add(4) == 14


def test_an_object_names_a_function() -> None:
    class Prepares(Adder):
        def __prepare_scriptable__(self) -> Any:
            def add(a: int, b: int) -> int:
                return a + b

            return add

    scripted = torch.jit.script(Prepares(1))
    assert scripted(1, 2) == 3
    with pytest.raises(RuntimeError, match="expected at most 2 argument"):
        scripted(1, 2, 3)


def test_objects_that_cannot_be_compiled() -> None:
    class Many:
        def __call__(self, *args: int) -> int:
            return len(args)

    with pytest.raises(NotSupportedError, match="can't take variable number of arguments"):
        torch.jit.script(Many())
    with pytest.raises(TypeError, match="<class 'int'> is a built-in class"):
        torch.jit.script(3)


def test_a_module_without_its_base_initialised() -> None:
    class Forgets(nn.Module):
        def __init__(self) -> None:
            self.x = 2

    with pytest.raises(RuntimeError, match="Forgets' has not been initialized, did you forget to"):
        torch.jit.script(Forgets())


def test_an_ignored_class_is_not_compiled() -> None:
    @torch.jit.ignore
    class Left:
        def broken(self) -> Any:
            return "a" + 200

    def makes() -> int:
        Left()
        return 1

    with pytest.raises(FrontendError, match="Cannot instantiate class 'Left' in a script function"):
        torch.jit.script(makes)


def test_an_ignored_method_of_one_object() -> None:
    class Speaks(nn.Module):
        @torch.jit.ignore
        def word(self) -> str:
            return "old"

        def forward(self) -> str:
            return self.word()

    @torch.jit.ignore
    def word(self: Any) -> str:
        return "new"

    changed = Speaks()
    changed.word = types.MethodType(word, changed)
    scripted = torch.jit.script(changed)
    assert (scripted.word(), scripted()) == ("new", "new")
    assert torch.jit.script(Speaks())() == "old"


def test_an_unused_property_is_left_out() -> None:
    class Sums(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = 2

        @torch.jit.unused
        @property
        def total(self) -> Any:
            return sum([self.a])

        @total.setter
        def total(self, value: Any) -> None:
            self.a = sum([value])

        def forward(self) -> int:
            return self.a

    scripted = torch.jit.script(Sums())
    assert scripted() == 2
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = scripted.total


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.ParameterDict({"a": nn.Parameter(torch.ones(1))})


def test_parameters_by_name() -> None:
    class Reads(Named):
        def forward(self) -> Tensor:
            return self.table["a"] * 3

    class Misses(Named):
        def forward(self) -> Tensor:
            return self.table["b"]

    class Computes(Named):
        def forward(self, key: str) -> Tensor:
            return self.table[key]

    assert torch.jit.script(Reads())().tolist() == [3.0]
    with pytest.raises(RuntimeError, match="Key Error, b"):
        torch.jit.script(Misses())
    with pytest.raises(RuntimeError, match="Unable to extract string literal index"):
        torch.jit.script(Computes())


def test_modules_by_numbers_that_are_too_large() -> None:
    class Reads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.ReLU()])

        def forward(self, x: Tensor) -> Tensor:
            return self.layers[-11](x)

    class Slices(Reads):
        def forward(self, x: Tensor) -> Tensor:
            return self.layers[:][4](x)

    with pytest.raises(RuntimeError, match="Index -11 out of range of length 1"):
        torch.jit.script(Reads())
    with pytest.raises(RuntimeError, match="Tuple is length 1 and index is 4"):
        torch.jit.script(Slices())


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([nn.ReLU()], "Could not infer type of list element: Cannot infer concrete type of torch"),
        ({"a": nn.ReLU()}, "'dict' to a TorchScript type. Cannot infer concrete type of torch.nn"),
        ([[]], "Could not infer type of list element: List trace inputs must have elements"),
        ({"a": 1, "b": "c"}, "Dictionary inputs to traced functions must have consistent type."),
        ([1, "c"], "List inputs to traced functions must have consistent element type."),
    ],
    ids=str,
)
def test_why_an_attribute_has_no_type(value: Any, reason: str) -> None:
    class Holds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = value

        def forward(self) -> int:
            return len(self.a)

    with pytest.raises(RuntimeError, match=reason):
        torch.jit.script(Holds())


class Numbered(nn.Module):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def forward(self) -> int:
        return self.number


def test_a_slice_of_modules_is_a_tuple() -> None:
    class Cuts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([Numbered(i) for i in range(5)])

        def forward(self) -> Any:
            return self.layers[::-2], self.layers[1:4:]

    first, second = torch.jit.script(Cuts())()
    assert [m.number for m in first] == [4, 2, 0]
    assert [m.number for m in second] == [1, 2, 3]


def test_calls_of_slice() -> None:
    @torch.jit.script
    def cuts(x: list[int]) -> tuple[list[int], list[int], list[int], list[int]]:
        part = slice(None, 3)
        return x[slice(1, 5, None)], x[slice(None, None, None)], x[part], x[slice(2)]

    x = list(range(8))
    assert cuts(x) == ([1, 2, 3, 4], x, [0, 1, 2], [0, 1])

    def named(x: list[int]) -> list[int]:
        return x[slice(1, stop=2)]

    def many(x: list[int]) -> list[int]:
        return x[slice(1, 2, 3, 4)]

    with pytest.raises(RuntimeError, match="Slice does not accept any keyword arguments"):
        torch.jit.script(named)
    with pytest.raises(RuntimeError, match="slice accepts exactly 1, 2 or 3 arguments, got: 4"):
        torch.jit.script(many)


# ------------------------------------------------------------- classes of modules, and of numbers


class _Asks(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.ReLU()])
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.none = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x) if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)) else x + 1
        if isinstance(self.weight, torch.nn.Linear) or isinstance(self.none, torch.nn.Linear):
            x = x * 0
        if torch._C._get_tracing_state():
            x = x * 0
        return x


def _number(a: float, b: Any) -> tuple[bool, bool]:
    return isinstance(a, numbers.Number), isinstance(b, numbers.Number)


def test_values_are_asked_for_classes_of_modules_and_numbers() -> None:
    module = _Asks()
    x = torch.ones(1, 2)
    assert torch.equal(torch.jit.script(module)(x), module(x))
    scripted = torch.jit.script(_number)
    assert scripted(1.0, 2) == (False, False)  # as in torch, the class is one of its own
    assert "isinstance[types=[__torch__.numbers.Number]]" in str(scripted.graph)


def test_numbers_in_tuples_become_those_that_a_list_or_dict_holds() -> None:
    def scores(x: torch.Tensor) -> tuple[list[tuple[str, float]], dict[int, tuple[int, int]]]:
        ranked: list[tuple[str, float]] = []
        ranked.append(("sum", x.sum().item()))
        pair = ("max", x.max().item())
        ranked.insert(0, pair)
        places: dict[int, tuple[int, int]] = {}
        places[3] = (1, x.argmax().item())
        return ranked, places

    scripted = torch.jit.script(scores)
    assert scripted(torch.tensor([1.0, 2.0])) == ([("max", 2.0), ("sum", 3.0)], {3: (1, 1)})
    written = str(scripted.graph)
    assert written.count("aten::Float(") == 2
    assert "aten::Int(" in written


def test_numbers_in_tuples_of_other_kinds_are_refused() -> None:
    def scores(x: torch.Tensor) -> list[tuple[str, float]]:
        ranked: list[tuple[str, float]] = []
        ranked.append(("one", 1))
        return ranked

    with pytest.raises(RuntimeError, match=r"previously matched to type Tuple\[str, float\]"):
        torch.jit.script(scores)


def test_scopes_of_traces() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        state = torch._C._get_tracing_state()
        state.push_scope("outer")
        state.push_scope("inner")
        assert state.current_scope() == "inner"
        x = x + 1
        state.pop_scope()
        state.pop_scope()
        return x * 2

    graph = torch.jit.trace(function, torch.ones(2), check_trace=False).graph
    scopes = {node.kind(): node.scopeName() for node in graph.nodes()}
    assert (scopes["aten::add"], scopes["aten::mul"]) == ("outer/inner", "")


def test_packages_import_names_of_types_from_annotations() -> None:
    annotations = torch.jit.annotations
    for name in ("Any", "Dict", "List", "Optional", "Tuple", "Union"):
        assert getattr(annotations, name) is getattr(typing, name)
