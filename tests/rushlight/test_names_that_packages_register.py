"""What packages ask for while they are imported: tables of operators, layouts."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight._decomp import get_decompositions, register_decomposition
from rushlight._prims_common import (
    canonicalize_dims,
    make_contiguous_strides_for,
    suggest_memory_format,
)


def test_functions_are_kept_for_operators() -> None:
    kept: dict[object, object] = {}

    @register_decomposition([torch.ops.aten.relu, torch.ops.aten.add.Tensor], kept)
    def inner() -> None: ...

    assert kept[torch.ops.aten.relu.default] is inner is kept[torch.ops.aten.add.Tensor]
    with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.relu\.default"):
        register_decomposition(torch.ops.aten.relu.default, kept)(inner)
    assert get_decompositions([torch.ops.aten.tanh]) == {}


def test_collectives_are_operators_by_name_alone() -> None:
    gather = torch.ops._c10d_functional.all_gather_into_tensor.default
    assert {gather: 1}[torch.ops._c10d_functional.all_gather_into_tensor.default] == 1
    with pytest.raises(
        NotImplementedError, match=r"c10d_functional\.all_gather_into_tensor\.default"
    ):
        gather(torch.ones(2), 1, "0")
    assert not hasattr(torch.ops.c10d, "nothing_of_that_name")


def test_layouts_that_suit_a_tensor() -> None:
    plain = torch.zeros(2, 3, 4, 5)
    last = plain.to(memory_format=torch.channels_last)
    assert suggest_memory_format(plain) is torch.contiguous_format
    assert suggest_memory_format(last) is torch.channels_last
    assert make_contiguous_strides_for((2, 0, 3)) == (3, 3, 1)
    assert make_contiguous_strides_for((2, 3, 4), row_major=False) == (12, 1, 3)
    assert canonicalize_dims(3, (-1, 0)) == (2, 0)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        canonicalize_dims(2, 2)


def test_an_operator_may_write_a_tensor_that_has_no_letter() -> None:
    library = torch.library.Library("unlettered", "DEF")
    library.define("grow(Tensor! x) -> ()")

    def grow(x: torch.Tensor) -> None:
        x.add_(1)

    library.impl("grow", grow, "CPU")
    x = torch.zeros(2)
    torch.ops.unlettered.grow(x)
    schema = torch.ops.unlettered.grow.default._schema
    assert x.tolist() == [1, 1]
    assert schema.is_mutable
    assert str(schema) == "unlettered::grow(Tensor($0! -> ) x) -> ()"
    assert schema.arguments[0].alias_info.before_set == {"$0"}


def test_parts_are_computed_again_where_walks_go_to_all_leaves() -> None:
    seen = []

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
            seen.append(torch.autograd._is_checkpoint_valid())
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    assert torch.autograd._is_checkpoint_valid()
    Doubled.apply(x).sum().backward()
    torch.autograd.grad(Doubled.apply(x).sum(), x)
    Doubled.apply(x).sum().backward(inputs=[x])
    assert seen == [True, False, False]
