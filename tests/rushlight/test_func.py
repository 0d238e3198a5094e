"""`torch.func`: gradients of functions, and functions of slices, against loops and formulas."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight import func
from rushlight.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = torch.arange(24.0).reshape(2, 3, 4) / 7 - 1
ONES = torch.ones(5, 4)

FUNCTIONS: list[Callable[..., Any]] = [
    *(lambda a: a + 1, lambda a: 2 - a, lambda a: a.sin(), torch.exp, F.relu, F.gelu, lambda a: -a),
    *(lambda a: a.sum(), lambda a: a.sum(0), lambda a: a.sum(-1, keepdim=True), lambda a: a.mean()),
    *(lambda a: a.sum((0, 1)), lambda a: a.amax(1), lambda a: a.max(0).values, lambda a: a.std(0)),
    *(lambda a: a.softmax(0), lambda a: F.softmax(a, dim=-1), lambda a: a.logsumexp(0)),
    *(lambda a: a.t(), lambda a: a.T, lambda a: a.transpose(0, 1), lambda a: a.permute(1, 0)),
    *(lambda a: a.reshape(-1), lambda a: a.view(4, 3), lambda a: a.flatten(), lambda a: a.flip(0)),
    *(lambda a: a.unsqueeze(0), lambda a: a[0], lambda a: a[:, 1:], lambda a: a[None]),
    *(lambda a: a.unbind(0)[1], lambda a: a.split(2, dim=1)[1], lambda a: a.narrow(1, 1, 2)),
    *(lambda a: torch.cat([a, a]), lambda a: torch.stack([a, a], 1), lambda a: a[0].expand(3, 4)),
    *(lambda a: F.linear(a, ONES), lambda a: a @ a.T, lambda a: a[0] @ a[1], lambda a: a @ a[0]),
    *(lambda a: a * a.sum(), lambda a: a.double(), lambda a: (a > 0).float(), lambda a: a**2),
    *(lambda a: a * a.shape[0], lambda a: sum(row.sum() for row in a), lambda a: a.cumsum(0)),
    *(lambda a: a.clone().add_(1).mul_(2), lambda a: torch.zeros_like(a).copy_(a)),
    *(lambda a: torch.where(a > 0, a, -a), lambda a: a.clamp(min=0), torch.isnan),
    *(lambda a: F.layer_norm(a, (4,)), lambda a: F.mse_loss(a, a * 2), lambda a: a.argmax(0)),
    *(lambda a: torch.einsum("ij,kj->ik", a, a), lambda a: F.pad(a, (1, 1)), lambda a: a.norm()),
    *(lambda a: a.sort(0).values, lambda a: a.topk(2, dim=-1).indices, lambda a: a.diagonal()),
    *(lambda a: F.interpolate(a[None], scale_factor=2), lambda a: torch.linalg.svdvals(a)),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_vmap_gives_what_a_loop_gives(function: Any) -> None:
    expected = torch.stack([function(each) for each in X])
    found = vmap(function)(X)
    assert type(found) is torch.Tensor
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert torch.allclose(found, expected)


def test_vmap_where_slices_lie() -> None:
    vector, columns = torch.arange(4.0), torch.arange(8.0).reshape(4, 2)
    products = vmap(torch.dot, in_dims=(None, 1))(vector, columns)
    assert products.tolist() == (vector @ columns).tolist()
    both = vmap(lambda a: (a, a.sum()), out_dims=(1, 0))(columns)
    assert both[0].tolist() == columns.T.tolist()
    assert both[1].tolist() == columns.sum(1).tolist()
    nested = vmap(vmap(lambda a, b: a * b, in_dims=(0, None)), in_dims=(None, 0))(vector, vector)
    assert nested.tolist() == torch.outer(vector, vector).tolist()
    assert vmap(lambda a: a * 2, chunk_size=3)(columns).tolist() == (columns * 2).tolist()
    assert vmap(lambda d: d["a"] + 1)({"a": vector}).tolist() == (vector + 1).tolist()
    assert vmap(lambda a: a.sum())(torch.ones(0, 2)).shape == (0,)


def test_slices_of_a_bias_alone() -> None:
    torch.manual_seed(0)
    x, weight, biases = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 2, 2), torch.randn(6, 4)
    made = vmap(lambda bias: F.conv2d(x, weight, bias))(biases)
    wanted = torch.stack([F.conv2d(x, weight, bias) for bias in biases])
    torch.testing.assert_close(made, wanted)


def test_vmap_refuses_in_torchs_words() -> None:
    for function, text in [
        (lambda a: a.sum().item(), r"vmap over calling \.item\(\) on a Tensor"),
        (lambda a: a if a.sum() > 0 else -a, "data-dependent control flow"),
        (lambda a: a + torch.rand(4), "called random operation while in randomness error mode"),
        (lambda a: F.dropout(a), "called random operation"),
        (lambda a: a.nonzero(), "can output dynamic shape. Attempted to vmap over aten::nonzero"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            vmap(function)(ONES)
    with pytest.raises(ValueError, match=r"got sizes \[2, 4\] for the mapped dimension"):
        vmap(torch.add)(X, ONES[0])
    with pytest.raises(ValueError, match="We cannot vmap over non-Tensor arguments"):
        vmap(lambda a: a)(1)
    with pytest.raises(ValueError, match="must only return Tensors"):
        vmap(lambda a: 1)(X)


def test_writes_are_removed_by_the_words_that_torch_knows() -> None:
    for words in ({}, {"remove": "mutations"}, {"remove": "mutations_and_views"}):
        assert torch.func.functionalize(torch.neg, **words)(X).tolist() == (-X).tolist()
    with pytest.raises(RuntimeError, match=r"received invalid argument for remove=views\. Valid"):
        torch.func.functionalize(torch.neg, remove="views")


def test_random_numbers_of_slices() -> None:
    def dropped(a: torch.Tensor) -> torch.Tensor:
        return F.dropout(a + torch.ones(30))

    zeros = torch.zeros(3)
    same = vmap(dropped, randomness="same")(zeros)
    other = vmap(dropped, randomness="different")(zeros)
    assert torch.equal(same[0], same[1])
    assert not torch.equal(other[0], other[1])


def test_slices_are_drawn_as_one_tensor() -> None:
    x = torch.full((3, 4, 8), 0.5)
    draws = [
        *(torch.randn_like, torch.rand_like, torch.bernoulli, torch.poisson),
        lambda a: torch.randint_like(a, 9),
        lambda a: torch.normal(a, 1.0),
        lambda a: a.clone().uniform_(),
        lambda a: a.clone().exponential_(),
        lambda a: a.clone().bernoulli_(a),
    ]
    for draw in draws:
        for dim in range(3):
            torch.manual_seed(0)
            wanted = draw(x.movedim(dim, 0))
            torch.manual_seed(0)
            assert torch.equal(vmap(draw, in_dims=dim, randomness="different")(x), wanted)


def test_the_same_numbers_cannot_depend_on_what_differs() -> None:
    x = torch.full((3, 4), 0.5)
    draws = [
        *(torch.bernoulli, torch.poisson),
        lambda a: torch.normal(a, 1.0),
        lambda a: torch.multinomial(a, 2),
        lambda a: a.clone().bernoulli_(a),
    ]
    for draw in draws:
        with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
            vmap(draw, randomness="same")(x)
    filled = vmap(lambda a: a.clone().bernoulli_(torch.tensor(0.5)), randomness="same")(x)
    assert torch.equal(filled[0], filled[1])


def test_gradients_of_functions() -> None:
    x = torch.tensor([1.0, 2.0])
    assert grad(lambda a: (a**3).sum())(x).tolist() == [3.0, 12.0]
    assert grad(lambda a: grad(lambda b: (b**3).sum())(a).sum())(x).tolist() == [6.0, 12.0]
    pair = grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1)
    assert [each.tolist() for each in pair] == [[2.0, 3.0], [1.0, 2.0]]
    gradient, (value, aux) = func.grad_and_value(lambda a: (a.sum(), a * 2), has_aux=True)(x)
    assert [each.tolist() for each in (gradient, value, aux)] == [[1.0, 1.0], 3.0, [2.0, 4.0]]
    assert not any(each.requires_grad for each in (gradient, value, aux))
    with pytest.raises(RuntimeError, match="to return a scalar Tensor, got tensor with 1 dims"):
        grad(lambda a: a)(x)
    with pytest.raises(RuntimeError, match="Got argnum=2, but only 1 positional inputs"):
        grad(torch.sum, argnums=2)(x)


def test_gradients_are_recorded_where_something_outside_wants_them() -> None:
    x, weight = torch.ones(2), torch.tensor([2.0, 3.0], requires_grad=True)
    found = grad(lambda a: (a * weight**2).sum())(x)
    assert found.requires_grad
    (again,) = torch.autograd.grad(found.sum(), weight)
    assert again.tolist() == [4.0, 6.0]
    (second,) = torch.autograd.grad(grad(lambda a: (a**3).sum())(weight).sum(), weight)
    assert second.tolist() == [12.0, 18.0]


def test_products_with_jacobians() -> None:
    x, direction = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0])
    value, product = jvp(lambda a: a**2, (x,), (direction,))
    assert [value.tolist(), product.tolist()] == [[1.0, 4.0], [2.0, -4.0]]
    value, back = vjp(lambda a: a**2, x)
    assert [each.tolist() for each in back(direction)] == [[2.0, -4.0]]
    rows = vmap(back)(torch.eye(2))[0]
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert func.linearize(lambda a: a**2, x)[1](direction).tolist() == [2.0, -4.0]


def test_jacobians_and_hessians() -> None:
    x = torch.tensor([1.0, 2.0])
    for jacobian in (jacrev, jacfwd):
        assert jacobian(lambda a: a**2)(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert hessian(lambda a: (a**3).sum())(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    named = jacrev(lambda d: {"out": d["in"] * 2})({"in": x})
    assert named["out"]["in"].tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_gradients_of_each_example() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    parameters = {name: each.detach() for name, each in model.named_parameters()}
    rows = X[0]

    def loss(parameters: Any, row: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = func.functional_call(model, parameters, (row,)).sum()
        return made

    found = vmap(grad(loss), in_dims=(None, 0))(parameters, rows)
    for place, row in enumerate(rows):
        model.zero_grad()
        model(row).sum().backward()
        for name, each in model.named_parameters():
            assert torch.allclose(found[name][place], each.grad)


def test_several_models_at_once() -> None:
    models = [torch.nn.Linear(4, 2) for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["weight"].shape == (3, 2, 4)

    def call(parameters: Any, buffers: Any) -> Any:
        return func.functional_call(models[0], (parameters, buffers), (ONES,))

    found = vmap(call)(parameters, buffers)
    assert torch.allclose(found, torch.stack([each(ONES) for each in models]), atol=1e-6)
    with pytest.raises(RuntimeError, match="Expected at least one model, got 0"):
        func.stack_module_state([])


def test_no_grad_inside_a_transform_is_about_the_one_around() -> None:
    def shifted(x: Any) -> Any:
        with torch.no_grad():
            shift = torch.func.grad(lambda x: 0.25 * x**4)(x)
        return torch.func.grad(lambda x: 0.5 * x**2)(x) + shift

    def cubed(x: Any) -> Any:
        with torch.no_grad():
            gradient, value = torch.func.grad_and_value(lambda x: x**3)(x)
        assert gradient.item() == 12
        return value

    x = torch.tensor(2.0)
    assert shifted(x).item() == 10
    assert torch.func.grad(shifted)(x).item() == 1
    assert torch.func.grad(cubed)(x).item() == 0
    with torch.no_grad():
        assert torch.func.grad(torch.sum)(torch.ones(2)).tolist() == [1, 1]


def test_the_gradient_of_a_product_with_the_jacobian_by_the_vector() -> None:
    x = torch.tensor(0.3)

    def product(vector: Any) -> Any:
        return torch.func.vjp(torch.sin, x)[1](vector)[0]

    assert torch.allclose(torch.func.grad(product)(torch.tensor(0.7)), x.cos())
    vector = torch.tensor(2.0, requires_grad=True)
    product(vector).backward()
    assert vector.grad is not None
    assert torch.allclose(vector.grad, x.cos())
    with torch.no_grad():
        assert not product(vector).requires_grad


def test_sizes_are_asked_of_slices_of_slices() -> None:
    halved = torch.vmap(torch.vmap(lambda x: x / x.shape[0]))(torch.ones(2, 3, 4))
    assert halved.tolist() == [[[0.25] * 4] * 3] * 2


def test_arguments_are_counted_from_either_end() -> None:
    x, y = torch.tensor(2.0), torch.tensor(3.0)

    def product(a: Any, b: Any) -> Any:
        return a * a * b

    assert [grad(product, argnums=n)(x, y).item() for n in (0, 1, -1, -2)] == [12, 4, 4, 12]
    assert [each.item() for each in grad(product, argnums=(-2, 1))(x, y)] == [12, 4]
    for number in (2, -3):
        with pytest.raises(RuntimeError, match=f"Got argnum={number}, but only 2 positional"):
            grad(product, argnums=number)(x, y)


def _writes_to_a_part(x: Any, y: Any) -> Any:
    x = x * 1
    part, column = x[0], x[..., 1]
    part.mul_(y)
    column[1:].add_(y)
    return (x**2).sum() + part.sum()


def _reads_a_part_of_what_was_written(x: Any, y: Any) -> Any:
    x = x * 1
    part = x.T[1, None]
    x.mul_(y)
    return (part**3).sum()


def _becomes_a_view(x: Any, y: Any) -> Any:
    x = x * 1
    x.t_().unsqueeze_(0)
    x.squeeze_()[0].mul_(y)
    x.hsplit(2)[1].mul_(2)
    x.ravel()[1].add_(y)
    x.t().view_as(torch.ones(4)).view_as(x.t().flatten()).unfold(0, 2, 1)[2].mul_(y)
    x.as_strided((2,), (2,)).mul_(x.adjoint()[0].clone())
    return (x**2 * torch.arange(4.0).view(2, 2)).sum()


@pytest.mark.parametrize(
    "function", [_writes_to_a_part, _reads_a_part_of_what_was_written, _becomes_a_view]
)
def test_views_of_slices_share_their_memory(function: Any) -> None:
    x, y = torch.arange(12.0).reshape(3, 2, 2) / 7, torch.tensor([0.5, -2.0, 3.0])
    pairs = list(zip(x, y, strict=True))
    wanted = torch.stack([function(*pair) for pair in pairs])
    assert torch.allclose(torch.func.vmap(function)(x, y), wanted)
    gradient = torch.func.grad(function)
    wanted = torch.stack([gradient(*pair) for pair in pairs])
    assert torch.allclose(torch.func.vmap(gradient)(x, y), wanted)
    x.requires_grad_()
    torch.func.vmap(function)(x, y).sum().backward()
    assert torch.allclose(x.grad, wanted)


def test_slices_get_no_other_memory() -> None:
    with pytest.raises(NotImplementedError, match="aten::resize_"):
        torch.func.vmap(lambda x: x.resize_(2, 2))(torch.ones(2, 3))


_SIGNS = [
    *("__add__", "__sub__", "__mul__", "__floordiv__", "__mod__", "__and__", "__or__", "__xor__"),
    *("__lshift__", "__rshift__", "__eq__", "__lt__", "__pow__", "__rsub__", "__rtruediv__"),
    *("__rfloordiv__", "__rmod__", "__rpow__", "__rand__", "__rlshift__", "__rrshift__"),
    *("__rmatmul__", "__matmul__"),
]


@pytest.mark.parametrize("sign", _SIGNS)
def test_signs_between_slices(sign: str) -> None:
    x, y = torch.tensor([[[3, 4], [1, 2]], [[2, 1], [4, 5]]]), torch.tensor([[1, 2], [3, 1]])

    def of(x: Any, y: Any) -> Any:
        return getattr(torch.Tensor, sign)(x, y)

    def wanted(pairs: list[tuple[Any, Any]]) -> list[Any]:
        return [of(*pair).tolist() for pair in pairs]

    vmap = torch.func.vmap
    assert vmap(of)(x, x).tolist() == wanted([(a, a) for a in x])
    assert vmap(of, (0, None))(x, y).tolist() == wanted([(a, y) for a in x])
    assert vmap(of, (None, 0))(y, x).tolist() == wanted([(y, a) for a in x])
    rows = vmap(lambda x: vmap(lambda y: of(x, y))(x + 1))(x[None] + 1)
    assert rows[0].shape[:1] == (2,)


def test_signs_that_write_slices() -> None:
    def both(x: Any) -> Any:
        y = x.clone()
        y &= x
        y |= x << 1
        y ^= ~x
        return y

    x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    assert torch.func.vmap(both)(x).tolist() == [both(row).tolist() for row in x]


def _written(x: Any, y: Any) -> Any:
    x[0].mul_(y)
    x.add_(y)
    return (x**2).sum()


def test_what_directions_go_through_may_be_written() -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor(3.0)
    value, pushed = torch.func.jvp(_written, (x, y), (torch.ones(2), torch.ones(())))
    assert (value.item(), pushed.item()) == (6**2 + 5**2, 2 * 6 * (1 + 3 + 1) + 2 * 5 * 2)
    assert x.tolist() == [6, 5]
    rows = torch.tensor([[1.0, 2.0], [0.0, 1.0]])

    def pushes(x: Any) -> Any:
        return torch.func.jvp(_written, (x, y), (torch.ones(2), torch.ones(())))[1]

    assert torch.func.vmap(pushes)(rows).tolist() == [80, 2 * 3 * (3 + 0 + 1) + 2 * 4 * 2]
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        torch.func.grad(_written)(x, y)


_X = torch.ones(3)
_WRONG: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: torch.func.grad(torch.mul, (0.0,))(_X, _X),
        RuntimeError,
        "argnum must be int, got: <class 'float'>",
    ),
    (lambda: torch.func.grad(torch.sum)(1.0), ValueError, "Thing passed to transform API must be"),
    (
        lambda: torch.func.jacrev(lambda x: ())(_X),
        RuntimeError,
        "non-empty output (got output = [])",
    ),
    (
        lambda: torch.func.jacfwd(torch.abs)(_X * 1j),
        RuntimeError,
        "jacfwd: Expected all inputs to be real but received complex tensor at flattened input idx",
    ),
    (
        lambda: torch.func.jacrev(lambda x: x * 1j)(_X),
        RuntimeError,
        "jacrev: Expected all outputs to be real",
    ),
    (lambda: torch.func.vjp(lambda x: x.long(), _X), RuntimeError, "must be floating-point or"),
    (lambda: torch.func.jvp(torch.sin, (), ()), RuntimeError, "to contain at least one Tensor."),
    (
        lambda: torch.func.jvp(torch.sin, (_X,), (1.0,)),
        RuntimeError,
        "Expected tangents to only contain Tensors, got <class 'float'>",
    ),
    (
        lambda: torch.func.jvp(torch.sin, (_X,), (_X[:1],)),
        RuntimeError,
        "Tensor is of size [3] while the given forward gradient is of size [1].",
    ),
    (
        lambda: torch.func.jvp(torch.sin, (_X.long(),), (_X,)),
        ValueError,
        "Expected primal to be floating point or complex, but got: torch.int64",
    ),
    (
        lambda: torch.func.jvp(lambda x: _X * 2, (_X,), (_X,), strict=True),
        RuntimeError,
        "The output of f is independent of the inputs.",
    ),
    (
        lambda: torch.func.vjp(lambda x: (x, x), _X)[1](_X),
        RuntimeError,
        "cotangents: *, primal output: (*, *)",
    ),
    (
        lambda: torch.func.linearize(torch.sin, _X)[1](_X.double()),
        RuntimeError,
        "tangent:0 with dtype torch.float64 in flattened pytree doesn't match",
    ),
    (lambda: torch.func.vmap(torch.sin, out_dims="a")(_X), ValueError, "must be an int, None or a"),
    (lambda: torch.func.vmap(torch.sin, None)(_X), ValueError, "in_dims"),
    (lambda: torch.func.vmap(torch.sin, (None,))(_X), ValueError, "at least one Tensor to vmap"),
]


@pytest.mark.parametrize("number", range(len(_WRONG)))
def test_wrong_arguments_are_refused_in_torchs_words(number: int) -> None:
    call, kind, said = _WRONG[number]
    with pytest.raises(kind, match=re.escape(said)):
        call()


def test_one_result_may_have_a_tuple_of_one_dimension() -> None:
    assert torch.func.vmap(lambda x: x, out_dims=(1,))(torch.ones(2, 3)).shape == (3, 2)


def test_products_asked_for_without_gradients_have_none() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    value, product = torch.func.vjp(torch.square, x)
    with torch.no_grad():
        (found,) = product(torch.tensor(1.0))
    assert (found.item(), found.requires_grad, value.requires_grad) == (6, False, True)


def _indexed_in_many_ways(x: Any) -> Any:
    x = x.clone()
    x[0:2, 1] = 5.0
    x[[1]].mul_(100)
    x[torch.tensor(1)].mul_(3)
    x[True].mul_(2)
    F.dropout(x[0], 0.5, False, True).add_(1)
    return x


def test_slices_of_slices_are_indexed_and_written() -> None:
    x = torch.arange(8.0).reshape(1, 2, 2, 2)
    wanted = torch.stack([_indexed_in_many_ways(each) for each in x[0]])
    assert torch.equal(torch.func.vmap(_indexed_in_many_ways)(x[0]), wanted)
    assert torch.equal(torch.func.vmap(torch.func.vmap(_indexed_in_many_ways))(x)[0], wanted)


def test_only_what_depends_on_data_is_refused() -> None:
    x = torch.arange(6).reshape(2, 3)
    vmap = torch.func.vmap
    assert vmap(lambda x: F.one_hot(x, 6))(x).shape == (2, 3, 6)
    assert vmap(lambda x: x.tensor_split(3, 0)[1])(x).tolist() == [[1], [4]]
    with pytest.raises(RuntimeError, match="batch1 must be a 3D tensor"):
        vmap(torch.bmm)(torch.ones(2, 1, 1, 2, 2), torch.ones(2, 1, 1, 2, 2))
    with pytest.raises(RuntimeError, match="Expected size for first two dimensions of batch2"):
        vmap(torch.bmm)(torch.ones(2, 3, 2, 2), torch.ones(2, 1, 2, 2))
    for call in (torch.nonzero, F.one_hot, torch.unique, lambda x: x[x > 1], torch.where):
        with pytest.raises(RuntimeError, match="vmap: "):
            vmap(call)(x)


def test_what_is_drawn_without_slices_is_drawn_for_each() -> None:
    def drawn(call: Any) -> Any:
        torch.manual_seed(0)
        return call()

    def shifted(x: Any) -> Any:
        return x + torch.rand(2) + torch.randint(0, 9, (2,)).add_(1)

    vmap, x = torch.func.vmap, torch.zeros(3)
    wanted = drawn(lambda: torch.rand(3, 2) + torch.randint(0, 9, (3, 2)) + 1)
    assert torch.equal(drawn(lambda: vmap(shifted, randomness="different")(x)), wanted)
    inner = vmap(lambda x: x + torch.randn(()), randomness="different")
    both = vmap(inner, randomness="different")
    assert torch.equal(drawn(lambda: both(torch.zeros(2, 2))), drawn(lambda: torch.randn(2, 2)))
    halved = vmap(vmap(lambda x: F.dropout(x + 1), randomness="different"), randomness="different")
    assert drawn(lambda: halved(torch.zeros(4, 4))).unique().tolist() == [0, 2]
    order = drawn(lambda: vmap(lambda x: x + torch.randperm(5), randomness="different")(x))
    assert order.tolist() == drawn(lambda: [torch.randperm(5).tolist() for _ in x])
    same = drawn(lambda: vmap(shifted, randomness="same", chunk_size=2)(x))
    assert same[0].tolist() == same[1].tolist() == same[2].tolist()


def _asks(x: Any) -> Any:
    x.requires_grad_()
    return x.sin().sum()


def _walks_back(x: Any) -> Any:
    y = x.sin().sum()
    y.backward()
    return y


def _keeps(x: Any) -> Any:
    y = x.sin()
    y.retain_grad()
    return y.sum()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_asks, r"Tensor\.requires_grad_\(\) \(or perhaps using torch\.autograd\.functional"),
        (lambda x: torch.autograd.functional.jacobian(torch.sin, x).sum(), "requires_grad_"),
        (_walks_back, r"backward\(\) called inside a functorch transform"),
        (_keeps, r"Tensor\.retain_grad\(\) inside of a function|can't retain_grad on Tensor"),
    ],
)
def test_histories_are_the_affair_of_transforms(function: Callable[..., Any], message: str) -> None:
    x = torch.ones(3)
    for transformed in (grad(function), jacrev(function), lambda x: jvp(function, (x,), (x,))):
        with pytest.raises(RuntimeError, match=message):
            transformed(x)
    assert not x.requires_grad
    made = grad(lambda x: (x * torch.ones(3, requires_grad=True)).sum())(x)
    assert made.tolist() == [1.0, 1.0, 1.0]


def test_kept_tensors_go_through_no_hooks_inside_of_transforms() -> None:
    def hooked(x: Any) -> Any:
        with torch.autograd.graph.save_on_cpu():
            return x.sin().sum()

    for transformed in (grad(hooked), lambda x: vjp(hooked, x)):
        with pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"):
            transformed(torch.ones(2))
    with (
        torch.autograd.graph.save_on_cpu(),
        pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"),
    ):
        grad(torch.sin)(torch.tensor(1.0))
    assert jvp(hooked, (torch.zeros(2),), (torch.ones(2),))[1].item() == 2.0


@pytest.mark.parametrize(
    "draw",
    [
        lambda a: torch.zeros(3).normal_() + a,
        lambda a: torch.empty(3).exponential_(),
        lambda a: torch.nn.functional.gumbel_softmax(torch.ones(3)) + a,
    ],
)
def test_what_is_one_for_all_slices_takes_no_different_numbers(draw: Any) -> None:
    slices = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="Cannot ask for different inplace randomness on an un"):
        vmap(draw, randomness="different")(slices)
    first, second = vmap(draw, randomness="same")(slices)
    assert torch.equal(first, second)


def test_functions_in_python_draw_for_each_slice() -> None:
    def dropped(a: Any) -> Any:
        return torch.nn.functional.alpha_dropout(torch.ones(40), 0.5, True) + a

    first, second = vmap(dropped, randomness="different")(torch.zeros(2, 1))
    assert not torch.equal(first, second)
