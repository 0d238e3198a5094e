"""`__torch_function__`: subclasses of Tensor, classes like it, and modes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight import nn, overrides
from rushlight.ops.tensors.overriding import PLAIN


class Labelled(torch.Tensor):
    """A tensor whose class the results keep."""


class Noting(torch.Tensor):
    """A tensor that notes which functions it meets."""

    met: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        cls.met.append(overrides.resolve_name(func) or repr(func))
        return super().__torch_function__(func, types, args, kwargs or {})


class Like:
    """No tensor, but asked as one: gives the function's name and how it was called."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func.__name__, args, kwargs


class Unknowing:
    """Knows no function."""

    @classmethod
    def __torch_function__(cls, *call: Any) -> Any:
        return NotImplemented


def labelled(*sizes: int) -> Any:
    return torch.ones(*sizes).as_subclass(Labelled)


@pytest.fixture
def noting() -> Iterator[Any]:
    Noting.met.clear()
    yield torch.ones(2, 2).as_subclass(Noting)
    Noting.met.clear()


RESULTS = [
    *(lambda x: x + 1, lambda x: 1 - x, lambda x: -x, lambda x: x == x, lambda x: x @ x),
    *(lambda x: x[0], lambda x: x[:, None], lambda x: x.T, lambda x: x.data, lambda x: x.real),
    *(lambda x: x.to(torch.float64), lambda x: x.float(), lambda x: x.clone(), lambda x: x.view(4)),
    *(lambda x: torch.cat([torch.ones(2, 2), x]), lambda x: torch.max(x, 0).values, F.relu),
    *(lambda x: torch.ones(2, 2) * x, lambda x: torch.add(torch.ones(2, 2), other=x), copy.copy),
    *(lambda x: list(x)[1], lambda x: x.split(1)[0], lambda x: torch.einsum("ij->i", x)),
    *(lambda x: x.new_zeros(3), lambda x: F.linear(x, x), lambda x: torch.linalg.norm(x)),
    *(lambda x: x.add_(1), lambda x: torch.ones(2, 2).copy_(x), lambda x: x.unique()),
]


@pytest.mark.parametrize("function", RESULTS)
def test_results_keep_the_class(function: Any) -> None:
    assert type(function(labelled(2, 2))) is Labelled


def test_what_is_no_tensor_stays_what_it_is() -> None:
    x = labelled(2, 3)
    assert x.shape == (2, 3)
    assert type(x.shape) is torch.Size
    assert x.tolist() == [[1.0] * 3] * 2
    assert repr(x[0]) == "Labelled([1., 1., 1.])"
    assert hash(x) == id(x)
    assert Labelled.to is torch.Tensor.to
    assert not isinstance(torch.ones(1) + 1, Labelled)


def test_gradients_go_through_a_subclass() -> None:
    leaf = torch.ones(2, requires_grad=True)
    (leaf.as_subclass(Labelled) * 3).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [3.0, 3.0]
    own = torch.Tensor._make_subclass(Labelled, torch.ones(2), True)
    assert own.is_leaf
    (own * 2).sum().backward()
    assert own.grad.tolist() == [2.0, 2.0]


def test_a_class_that_answers_nothing_is_made() -> None:
    class Silent(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, *others: Any) -> Any:
            raise RuntimeError(f"asked for {func.__name__}")

    silent = torch.Tensor._make_subclass(Silent, torch.ones(2), True)
    with pytest.raises(RuntimeError, match="asked for __get__"):
        _ = silent.is_leaf


def test_copies_and_pickles_keep_the_class() -> None:
    x = labelled(2)
    assert [type(copy.deepcopy(x)), type(pickle.loads(pickle.dumps(x)))] == [Labelled] * 2


def test_a_class_is_told_the_public_functions(noting: Any) -> None:
    plain = torch.ones(2, 2)
    _ = noting - plain, plain * noting, 2 - noting, noting[0], noting.shape, noting.sum(0)
    F.relu(noting)
    torch.stack([plain, noting])
    torch.unique(noting)
    noting += 1
    assert Noting.met == [
        *("torch.Tensor.sub", "torch.Tensor.mul", "torch.Tensor.__rsub__"),
        *("torch.Tensor.__getitem__", "torch.Tensor.shape.__get__", "torch.Tensor.sum"),
        *("torch.nn.functional.relu", "torch.stack", "torch.functional.unique"),
        "torch.Tensor.add_",
    ]


@torch.no_grad()
def test_a_class_sees_what_layers_of_attention_do_inside() -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.randn(2, 3, 8)
    wanted = layer(x)
    Noting.met.clear()
    result = layer(x.as_subclass(Noting))
    assert "torch.nn.functional.layer_norm" in Noting.met
    assert not any("_fwd" in name or "_native_multi" in name for name in Noting.met)
    assert isinstance(result, Noting)
    assert torch.allclose(result.as_subclass(torch.Tensor), wanted, atol=1e-6)


