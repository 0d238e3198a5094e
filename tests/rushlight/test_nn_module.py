"""The protocol of `nn.Module`.  Texts and orders are those that torch 2.13 gave."""

from __future__ import annotations

import copy
import gc
import math
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.l = nn.Linear(2, 3)
        self.register_buffer("b", torch.zeros(2))
        self.p = nn.Parameter(torch.ones(2))


class Scaled(nn.Module):
    def forward(self, x: Any, by: Any = 2) -> Any:
        return x * by


def keys(named: Any) -> list[str]:
    return [name for name, _ in named]


# --------------------------------------------------------------------------- registration


def test_assigning_registers() -> None:
    m = Model()
    assert list(m._parameters) == ["p"]
    assert list(m._buffers) == ["b"]
    assert list(m._modules) == ["l"]
    assert "p" not in m.__dict__
    assert m.p is m._parameters["p"]


def test_a_name_belongs_to_one_table() -> None:
    m = Model()
    m.b = nn.Parameter(torch.zeros(2))
    assert list(m._buffers) == []
    assert list(m._parameters) == ["p", "b"]
    m.x = 3
    m.x = nn.ReLU()
    assert "x" not in m.__dict__
    del m.x
    assert list(m._modules) == ["l"]


def test_none_keeps_the_place() -> None:
    m = Model()
    m.p = None
    m.l = None
    m.b = None
    assert (m._parameters, m._modules, m._buffers) == ({"p": None}, {"l": None}, {"b": None})
    assert list(m.named_parameters()) == []
    assert list(m.children()) == []
    assert m.state_dict() == OrderedDict()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("p", 3, "cannot assign 'int' as parameter 'p' (torch.nn.Parameter or None expected)"),
        (
            "p",
            torch.ones(1),
            "cannot assign 'torch.FloatTensor' as parameter 'p' "
            "(torch.nn.Parameter or None expected)",
        ),
        (
            "p",
            OrderedDict(),
            "cannot assign 'collections.OrderedDict' as parameter 'p' "
            "(torch.nn.Parameter or None expected)",
        ),
        ("l", 3, "cannot assign 'int' as child module 'l' (torch.nn.Module or None expected)"),
        (
            "b",
            3,
            "cannot assign 'int' as buffer 'b' (torch.nn.Buffer, torch.Tensor or None expected)",
        ),
    ],
)
def test_registered_names_keep_their_kind(name: str, value: object, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        setattr(Model(), name, value)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("name", "what", "error", "text"),
    [
        (3, "buffer", TypeError, "buffer name should be a string. Got int"),
        (3, "parameter", TypeError, "parameter name should be a string. Got int"),
        (3, "module", TypeError, "module name should be a string. Got int"),
        ("a.b", "buffer", KeyError, 'buffer name can\'t contain "."'),
        ("a.b", "parameter", KeyError, 'parameter name can\'t contain "."'),
        ("a.b", "module", KeyError, 'module name can\'t contain ".", got: a.b'),
        ("", "buffer", KeyError, 'buffer name can\'t be empty string ""'),
        ("", "module", KeyError, 'module name can\'t be empty string ""'),
        ("l", "buffer", KeyError, "attribute 'l' already exists"),
        ("b", "parameter", KeyError, "attribute 'b' already exists"),
        ("forward", "module", KeyError, "attribute 'forward' already exists"),
        ("training", "buffer", KeyError, "attribute 'training' already exists"),
    ],
)
def test_names_of_members(name: Any, what: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        getattr(Model(), f"register_{what}")(name, None)
    assert caught.value.args[0] == text


def test_values_of_members() -> None:
    m = Model()
    with pytest.raises(TypeError, match=r"cannot assign 'int' object to buffer 'q' \(torch Tensor"):
        m.register_buffer("q", 3)
    with pytest.raises(TypeError, match=r"cannot assign 'torch.FloatTensor' object to parameter"):
        m.register_parameter("q", torch.ones(1))
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        m.add_module("q", 3)


def test_init_comes_first() -> None:
    class Early(nn.Module):
        def __init__(self, value: Any) -> None:
            self.x = value

    for value, what in [
        (nn.ReLU(), "module"),
        (nn.Parameter(torch.ones(1)), "parameters"),
        (nn.Buffer(torch.ones(1)), "buffer"),
    ]:
        with pytest.raises(AttributeError) as caught:
            Early(value)
        assert str(caught.value) == f"cannot assign {what} before Module.__init__() call"
    assert Early(3).x == 3


def test_missing_attribute() -> None:
    with pytest.raises(AttributeError, match=r"^'Model' object has no attribute 'zz'$"):
        _ = Model().zz
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'zz'"):
        del Model().zz


def test_init_arguments() -> None:
    class Plain(nn.Module):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    text = r"^Plain.__init__\(\) got an unexpected keyword argument 'a'$"
    with pytest.raises(TypeError, match=text):
        Plain(a=1)


def test_buffers() -> None:
    class Buffers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("a", torch.ones(1), persistent=False)
            self.c = nn.Buffer(torch.ones(2))
            self.d = nn.Buffer(torch.ones(2), persistent=False)

    m = Buffers()
    assert isinstance(m.c, nn.Buffer)
    assert not isinstance(torch.ones(1), nn.Buffer)
    assert keys(m.named_buffers()) == ["a", "c", "d"]
    assert list(m.state_dict()) == ["c"]
    m.a = torch.zeros(3)
    assert m._non_persistent_buffers_set == {"a", "d"}
    del m.a
    m.c = nn.Buffer(torch.zeros(2), persistent=False)
    assert m._non_persistent_buffers_set == {"c", "d"}
    m.c = nn.Buffer(torch.zeros(2))
    assert m._non_persistent_buffers_set == {"d"}


# --------------------------------------------------------------------------- members


def test_shared_members_come_once() -> None:
    m = nn.Sequential(nn.Linear(1, 1))
    m.add_module("x", m[0])
    assert keys(m.named_parameters()) == ["0.weight", "0.bias"]
    every = ["0.weight", "0.bias", "x.weight", "x.bias"]
    assert keys(m.named_parameters(remove_duplicate=False)) == every
    assert keys(m.named_parameters(prefix="q")) == ["q.0.weight", "q.0.bias"]
    assert keys(m.named_modules()) == ["", "0"]
    assert keys(m.named_modules(remove_duplicate=False)) == ["", "0", "x"]
    assert keys(m.named_children()) == ["0"]
    assert list(m.state_dict()) == every
    assert list(m.parameters(recurse=False)) == []


def test_dotted_names() -> None:
    m = nn.Sequential(Model())
    assert m.get_submodule("0.l") is m[0].l
    assert m.get_submodule("") is m
    assert m.get_parameter("0.l.weight") is m[0].l.weight
    assert m.get_buffer("0.b") is m[0].b
    for target, text in [("0.l.x", "Linear has no attribute `x`"), ("0.p", "is not an nn.Module")]:
        with pytest.raises(AttributeError, match=text):
            m.get_submodule(target)
    with pytest.raises(AttributeError, match=r"`in_features` is not an nn.Parameter"):
        m.get_parameter("0.l.in_features")
    with pytest.raises(AttributeError, match="`p` is not a buffer"):
        m.get_buffer("0.p")
    m[0].register_buffer("later", None)
    assert m.get_buffer("0.later") is None


def test_modes_and_apply() -> None:
    m = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    seen: list[str] = []
    assert m.eval() is m
    assert not any(module.training for module in m.modules())
    m.train()
    assert all(module.training for module in m.modules())
    m.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "ReLU", "Sequential", "Sequential"]
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        m.train(3)  # type: ignore[arg-type]
    m.requires_grad_(False)
    assert not m[0].weight.requires_grad


