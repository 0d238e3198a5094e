"""Values without names are numbered as torch numbers them."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def with_negative_literal(x: torch.Tensor) -> list[torch.Tensor]:
    return torch.chunk(x, 5, -1)


def past_an_overload_with_a_default(x: torch.Tensor) -> torch.Tensor:
    return torch.std(x, dim=1)


def past_too_many_arguments(x: torch.Tensor) -> torch.Tensor:
    return torch.prod(x, 0)


def with_two_negative_literals(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(-1, -2)


@torch.jit.script
def length(items: list[int], pair: tuple[list[str], float] | None = None) -> int:
    return len(items)


def with_an_empty_list() -> int:
    return length([])


def with_an_empty_list_in_a_tuple(x: torch.Tensor) -> int:
    return length([1], ([], x))


@torch.jit.unused
def gone(x: int, y: int) -> int:
    return x


def past_what_is_unused(x: int) -> int:
    return gone(y=x, x=x + 1)


def past_other_ways_to_run(x: int) -> int:
    if not torch.jit.is_scripting():
        return x - 1
    return x + 1


def with_wider_elements(n: int) -> list[int | None]:
    return torch.jit.annotate(list[int | None], [i for i in range(n)])  # noqa: C416


def past_a_context_whose_result_is_used(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x * 2
    if x.dim() == 2:
        return y
    return y + 1


def element_by_element(x: torch.Tensor, t: torch.Tensor, i: int) -> torch.Tensor:
    return x[t[i]]


def element_of_row(x: torch.Tensor, t: torch.Tensor, i: int) -> torch.Tensor:
    return x[0, t[i]]


def list_of_variable(x: torch.Tensor) -> list[float]:
    out: list[float] = x.tolist()
    return out


def list_of_element(x: torch.Tensor, i: int) -> list[float]:
    out: list[float] = x[i + 1].tolist()
    return out


def by_second_names(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x).absolute().fix()


def by_a_second_name_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    if bool(x):
        return torch.absolute(x)
    return x


def the_other_way_round(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.rsub(x, y)


def flags_that_are_the_same(flag: bool) -> bool:
    return flag is True


EXPECTED = {
    by_second_names: "%15 : Tensor = aten::trunc(%14)",
    by_a_second_name_in_a_branch: "%23 : Tensor = aten::abs(%x.1)",
    the_other_way_round: "%15 : Tensor = aten::sub(%y.1, %x.1, %4)",
    flags_that_are_the_same: "%12 : bool = aten::eq(%flag.1, %2)",
    element_by_element: "%23 : Tensor = aten::index(%x.1, %22)",
    element_of_row: "%20 : Tensor = aten::index(%18, %19)",
    list_of_variable: "%out.1 : float[] = prim::tolist(%x.1, %3, %3)",
    list_of_element: "%out.1 : float[] = prim::tolist(%20, %4, %4)",
    past_a_context_whose_result_is_used: "%31 : Tensor = aten::add(%y.1, %14, %14)",
    past_what_is_unused: "prim::RaiseException(%5, %6)",
    past_other_ways_to_run: "%6 : int = aten::add(%x.1, %5)",
    with_wider_elements: "%8 : int?[] = aten::append(%1, %i.1)",
    with_an_empty_list: "prim::CallFunction(%3, %1, %2)",
    with_an_empty_list_in_a_tuple: "prim::CallFunction(%9, %2, %8)",
    with_negative_literal: "aten::chunk(%x.1, %2, %5)",
    past_an_overload_with_a_default: "aten::std(%x.1, %4, %5, %6)",
    past_too_many_arguments: "aten::prod(%x.1, %2, %4, %5)",
    with_two_negative_literals: "aten::transpose(%x.1, %4, %7)",
}


@pytest.mark.parametrize("function", EXPECTED, ids=lambda f: f.__name__)
def test_dropped_values_take_numbers(function: Any) -> None:
    assert EXPECTED[function] in str(torch.jit.script(function).graph)


class Members(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.l = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.Identity()])
        self.d = torch.nn.ModuleDict({"a": torch.nn.Identity()})
        self.p = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(1)) for _ in range(2)])
        self.q = torch.nn.ParameterDict({"a": torch.nn.Parameter(torch.ones(1))})

    def over_list(self, x: torch.Tensor) -> torch.Tensor:
        for i, layer in enumerate(self.l):
            x = layer(x) + i
        return x

    def over_keys(self, x: torch.Tensor) -> torch.Tensor:
        for key in self.d:
            x = x + len(key)
        return x

    def over_items(self, x: torch.Tensor) -> torch.Tensor:
        for _, layer in self.d.items():
            x = layer(x)
        return x.neg()

    def over_parameters(self, x: torch.Tensor) -> torch.Tensor:
        for weight in self.p:
            x = x + weight
        return x.neg()

    def of_list(self, x: torch.Tensor) -> torch.Tensor:
        return self.l[0](x) + self.l[-1](x) + self.p[1]

    def of_dict(self, x: torch.Tensor) -> torch.Tensor:
        if "a" in self.d:
            x = self.d["a"](x)
        return x + self.q["a"]

    def asked(self, x: torch.Tensor) -> tuple[bool, bool, torch.Tensor]:
        return hasattr(self, "training"), hasattr(self, "other"), x.neg()


LAST = {
    "over_list": "%x.9 : Tensor = aten::add(%18, %i.5, %i.5)",
    "over_keys": "%x.5 : Tensor = aten::add(%x.1, %21, %21)",
    "over_items": "%9 : Tensor = aten::neg(%x.5)",
    "over_parameters": "%20 : Tensor = aten::neg(%x.9)",
    "of_list": "%30 : Tensor = aten::add(%21, %_1, %20)",
    "of_dict": "%24 : Tensor = aten::add(%x, %a, %23)",
    "asked": "%7 : (bool, bool, Tensor) = prim::TupleConstruct(%3, %4, %6)",
}


@pytest.mark.parametrize("name", LAST)
def test_members_are_read_as_torch_reads_them(name: str) -> None:
    scripted = torch.jit.script(type("M", (Members,), {"forward": getattr(Members, name)})())
    assert str(scripted.graph).splitlines()[-2].partition("#")[0].strip() == LAST[name]


def plus_one(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def plus(x: torch.Tensor, y: int = 3) -> torch.Tensor:
    return x + y


def tasks(x: torch.Tensor, y: int) -> tuple[torch.Tensor, torch.jit.Future[torch.Tensor]]:
    a = torch.jit.fork(plus, x, y)
    b = torch.jit.fork(plus, x)
    c = torch.jit.fork(plus, x, y=2)
    d = torch.jit.wait(a) + torch.jit.wait(b) + torch.jit.wait(c)
    return d, torch.jit.fork(plus_one, x + 2)


OF_TASKS = """
graph(%x.1 : Tensor,
      %y.1 : int):
  %24 : int = prim::Constant[value=1]()
  %15 : int = prim::Constant[value=2]()
  %a.1 : Future[Tensor] = prim::fork_0(%x.1, %y.1)
  %b.1 : Future[Tensor] = prim::fork_1(%x.1)
  %c.1 : Future[Tensor] = prim::fork_2(%x.1, %15)
  %21 : Tensor = aten::wait(%a.1)
  %23 : Tensor = aten::wait(%b.1)
  %25 : Tensor = aten::add(%21, %23, %24)
  %27 : Tensor = aten::wait(%c.1)
  %d.1 : Tensor = aten::add(%25, %27, %24)
  %33 : Tensor = aten::add(%x.1, %15, %24)
  %63 : Future[Tensor] = prim::fork_3(%33)
  %38 : (Tensor, Future[Tensor]) = prim::TupleConstruct(%d.1, %63)
  return (%38)
with prim::fork_0 = graph(%x.1 : Tensor,
      %y.1 : int):
  %1 : Function = prim::Constant[name="plus"]()
  %4 : Tensor = prim::CallFunction(%1, %x.1, %y.1)
  return (%4)
with prim::fork_1 = graph(%x.1 : Tensor):
  %2 : int = prim::Constant[value=3]()
  %1 : Function = prim::Constant[name="plus"]()
  %4 : Tensor = prim::CallFunction(%1, %x.1, %2)
  return (%4)
with prim::fork_2 = graph(%x.1 : Tensor,
      %6 : int):
  %1 : Function = prim::Constant[name="plus"]()
  %4 : Tensor = prim::CallFunction(%1, %x.1, %6)
  return (%4)
with prim::fork_3 = graph(%4 : Tensor):
  %1 : Function = prim::Constant[name="plus_one"]()
  %3 : Tensor = prim::CallFunction(%1, %4)
  return (%3)
"""


def test_tasks_are_numbered_as_torch_numbers_them() -> None:
    lines = str(torch.jit.script(tasks).graph).splitlines()
    assert "\n".join(line.partition("#")[0].rstrip() for line in lines).strip() == OF_TASKS.strip()
