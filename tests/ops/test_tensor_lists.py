"""`torch.ops.aten._foreach_...`, and lists of tensors that operators give."""

from __future__ import annotations

import io

import pytest

import rushlight as torch
from rushlight.fx.experimental.proxy_tensor import make_fx

A = torch.ops.aten


def some() -> list[torch.Tensor]:
    return [torch.tensor([1.0, 2.0]), torch.tensor([[3.0], [4.0]])]


def numbers(tensors: object) -> list[object]:
    assert type(tensors) is list
    return [each.tolist() for each in tensors]


def test_overloads_are_chosen_by_their_arguments() -> None:
    x = some()
    assert A._foreach_add.overloads() == ["Scalar", "List", "ScalarList", "Tensor"]
    assert A._foreach_pow.overloads() == ["List", "Scalar", "ScalarList", "ScalarAndTensor"]
    assert numbers(A._foreach_add(x, 2.0)) == [[3.0, 4.0], [[5.0], [6.0]]]
    assert numbers(A._foreach_add(x, x)) == [[2.0, 4.0], [[6.0], [8.0]]]
    assert numbers(A._foreach_add(x, [1.0, 2.0])) == [[2.0, 3.0], [[5.0], [6.0]]]
    assert numbers(A._foreach_add(x, torch.tensor(3.0), alpha=2))[0] == [7.0, 8.0]
    assert numbers(A._foreach_pow(2.0, x)) == [[2.0, 4.0], [[8.0], [16.0]]]
    assert numbers(A._foreach_addcdiv.Tensor(x, x, x, torch.tensor([2.0, 3.0])))[1] == [
        [6.0],
        [7.0],
    ]
    assert numbers(A._foreach_norm.Scalar(x)) == [pytest.approx(5**0.5), 5.0]
    with pytest.raises(RuntimeError, match="must have the same number of tensors, got 2 and 1"):
        A._foreach_add.List(x, x[:1])
    with pytest.raises(RuntimeError, match="a value of type 'number' for argument 'scalar'"):
        A._foreach_add.Scalar(x, "s")


def test_tensors_are_written_in_place() -> None:
    x = some()
    assert A._foreach_mul_.Scalar(x, 2.0) is None
    A._foreach_copy_.default(x[:1], [torch.ones(2)])
    assert numbers(x) == [[1.0, 1.0], [[6.0], [8.0]]]
    assert A._foreach_mul_.Scalar._schema.is_mutable


def test_gradients_go_through_them() -> None:
    x = [each.requires_grad_() for each in some()]
    sum(each.sum() for each in A._foreach_mul.List(x, x)).backward()
    assert x[0].grad.tolist() == [2.0, 4.0]


def test_scripts_graphs_and_tensors_without_data() -> None:
    def f(a: list[torch.Tensor]) -> list[torch.Tensor]:
        b = torch._foreach_add(a, 2)
        torch._foreach_mul_(b, 3.0)
        return b

    scripted = torch.jit.script(f)
    assert " = aten::_foreach_mul_(%b.1, %" in str(scripted.graph)
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    for run in (scripted, torch.jit.load(buffer)):
        assert numbers(run(some())) == [[9.0, 12.0], [[15.0], [18.0]]]
    made = make_fx(lambda a, b: A._foreach_add.List([a, b], [b, a]))(torch.ones(2), torch.zeros(2))
    assert "torch.ops.aten._foreach_add.List([a_1, b_1], [b_1, a_1])" in made.code
    assert A._foreach_add.Scalar([torch.empty(2, device="meta")], 1.0)[0].device.type == "meta"


def test_operators_called_by_themselves_give_lists() -> None:
    x = torch.arange(4.0)
    given = (A.split.Tensor(x, 2), A.split(x, 2), A.unbind.int(x), A.chunk(x, 2), A.where(x))
    assert {type(each) for each in given} == {list}
    assert type(torch.split(x, 2)) is tuple
    assert type(A.max.dim(x, 0)) is tuple


ADAM = {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8}


@pytest.mark.parametrize("kind", ["adam", "adamw"])
@pytest.mark.parametrize("amsgrad", [False, True])
def test_steps_for_lists_are_those_of_optimizers(kind: str, amsgrad: bool) -> None:
    start = torch.tensor([1.0, -2.0, 3.0])
    mine, other = (torch.nn.Parameter(start.clone()) for _ in range(2))
    form = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    optimizer = form([other], 0.1, (0.9, 0.99), weight_decay=0.1, amsgrad=amsgrad, foreach=False)
    kept = [[torch.zeros(3)] for _ in range(3)]
    for step in (1.0, 2.0):
        mine.grad, other.grad = start.cos() * step, start.cos() * step
        optimizer.step()
        count = [torch.tensor(step)]
        given = [mine], [mine.grad], *kept[:2], kept[2] if amsgrad else [], count
        run = getattr(torch, f"_fused_{kind}_")
        assert run(*given, lr=0.1, amsgrad=amsgrad, maximize=False, **ADAM) is None
    assert torch.allclose(mine, other, atol=1e-6)
    assert mine.requires_grad


def test_steps_are_not_taken_where_an_infinity_was_found() -> None:
    numbers = {"weight_decay": 0.0, "momentum": 0.9, "dampening": 0.0, "nesterov": False}
    flags = {"maximize": True, "is_first_step": True}
    for found in (0.0, 1.0):
        p, g, m = ([torch.ones(2)] for _ in range(3))
        scale = {"grad_scale": torch.tensor(4.0), "found_inf": torch.tensor(found)}
        torch._fused_sgd_(p, g, m, lr=torch.tensor(0.5), **numbers, **flags, **scale)
        wanted = ([1.0], [1.0]) if found else ([1.125], [0.25])
        assert (p[0][:1].tolist(), g[0][:1].tolist()) == wanted


def test_steps_of_new_tensors_leave_what_they_are_given() -> None:
    p, g, total = ([torch.ones(2)] for _ in range(3))
    numbers = {"lr": 0.5, "lr_decay": 0.0, "weight_decay": 0.0, "eps": 0.0, "maximize": False}
    made = A._fused_adagrad.default(p, g, total, [torch.tensor(1.0)], **numbers)
    assert p[0].tolist() == total[0].tolist() == [1.0, 1.0]
    assert made[0][0].tolist() == pytest.approx([1 - 0.5 / 2**0.5] * 2)
    assert made[2][0].tolist() == [2.0, 2.0]
