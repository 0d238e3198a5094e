"""Hooks on the gradients of modules, and on what modules register."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn.modules import module as all_modules


def seen_by(kind: str, module: nn.Module) -> list[Any]:
    """The gradients that a hook of the module gets."""
    found: list[Any] = []
    getattr(module, kind)(lambda m, *grads: found.append((m, *grads)))
    return found


def test_a_full_hook_gets_the_gradients_of_arguments_and_results() -> None:
    layer = nn.Linear(2, 3)
    found = seen_by("register_full_backward_hook", layer)
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    ((module, of_arguments, of_results),) = found
    assert module is layer
    assert of_results[0].tolist() == [[1, 1, 1]]
    torch.testing.assert_close(of_arguments[0], layer.weight.detach().sum(0, keepdim=True))
    assert x.grad.tolist() == of_arguments[0].tolist()


def test_what_hooks_return_replaces_gradients() -> None:
    layer = nn.Linear(2, 2, bias=False)
    x = torch.ones(1, 2, requires_grad=True)
    layer.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 10,))
    layer.register_full_backward_hook(lambda m, into, out: (into[0] * 0 + out[0].sum(),))
    layer(x).sum().backward()
    assert layer.weight.grad.tolist() == [[10, 10], [10, 10]]
    assert x.grad.tolist() == [[20, 20]]


def test_values_that_are_no_tensors_have_none_for_a_gradient() -> None:
    class Two(nn.Module):
        def forward(self, flag: bool, x: Any) -> Any:
            return x * 2, flag, x.detach()

    module = Two()
    found = seen_by("register_full_backward_hook", module)
    x = torch.ones(2, requires_grad=True)
    module(True, x)[0].sum().backward()
    _, of_arguments, of_results = found[0]
    assert of_arguments[0] is None
    assert of_arguments[1].tolist() == [2, 2]
    assert of_results[0].tolist() == [1, 1]
    assert of_results[1] is None


def test_without_gradients_of_arguments_the_hook_comes_at_once() -> None:
    layer = nn.Linear(1, 1)
    found = seen_by("register_full_backward_hook", layer)
    with pytest.warns(UserWarning, match="^Full backward hook is firing when gradients are"):
        layer(torch.ones(1)).sum().backward()
    assert found[0][1] == (None,)
    layer.register_full_backward_hook(lambda m, into, out: (torch.ones(1),))
    with (
        pytest.warns(UserWarning, match="^Full backward hook"),
        pytest.raises(RuntimeError, match="no input requires gradient"),
    ):
        layer(torch.ones(1)).sum().backward()


def test_hooks_are_not_called_without_gradients() -> None:
    layer = nn.Linear(1, 1)
    found = seen_by("register_full_backward_hook", layer)
    with torch.no_grad():
        layer(torch.ones(1))
    assert not found
    assert not layer(torch.ones(1)).is_leaf


def test_a_wrong_number_of_gradients_is_refused() -> None:
    layer = nn.Linear(1, 1)
    layer.register_full_backward_hook(lambda m, into, out: (None, None))
    with pytest.raises(RuntimeError, match="number of grad_input, got 2, but expected 1"):
        layer(torch.ones(1, requires_grad=True)).sum().backward()


def test_removing_and_ordering() -> None:
    layer = nn.Linear(1, 1)
    calls: list[str] = []
    layer.register_full_backward_hook(lambda *_: calls.append("first"))
    handle = layer.register_full_backward_hook(lambda *_: calls.append("second"), prepend=True)
    x = torch.ones(1, requires_grad=True)
    layer(x).sum().backward()
    handle.remove()
    layer(x).sum().backward()
    assert calls == ["second", "first", "first"]
    assert list(handle.hooks_dict_ref())
    assert handle.id not in handle.hooks_dict_ref()


def test_the_old_kind_sees_the_last_operator() -> None:
    layer = nn.Linear(1, 1)
    found = seen_by("register_backward_hook", layer)
    with pytest.warns(FutureWarning, match="multiple autograd Nodes"):
        layer(torch.ones(1, 1)).sum().backward()
    assert found[0][2][0].tolist() == [[1]]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks"):
        layer.register_full_backward_hook(lambda *_: None)


def test_hooks_of_all_modules() -> None:
    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    names: list[str] = []
    handle = all_modules.register_module_full_backward_hook(
        lambda m, into, out: names.append(type(m).__name__)
    )
    with handle:
        model(torch.ones(1, requires_grad=True)).sum().backward()
    assert names == ["ReLU", "Linear", "Sequential"]


def test_hooks_see_what_modules_register() -> None:
    names: list[str] = []
    with (
        all_modules.register_module_parameter_registration_hook(lambda m, n, p: names.append(n)),
        all_modules.register_module_buffer_registration_hook(lambda m, n, b: b + 1),
        all_modules.register_module_module_registration_hook(lambda m, n, c: nn.ReLU()),
    ):
        held = nn.Module()
        held.register_buffer("count", torch.zeros(1))
        holder = nn.Sequential(nn.Linear(1, 1))
    assert names == ["weight", "bias"]
    assert held.count.tolist() == [1]
    assert isinstance(holder[0], nn.ReLU)


def test_modules_with_hooks_can_be_copied() -> None:
    layer = nn.Linear(1, 1)
    found = seen_by("register_full_backward_hook", layer)
    copy.deepcopy(layer)(torch.ones(1, requires_grad=True)).sum().backward()
    assert len(found) == 1


def test_a_conversion_takes_the_gradient_along() -> None:
    layer = nn.Linear(2, 1)
    layer(torch.ones(2)).sum().backward()
    gradient = layer.weight.grad
    assert layer.double().weight.grad is gradient
    assert gradient.dtype == torch.float64


def test_conversions_may_make_new_parameters() -> None:
    layer = nn.Linear(2, 1)
    before = layer.weight
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        layer.double()
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    assert layer.weight is not before
    assert before.dtype == torch.float32


def test_the_tables_of_hooks_for_all_modules_can_be_read_and_exchanged() -> None:
    tables: Any = all_modules
    before = tables._global_forward_hooks
    called: list[int] = []
    all_modules.register_module_forward_hook(lambda *_: called.append(1))
    assert len(before) == 1
    tables._global_forward_hooks = type(before)()
    nn.ReLU()(torch.ones(1))
    tables._global_forward_hooks = before
    nn.ReLU()(torch.ones(1))
    before.clear()
    assert called == [1]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (torch.ones(2), "expected tuple, but hook returned 'Tensor'"),
        ((), r"hook '<lambda>' has returned an incorrect number of values \(got 0, but expected 1"),
        ((3,), "expected Variable, but hook returned 'int'"),
        ((torch.ones(3),), "hook '<lambda>' has changed the size of value"),
        ((torch.ones(2).long(),), r"changed the type of value \(was torch.FloatTensor got torch.L"),
    ],
)
@pytest.mark.parametrize("kind", ["register_hook", "register_prehook"])
def test_hooks_of_nodes_return_gradients_like_theirs(kind: str, said: Any, message: str) -> None:
    y = torch.ones(2, requires_grad=True).sigmoid()
    getattr(y.grad_fn, kind)(lambda *_: said)
    with pytest.raises((TypeError, RuntimeError), match=message):
        y.backward(torch.ones(2))


def test_hooks_of_tensors_return_gradients_like_theirs() -> None:
    x = torch.ones(2, requires_grad=True)
    with (
        x.register_hook(lambda _: torch.ones(3)),
        pytest.raises(RuntimeError, match="hook '<lambda>' has changed the size of value"),
    ):
        x.sum().backward()
    with (
        x.register_post_accumulate_grad_hook(lambda _: torch.ones(2)),
        pytest.raises(RuntimeError, match=r"Tensor post accumulate grad hooks should return None."),
    ):
        x.sum().backward()


def test_a_full_hook_returns_a_tuple_of_its_length() -> None:
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda *_: torch.ones(2, 2))
    with pytest.raises(RuntimeError, match="got 2, but expected 1"):
        layer(torch.ones(1, 2, requires_grad=True)).sum().backward()


def test_nodes_around_a_module_have_torch_s_name() -> None:
    module = torch.nn.Linear(2, 2)
    module.register_full_backward_hook(lambda *given: None)
    made = module(torch.ones(1, 2, requires_grad=True))
    assert made.grad_fn.name() == "BackwardHookFunctionBackward"
