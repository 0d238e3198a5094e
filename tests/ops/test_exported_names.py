"""Operators that programs name which other tools wrote out: `torch.ops.aten._index_put_impl_`."""

from __future__ import annotations

import pytest

import rushlight as torch

ATEN = torch.ops.aten


def test_operators_of_python_are_named_as_they_are_written() -> None:
    flags = torch.tensor([True, False])
    assert ATEN.__or__(flags, torch.tensor([False, False])).tolist() == [True, False]
    assert ATEN.__and__.Scalar(torch.tensor([6, 3]), 2).tolist() == [2, 2]
    assert ATEN.__contains__([1, 2], 2) is True
    with pytest.raises(AttributeError, match=r"^'_OpNamespace' 'aten' object has no attribute"):
        ATEN.__nothing__  # noqa: B018


def test_places_are_written_under_a_third_name() -> None:
    x = torch.zeros(3, 2)
    places = [torch.tensor([0, 2]), None]
    assert ATEN._index_put_impl_(x, places, torch.ones(2)) is x
    more = ATEN._index_put_impl(x, places, torch.ones(2), True, True)
    assert (x.sum().item(), more.sum().item()) == (4, 8)
    values = torch.ones(2, requires_grad=True)
    made = ATEN._index_put_impl_(x * 1, places, values)
    assert made.grad_fn.name() == "IndexPutImplBackward0"
    made.sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [2, 2]


def test_slopes_are_given_beside_the_result() -> None:
    x = torch.tensor([-1.0, 2], requires_grad=True)
    noise = torch.zeros(2)
    made, slopes = ATEN.rrelu_with_noise_functional(x, noise, 0.2, 0.4, True)
    assert noise.tolist() == [0, 0]
    assert 0.2 <= slopes[0] <= 0.4
    assert slopes[1] == 1
    assert torch.equal(made, x * slopes)
    assert not slopes.requires_grad
    made.sum().backward()
    assert torch.equal(x.grad, slopes)


def test_numbers_are_asserted() -> None:
    ATEN._assert_scalar(2.5, "unsaid")
    with pytest.raises(RuntimeError, match=r"^it is not so$"):
        ATEN._assert_scalar(False, "it is not so")
    ATEN.sym_constrain_range(-1, max=4)
    ATEN.sym_constrain_range_for_size(5.5, min=5, max=7)
    for operator, number, bounds, said in (
        (ATEN.sym_constrain_range, 5, {"max": 4}, "Invalid value range for 5 between [-922337203"),
        (ATEN.sym_constrain_range, 5, {"min": 7, "max": 2}, "Max must be greater than or equal to"),
        (ATEN.sym_constrain_range_for_size, -1, {}, "Invalid value range for -1 between [0, 9223"),
        (ATEN.sym_constrain_range_for_size, 1, {"max": 2}, "Max value to constrain_range_for_size"),
    ):
        with pytest.raises(RuntimeError) as met:
            operator(number, **bounds)
        assert str(met.value).startswith(said)


def test_scripts_name_them_too() -> None:
    @torch.jit.script
    def checked(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        torch.ops.aten.sym_constrain_range_for_size(places.numel(), max=3)
        torch.ops.aten._assert_scalar(x.dim() == 1, "one dimension")
        return torch.ops.aten._index_put_impl_(x, [places], torch.ones_like(places).float())

    assert checked(torch.zeros(3), torch.tensor([1])).tolist() == [0, 1, 0]
    assert "assert" not in str(checked.graph)  # torch drops what gives nothing, these too
    assert "constrain" not in str(checked.graph)