def test_zero_grad() -> None:
    m = nn.Linear(1, 1)
    m.weight.grad = torch.ones(1, 1)
    m.zero_grad(set_to_none=False)
    assert m.weight.grad.tolist() == [[0.0]]
    m.zero_grad()
    assert m.weight.grad is None


def test_conversion_keeps_the_parameters() -> None:
    m = Model()
    m.register_buffer("count", torch.tensor([1]))
    weight = m.l.weight
    m.double()
    assert m.l.weight is weight
    assert (weight.dtype, m.b.dtype, m.count.dtype) == (torch.float64, torch.float64, torch.int64)
    m.to(torch.float16)
    assert (weight.dtype, m.count.dtype) == (torch.float16, torch.int64)
    assert weight.requires_grad
    text = "only accepts floating point or complex dtypes, but got desired dtype=torch.int64"
    with pytest.raises(TypeError, match=text):
        m.to(torch.int64)


# --------------------------------------------------------------------------- state


def test_state_dict() -> None:
    m = Model()
    state = m.state_dict()
    assert type(state) is OrderedDict
    assert list(state) == ["p", "b", "l.weight", "l.bias"]
    assert state._metadata == {"": {"version": 1}, "l": {"version": 1}}  # type: ignore[attr-defined]
    assert not state["p"].requires_grad
    assert state["p"].data_ptr() == m.p.data_ptr()
    assert m.state_dict(keep_vars=True)["p"] is m.p
    assert list(m.state_dict(prefix="x.")) == ["x.p", "x.b", "x.l.weight", "x.l.bias"]


