"""Interfaces: which classes fill them, and torch's reasons why others do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight import Tensor, nn


@torch.jit.interface
class Shifts(nn.Module):
    def shift(self, x: Tensor, by: Tensor) -> Tensor:
        pass

    def forward(self, x: Tensor) -> Tensor:
        pass


@torch.jit.interface
class Forwards(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


@torch.jit.interface
class ShiftsObject:
    def shift(self, x: Tensor, by: Tensor) -> Tensor:
        pass


class Adds(nn.Module):
    @torch.jit.export
    def shift(self, x: Tensor, by: Tensor) -> Tensor:
        return x + by

    def forward(self, x: Tensor) -> Tensor:
        return x


class AddsNumber(nn.Module):
    @torch.jit.export
    def shift(self, x: Tensor, by: int = 3) -> Tensor:
        return x + by

    def forward(self, x: Tensor) -> Tensor:
        return x


class NotExported(nn.Module):
    def shift(self, x: Tensor, by: Tensor) -> Tensor:
        return x + by

    def forward(self, x: Tensor) -> Tensor:
        return x


class AddsObject:
    def __init__(self) -> None:
        self.n = 1

    def shift(self, x: Tensor) -> Tensor:
        return x

    def forward(self, x: Tensor) -> Tensor:
        return x


class Older(torch.jit.ScriptModule):
    @torch.jit.script_method
    def shift(self, x: Tensor, by: Tensor) -> Tensor:
        return x * by

    @torch.jit.script_method
    def forward(self, x: Tensor) -> Tensor:
        return x * 7


class Holder(nn.Module):
    inner: Shifts

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


def test_an_incompatible_submodule_is_refused() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(Holder(AddsNumber()))
    prefix = f"__torch__.{__name__}."
    assert str(caught.value).splitlines() == [
        f"Could not cast attribute 'inner' to type {prefix}Shifts: Object of type "
        f"{prefix}AddsNumber is not compatible with interface {prefix}Shifts",
        f"Method on class '{prefix}AddsNumber' (1) is not compatible with interface "
        f"'{prefix}Shifts' (2)",
        f"  (1) shift({prefix}AddsNumber self, Tensor x, int by=3) -> Tensor",
        "  (2) shift(InterfaceType<Shifts> self, Tensor x, Tensor by) -> Tensor",
    ]


def test_what_the_interface_asks_for_is_compiled() -> None:
    class Fresh(NotExported):
        def forward(self, x: Tensor) -> Tensor:
            return x - 1

    assert torch.jit.script(Holder(Fresh()))(torch.ones(1)).tolist() == [0.0]


@pytest.mark.parametrize("make", [AddsNumber, NotExported])
def test_exchange_needs_compiled_methods(make: Callable[[], nn.Module]) -> None:
    held = torch.jit.script(Holder(Adds()))
    with pytest.raises(RuntimeError, match=r"^Object of type .* is not compatible with interface"):
        held.inner = torch.jit.script(make())


def test_a_script_module_takes_the_place() -> None:
    held = torch.jit.script(Holder(Adds()))
    held.inner = Older()
    assert held(torch.ones(1)).tolist() == [7.0]
    assert list(held.children()) == [held.inner]


def test_exchange_without_interface_needs_the_same_class() -> None:
    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Adds()

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

    held = torch.jit.script(Plain())
    with pytest.raises(RuntimeError, match=r"of type '.*Adds \(of .*\)' for field 'inner'"):
        held.inner = torch.jit.script(NotExported())


def test_an_object_is_no_module() -> None:
    @torch.jit.script
    def takes(x: Forwards) -> int:
        return 1

    with pytest.raises(RuntimeError, match="only ScriptModule class can be subtype of module"):
        takes(AddsObject())


def test_a_number_is_no_object() -> None:
    @torch.jit.script
    def takes(x: ShiftsObject) -> int:
        return 1

    with pytest.raises(RuntimeError, match="Assigning the object 3 to an interface fails"):
        takes(3)


def test_calls_in_script_say_why() -> None:
    def takes(x: ShiftsObject) -> int:
        return 1

    def gives() -> int:
        return takes(AddsObject())

    with pytest.raises(RuntimeError, match=r"Method on class '.*AddsObject' .1. is not compatible"):
        torch.jit.script(gives)


def test_an_interface_with_more_methods_is_one_with_fewer() -> None:
    @torch.jit.script
    def narrowed(x: Shifts) -> Forwards:
        return x

    with pytest.raises(RuntimeError, match="Return value was annotated as having type"):

        @torch.jit.script
        def widened(x: Forwards) -> Shifts:
            return x

    assert narrowed.schema.name == "narrowed"


@pytest.mark.parametrize("container", [nn.ModuleList, nn.ModuleDict])
def test_all_modules_of_a_container_fill_the_annotation(container: Any) -> None:
    keyed = container is nn.ModuleDict
    members = {"first": AddsNumber()} if keyed else [AddsNumber()]

    class ByName(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = container(members)

        def forward(self, x: Tensor, key: str) -> Tensor:
            chosen: Shifts = self.inner[key]
            return chosen(x)

    class ByNumber(ByName):
        def forward(self, x: Tensor, key: int) -> Tensor:
            chosen: Shifts = self.inner[key]
            return chosen(x)

    name = "first" if keyed else "0"
    with pytest.raises(RuntimeError, match=f"Attribute {name} is not of annotated type __torch__"):
        torch.jit.script(ByName() if keyed else ByNumber())


def test_a_literal_key_names_the_module() -> None:
    class ByLiteral(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.ModuleDict({"first": Adds(), "second": AddsNumber()})

        def forward(self, x: Tensor) -> Tensor:
            chosen: Forwards = self.inner["first"]
            return chosen(x)

    scripted = torch.jit.script(ByLiteral().eval())
    assert "first = inner.first" in scripted.code
    assert "ModuleContainerIndex" not in str(scripted.graph)
    torch.jit.freeze(scripted)


def test_the_modules_inside_an_interface_are_not_known() -> None:
    class Walks(Holder):
        def forward(self, x: Tensor) -> Tensor:
            for module in self.modules():
                x = module(x)
            return x

    with pytest.raises(RuntimeError, match=r"Could not compile modules\(\) because module is an"):
        torch.jit.script(Walks(Adds()))


def test_freezing_refuses_an_exchange_in_code() -> None:
    class Exchanges(nn.Module):
        inner: Forwards

        def __init__(self) -> None:
            super().__init__()
            self.inner = Adds()
            self.other = Adds()

        def forward(self, x: Tensor) -> Tensor:
            self.inner = self.other
            return self.inner(x)

    with pytest.raises(RuntimeError, match="Freezing does not support SetAttr on an interface"):
        torch.jit.freeze(torch.jit.script(Exchanges()).eval())


class Pair(NamedTuple):
    first: int
    second: int


def test_schemas_name_interfaces_and_named_tuples() -> None:
    @torch.jit.script
    def takes(x: Shifts, pairs: list[Pair]) -> Pair:
        return pairs[0]

    named = f"__torch__.{__name__}.Pair"
    wanted = f"takes(InterfaceType<Shifts> x, {named}[] pairs) -> {named}"
    assert str(takes.schema) == wanted

    @torch.jit.script
    def first(x: Pair) -> int:
        return x.first

    with pytest.raises(RuntimeError, match=r"type 'Pair .aka NamedTuple.first, second.."):
        first(Pair("a", "b"))
