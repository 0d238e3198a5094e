"""A tensor that comes out of a call as it went in is the same tensor, early and late."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

OFTEN = 1500


def same(x: torch.Tensor) -> torch.Tensor:
    return x


def several(
    x: torch.Tensor, rest: list[torch.Tensor], named: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, list[torch.Tensor], dict[str, torch.Tensor], torch.Tensor | None]:
    return x, [rest[0], x + 1, x], {"a": named["b"]}, None if len(rest) > 5 else x


def beside(x: torch.Tensor, n: int) -> tuple[torch.Tensor, int, tuple[int, torch.Tensor]]:
    return x, n, (n, x)


def contiguous(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous().to(torch.float32)


def viewed(x: torch.Tensor) -> torch.Tensor:
    return x.view(x.size())


class Holding(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2), requires_grad=False)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, k: int) -> torch.Tensor:
        if k > 0:
            return self.weight
        return self.shift


def early_and_late(call: Any) -> list[Any]:
    found = [call()]
    for _ in range(OFTEN):
        call()
    return [*found, call()]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_an_argument_comes_back(requires_grad: bool) -> None:
    x = torch.ones(3, requires_grad=requires_grad)
    scripted = torch.jit.script(same)
    assert all(each is x for each in early_and_late(lambda: scripted(x)))
    with torch.no_grad():
        assert scripted(x) is x
    parameter = torch.nn.Parameter(x.detach())
    assert scripted(parameter) is parameter


def test_arguments_come_back_in_containers() -> None:
    x, y = torch.ones(3), torch.zeros(2)
    scripted = torch.jit.script(several)
    for found in early_and_late(lambda: scripted(x, [y], {"b": y})):
        assert found[0] is found[1][2] is found[3] is x
        assert found[1][0] is found[2]["a"] is y
        assert found[1][1].tolist() == [2.0] * 3


def test_arguments_come_back_beside_what_is_no_tensor() -> None:
    x = torch.ones(3)
    scripted = torch.jit.script(beside)
    for found in early_and_late(lambda: scripted(x, 7)):
        assert found[0] is found[2][1] is x
        assert found[1] == found[2][0] == 7


def test_operators_that_change_nothing_give_the_same_tensor() -> None:
    x = torch.ones(2, 3)
    scripted = torch.jit.script(contiguous)
    assert all(each is x for each in early_and_late(lambda: scripted(x)))
    assert scripted(x.t()) is not x
    views = torch.jit.script(viewed)
    assert all(each is not x for each in early_and_late(lambda: views(x)))


def test_attributes_come_back() -> None:
    module = torch.jit.script(Holding())
    for _ in range(2):
        assert all(each is module.weight for each in early_and_late(lambda: module(1)))
        assert module(0) is module.shift
        module.weight = torch.nn.Parameter(torch.zeros(2), requires_grad=False)


def keyed(a: torch.Tensor, b: torch.Tensor) -> dict[torch.Tensor, torch.Tensor]:
    return {a: b, b: a}


def keys(named: dict[torch.Tensor, int]) -> list[torch.Tensor]:
    return list(named.keys())


@pytest.mark.parametrize("requires_grad", [False, True])
def test_keys_come_back(requires_grad: bool) -> None:
    a, b = torch.ones(2, requires_grad=requires_grad), torch.zeros(3)
    made, taken = torch.jit.script(keyed), torch.jit.script(keys)
    for found in early_and_late(lambda: made(a, b)):
        assert [x is y for x, y in zip(found, (a, b), strict=True)] == [True, True]
        assert found[a] is b
        assert found[b] is a
    assert all(each[0] is a for each in early_and_late(lambda: taken({a: 1})))
    assert next(iter(torch.jit.trace(keyed, (a, b), strict=False)(a, b))) is a


def test_quantized_tensors_come_out_as_they_went_in() -> None:
    @torch.jit.script
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    x = torch.quantize_per_tensor(torch.ones(2), 0.1, 3, torch.quint8)
    assert all(same(x) is x for _ in range(40))  # slowly and quickly
