"""Parameters that are tensors of users' classes."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import rushlight as torch


class Own(torch.Tensor):
    def module_load(self, other: Any, assign: bool = False) -> Any:
        return other.detach() if assign else self.detach().copy_(other)


class Other(torch.nn.Parameter):
    pass


class Forgets(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


class Both(Own, torch.nn.Parameter):
    pass


def own() -> Any:
    return torch.ones(2).as_subclass(Own)


def test_they_keep_their_class_and_are_parameters() -> None:
    made = torch.nn.Parameter(own())
    assert type(made) is Own
    assert isinstance(made, torch.nn.Parameter)
    assert made.is_leaf
    assert made.requires_grad
    assert not torch.nn.Parameter(own(), requires_grad=False).requires_grad
    assert repr(made) == "Parameter(Own([1., 1.], requires_grad=True))"
    assert not isinstance(own(), torch.nn.Parameter)
    assert not isinstance(made, Other)
    assert not isinstance(made, Both)  # which derives from the class of `made`
    assert not isinstance(torch.ones(2), torch.nn.Parameter)
    assert type(torch.nn.Parameter(torch.ones(2))) is torch.nn.Parameter
    assert isinstance(Other(torch.ones(2)), torch.nn.Parameter)


def test_modules_have_and_train_them() -> None:
    module: Any = torch.nn.Module()
    module.weight = torch.nn.Parameter(own())
    assert [type(each) for each in module.parameters()] == [Own]
    assert [type(each) for each in module.state_dict().values()] == [Own]
    (module.weight * 2).sum().backward()
    torch.optim.SGD(module.parameters(), lr=0.5).step()
    assert module.weight.tolist() == [0, 0]
    for again in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert [type(each) for each in again.parameters()] == [Own]
        assert isinstance(again.weight, torch.nn.Parameter)
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    assert type(torch.load(file, weights_only=False)["weight"]) is Own


@pytest.mark.parametrize("assign", [False, True])
def test_state_dicts_are_swapped_in(assign: bool) -> None:
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        module, given = torch.nn.Linear(2, 1, bias=False), torch.nn.Linear(2, 1, bias=False)
        given.weight = torch.nn.Parameter(given.weight.as_subclass(Own))
        module.load_state_dict(given.state_dict(), assign=assign)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    assert type(module.weight) is Own
    assert module.weight.tolist() == given.weight.tolist()


def test_a_class_that_detach_loses() -> None:
    with pytest.raises(RuntimeError, match="from an instance of type Forgets requires that detach"):
        torch.nn.Parameter(torch.ones(2).as_subclass(Forgets))


class Named(torch.Tensor):
    plus = torch.Tensor.add
    seen_as = torch.Tensor.view
    shown = torch.Tensor.contiguous


def test_methods_are_bound_under_other_names() -> None:
    tensor = torch.ones(2).as_subclass(Named)
    assert tensor.plus(1, alpha=3).tolist() == [4.0, 4.0]
    assert tuple(tensor.seen_as(2, 1).shape) == (2, 1)
    assert tensor.shown() is tensor
    assert type(tensor.plus(1)) is Named
    bound = torch.Tensor.add_.__get__(tensor, torch.Tensor)
    assert bound(1).tolist() == tensor.tolist() == [2.0, 2.0]
    assert repr(torch.Tensor.add) == "<method 'add' of 'torch._C.TensorBase' objects>"


def test_methods_are_bound_to_tensors_alone() -> None:
    class Holder:
        method = torch.Tensor.add
        function = torch.add

    assert Holder().function(torch.ones(1), 1).tolist() == [2.0]
    assert Holder.method(torch.ones(1), 1).tolist() == [2.0]
    said = r"^descriptor 'add' for 'torch\._C\.TensorBase' objects doesn't apply to a 'Holder' obj"
    with pytest.raises(TypeError, match=said):
        Holder().method(torch.ones(1))


def test_methods_are_kept_where_others_take_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "kept_mul", torch.Tensor.mul, raising=False)
    monkeypatch.setattr(torch.Tensor, "mul", lambda self, other: self.kept_mul(other).neg())
    assert torch.ones(2).mul(3).tolist() == [-3.0, -3.0]


def test_tensors_without_data_have_no_other_class() -> None:
    with pytest.raises(
        NotImplementedError, match="on the device meta have no other class, such as Own"
    ):
        torch.ones(2, device="meta").as_subclass(Own)
