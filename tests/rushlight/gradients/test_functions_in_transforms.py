"""`autograd.Function` inside of `torch.func`: directions by `jvp`, and all slices at once."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight.autograd import Function, forward_ad
from rushlight.func import grad, hessian, jacfwd, jacrev, jvp, vmap

X, T = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 0.5, 2.0])


class Cube(Function):
    """Its `jvp` is twice what it should be, so that it is seen to be called."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * g

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        x, _ = ctx.saved_tensors
        return 6 * x * x * t


class Generated(Cube):
    generate_vmap_rule = True


class OwnRule(Cube):
    seen: ClassVar[list[Any]] = []

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        OwnRule.seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
        return OwnRule.apply(x.transpose(0, 1)), 1


class Scaled(Function):
    """Two results of two tensors and a number."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, y: Any, k: float) -> Any:
        return x * y * k, x + y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, y, ctx.k = inputs
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        x, y = ctx.saved_tensors
        return g * y * ctx.k + h, g * x * ctx.k + h, None

    @staticmethod
    def jvp(ctx: Any, a: Any, b: Any, _: None) -> Any:
        x, y = ctx.saved_tensors
        return (a * y + x * b) * ctx.k, a + b


def plain(x: Any, y: Any) -> Any:
    return x * y * 2.0, x + y


def own(x: Any, y: Any) -> Any:
    return Scaled.apply(x, y, 2.0)


@pytest.mark.parametrize("kind", [Cube, Generated, OwnRule])
def test_directions_are_those_of_jvp(kind: Any) -> None:
    value, direction = jvp(kind.apply, (X,), (T,))
    assert (value.tolist(), direction.tolist()) == ([1, 8, 27], [6, 12, 108])
    with forward_ad.dual_level():
        dual = kind.apply(forward_ad.make_dual(X, T) * 1)
        assert forward_ad.unpack_dual(dual).tangent.tolist() == [6, 12, 108]
    assert grad(lambda x: kind.apply(x).sum())(X).tolist() == [3, 12, 27]
    _, bent = jvp(lambda y: jvp(kind.apply, (y,), (y,))[1], (X,), (T,))
    assert bent.tolist() == [18, 36, 324]


def test_outside_of_levels_nothing_is_kept_for_directions() -> None:
    x = X.clone().requires_grad_()
    node: Any = Cube.apply(x).grad_fn
    assert len(node._kept) == 1
    assert not node._kept_for_directions


@pytest.mark.parametrize("kind", [Generated, OwnRule])
def test_slices(kind: Any) -> None:
    table = torch.arange(6.0).view(2, 3)
    assert vmap(kind.apply)(table).tolist() == (table**3).tolist()
    assert vmap(grad(lambda x: kind.apply(x).sum()))(table).tolist() == (3 * table**2).tolist()
    assert vmap(vmap(kind.apply))(table[None]).tolist() == (table**3)[None].tolist()
    assert torch.allclose(jacrev(kind.apply)(X), torch.diag(3 * X * X))


def test_rules_of_ones_own_are_told_where_slices_lie() -> None:
    OwnRule.seen.clear()
    vmap(OwnRule.apply, in_dims=1, randomness="same")(torch.ones(2, 3))
    assert OwnRule.seen == [(3, "same", (0,), (3, 2))]


@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0), (1, 0)])
def test_several_arguments_and_results(dims: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 3) if dims[0] is not None else torch.randn(3)
    y = torch.randn(3, 3) if dims[1] is not None else torch.randn(3)

    def total(f: Any) -> Any:
        return lambda a, b: sum((each * each).sum() for each in f(a, b))

    for transform in (
        lambda f: f,
        lambda f: grad(total(f), (0, 1)),
        lambda f: lambda a, b: jvp(lambda z: f(z, b), (a,), (a * b,)),
        lambda f: hessian(total(f)),
        lambda f: jacfwd(f),
    ):
        found = vmap(transform(own), in_dims=dims)(x, y)
        expected = vmap(transform(plain), in_dims=dims)(x, y)
        for one, other in zip(
            torch.utils._pytree.tree_leaves(found),
            torch.utils._pytree.tree_leaves(expected),
            strict=True,
        ):
            assert torch.allclose(one, other, atol=1e-5)


def test_gradients_reach_what_lies_outside_of_the_slices() -> None:
    y = torch.tensor(3.0, requires_grad=True)
    vmap(own, in_dims=(0, None))(X, y)[0].sum().backward()
    assert y.grad is not None
    assert y.grad.item() == 12.0


def test_saved_without_gradients_given() -> None:
    class Seen(Cube):
        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.set_materialize_grads(False)

        @staticmethod
        def forward(x: Any, y: Any) -> Any:  # type: ignore[override]
            return x * 1, y * 1

        @staticmethod
        def jvp(ctx: Any, a: Any, b: Any) -> Any:  # type: ignore[override]
            given.append((a is None, b is None, ctx.needs_input_grad))
            return a, None

    given: list[Any] = []
    jvp(lambda x: Seen.apply(x, T)[0], (X,), (T,))
    assert given == [(False, True, (True, False))]


class Old(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


class Both(Generated):
    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return x, 0


def with_rule(given: Any) -> Any:
    return type("Made", (Cube,), {"vmap": staticmethod(lambda info, dims, x: given(x))})


def with_jvp(given: Any) -> Any:
    return type("Made", (Cube,), {"jvp": staticmethod(lambda ctx, t: given(t))})


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: grad(lambda x: Old.apply(x).sum())(X), RuntimeError, "must override the setup_co"),
        (lambda: vmap(Cube.apply)(X), RuntimeError, "does not have vmap support"),
        (lambda: vmap(Both.apply)(X), RuntimeError, "it has both generate_vmap_rule=True and an"),
        (lambda: vmap(with_rule(lambda x: x).apply)(X), RuntimeError, "to have two returns, an ou"),
        (lambda: vmap(with_rule(lambda x: (x, (0, 1))).apply)(X), RuntimeError, "an incompatible"),
        (lambda: jvp(with_jvp(lambda t: (t, t)).apply, (X,), (T,)), RuntimeError, "expected 1 but"),
        (lambda: jvp(with_jvp(torch.sum).apply, (X,), (T,)), RuntimeError, "has a different size"),
        (lambda: jvp(with_jvp(str).apply, (X,), (T,)), RuntimeError, "None .got str. for grad"),
        (lambda: vmap(F.dropout)(X), RuntimeError, "called random operation while in randomness"),
        (lambda: vmap(torch.nn.BatchNorm1d(3))(torch.ones(5, 4, 3)), RuntimeError, "were not b"),
    ],
)  # fmt: skip
def test_refusals(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_without_jvp_there_are_no_directions() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, T)
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            Old.apply(dual)


def test_scripted_functions_take_slices() -> None:
    @torch.jit.script
    def curved(x: torch.Tensor) -> torch.Tensor:
        y = x
        for i in range(2):
            y = (y * x.exp() + float(i)).cos()
        return y.sum()

    table = torch.arange(6.0).view(2, 3) / 5
    assert vmap(curved)(table).tolist() == [curved(row).item() for row in table]
    for _ in range(3):
        slopes = vmap(grad(curved))(table)
        assert torch.allclose(slopes, torch.stack([grad(curved)(row) for row in table]))
    layer = torch.jit.script(torch.nn.Linear(3, 2))
    assert torch.allclose(vmap(layer)(table), layer(table))


def test_what_draws_nothing_runs_in_slices() -> None:
    assert vmap(lambda x: F.dropout(x, 0.0))(X).tolist() == X.tolist()
