"""Operators that walk back through others: what they give is the gradient of those."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck

F = torch.nn.functional
ATEN = torch.ops.aten


def numbers(*sizes: int, start: float = 0.0) -> torch.Tensor:
    count = math.prod(sizes)
    return (torch.sin(torch.arange(count, dtype=torch.float64) * 1.7 + start) * 1.3).reshape(sizes)


X = numbers(4, 6, start=1)
UNIT = X * 0.3 + 0.5
TARGET = numbers(4, 6, start=2)
CLASSES = torch.tensor([1, 0, 4, 2])
LABELS = torch.tensor(
    [[1, 2, -1, 0, 0, 0], [0, -1, 0, 0, 0, 0], [4, 3, 2, -1, 0, 0], [2, 5, 1, 0, 3, 4]]
)
IMAGE = numbers(2, 3, 6, 6)
VOLUME = numbers(1, 2, 4, 4, 4)
PLACES = F.max_pool3d(VOLUME, 2, return_indices=True)[1]

Case = tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor, tuple[Any, ...]]

CASES: dict[str, Case] = {
    "gelu": (F.gelu, X, (X,)),
    "silu": (F.silu, X, (X,)),
    "mish": (F.mish, X, (X,)),
    "log_sigmoid": (F.logsigmoid, X, (X, X)),
    "logit": (lambda x: torch.logit(x, 0.2), UNIT, (UNIT, 0.2)),
    "glu": (lambda x: F.glu(x, 1), X, (X, 1)),
    "infinitely_differentiable_gelu": (F.gelu, X, (X,)),
    "smooth_l1_loss": (lambda x: F.smooth_l1_loss(x, TARGET, beta=0.7), X, (X, TARGET, 1, 0.7)),
    "huber_loss": (lambda x: F.huber_loss(x, TARGET, "sum", 0.7), X, (X, TARGET, 2, 0.7)),
    "binary_cross_entropy": (
        lambda x: F.binary_cross_entropy(x, UNIT.flip(0), reduction="none"),
        UNIT,
        (UNIT, UNIT.flip(0), None, 0),
    ),
    "soft_margin_loss": (lambda x: F.soft_margin_loss(x, TARGET), X, (X, TARGET, 1)),
    "multi_margin_loss": (
        lambda x: F.multi_margin_loss(x, CLASSES, 2, 0.5),
        X,
        (X, CLASSES, 2, 0.5, None, 1),
    ),
    "multilabel_margin_loss": (
        lambda x: F.multilabel_margin_loss(x, LABELS),
        X,
        (X, LABELS, 1, X),
    ),
    "nll_loss": (
        lambda x: F.nll_loss(x, CLASSES, ignore_index=4),
        X,
        (X, CLASSES, None, 1, 4, torch.tensor(3.0)),
    ),
    "_adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), IMAGE, (IMAGE,)),
    "avg_pool2d": (
        lambda x: F.avg_pool2d(x, 3, 2, 1),
        IMAGE,
        (IMAGE, [3, 3], [2, 2], [1, 1], False, True, None),
    ),
    "avg_pool3d": (
        lambda x: F.avg_pool3d(x, 2),
        VOLUME,
        (VOLUME, [2] * 3, [2] * 3, [0] * 3, False, True, None),
    ),
    "adaptive_max_pool2d": (
        lambda x: F.adaptive_max_pool2d(x, 2),
        IMAGE,
        (IMAGE, F.adaptive_max_pool2d(IMAGE, 2, return_indices=True)[1]),
    ),
    "max_pool3d_with_indices": (
        lambda x: F.max_pool3d(x, 2),
        VOLUME,
        (VOLUME, *([2] * 3, [2] * 3, [0] * 3, [1] * 3), False, PLACES),
    ),
    "reflection_pad2d": (lambda x: F.pad(x, (1, 2, 1, 0), "reflect"), IMAGE, (IMAGE, [1, 2, 1, 0])),
    "replication_pad3d": (
        lambda x: F.pad(x, (1, 1, 0, 2, 1, 0), "replicate"),
        VOLUME,
        (VOLUME, [1, 1, 0, 2, 1, 0]),
    ),
    "upsample_nearest2d": (lambda x: F.interpolate(x, (9, 7)), IMAGE, ([9, 7], [2, 3, 6, 6])),
    "upsample_bilinear2d": (
        lambda x: F.interpolate(x, (9, 7), mode="bilinear"),
        IMAGE,
        ([9, 7], [2, 3, 6, 6], False),
    ),
    "_upsample_bicubic2d_aa": (
        lambda x: F.interpolate(x, (4, 3), mode="bicubic", antialias=True),
        IMAGE,
        ([4, 3], [2, 3, 6, 6], False),
    ),
    "affine_grid_generator": (
        lambda x: F.affine_grid(x, [2, 3, 4, 5], align_corners=False),
        numbers(2, 2, 3),
        ([2, 3, 4, 5], False),
    ),
    "select": (lambda x: x.select(1, 2), X, ([4, 6], 1, 2)),
    "slice": (lambda x: x[:, 1:5:2], X, ([4, 6], 1, 1, 5, 2)),
    "diagonal": (lambda x: x.diagonal(1), X, ([4, 6], 1, 0, 1)),
    "unfold": (lambda x: x.unfold(1, 3, 2), X, ([4, 6], 1, 3, 2)),
    "trace": (torch.trace, X, ([4, 6],)),
    "index_select": (lambda x: x.index_select(0, CLASSES % 4), X, ([4, 6], 0, CLASSES % 4)),
    "gather": (
        lambda x: x.gather(1, LABELS.abs()),
        X,
        (X, 1, LABELS.abs(), False),
    ),
    "masked_select": (lambda x: x.masked_select(X > 0), X, (X, X > 0)),
    "masked_scatter": (lambda x: X.masked_scatter(X > 0, x), numbers(30), (X > 0, [30])),
    "value_selecting_reduction": (
        lambda x: x.max(1).values,
        X,
        (1, X.max(1).indices, [4, 6], False),
    ),
    "cummaxmin": (lambda x: x.cummax(1).values, X, (X, X.cummax(1).indices, 1)),
    "_pdist": (F.pdist, X, (X, 2.0, F.pdist(X))),
    "_cdist": (lambda x: torch.cdist(x, TARGET), X, (X, TARGET, 2.0, torch.cdist(X, TARGET))),
}  # fmt: skip
"""What each is the way back through, of which tensor, and what it takes beside the gradient."""


def operator(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(ATEN, f"{name}_backward")
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_is_given_is_the_gradient(name: str) -> None:
    function, value, given = CASES[name]
    x = value.clone().requires_grad_()
    y = function(x)
    g = numbers(*y.shape, start=3)
    (expected,) = torch.autograd.grad(y, x, g)
    found = operator(name)(g, *given)
    assert torch.allclose(found, expected)
    assert found.dtype is torch.float64
    assert not found.requires_grad


@pytest.mark.parametrize("name", ["gelu", "glu", "avg_pool2d", "upsample_bilinear2d", "_pdist"])
def test_it_has_gradients(name: str) -> None:
    function, value, given = CASES[name]
    g = numbers(*function(value).shape, start=3).requires_grad_()
    run = operator(name)
    if given[0] is value:
        taken = (g, value.clone().requires_grad_())
        assert gradcheck(lambda g, x: run(g, x, *given[1:]), taken)
    else:
        assert gradcheck(lambda g: run(g, *given), (g,))
    assert run(g, *given).grad_fn.name().endswith("BackwardBackward0")


def test_scripts_and_outs() -> None:
    @torch.jit.script
    def slope(g: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.silu_backward(g, x)

    out = torch.empty(4, 6, dtype=torch.float64)
    expected = ATEN.silu_backward(TARGET, X)
    assert torch.equal(slope(TARGET, X), expected)
    ATEN.silu_backward.grad_input(TARGET, X, grad_input=out)
    assert torch.equal(out, expected)


def test_norms_walk_back_where_nothing_was_recorded_before() -> None:
    program = (
        "import rushlight as torch; x = torch.arange(6.0).reshape(2, 3)\n"
        "with torch.no_grad():\n"
        "    y, mean, scale = torch.ops.aten.native_layer_norm(x, [3], None, None, 0.0)\n"
        "    back, mask = torch.ops.aten.native_layer_norm_backward, [True, False, False]\n"
        "    found = back(y * y, x, [3], mean, scale, None, None, mask)[0]\n"
        "print([round(float(each), 4) for each in found[0]])"
    )
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run([sys.executable, "-c", program], cwd=root, text=True, capture_output=True)
    assert done.stdout == "[0.6124, -1.2247, 0.6124]\n", done.stderr


@pytest.mark.parametrize("alpha", [1.0, 0.7])
def test_elu_by_its_result_and_by_what_it_is_of(alpha: float) -> None:
    x = X.clone().requires_grad_()
    y = F.elu(x, alpha)
    (expected,) = torch.autograd.grad(y, x, TARGET)
    for of, is_result in ((X, False), (y.detach(), True)):
        found = ATEN.elu_backward(TARGET, alpha, 1, 1, is_result, of)
        assert torch.allclose(found, expected)
    with pytest.raises(RuntimeError, match="with a negative slope"):
        ATEN.elu_backward(TARGET, -1, 1, 1, True, X)


def test_several_gradients_as_they_are_asked_for() -> None:
    grid = numbers(2, 4, 5, 2) * 0.7
    x, places = IMAGE.clone().requires_grad_(), grid.clone().requires_grad_()
    y = F.grid_sample(x, places, align_corners=True)
    g = numbers(*y.shape)
    expected = torch.autograd.grad(y, (x, places), g)
    found = ATEN.grid_sampler_2d_backward(g, IMAGE, grid, 0, 0, True, [True, True])
    assert all(map(torch.allclose, found, expected))
    assert ATEN.grid_sampler_2d_backward(g, IMAGE, grid, 0, 0, True, [False, True])[0] is None


@pytest.mark.parametrize("affine", [True, False])
def test_norms_by_their_means_and_deviations(affine: bool) -> None:
    x = numbers(2, 6, 5).requires_grad_()
    wide = [numbers(5, start=n).requires_grad_() for n in (1, 2)] if affine else [None, None]
    deep = [numbers(6, start=n).requires_grad_() for n in (1, 2)] if affine else [None, None]
    g, mask = numbers(2, 6, 5, start=5), [True, affine, affine]
    cases = [
        (
            ATEN.native_layer_norm(x, [5], *wide, 1e-5),
            wide,
            "layer",
            lambda m, r: [[5], m, r, *wide],
        ),
        (
            ATEN.native_group_norm(x, *deep, 2, 6, 5, 3, 1e-5),
            *(deep, "group", lambda m, r: [m, r, deep[0], 2, 6, 5, 3]),
        ),
        (
            ATEN.native_batch_norm(x, *deep, None, None, True, 0.1, 1e-5),
            *(deep, "batch", lambda m, r: [deep[0], None, None, m, r, True, 1e-5]),
        ),
    ]
    for (y, mean, scale), learned, name, rest in cases:
        given = [x, *(each for each in learned if each is not None)]
        expected = torch.autograd.grad(y, given, g)
        run = getattr(ATEN, f"native_{name}_norm_backward")
        with torch.no_grad():
            found = run(g, x, *rest(mean, scale), mask)
        assert all(map(torch.allclose, found, expected))
    mean, scale = (each.detach() for each in ATEN.native_layer_norm(x, [5], *wide, 1e-5)[1:])
    run, x = ATEN.native_layer_norm_backward, x.detach()

    def first(g: torch.Tensor) -> torch.Tensor:
        return run(g, x, [5], mean, scale, *wide, [True, False, False])[0]

    assert gradcheck(first, (g.requires_grad_(),))


SCORES, PLACED = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), torch.tensor([2, 0])
LOSS_BACK = ATEN.nll_loss_backward


def test_what_all_targets_count_is_what_is_given() -> None:
    total = torch.tensor(4.0)
    grad = LOSS_BACK(torch.ones(()), SCORES, PLACED, None, 1, -100, total)
    assert grad.tolist() == [[0, 0, -0.25], [-0.25, 0, 0]]
    weight = torch.tensor([2.0, 3, 5])
    grad = LOSS_BACK(torch.tensor([2.0]), SCORES, PLACED, weight, 1, 0, total)  # one in a row
    assert grad.tolist() == [[0, 0, -2.5], [0, 0, 0]]


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_one_sample_by_itself(reduction: int) -> None:
    loss, total = ATEN.nll_loss_forward(SCORES[0], PLACED[0], None, reduction, -100)
    assert (round(loss.item(), 6), total.item()) == (-0.3, 1)
    grad = LOSS_BACK(torch.ones(1), SCORES[0], PLACED[0], None, reduction, -100, total)
    assert grad.tolist() == [0, 0, -1]


def test_the_class_of_one_sample_may_be_in_a_list() -> None:
    one = torch.tensor([2])
    assert round(F.nll_loss(SCORES[0], one).item(), 6) == -0.3
    assert round(F.cross_entropy(SCORES[0], one).item(), 6) == 1.001943
    with pytest.raises(ValueError, match="1D target must have size 1, but got target size: 2"):
        ATEN.nll_loss_forward(SCORES[0], PLACED, None, 1, -100)
    three = torch.tensor([1, 0, 2])  # of which the first one counts
    grad = LOSS_BACK(torch.ones(1), SCORES[0], three, None, 2, -100, torch.ones(()))
    assert grad.tolist() == [0, -1, 0]
    with pytest.raises(RuntimeError, match=r"size mismatch \(got input: \[3\], target: \[2\]\)"):
        LOSS_BACK(torch.ones(1), SCORES[0], PLACED, None, 2, -100, torch.ones(()))


MAPS, PIXELS = SCORES.reshape(1, 3, 2, 1), torch.tensor([[[2], [1]]])


@pytest.mark.parametrize(
    ("name", "grad", "reduction", "total", "said"),
    [
        ("", (3,), 1, (), "Expected a single element grad_output tensor, but got: [3]"),
        ("", (1, 1), 2, (), "Expected a single element grad_output tensor, but got: [1, 1]"),
        ("", (1,), 0, (), "Expected a tensor of dimension 1 and tensor.size[0] == 2 but got: dim"),
        ("", (), 0, (), "Dimension specified as 0 but tensor has no dimensions"),
        ("", (), 1, (2,), "expected total_weight to be a  single element tensor, got: [2] (2 el"),
        ("2d", (2,), 1, (), "Expected a single element grad_output tensor, but got: [2]"),
        ("2d", (1,), 0, (), "grad_output must have same dimension as target (3) but got dimens"),
        ("2d", (1, 2, 2), 0, (), "size mismatch (got grad_output: [1, 2, 2] target: [1, 2, 1]"),
        ("2d", (), 1, (2,), "expected total_weight to be a single element tensor, got: [2] (2 el"),
    ],
)
def test_gradients_that_do_not_fit_a_loss(
    name: str, grad: tuple[int, ...], reduction: int, total: tuple[int, ...], said: str
) -> None:
    given = (MAPS, PIXELS) if name else (SCORES, PLACED)
    with pytest.raises((RuntimeError, IndexError)) as caught:
        getattr(ATEN, f"nll_loss{name}_backward")(
            torch.ones(grad), *given, None, reduction, -100, torch.ones(total)
        )
    assert str(caught.value).startswith(said)