def test_classes_are_not_asked_in_a_block_or_by_the_function_that_says_so() -> None:
    x = labelled(2)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor

    class Plain(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    y = torch.ones(2).as_subclass(Plain)
    assert [type(y), type(y + 1), type(F.relu(y))] == [Plain, torch.Tensor, torch.Tensor]


def test_classes_like_tensors_are_asked() -> None:
    like, x = Like(), torch.ones(3)
    assert torch.add(like, 1) == ("add", (like, 1), None)
    assert torch.add(x, other=like)[2] == {"other": like}
    assert torch.cat([x, like])[0] == "cat"
    assert torch.zeros(like)[0] == "zeros"
    assert x.sum(like)[0] == "sum"
    assert (x + like) == ("add", (x, like), None)
    assert (like - x)[0] == "__rsub__"
    assert x[like][1] == (x, like)
    assert x[like, 0][0] == "__getitem__"
    assert F.relu(like) == ("relu", (like,), {"inplace": False})
    assert F.max_pool2d(like, 2)[0] == "max_pool2d"
    assert F.pad(like, [1, 1])[0] == "pad"
    assert F.mse_loss(x, like, reduction="sum")[2]["reduction"] == "sum"
    assert torch.nn.ReLU()(like)[0] == "relu"
    assert torch.autograd.grad(like, x)[1] == ((like,), (x,))


def test_subclasses_are_asked_before_their_bases() -> None:
    class Below(Like):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return types

    assert torch.cat([Like(), Below(), Like()]) == (Below, Like)


def test_what_nobody_knows_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.add'; all __torch_"):
        torch.add(Unknowing(), 1)
    with pytest.raises(TypeError, match=r"failed for 'torch\.linalg\.linalg_norm'"):
        torch.linalg.norm(Unknowing())
    text = r"no implementation found for 'torch\.nn\.functional\.relu' on types that implement"
    with pytest.raises(TypeError, match=text):
        F.relu(Unknowing())
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
        torch.ones(1) + Unknowing()


class Counting(overrides.TorchFunctionMode):
    """Notes the functions that are called in its block."""

    def __init__(self) -> None:
        self.met: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.met.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_modes_see_every_function() -> None:
    before = set(PLAIN)
    with Counting() as outer, Counting() as inner:
        F.relu(torch.ones(2) + 1)
    assert inner.met == outer.met == ["ones", "add", "relu"]
    with inner:
        _ = torch.tensor([1.0]).shape
    expected = ["ones", "add", "relu", "tensor", "__get__"]
    assert inner.met == expected
    assert overrides._get_current_function_mode() is None
    assert before == PLAIN
    torch.ones(2) + 1
    assert len(inner.met) == len(expected)


def test_a_mode_that_raises_is_left() -> None:
    class Failing(overrides.TorchFunctionMode):
        def __torch_function__(self, *call: Any) -> Any:
            return NotImplemented

    with pytest.raises(TypeError, match=r"(?s)'torch\.ones'.*mode object"), Failing():
        torch.ones(1)
    assert torch.ones(1).tolist() == [1.0]


def test_tables_of_functions() -> None:
    functions = overrides.get_overridable_functions()
    assert torch.add in functions[torch]
    assert torch.Tensor.add in functions[torch.Tensor]
    assert F.relu in functions[F]
    assert torch.zeros in overrides.get_ignored_functions()
    assert not overrides.get_ignored_functions() & overrides.get_testing_overrides().keys()
    assert overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(torch.unique)
    assert overrides.get_testing_overrides()[torch.add](1, 2) == -1
    assert overrides.resolve_name(len) is None


@torch.jit.script
def scripted(x: torch.Tensor) -> torch.Tensor:
    if overrides.has_torch_function_unary(x):
        return torch.no_such_function(x)
    return F.relu(x)


def test_script_asks_no_class() -> None:
    assert "no_such" not in scripted.code
    assert scripted(torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]


def test_a_call_that_is_passed_on_asks_for_what_it_calls() -> None:
    met: list[str] = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
            met.append(func.__name__)
            return torch.overrides.redispatch_function(func, types, args, kwargs)

    def scaled(a: Any, b: Any) -> Any:
        if torch.overrides.has_torch_function((a, b)):
            return torch.overrides.handle_torch_function(scaled, (a, b), a, b)
        return a * b + 1

    x = torch.ones(2).as_subclass(Logged)
    assert (type(scaled(x, x)), met) == (torch.Tensor, ["scaled", "mul"])

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
            met.append(func.__name__)
            with self:
                return torch.overrides.redispatch_function(func, types, args, kwargs)

    met.clear()
    plain = torch.ones(2)
    with Mode():
        scaled(plain, plain)
    assert met == ["scaled", "mul", "add"]


def test_classes_have_the_members_of_tensors_until_they_write_their_own() -> None:
    for name in ("size", "stride", "dtype", "layout", "device", "requires_grad", "shape"):
        assert getattr(Noting, name) is getattr(torch.Tensor, name)


class Slotted(torch.Tensor):
    __slots__ = ("log",)
    log: list[str]


def test_slots_of_classes_are_copied_and_pickled() -> None:
    x = torch.ones(2).as_subclass(Slotted)
    x.log = ["a"]
    x.name_of_it = "x"  # type: ignore[attr-defined]
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.copy(x)):
        assert (type(made), made.log, made.name_of_it) == (Slotted, ["a"], "x")  # type: ignore[attr-defined]
    assert copy.copy(x).log is x.log is not copy.deepcopy(x).log


class Halves(nn.Module):
    def forward(self, x: torch.Tensor, by: int = 2):
        return x / by


def test_methods_of_scripted_modules_ask_the_classes_of_arguments(noting: Any) -> None:
    scripted = torch.jit.script(Halves())
    traced = torch.jit.trace(Halves(), torch.ones(2, 2))
    for call in (scripted, scripted.forward, traced):
        for _ in range(40):  # then there is a quicker way
            assert type(call(torch.ones(2, 2))) is torch.Tensor
        assert type(call(labelled(2, 2))) is Labelled
        assert type(call(noting)) is Noting
    assert len(Noting.met) == 3
    assert scripted.forward(Like(), by=4)[0] == "forward"
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for '\.forward'"):
        scripted(Unknowing())


def test_scripted_functions_ask_no_classes(noting: Any) -> None:
    def halved(x: torch.Tensor):
        return x / 2

    assert type(torch.jit.script(halved)(noting)) is torch.Tensor
    assert Noting.met == []
