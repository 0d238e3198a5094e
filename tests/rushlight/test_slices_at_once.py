"""vmap runs operators on all slices at once, to what a loop over slices gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.func import functional_call, grad, vmap
from rushlight.nn import functional as F
from rushlight.ops.batching import batched

torch.manual_seed(0)
X, PLACES = torch.randn(6, 4, 8), torch.randint(0, 4, (6, 4, 8))
TABLE = torch.randn(10, 8)
PICTURES = torch.randn(6, 2, 4, 8, 8)
SOFT = torch.randn(6, 4, 8).softmax(2)
Case = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]


def _new(x: torch.Tensor) -> torch.Tensor:
    made = x.new_zeros(3) + x.new_full((3,), 2.0) + x.new_ones(3, dtype=torch.float64)
    return made + torch.zeros_like(x.new_empty([3])) + x.new_ones(size=(3,)) * x.sum()


AT_ONCE: dict[str, Case] = {
    "gather": (lambda x, i: x.gather(0, i), (X, PLACES)),
    "gather of one": (lambda i: X[0].gather(-2, i), (PLACES,)),
    "gather by one": (lambda x: x.gather(0, index=PLACES[0]), (X,)),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, dim=0), (X, PLACES)),
    "scatter": (lambda x, i: torch.zeros(4, 8).scatter(0, i[:1], x), (X, PLACES)),
    "scatter a number": (lambda x, i: x.scatter(0, i[:1], 3.0), (X, PLACES)),
    "scatter_add": (lambda x, i: torch.zeros(4, 8).scatter_add(0, i, x), (X, PLACES)),
    "scatter_reduce": (lambda x, i: x.scatter_reduce(0, i, x, "amax"), (X, PLACES)),
    "index_select": (lambda x: x.index_select(-1, torch.tensor([1, 0])), (X,)),
    "index_select by each": (lambda x, i: x.index_select(1, i[0]), (X, PLACES)),
    "embedding": (lambda i: F.embedding(i, TABLE), (PLACES,)),
    "cat": (lambda x: torch.cat([x, TABLE, x * 2]), (X,)),
    "concat": (lambda x: torch.concat([x, x], dim=-1), (X,)),
    "stack": (lambda x: torch.stack([x, TABLE[:4]], -1), (X,)),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), (X,)),
    "repeat": (lambda x: x.repeat(2, 1, 3), (X,)),
    "tile": (lambda x: x.tile(2) + x.tile((1, 1, 2)), (X,)),
    "roll": (lambda x: x.roll((1, 2), (0, 1)), (X,)),
    "masked_fill": (lambda x: x.masked_fill(x > 0, 2.0), (X,)),
    "zeros in place": (lambda x: x + x.clone().zero_(), (X,)),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 1), (X,)),
    "parts by numbers": (lambda x, i: x[i[0]] * 1, (X, PLACES)),
    "a part by a number": (lambda x, i: x[i[0, 0]] + x[i[1, 1] - 4], (X, PLACES)),
    "elements by numbers": (lambda x, i: x[i[0], i[1]], (X, PLACES)),
    "rows of one table by numbers": (lambda i: TABLE[i[0]], (PLACES,)),
    "like": (lambda x: torch.zeros_like(x) + torch.full_like(x, 2) + torch.ones_like(x), (X,)),
    "new": (_new, (X,)),
    **{
        f"{name} of all": (lambda x, name=name: getattr(x, name)(), (X,))
        for name in "max min prod argmax argmin median".split()
    },
    "max along": (lambda x: x.max(0), (X,)),
    "max of two": (lambda x: torch.max(x, TABLE[:4]), (X,)),
    "prod in double": (lambda x: x.prod(dtype=torch.float64), (X,)),
    "tril": (lambda x: x.tril(1) + x.triu(-1), (X,)),
    "cdist": (lambda x: torch.cdist(x, TABLE), (X,)),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), (X,)),
    "inverse": (lambda x: torch.linalg.inv(x[:, :4]), (X,)),
    "determinant": (lambda x: torch.linalg.slogdet(x[:, :4]), (X,)),
    "solve": (lambda x: torch.linalg.solve(x[:, :4], x), (X,)),
    "solve for one": (lambda x: torch.linalg.solve(x[:, :4], TABLE[:4]), (X,)),
    "singular": (lambda x: torch.linalg.svdvals(x), (X,)),
    "eigenvalues": (lambda x: torch.linalg.eigvalsh(x @ x.mT), (X,)),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(4) * 9), (X,)),
    "fft": (lambda x: torch.fft.rfft(x) + torch.fft.rfft(x, dim=1), (X,)),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), (PICTURES,)),
    "layer_norm": (lambda x: F.layer_norm(x, (8,), TABLE[0], TABLE[1]), (X,)),
    "layer_norm by each": (lambda x, w: F.layer_norm(x, (8,), w[0], w[1]), (X, X)),
    "layer_norm by a weight": (lambda x, w: F.layer_norm(x, (4, 8), w), (X, X)),
    "layer_norm and a bias": (lambda x, w: F.layer_norm(x, (8,), TABLE[0], w[1]), (X, X)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (8,)) + F.rms_norm(x, (8,), w[0]), (X, X)),
    "group_norm": (lambda x: F.group_norm(x, 2, TABLE[0, :4]), (PICTURES,)),
    "einsum": (lambda x: torch.einsum("ij, kj -> ik", x, TABLE), (X,)),
    "einsum of both": (lambda x: torch.einsum("ij,ij", x, x), (X,)),
    "addmm": (lambda x: torch.addmm(x @ x.T, x, x.T, beta=2, alpha=0.5), (X,)),
    "addmm of a row": (lambda x: torch.addmm(TABLE[0, :4], x, TABLE[:4].T), (X,)),
    "outer": (lambda x: torch.outer(x[0], TABLE[0]), (X,)),
    **{
        f"{name} {how} {smooth}": (
            lambda x, i, how=how, smooth=smooth: F.cross_entropy(
                x, i[:, 0], reduction=how, ignore_index=2, label_smoothing=smooth
            ),
            (X, PLACES),
        )
        for name in ("cross_entropy",)
        for how in ("mean", "sum", "none")
        for smooth in (0.0, 0.2)
    },
    "cross_entropy of one": (lambda x, i: F.cross_entropy(x[0], i[0, 0]), (X, PLACES)),
    "cross_entropy of shares": (lambda x, y: F.cross_entropy(x, y), (X, SOFT)),
    "cross_entropy of places": (
        lambda x, i: F.cross_entropy(x, i[:2].reshape(2, 8, 1).expand(2, 8, 8)),
        (PICTURES, PLACES),
    ),
    "nll_loss": (lambda x, i: F.nll_loss(x, i[:, 0]), (X, PLACES)),
}


def _agrees(function: Callable[..., Any], given: tuple[torch.Tensor, ...]) -> None:
    found = vmap(function)(*given)
    expected = [function(*row) for row in zip(*given, strict=True)]
    if isinstance(found, torch.Tensor):
        found, expected = (found,), [(each,) for each in expected]
    for one, others in zip(found, zip(*expected, strict=True), strict=True):
        assert one.dtype == others[0].dtype
        torch.testing.assert_close(one, torch.stack(others), rtol=1e-4, atol=1e-5, equal_nan=True)


def _without_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    slices = batched._one_by_one

    def noted(level: Any, func: Any, args: Any, kwargs: Any) -> object:
        made = slices(level, func, args, kwargs)
        assert type(made) not in (torch.Tensor, batched.Batched, tuple), func.__name__
        return made

    monkeypatch.setattr(batched, "_one_by_one", noted)


@pytest.mark.parametrize("name", AT_ONCE)
def test_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _agrees(*AT_ONCE[name])
    _without_loops(monkeypatch)
    function, given = AT_ONCE[name]
    vmap(function)(*given)


REFUSED: dict[str, Case] = {
    "a row has no inverse": (lambda x: torch.linalg.inv(x[0]), (X,)),
    "a row has no triangle": (lambda x: x[0].tril(), (X,)),
    "sizes of classes": (lambda x, i: F.cross_entropy(x, i[:2, 0]), (X, PLACES)),
    "ranks that are joined": (lambda x: torch.cat([x, x[0]]), (X,)),
    "sizes that are normalised": (lambda x: F.layer_norm(x, (7,)), (X,)),
    "more borders than dimensions": (lambda x: F.pad(x[0], (1, 1, 1, 1)), (X,)),
    "dimensions": (lambda x, i: x.gather(2, i), (X, PLACES)),
    "a number too far": (lambda x, i: x[i[0] + 4], (X, PLACES)),
    "more numbers than dimensions": (lambda x, i: x[0][i[0], i[1]], (X, PLACES)),
    "too few counts": (lambda x: x.repeat(2), (X,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_slice_refuses_all_refuse(name: str) -> None:
    function, given = REFUSED[name]
    with pytest.raises((RuntimeError, IndexError, ValueError)) as alone:
        function(*(each[0] for each in given))
    with pytest.raises(type(alone.value)):
        vmap(function)(*given)


def test_gradients_of_each_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    net = torch.nn.Sequential(
        torch.nn.Conv2d(4, 4, 3),
        torch.nn.GELU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.LayerNorm(36),
        torch.nn.Linear(36, 5),
    )
    parameters = dict(net.named_parameters())
    x, target = PICTURES[:, 0], torch.tensor([0, 4, 2, 1, 1, 3])

    def loss(
        parameters: dict[str, torch.Tensor], x: torch.Tensor, target: torch.Tensor
    ) -> torch.Tensor:
        return F.cross_entropy(functional_call(net, parameters, (x[None],)), target[None])

    expected = [grad(loss)(parameters, one, of) for one, of in zip(x, target, strict=True)]
    _without_loops(monkeypatch)
    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, target)
    for name, each in found.items():
        torch.testing.assert_close(each, torch.stack([one[name] for one in expected]))