def test_load_state_dict_copies_or_assigns() -> None:
    one, other = Model(), Model()
    parameter = one.l.weight
    result = one.load_state_dict(other.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert one.l.weight is parameter
    assert one.l.weight.tolist() == other.l.weight.tolist()
    assert one.l.weight.data_ptr() != other.l.weight.data_ptr()
    one.load_state_dict(other.state_dict(), assign=True)
    assert isinstance(one.l.weight, nn.Parameter)
    assert one.l.weight.data_ptr() == other.l.weight.data_ptr()


def test_load_state_dict_tells_all_that_does_not_fit() -> None:
    m = Model()
    state: dict[str, Any] = dict(m.state_dict())
    state |= {"p": torch.ones(3), "b": 3, "foo": 1, "l.zz": 1, "l.zz.y": 1}
    del state["l.weight"]
    with pytest.raises(RuntimeError) as caught:
        m.load_state_dict(state)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Model:\n"
        '\tMissing key(s) in state_dict: "l.weight". \n'
        '\tUnexpected key(s) in state_dict: "foo", "l.zz", "l.zz.y". \n'
        "\tsize mismatch for p: copying a param with shape torch.Size([3]) from checkpoint, the "
        "shape in current model is torch.Size([2]).\n"
        '\tWhile copying the parameter named "b", expected torch.Tensor or Tensor-like object '
        "from checkpoint but received <class 'int'>"
    )
    for key in ("p", "b"):
        del state[key]
    loose = m.load_state_dict(state, strict=False)
    assert loose.missing_keys == ["p", "b", "l.weight"]
    assert loose.unexpected_keys == ["foo", "l.zz", "l.zz.y"]
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>"):
        m.load_state_dict(3)  # type: ignore[arg-type]


def test_extra_state() -> None:
    class Counting(nn.Module):
        count = 0

        def get_extra_state(self) -> int:
            return self.count

        def set_extra_state(self, state: int) -> None:
            self.count = state

    one, other = nn.Sequential(Counting()), nn.Sequential(Counting())
    one[0].count = 5
    assert dict(one.state_dict()) == {"0._extra_state": 5}
    other.load_state_dict(one.state_dict())
    assert other[0].count == 5
    with pytest.raises(RuntimeError, match=r"Missing key.*\"0._extra_state\""):
        other.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"Unexpected key.*\"_extra_state\""):
        nn.ReLU().load_state_dict({"_extra_state": 1})


def test_state_hooks() -> None:
    m = Model()
    calls: list[str] = []
    m.register_state_dict_pre_hook(lambda *_: calls.append("before"))
    m.register_state_dict_post_hook(lambda module, state, *_: state.__delitem__("b"))
    m.register_load_state_dict_pre_hook(lambda module, state, prefix, *_: calls.append("load"))
    m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    state = m.state_dict()
    assert "b" not in state
    assert m.load_state_dict(state).missing_keys == []
    assert calls == ["before", "load"]
    m.register_state_dict_post_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        m.state_dict()


# --------------------------------------------------------------------------- calling


def test_forward_is_missing() -> None:
    with pytest.raises(NotImplementedError, match=r'Module \[Model\] is missing the required "fo'):
        Model()(1)


def test_hooks() -> None:
    m = Scaled()
    assert m(1) == 2
    handle = m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    with m.register_forward_hook(lambda module, args, result: result * 100):
        assert m(1) == 400
    assert m(1) == 4
    handle.remove()
    handle.remove()
    m.register_forward_pre_hook(lambda module, args: args[0] + 5)
    m.register_forward_pre_hook(lambda module, args, kw: (args, {"by": 7}), with_kwargs=True)
    assert m(1, by=3) == 42
    m.register_forward_hook(lambda module, args, kw, result: (result, kw), with_kwargs=True)
    m.register_forward_hook(lambda module, args, result: -result, prepend=True)
    assert m(1) == (-42, {"by": 7})
    m.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple .* but got 3\.$"):
        m(1)


