"""`functorch`: the older names, and modules as functions in the older way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import functorch, nn
from rushlight.as_torch import torchs_module
from rushlight.functorch.experimental import chunk_vmap

pytestmark = pytest.mark.filterwarnings("ignore:We've integrated functorch:FutureWarning")


class Tied(nn.Module):
    """One parameter under two names, and a buffer that counts calls."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((2,), 3.0))
        self.inner = nn.Module()
        self.inner.scale = self.scale
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Any, times: int = 1) -> Any:
        self.calls += 1
        return x * self.scale + self.inner.scale * times


def test_functorch_is_found_where_rushlight_is_torch() -> None:
    assert torchs_module("functorch.experimental") is not None
    assert torchs_module("functorch.nothing") is None


@pytest.mark.parametrize(
    ("name", "place"),
    [("vmap", "torch.vmap"), ("grad", "torch.func.grad"), ("hessian", "torch.func.hessian")],
)
def test_transforms_say_where_they_are_now(name: str, place: str) -> None:
    with pytest.warns(FutureWarning, match=rf"`functorch\.{name}` is .* Please use `{place}`"):
        getattr(functorch, name)(torch.sin)


def test_a_module_is_a_function_of_parameters() -> None:
    model = nn.Linear(2, 3)
    function, params = functorch.make_functional(model)
    x = torch.ones(4, 2)
    torch.testing.assert_close(function(params, x), model(x))
    assert all(a is not b for a, b in zip(params, model.parameters(), strict=True))
    assert {each.device.type for each in function.parameters()} == {"meta"}
    grads = torch.autograd.grad(function(params, x).sum(), params)
    assert grads[1].tolist() == [4.0, 4.0, 4.0]
    assert not any(each.requires_grad for each in functorch.make_functional(model, True)[1])


def test_tied_parameters_are_one_and_buffers_are_written() -> None:
    model = Tied()
    function, params, buffers = functorch.make_functional_with_buffers(model)
    assert function.param_names == ("scale",)
    assert function.all_names_map == {"scale": ["scale", "inner.scale"], "calls": ["calls"]}
    assert function([torch.ones(2)], buffers, torch.ones(2), times=2).tolist() == [3.0, 3.0]
    assert (buffers[0].item(), model.calls.item(), len(params)) == (1.0, 0.0, 1)


def test_modules_of_one_kind_are_one_function() -> None:
    models = [nn.Linear(2, 3) for _ in range(4)]
    function, params, buffers = functorch.combine_state_for_ensemble(models)
    x = torch.ones(5, 2)
    found = torch.vmap(function, (0, 0, None))(params, buffers, x)
    torch.testing.assert_close(found, torch.stack([each(x) for each in models]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: functorch.make_functional(nn.BatchNorm1d(2)), "`model` has buffers"),
        (lambda: functorch.combine_state_for_ensemble([]), "at least one model, got 0"),
        (
            lambda: functorch.combine_state_for_ensemble([nn.Linear(1, 1), nn.ReLU()]),
            "to be of the same class",
        ),
        (
            lambda: functorch.combine_state_for_ensemble([nn.ReLU(), nn.ReLU().eval()]),
            "the same training/eval mode",
        ),
        (lambda: chunk_vmap(torch.sin, chunks=0)(torch.ones(2)), "greater than 0, got: 0"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize(("chunks", "sizes"), [(1, [5]), (3, [2, 2, 1]), (9, [1] * 5)])
def test_slices_run_in_pieces(chunks: int, sizes: list[int]) -> None:
    seen = []

    def double(x: Any) -> Any:
        seen.append(torch.func.debug_unwrap(x).shape[0])
        return x * 2

    x = torch.arange(10.0).reshape(2, 5)
    found = chunk_vmap(double, in_dims=1, out_dims=1, chunks=chunks)(x)
    assert found.tolist() == (x * 2).tolist()
    assert seen == sizes


class Own(torch.Tensor):
    pass


@pytest.mark.parametrize("name", ["grad", "vmap", "jacrev", "hessian"])
def test_functions_of_transforms_see_no_classes_of_others(name: str) -> None:
    seen: list[type] = []

    def squares(x: Any) -> Any:
        seen.append(type(x))
        return (x * x).sum()

    given = torch.ones(2, 3).as_subclass(Own) if name == "vmap" else torch.ones(3).as_subclass(Own)
    made = getattr(torch.func, name)(squares)(given)
    assert Own not in seen
    assert type(made) is torch.Tensor
    assert type(torch.func.vjp(squares, given)[0]) is torch.Tensor
    assert type(torch.func.jvp(squares, (given,), (torch.ones(given.shape),))[1]) is torch.Tensor


def test_packages_may_keep_their_classes_in_transforms(monkeypatch: pytest.MonkeyPatch) -> None:
    from rushlight._functorch import eager_transforms

    plain = eager_transforms._wrap_tensor_for_grad

    def kept(given: Any, level: int) -> Any:
        return plain(given, level).as_subclass(type(given))

    monkeypatch.setattr(eager_transforms, "_wrap_tensor_for_grad", kept)
    seen: list[type] = []

    def cubes(x: Any) -> Any:
        seen.append(type(x))
        return x**3

    made = eager_transforms.jacrev(cubes)(torch.tensor([1.0, 2.0]).as_subclass(Own))
    assert seen == [Own]
    assert made.tolist() == [[3, 0], [0, 12]]
    assert not made.requires_grad
