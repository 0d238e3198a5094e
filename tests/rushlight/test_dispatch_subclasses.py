"""Classes of tensors with a `__torch_dispatch__` are asked for the operators that calls come down
to, and nothing computes with their tensors past them."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.ops.tensors.dispatched import Hidden
from rushlight.utils._python_dispatch import (
    TorchDispatchMode,
    is_traceable_wrapper_subclass,
    return_and_correct_aliasing,
    transform_subclass,
)
from rushlight.utils._pytree import tree_map

SEEN: Final[list[str]] = []


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


class Wrapped(torch.Tensor):
    """Has no elements; computes with those of `inner`."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls: Any, inner: torch.Tensor, requires_grad: bool = False) -> Any:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            dtype=inner.dtype,
            device=inner.device,
            requires_grad=requires_grad,
        )
        made.inner = inner.detach()
        return made

    def __tensor_flatten__(self) -> Any:
        return ["inner"], None

    @classmethod
    def __tensor_unflatten__(cls, parts: Any, context: Any, size: Any, stride: Any) -> Any:
        return cls(parts["inner"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        SEEN.append(func.name().removeprefix("aten::"))

        def within(value: Any) -> Any:
            return value.inner if isinstance(value, Wrapped) else value

        def around(value: Any) -> Any:
            return cls(value) if isinstance(value, torch.Tensor) else value

        made = func(*tree_map(within, args), **tree_map(within, kwargs or {}))
        return return_and_correct_aliasing(func, args, kwargs, tree_map(around, made))


class Asked(Wrapped):
    """The same, and is asked for functions as well."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


X = torch.arange(6.0).reshape(2, 3)
PROGRAMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sign": (lambda x: x + 1, "add.Tensor"),
    "reflected": (lambda x: 1 - x, "rsub.Scalar"),
    "product": (lambda x: x @ x.t(), "t mm"),
    "linear": (lambda x: F.linear(x, torch.ones(4, 3), torch.zeros(4)), "addmm"),
    "turned": (lambda x: x.T, "permute"),
    "swapped": (lambda x: x.mT, "transpose.int"),
    "item": (lambda x: x[0, 1:], "select.int slice.Tensor"),
    "row": (lambda x: x[0], "select.int"),
    "rows": (lambda x: x[torch.tensor([1, 0])], "index.Tensor"),
    "joined": (lambda x: torch.cat([x, torch.ones(1, 3)]), "cat"),
    "several": (lambda x: x.max(1)[0], "max.dim"),
    "softmax": (lambda x: x.softmax(-1), "_softmax"),
    "dtype": (lambda x: x.to(torch.float64), "_to_copy"),
    "letters": (lambda x: torch.einsum("ij,kj->ik", x, torch.ones(2, 3)), ""),
    "loss": (lambda x: F.cross_entropy(x, torch.tensor([0, 1])), "_log_softmax nll_loss_forward"),
    "overload": (lambda x: torch.ops.aten.mul.Tensor(x, x), "mul.Tensor"),
    "all of them": (lambda x: torch.ops.aten.mul(x, 2), "mul.Tensor"),
    "copied": (lambda x: copy.deepcopy(x), "clone"),
}


@pytest.mark.parametrize("cls", [Wrapped, Asked])
@pytest.mark.parametrize("name", PROGRAMS)
def test_operators_ask_the_class(name: str, cls: Any) -> None:
    program, expected = PROGRAMS[name]
    made = program(cls(X))
    assert type(made) is cls
    assert torch.equal(made.inner, program(X))
    assert tuple(made.shape) == tuple(made.inner.shape)
    assert not expected or " ".join(SEEN) == expected


@pytest.mark.parametrize("cls", [Wrapped, Asked])
def test_numbers_are_read_by_the_class(cls: Any) -> None:
    total = cls(X).sum()
    assert (total.item(), float(total), int(total), bool(total > 3)) == (15.0, 15.0, 15, True)
    assert SEEN.count("_local_scalar_dense") == 4
    assert torch.equal(cls(X), cls(X)) is True
    assert 3.0 in cls(X)
    for call in (cls(X).numpy, cls(X).tolist):
        with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
            call()


@pytest.mark.parametrize("cls", [Wrapped, Asked])
def test_what_it_is_without_being_asked(cls: Any) -> None:
    x = cls(X.t())
    assert (x.shape, x.stride(), x.dtype, x.ndim, x.numel(), len(x)) == (
        (3, 2),
        (1, 3),
        torch.float32,
        2,
        6,
        3,
    )
    assert (x.device.type, x.layout, x.is_contiguous()) == ("cpu", torch.strided, False)
    assert repr(x).startswith(f"{cls.__name__}(..., size=(3, 2)")
    assert not SEEN
    elsewhere = torch.Tensor._make_wrapper_subclass(cls, [2], device="meta", dtype=torch.int8)
    assert (elsewhere.device.type, elsewhere.dtype) == ("meta", torch.int8)


def test_writes_are_seen_and_give_the_same_tensor() -> None:
    x = Wrapped(torch.zeros(2, 3))
    version = x._version
    assert x.add_(2) is x
    x[0] = 5
    x.mul_(Wrapped(X))
    assert x.inner.tolist() == [[0.0, 5.0, 10.0], [6.0, 8.0, 10.0]]
    assert x._version == version + 3
    out = Wrapped(torch.zeros(2, 3))
    assert torch.add(x, 1, out=out) is out
    assert out.inner.tolist() == [[1.0, 6.0, 11.0], [7.0, 9.0, 11.0]]


GRADIENTS: dict[str, Callable[[Any], Any]] = {
    "exp": lambda w: (w * X).exp().sum(),
    "cube": lambda w: (w**3).mean(),
    "layer": lambda w: F.layer_norm(w, [3]).square().sum(),
    "product": lambda w: (w @ w.t()).tanh().sum(),
    "choice": lambda w: torch.where(w > 0.4, w, w * 2).max(1)[0].sum(),
    "moved": lambda w: torch.cat([w.t().reshape(-1), w[0]]).cumsum(0).sum(),
    "loss": lambda w: F.cross_entropy(w, torch.tensor([0, 1])),
    "whole": lambda w: F.gelu(F.linear(w, torch.ones(2, 3))).sum(),
    "picture": lambda w: F.avg_pool2d(F.conv2d(w[None, None], torch.ones(1, 1, 2, 2)), 1).sum(),
    "attention": lambda w: F.scaled_dot_product_attention(w[None], w[None], w[None]).sum(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_computed_by_the_class(name: str) -> None:
    values = torch.tensor([[0.5, 0.25, 1.0], [0.75, 0.1, 0.3]])
    wrapped = Wrapped(values, True)
    plain = values.clone().requires_grad_()
    GRADIENTS[name](wrapped).backward()
    GRADIENTS[name](plain).backward()
    assert type(wrapped.grad) is Wrapped
    torch.testing.assert_close(wrapped.grad.inner, plain.grad)
    before = wrapped.grad.inner.clone()
    GRADIENTS[name](wrapped).backward()
    torch.testing.assert_close(wrapped.grad.inner, before * 2)


def test_gradients_of_gradients_and_of_layers() -> None:
    w = Wrapped(torch.ones(2, 3) / 2, True)
    (first,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), w)
    assert second.inner.tolist() == [[3.0] * 3] * 2
    layer = nn.Linear(3, 2)
    plain = copy.deepcopy(layer)
    layer(w).relu().mean().backward()
    plain(w.inner).relu().mean().backward()
    torch.testing.assert_close(layer.weight.grad.inner, plain.weight.grad)


def test_plain_walks_go_as_ever_afterwards() -> None:
    Wrapped(X, True).sum().backward()
    SEEN.clear()
    x = X.clone().requires_grad_()
    (x * x).sum().backward()
    assert torch.equal(x.grad, 2 * X)
    assert not SEEN


def test_parameters_of_modules() -> None:
    layer = nn.Linear(3, 2)
    weight = nn.Parameter(Wrapped(layer.weight))
    assert isinstance(weight, nn.Parameter)
    assert type(weight) is Wrapped
    layer.weight = weight
    expected = F.linear(X, layer.weight.inner, layer.bias)
    assert torch.equal(layer(X).inner, expected)
    assert layer.double() is layer
    assert layer.weight is weight
    assert (type(layer.weight), layer.weight.dtype) == (Wrapped, torch.float64)
    assert isinstance(copy.deepcopy(layer).weight, nn.Parameter)
    optimizer = torch.optim.SGD([layer.weight], 0.5)
    layer(X.double()).sum().backward()
    before = layer.weight.inner.clone()
    optimizer.step()
    assert torch.equal(layer.weight.inner, before - layer.weight.grad.inner * 0.5)


class Counted(torch.Tensor):
    """Has elements, and counts what is done to them."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        SEEN.append(f"{func} of {[each.__name__ for each in types]}")
        return super().__torch_dispatch__(func, types, args, kwargs)


def test_a_class_may_leave_operators_as_they_are() -> None:
    x = torch.ones(3).as_subclass(Counted)
    made = x + 1
    assert type(made) is torch.Tensor
    assert made.tolist() == [2.0] * 3
    assert SEEN == ["aten.add.Tensor of ['Counted']"]
    leaf = torch.Tensor._make_subclass(Counted, torch.ones(3), True)
    (leaf * 3).sum().backward()
    assert leaf.grad.tolist() == [3.0] * 3
    with torch._C._DisableTorchDispatch():
        assert (x * 2).tolist() == [2.0] * 3
    assert len(SEEN) == 2


class OverMeta(Wrapped):
    @staticmethod
    def __new__(cls: Any, inner: torch.Tensor, requires_grad: bool = False) -> Any:
        wrapped = torch.Tensor._make_subclass(cls, inner.to("meta"), requires_grad)
        wrapped.inner = inner
        return wrapped


def test_what_is_made_over_a_tensor_without_memory_has_none() -> None:
    x = OverMeta(torch.arange(6.0).reshape(2, 3).t(), True)
    assert (x.shape, x.stride(), x.device.type) == ((3, 2), (1, 3), "meta")
    (x * 3).sum().backward()
    assert x.grad.inner.tolist() == [[3.0] * 2] * 3
    copied = copy.deepcopy(x)
    assert (type(copied), copied.inner is x.inner) == (OverMeta, False)


class Told(Wrapped):
    def __repr__(self) -> str:  # type: ignore[override]
        return super().__repr__(tensor_contents="...")


def test_what_stands_around_contents() -> None:
    said = "Told(..., dtype=torch.float16, requires_grad=True)"
    assert repr(Told(torch.ones(2))) == "Told(...)"
    assert repr(Told(torch.ones(2).half(), True)) == said
    assert repr(nn.Parameter(Told(torch.ones(2)))) == "Parameter(Told(..., requires_grad=True))"


class Unable(Wrapped):
    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def test_deep_copies_need_instances_of_the_class() -> None:
    class Lost(Wrapped):
        @classmethod
        def __torch_dispatch__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(args[0].inner, *args[1:], **(kwargs or {}))

    with pytest.raises(RuntimeError, match=r"properly implement clone\(\) and for which cloning"):
        copy.deepcopy(Lost(X))
    with pytest.raises(RuntimeError, match=r"properly implement new_empty\(\) and for which that"):
        copy.deepcopy(torch.ones(3).as_subclass(Counted))


def test_data_are_exchanged_where_there_are_some() -> None:
    x = torch.ones(3).as_subclass(Counted)
    x.data = torch.zeros(2)
    assert (type(x), x.shape) == (Counted, (2,))
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        Wrapped(X).data = X


def test_how_they_are_shown_and_where_they_begin() -> None:
    assert Wrapped(X).__repr__(tensor_contents="inside") == "Wrapped(inside)"
    made = torch.Tensor._make_wrapper_subclass(Wrapped, [2, 3], strides=[1, 2], storage_offset=12)
    assert (made.storage_offset(), made.stride()) == (12, (1, 2))
    by_place = torch.Tensor._make_wrapper_subclass(
        *(Wrapped, [2, 3], [1, 2], 12, None, torch.float64, torch.strided, "cpu", False, True)
    )
    assert (by_place.stride(), by_place.dtype) == ((1, 2), torch.float64)
    assert by_place.requires_grad


def test_nobody_knows_an_operator() -> None:
    with pytest.raises(TypeError, match=r"(?s)failed for 'aten.mul.Tensor'.*class '.*Unable"):
        torch.mul(Unable(X), 2)


def test_modes_are_asked_before_classes() -> None:
    kinds: list[Any] = []

    class Doubles(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kinds.append(types)
            return torch.mul(func(*args, **(kwargs or {})), 2)

    x = Wrapped(X)
    with Doubles():
        made = x + 1
    assert torch.equal(made.inner, (X + 1) * 2)
    assert SEEN == ["add.Tensor", "mul.Tensor"]
    assert kinds == [(Wrapped,)]


def test_nothing_computes_past_the_class() -> None:
    x = Wrapped(X)
    array = vars(torch.Tensor)["_array"].__get__(x)
    assert isinstance(array, Hidden)
    for call in (np.sum, np.exp, lambda a: a.copy(), lambda a: a.astype(int), np.concatenate):
        with pytest.raises(RuntimeError, match="__torch_dispatch__"):
            call(array)
    for call in (lambda: np.asarray(x), lambda: torch.from_numpy(x._array), lambda: x._array + 1):
        with pytest.raises((RuntimeError, TypeError)):
            call()


def test_writes_that_gradients_need_the_old_elements_of() -> None:
    x = Wrapped(X, True) * 1
    with pytest.raises(NotImplementedError, match="gives a new tensor"):
        x.pow_(2)
    with pytest.raises(NotImplementedError, match="part of such a tensor"):
        x[0].add_(1)
    row = x[0]
    x.add_(1)
    with pytest.raises(NotImplementedError, match="after that was written"):
        row.sum().backward()


def test_scripts_run_operator_by_operator() -> None:
    @torch.jit.script
    def program(x: torch.Tensor, times: int) -> torch.Tensor:
        for _ in range(times):
            x = torch.relu(x - 1) * 2
        return x.sum(0)

    made = program(Wrapped(X), 2)
    assert type(made) is Wrapped
    assert torch.equal(made.inner, program(X, 2))


def test_parts_of_wrappers() -> None:
    x = Wrapped(X)
    assert is_traceable_wrapper_subclass(x)
    assert not is_traceable_wrapper_subclass(X)
    assert torch.equal(transform_subclass(x, lambda name, part: part * 2).inner, X * 2)
    with pytest.raises(RuntimeError, match="requires that the class have a __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(torch.Tensor, [2])


def test_operators_of_libraries_have_rules_for_classes() -> None:
    @torch.library.custom_op("rushlight_wrappers::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_torch_dispatch(Wrapped)
    def rule(cls: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return cls(args[0].inner * 3)

    assert torch.equal(twice(Wrapped(X)).inner, X * 3)
    assert torch.equal(twice(X), X * 2)


def test_they_are_saved_with_what_they_hold() -> None:
    file = io.BytesIO()
    torch.save({"w": Wrapped(X)}, file)
    file.seek(0)
    with torch.serialization.safe_globals([Wrapped]):
        found = torch.load(file)["w"]
    assert type(found) is Wrapped
    assert torch.equal(found.inner, X)


class _Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor) -> torch.Tensor:
        return Wrapped(weight.detach() * 0.5)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * 0.5


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        return (x @ weight).inner

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, weight = ctx.saved_tensors
        assert type(weight) is Wrapped
        return torch.matmul(grads[0], weight.inner.t()), torch.matmul(x.t(), grads[0])


def test_functions_keep_them_for_the_way_back_with_their_class() -> None:
    weight = torch.arange(6.0).view(2, 3).requires_grad_()
    x = torch.ones(4, 2, requires_grad=True)
    made = _Product.apply(x, _Halved.apply(weight))
    made.sum().backward()
    assert made.tolist() == [[1.5, 2.5, 3.5]] * 4
    assert weight.grad is not None
    assert x.grad is not None
    assert weight.grad.tolist() == [[2.0] * 3] * 2
    assert x.grad.tolist() == [[1.5, 6.0]] * 4


@pytest.mark.parametrize("size", [1, 3, 40])
def test_products_with_one_that_lies_in_order(size: int) -> None:
    """Of every size, so that each way of multiplying asks the class."""
    made = torch.matmul(torch.ones(size, size), Wrapped(torch.ones(size, size)))
    assert type(made) is Wrapped
    assert made.inner.tolist() == [[float(size)] * size] * size
    with pytest.raises(RuntimeError, match=r"\.numpy\(\) is not supported for tensor subclasses"):
        made.numpy()


class Answering(torch.Tensor):
    """Gives what is put into `answer`, whatever it is asked for."""

    answer: Any = None

    @staticmethod
    def __new__(cls: Any, data: torch.Tensor) -> Any:
        return torch.Tensor._make_subclass(cls, data)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return cls.answer


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("neg", "arf", r"Unable to cast arf to Tensor"),
        ("neg", [X], r"Unable to cast \[tensor\(.*\)\] to Tensor"),
        ("neg_", 1, r"Unable to cast 1 to Tensor"),
        ("max", None, r"Object of type 'NoneType' is not an instance of 'sequence'"),
        ("max", (X,), r"Expected Tensor but got None"),
        ("max", (X, 1), r"Unable to cast 1 to Tensor"),
        ("max", (X, X, X), r"aten::max gives 2 values, but its __torch_dispatch__ gave 3"),
        ("unbind", [X, 1], r"Unable to cast Python instance of type <class 'list'>"),
        ("unbind", X, r"Unable to cast Python instance of type <class '.*Tensor'>"),
    ],
)
def test_what_a_class_answers_has_to_be_a_result(name: str, answer: Any, message: str) -> None:
    x = Answering(torch.ones(3))
    Answering.answer = answer
    with pytest.raises(RuntimeError, match=f"(?s){message}"):
        getattr(x, name)(*([0] if name == "max" else []))


def test_none_stands_for_a_tensor_that_there_is_none_of() -> None:
    Answering.answer = None
    x = Answering(torch.ones(3))
    assert x.neg() is None
    assert x.neg_() is x
    Answering.answer = [X, X]
    assert [type(each) for each in x.max(0)] == [torch.Tensor] * 2