def test_a_hook_that_is_always_called() -> None:
    m = Model()
    seen: list[object] = []
    m.register_forward_hook(lambda module, args, result: seen.append(result))
    m.register_forward_hook(lambda module, args, result: seen.append(args), always_call=True)
    with pytest.raises(NotImplementedError):
        m(5)
    assert seen == [(5,)]


# --------------------------------------------------------------------------- copies and texts


def test_deepcopy_and_pickle() -> None:
    m = Model()
    m.tied = m.l
    for made in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert made.tied is made.l
        assert isinstance(made.p, nn.Parameter)
        assert made.l.weight.tolist() == m.l.weight.tolist()
        assert made.l.weight.data_ptr() != m.l.weight.data_ptr()
        assert list(made.state_dict()) == list(m.state_dict())


def test_handles_do_not_keep_modules() -> None:
    m = Scaled()
    handle = m.register_forward_hook(lambda *_: None)
    del m
    gc.collect()
    assert [reference() for reference in handle._tables] == [None]


def test_repr() -> None:
    class Two(nn.Module):
        def extra_repr(self) -> str:
            return "a\nb"

    class One(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.x = nn.ReLU()
            self.register_module("none", None)

        def extra_repr(self) -> str:
            return "a=1"

    m = nn.Sequential(Two(), One(), nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(1, 1)]))
    assert (
        repr(m)
        == """Sequential(
  (0): Two(
    a
    b
  )
  (1): One(
    a=1
    (x): ReLU()
    (none): None
  )
  (2): ModuleList(
    (0-1): 2 x ReLU()
    (2): Linear(in_features=1, out_features=1, bias=True)
  )
)"""
    )
    assert repr(nn.Module()) == "Module()"


def test_attributes_of_a_parameter_are_those_that_programs_gave_it() -> None:
    parameter = nn.Parameter(torch.ones(2))
    (parameter * 2).sum().backward()
    parameter.register_hook(lambda gradient: None)
    assert vars(parameter) == {}
    parameter.kept = 1
    assert dict(vars(parameter)) == {"kept": 1} == dict(copy.copy(parameter).__dict__)
    parameter.__dict__["other"] = 2
    assert parameter.other == 2
    parameter.__dict__["requires_grad"] = False  # as packages do that make parameters anew
    made = type(parameter)(parameter.to("meta"), **{"requires_grad": True})
    assert parameter.requires_grad
    assert made.is_meta
    assert "requires_grad" not in vars(parameter)
    assert parameter.grad is not None


@pytest.mark.parametrize("owner", ["module", "optimizer"])
def test_gradients_are_made_zero_in_their_own_memory(owner: str) -> None:
    layer = torch.nn.Linear(2, 1, bias=False)
    gradient = layer.weight.grad = torch.tensor([[math.nan, math.inf]])
    cleared = layer if owner == "module" else torch.optim.SGD(layer.parameters(), 0.1)
    cleared.zero_grad(set_to_none=False)
    assert layer.weight.grad is gradient
    assert gradient.tolist() == [[0, 0]]
    loss = (layer(torch.ones(1, 2)) ** 2).sum()
    (layer.weight.grad,) = torch.autograd.grad(loss, layer.weight, create_graph=True)
    cleared.zero_grad(set_to_none=False)
    assert not layer.weight.grad.requires_grad
    cleared.zero_grad()
    assert layer.weight.grad is None


def test_what_is_applied_to_all_tensors_sees_and_changes_themselves() -> None:
    layer = torch.nn.Linear(2, 1, bias=False)
    gradient = layer.weight.grad = torch.ones(1, 2)
    seen = []

    def more(x: Any) -> Any:
        seen.append(x)
        return x.add_(1)

    square = layer.weight * layer.weight
    before = layer.weight._version
    assert layer._apply(more) is layer
    assert seen[0] is layer.weight
    assert seen[1] is gradient is layer.weight.grad
    assert gradient.tolist() == [[2, 2]]
    assert layer.weight._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()
    weight = layer.weight
    layer._apply(lambda x: x.to_sparse())
    assert layer.weight is not weight
    assert layer.weight.is_sparse
    assert layer.weight.grad.is_sparse
    assert isinstance(layer.weight, torch.nn.Parameter)
