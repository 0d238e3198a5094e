"""How gradients lie in memory, as torch lays them out: channels last, transposed, contiguous.

Letters tell what torch 2.13 gives, `L` for channels last, `C` for contiguous: a result of images
with channels last, its gradient by a contiguous one, by one with channels last, and the gradient
of contiguous images by one with channels last.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.nn import functional as F

FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}

LAYERS = {
    "avg_pool": ("LLLC CCCC", lambda x, n: getattr(F, f"avg_pool{n}d")(x, 2)),
    "adaptive_avg_pool": ("LLLC CCCC", lambda x, n: getattr(F, f"adaptive_avg_pool{n}d")(x, 3)),
    "adaptive_max_pool": ("LLLC CCCC", lambda x, n: getattr(F, f"adaptive_max_pool{n}d")(x, 3)),
    "max_pool": ("LLLC LLLC", lambda x, n: getattr(F, f"max_pool{n}d")(x, 2)),
    "area": ("LLLC CCCC", lambda x, n: F.interpolate(x, size=3, mode="area")),
    "nearest": ("LCLL LCCC", lambda x, n: F.interpolate(x, scale_factor=2)),
    "linear": (
        "LCLL LCLL",
        lambda x, n: F.interpolate(x, scale_factor=2, mode=("bilinear", "trilinear")[n - 2]),
    ),
    "batch_norm": ("LLLC LLLC", lambda x, n: F.batch_norm(x, None, None, training=True)),
    "known_batch_norm": (
        "LLLC LLLC",
        lambda x, n: F.batch_norm(x, torch.zeros(4), torch.ones(4), training=False),
    ),
    "instance_norm": ("CCCC CCCC", lambda x, n: F.instance_norm(x)),
    "group_norm": ("LLLC LLLC", lambda x, n: F.group_norm(x, 2)),
    "layer_norm": ("CCCC CCCC", lambda x, n: F.layer_norm(x, x.shape[2:])),
    "reflect": ("LLLC LLLC", lambda x, n: F.pad(x, [1] * 2 * n, "reflect")),
    "replicate": ("LLLC LLLC", lambda x, n: F.pad(x, [1] * 2 * n, "replicate")),
    "circular": ("CCCC CCCC", lambda x, n: F.pad(x, [1] * 2 * n, "circular")),
    "constant": ("LCLL LCLL", lambda x, n: F.pad(x, [1] * 2 * n)),
    "softmax": ("CCCC CCCC", lambda x, n: F.softmax(x, 1)),
    "log_softmax": ("CCCC CCCC", lambda x, n: F.log_softmax(x, 1)),
    "channel_shuffle": ("LCLL LCLL", lambda x, n: F.channel_shuffle(x, 2)),
    "relu": ("LLLC LLLC", lambda x, n: F.relu(x)),
    "gelu": ("LCLL LCLL", lambda x, n: F.gelu(x)),
    "glu": ("LCCC LCCC", lambda x, n: F.glu(x, 1)),
    "prelu": ("LLLC LLLC", lambda x, n: F.prelu(x, torch.ones(4))),
    "normalize": ("LCLL LCLL", lambda x, n: F.normalize(x)),
    "bicubic": ("LCCC", lambda x, n: F.interpolate(x, scale_factor=2, mode="bicubic")),
    "smooth": (
        "LCLL",
        lambda x, n: F.interpolate(x, scale_factor=2, mode="bilinear", antialias=True),
    ),
    "pixel_shuffle": ("CCCC", lambda x, n: F.pixel_shuffle(x, 2)),
    "pixel_unshuffle": ("LCLL", lambda x, n: F.pixel_unshuffle(x, 2)),
}


def images(rank: int, last: bool = True, dtype: torch.dtype = torch.float32) -> Tensor:
    made = torch.randn([2, 4, *[6] * (rank - 2)], dtype=dtype)
    return (with_channels_last(made) if last else made).requires_grad_()


def with_channels_last(x: Tensor) -> Tensor:
    return x.contiguous(memory_format=FORMATS[x.ndim])


def letter(x: Tensor) -> str:
    """`C`, `L`, or the strides."""
    if x.is_contiguous():
        return "C"
    return "L" if x.is_contiguous(memory_format=FORMATS[x.ndim]) else str(x.stride())


@pytest.mark.parametrize("rank", [4, 5])
@pytest.mark.parametrize("name", LAYERS)
def test_images_with_channels_last(name: str, rank: int) -> None:
    letters, layer = LAYERS[name]
    if rank - 4 >= len(letters.split()):
        pytest.skip("of images alone")
    found = ""
    for last, turned in ((True, False), (True, True), (False, True)):
        x = images(rank, last)
        result = layer(x, rank - 2)
        g = torch.ones_like(result, memory_format=torch.contiguous_format)
        g = with_channels_last(g) if turned else g
        found += ("" if found else letter(result)) + letter(torch.autograd.grad(result, x, g)[0])
    assert found == letters.split()[rank - 4]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("last", ["input", "weight", "both"])
@pytest.mark.parametrize("name", ["conv2d", "conv3d", "conv_transpose2d", "conv_transpose3d"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_convolutions(dtype: torch.dtype, name: str, last: str, groups: int) -> None:
    rank = int(name[-2]) + 2
    x = images(rank, last != "weight", dtype)
    weight = torch.randn([4, 4 // groups, *[3] * (rank - 2)], dtype=dtype)
    weight = weight if last == "input" else with_channels_last(weight)
    weight.requires_grad_()
    result = getattr(F, name)(x, weight, groups=groups)
    grads = torch.autograd.grad(result, [x, weight], torch.ones(result.shape, dtype=dtype))
    wanted = "C" if rank == 5 and dtype == torch.float64 else "L"
    assert [letter(each) for each in (result, *grads)] == [wanted] * 3


def turned(*shape: int) -> Tensor:
    """A tensor whose dimensions are stored in the opposite order."""
    dims = range(len(shape))[::-1]
    return torch.rand(shape[::-1]).permute(*dims)


SIDE = turned(5, 4)
TURNED: dict[str, tuple[Callable[[Tensor], Tensor], tuple[int, ...]]] = {
    "relu": (F.relu, (1, 5)),
    "threshold": (lambda x: F.threshold(x, 0.5, 2.0), (1, 5)),
    "hardswish": (F.hardswish, (4, 1)),
    "erf": (torch.erf, (1, 5)),
    "erfinv": (torch.erfinv, (1, 5)),
    "maximum": (lambda x: torch.maximum(x, SIDE), (1, 5)),
    "l1": (lambda x: F.l1_loss(x, SIDE, reduction="none"), (4, 1)),
    "mse": (lambda x: F.mse_loss(x, SIDE), (4, 1)),
    "huber": (lambda x: F.huber_loss(x, SIDE), (4, 1)),
    "entropy": (lambda x: F.binary_cross_entropy(x, SIDE, reduction="none"), (1, 5)),
    "margin": (lambda x: F.soft_margin_loss(x, SIDE, reduction="none"), (1, 5)),
    "classes": (lambda x: F.cross_entropy(x, torch.zeros(5, dtype=torch.long)), (4, 1)),
    "largest": (torch.max, (4, 1)),
    "median": (lambda x: x.median(1)[0], (4, 1)),
    "product": (torch.prod, (1, 5)),
    "chosen": (lambda x: x.masked_select(SIDE > 2), (1, 5)),
    "taken": (lambda x: x.take(torch.tensor([1, 3])), (1, 5)),
    "factors": (lambda x: torch.linalg.qr(x)[0], (1, 5)),
    "cut": (lambda x: torch.fft.rfft(x, n=3).abs(), (4, 1)),
}


@pytest.mark.parametrize("name", TURNED)
def test_gradients_of_turned_matrices(name: str) -> None:
    function, strides = TURNED[name]
    x = turned(5, 4).requires_grad_()
    result = function(x)
    grad = torch.autograd.grad(result, x, torch.ones(result.shape))[0]
    assert grad.stride() == strides


RESULTS: dict[str, tuple[Callable[[Tensor], Tensor], tuple[int, ...]]] = {
    "rot90": (lambda x: x.rot90(4), (12, 4, 1)),
    "diff": (lambda x: x.diff(prepend=x), (21, 7, 1)),
    "mvlgamma": (lambda x: torch.mvlgamma(x + 3, 2), (12, 4, 1)),
    "polygamma": (lambda x: torch.polygamma(1, x), (1, 5, 15)),
    "adaptive": (lambda x: F.adaptive_avg_pool1d(x, 2), (6, 2, 1)),
    "dropout": (lambda x: F.dropout1d(x), (1, 5, 15)),
    "ldexp": (lambda x: torch.ldexp(x[0, 0], x), (12, 4, 1)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_turned_tensors(name: str) -> None:
    function, strides = RESULTS[name]
    assert function(turned(5, 3, 4)).stride() == strides


def test_choices_are_drawn_as_weights_lie() -> None:
    weights = torch.arange(12.0).reshape(4, 3).t().contiguous().t() + 0.1
    torch.manual_seed(0)
    assert torch.multinomial(weights, 2).tolist() == [[2, 1], [2, 1], [1, 2], [2, 1]]


def test_gradients_of_complex_signals_without_a_choice_of_form() -> None:
    x = torch.randn(40, dtype=torch.complex128, requires_grad=True)
    window = torch.ones(8, dtype=torch.complex128)
    result = torch.stft(x, 8, window=window, return_complex=None)
    assert result.is_complex()
    grad = torch.autograd.grad(result, x, torch.ones_like(result))[0]
    assert grad.shape == x.shape


def double(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def by_columns(x: Tensor) -> Tensor:
    return x.mT.contiguous().mT


FACTORS, PIVOTS = torch.linalg.lu_factor(torch.eye(3, dtype=torch.float64) + 0.1)
MASK = double(3, 3).requires_grad_()
SEVERAL: dict[str, tuple[Callable[..., Tensor], list[Tensor], str]] = {
    # what is differentiated by several arguments, and the strides of their gradients in torch
    "reflections": (
        torch.linalg.householder_product,
        [double(2, 5, 3), double(2, 3)],
        "(15, 3, 1) (3, 1)",
    ),
    "reflections_of_columns": (
        torch.linalg.householder_product,
        [by_columns(double(2, 5, 3)), double(2, 3)],
        "(15, 1, 5) (3, 1)",
    ),
    "reflected": (
        torch.ormqr,
        [double(5, 3), double(3), double(5, 4)],
        "(3, 1) (1,) (1, 5)",
    ),
    "least_squares": (
        lambda a, b: torch.linalg.lstsq(a, b)[0],
        [double(2, 3), double(2, 5)],
        "(1, 2) (5, 1)",
    ),
    "solved": (
        lambda lu, b: torch.linalg.lu_solve(lu, PIVOTS, b),
        [FACTORS, double(3, 4)],
        "(3, 1) (1, 3)",
    ),
    "solved_from_the_right": (
        lambda lu, b: torch.linalg.lu_solve(lu, PIVOTS, b, left=False),
        [FACTORS, double(4, 3)],
        "(3, 1) (3, 1)",
    ),
    "solved_at_first": (
        lambda b, lu: torch.lu_solve(b, lu, PIVOTS),
        [double(3, 4), FACTORS],
        "(1, 3) (3, 1)",
    ),
    "attention": (
        F.scaled_dot_product_attention,
        [double(2, 4, 3, 8) for _ in range(3)],
        "(96, 8, 32, 1) (96, 8, 32, 1) (96, 8, 32, 1)",
    ),
    "attention_of_three_dimensions": (
        F.scaled_dot_product_attention,
        [double(4, 3, 8) for _ in range(3)],
        "(24, 8, 1) (24, 1, 3) (24, 8, 1)",
    ),
    "attention_with_a_mask_that_learns": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, MASK),
        [double(2, 4, 3, 8) for _ in range(3)],
        "(96, 24, 8, 1) (96, 24, 1, 3) (96, 24, 8, 1)",
    ),
    "largest_row": (
        lambda x: torch.linalg.matrix_norm(x, 1, (1, 0)),
        [double(2, 3, 4)],
        "(12, 4, 1)",
    ),
    "largest_singular_value": (
        lambda x: torch.linalg.matrix_norm(x, 2, (1, 0)),
        [double(2, 3, 4)],
        "(1, 2, 6)",
    ),
    "pieces": (
        lambda x: torch.istft(torch.complex(x, x), 16, window=torch.ones(16, dtype=x.dtype)),
        [double(2, 9, 5)],
        "(45, 5, 1)",
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_gradients_of_several_arguments(name: str) -> None:
    function, given, strides = SEVERAL[name]
    arguments = [each.detach().requires_grad_() for each in given]
    grads = torch.autograd.grad(function(*arguments).sum(), arguments)
    assert " ".join(str(each.stride()) for each in grads) == strides


TRANSFORMS = {
    "rfft2": ((0, 1), (12, 2, 60)),
    "rfftn": ((2, 1, 0), (84, 14, 2)),
    "irfft2": ((0, 1), (12, 2, 60)),
    "irfftn": ((2, 1, 0), (2, 70, 10)),
    "hfft2": ((0, 1), (2, 10, 60)),
    "hfftn": ((2, 1, 0), (84, 14, 2)),
    "ihfft2": ((0, 1), (84, 2, 12)),
    "ihfftn": ((2, 1, 0), (2, 70, 10)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_gradients_of_transforms(name: str) -> None:
    dims, strides = TRANSFORMS[name]
    x = double(5, 6, 7).requires_grad_()
    result = getattr(torch.fft, name)(x, dim=dims)
    assert torch.autograd.grad(result.abs().sum(), x)[0].stride() == strides
