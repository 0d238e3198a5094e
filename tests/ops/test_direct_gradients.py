"""Gradients that need none themselves are computed in another way, to the same numbers."""

from functools import partial

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from rushlight.ops.gradients.direct import losses, products
from rushlight.ops.layers import recurrent as recurrent_layers


def _random(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, dtype=torch.float64, requires_grad=True)


CLASSES = torch.tensor([2, 0, 1, -100])
LOSSES = [
    lambda x, y, w: F.mse_loss(x, y),
    lambda x, y, w: F.mse_loss(x, y, reduction="sum"),
    lambda x, y, w: F.mse_loss(x, y, reduction="none"),
    lambda x, y, w: F.l1_loss(x, y),
    lambda x, y, w: F.smooth_l1_loss(x, y, beta=0.7),
    lambda x, y, w: F.huber_loss(x, y, reduction="sum", delta=0.5),
    lambda x, y, w: F.binary_cross_entropy_with_logits(x, y.detach().sigmoid()),
    lambda x, y, w: F.binary_cross_entropy_with_logits(
        x, y.detach().sigmoid(), w.detach(), pos_weight=w.detach().exp()
    ),
    lambda x, y, w: F.cross_entropy(x, CLASSES),
    lambda x, y, w: F.cross_entropy(x, CLASSES, w.detach().exp(), reduction="sum"),
    lambda x, y, w: F.cross_entropy(x.reshape(2, 3, 2), CLASSES[:2, None].expand(2, 2)),
    lambda x, y, w: F.cross_entropy(x, CLASSES, label_smoothing=0.2),
    lambda x, y, w: F.cross_entropy(
        x.reshape(2, 3, 2), CLASSES[:2, None].expand(2, 2), reduction="sum", label_smoothing=0.2
    ),
    lambda x, y, w: F.nll_loss(x, CLASSES.clamp(0), reduction="none", ignore_index=0),
    lambda x, y, w: F.layer_norm(x, (3,), w, y[0]),
    lambda x, y, w: F.layer_norm(x, (4, 3), None, y),
    lambda x, y, w: F.scaled_dot_product_attention(x, y, x * 2),
    lambda x, y, w: F.scaled_dot_product_attention(x, y, y, is_causal=True),
]


@pytest.mark.parametrize("number", range(len(LOSSES)))
def test_losses_and_layers(number: int) -> None:
    torch.manual_seed(number)
    given = _random(4, 3), _random(4, 3), _random(3)
    _agree(LOSSES[number](*given), given)


def _agree(results: object, given: tuple[torch.Tensor, ...]) -> None:
    """What the composite gives, which can be differentiated, is what comes out without that."""
    several = results if isinstance(results, tuple) else (results,)
    total = sum((each * torch.randn_like(each)).sum() for each in several)
    ways = [
        torch.autograd.grad(total, given, create_graph=create, retain_graph=True, allow_unused=True)
        for create in (True, False)
    ]
    for composed, direct in zip(*ways, strict=True):
        assert (composed is None) == (direct is None)
        if composed is not None:
            torch.testing.assert_close(direct, composed.detach(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("sizes", [(3, 7), (700, 20), (5,), (1,)])
def test_classes_that_lie_too_near(
    sizes: tuple[int, ...], reduction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradients of many pairs are made of a part of the rows at a time."""
    torch.manual_seed(4)
    monkeypatch.setattr(losses, "_PAIRS", 1000)
    scores = _random(*sizes)
    named = torch.randint(-1, sizes[-1], sizes)
    _agree(F.multilabel_margin_loss(scores, named, reduction=reduction), (scores,))


MATRIX, COLUMN, ROW = (5, 3), (3,), (5,)
VECTORS = [
    (torch.matmul, MATRIX, COLUMN),
    (torch.mv, MATRIX, COLUMN),
    (torch.matmul, ROW, MATRIX),
    (lambda a, b: a.t().contiguous().t() @ b, MATRIX, COLUMN),
    (lambda a, b: b @ a.t(), MATRIX, COLUMN),
]


@pytest.mark.parametrize("number", range(len(VECTORS)))
def test_products_with_vectors(number: int) -> None:
    call, *sizes = VECTORS[number]
    given = tuple(torch.randn(size, requires_grad=True) for size in sizes)
    total = call(*given)
    ways = [
        torch.autograd.grad(total, given, total.detach(), create_graph=create, retain_graph=True)
        for create in (True, False)
    ]
    alone = [
        torch.autograd.grad(call(*_one(given, at)), given[at], total.detach()) for at in (0, 1)
    ]
    for formula, direct, (each,) in zip(*ways, alone, strict=True):
        assert direct.equal(formula.detach())
        assert direct.equal(each)
        assert direct.stride() == formula.stride()


def _one(given: tuple[torch.Tensor, ...], at: int) -> list[torch.Tensor]:
    """The tensors, of which one alone requires gradients."""
    return [each if number == at else each.detach() for number, each in enumerate(given)]


def test_products_with_vectors_need_no_formulas() -> None:
    matrix, vector, infinite = torch.ones(5, 3), torch.ones(3), torch.full((5,), torch.inf)
    found = products.product(infinite, (True, True), matrix, vector * 0, False, False)
    assert found is not None
    assert found[0].isnan().all()  # of which NumPy does not warn
    assert found[1].isinf().all()
    assert products.product(vector[0], (True, True), vector, vector, False, False) is None


PARTS = [
    lambda x: x.chunk(2, 1),
    lambda x: x.split(3, -1),
    lambda x: x.split([1, 3], 0),
    lambda x: x.unbind(1),
    lambda x: (torch.stack([x, x * 2], -1), torch.stack([x, x * 2], 1)),
]


@pytest.mark.parametrize("taken", [slice(None), slice(1), slice(1, None)])
@pytest.mark.parametrize("number", range(len(PARTS)))
def test_parts_and_some_of_them(number: int, taken: slice) -> None:
    x = torch.randn(4, 8, requires_grad=True)
    ways = []
    for create in (True, False):
        parts = PARTS[number](x)[taken]
        given = [torch.full(part.shape, at + 1.5) for at, part in enumerate(parts)]
        ways.append(torch.autograd.grad(parts, x, given, create_graph=create)[0])
    assert ways[1].equal(ways[0].detach())
    assert ways[1].stride() == ways[0].stride()


def test_parts_are_walked_back_through_by_what_was_written_for_them() -> None:
    x = torch.randn(4, 8, requires_grad=True)
    assert x.chunk(2)[0].grad_fn.back is not None
    assert x.unbind(0)[0].grad_fn.back is not None


MORE = [
    lambda x: F.nll_loss(x, torch.tensor([1, 0, 3, 2])),
    lambda x: F.nll_loss(x, torch.tensor([1, 0, 3, 2]), reduction="none"),
    lambda x: F.nll_loss(x, torch.tensor([1, -100, 3, 2])),
    lambda x: F.nll_loss(x, torch.tensor([-100] * 4), reduction="sum"),
    lambda x: F.nll_loss(x, torch.tensor([1, 0, 3, 2]), torch.arange(4.0).double()),
    lambda x: F.nll_loss(x.view(2, 2, 4), torch.tensor([[1, 0, 1, 1], [0, 1, 0, -100]])),
    lambda x: F.cross_entropy(x.view(2, 2, 4), torch.tensor([[1, 0, 1, 1], [0, 1, 0, -100]])),
    lambda x: F.cosine_similarity(x, x.flip(0)[:1]),
    lambda x: torch.linalg.cross(x[:, :3], x[:1, 1:]),
    lambda x: torch.cross(x[:3], x[1:]),
    lambda x: F.bilinear(x, x.cos(), torch.ones(2, 4, 4).double().cumsum(1)),
    lambda x: F.pad(x, (1, 2, 0, 1)),
    lambda x: F.pad(x, (1, -2)),
    lambda x: F.pad(x[None], (1, 2), mode="reflect"),
    lambda x: x.cumprod(0),
    lambda x: F.glu(x),
    lambda x: F.glu(x.t(), 0),
    lambda x: x.masked_fill(x > 0, 0).cumprod(1),
    lambda x: x.logcumsumexp(0),
    lambda x: (x * 300).logcumsumexp(-1),
    lambda x: x[:3].gather(0, torch.tensor([[1, 0], [2, 2]])),
    lambda x: torch.zeros(4, 4).double().scatter_add(1, torch.tensor([[1, 0], [2, 2]]), x[:2, :2]),
]


@pytest.mark.parametrize("number", range(len(MORE)))
def test_functions_of_one(number: int) -> None:
    """Again and again, since what comes often goes other ways."""
    torch.manual_seed(number)
    for _ in range(6):
        x = _random(4, 4)
        _agree(MORE[number](x), (x,))


@pytest.mark.parametrize("times", [2, 4, 3, 1.5])
@pytest.mark.parametrize("sizes", [(5,), (3, 4), (2, 3, 4)])
def test_nearest_elements(sizes: tuple[int, ...], times: float) -> None:
    x = _random(2, 3, *sizes)
    _agree(F.interpolate(x, scale_factor=times), (x,))
    _agree(F.interpolate(x, [int(n * times) for n in sizes]), (x,))


HALF_LOSSES = [
    lambda x, y: F.mse_loss(x, y),
    lambda x, y: F.smooth_l1_loss(x, y, beta=0.7),
    lambda x, y: F.huber_loss(x, y, reduction="sum", delta=0.5),
    lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    lambda x, y: F.kl_div(x, y.sigmoid(), reduction="batchmean"),
    lambda x, y: F.cross_entropy(x, CLASSES),
    lambda x, y: F.cross_entropy(x, CLASSES, label_smoothing=0.2, reduction="sum"),
    lambda x, y: F.cross_entropy(x.reshape(2, 3, 2), CLASSES[:2, None].expand(2, 2)),
    lambda x, y: F.nll_loss(x, CLASSES),
]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("number", range(len(HALF_LOSSES)))
def test_slopes_of_losses_of_halves_are_rounded_once(number: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    loss, y = HALF_LOSSES[number], torch.randn(4, 3).to(dtype)
    x = torch.randn(4, 3).to(dtype).requires_grad_()
    wide = x.detach().float().requires_grad_()
    loss(x, y).backward()
    loss(wide, y.float()).backward()
    assert x.grad is not None
    assert wide.grad is not None
    assert x.grad.dtype is dtype
    near = 2 * torch.finfo(dtype).eps
    torch.testing.assert_close(x.grad.float(), wide.grad, rtol=near, atol=near * 0.01)


@pytest.mark.parametrize("sizes", [(200, 100), (3, 90, 80)])
def test_distances_that_are_products(sizes: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x, y = _random(*sizes), _random(*sizes)
    _agree(torch.cdist(x, y), (x, y))
    given = (torch.randn(*sizes) + 1).requires_grad_()  # the distances to itself are noise
    exact = given.detach().double().requires_grad_()
    torch.cdist(given, given).sum().backward()
    torch.cdist(exact, exact, compute_mode="donot_use_mm_for_euclid_dist").sum().backward()
    assert given.grad is not None
    assert exact.grad is not None
    torch.testing.assert_close(given.grad.double(), exact.grad, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("mode", ["linear", "bicubic"])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize(
    ("sizes", "wanted"), [((5,), (8,)), ((3, 4), (5, 2)), ((2, 3, 4), (3, 7, 4))]
)
def test_resized_elements(
    sizes: tuple[int, ...], wanted: tuple[int, ...], align: bool, mode: str
) -> None:
    if mode == "linear":
        mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[len(sizes)]
    elif len(sizes) != 2:
        return
    x = _random(2, 3, *sizes)
    _agree(F.interpolate(x, wanted, mode=mode, align_corners=align), (x,))


def test_what_is_not_finite_stays_where_it_is_when_resized() -> None:
    x = torch.zeros(1, 2, 6, requires_grad=True)
    slope = torch.zeros(1, 2, 12)
    slope[0, 0, 4] = float("inf")
    F.interpolate(x, 12, mode="linear").backward(slope)
    assert x.grad is not None
    assert x.grad[0, 0].isfinite().tolist() == [True, False, False, True, True, True]
    assert not x.grad[0, 1].any()


def test_long_rows_are_resized_back_in_little_memory() -> None:
    x = torch.zeros(1, 1, 100_000, requires_grad=True)  # a matrix would take 160 GB
    F.interpolate(x, 200_000, mode="linear").sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, torch.full((), 2.0))


@pytest.mark.parametrize("is_scaled", [True, False])
@pytest.mark.parametrize(("sizes", "groups"), [((3, 8, 5, 5), 4), ((2, 6, 7), 1), ((4, 12), 2)])
def test_groups_of_channels(sizes: tuple[int, ...], groups: int, is_scaled: bool) -> None:
    """Of float32, whose kernels are known beforehand in the end, beside float64."""
    torch.manual_seed(2)
    given = [torch.randn(*sizes), torch.randn(sizes[1]), torch.randn(sizes[1])]
    given = [each.requires_grad_() for each in given[: 3 if is_scaled else 1]]
    slope, found = torch.randn(*sizes), []
    for tensors in [given] * 40 + [[each.double() for each in given]]:
        made = F.group_norm(tensors[0], groups, *tensors[1:])
        found.append(torch.autograd.grad(made, tensors, slope.to(made.dtype)))
    for first, last, wide in zip(found[0], *found[-2:], strict=True):
        assert torch.equal(first, last)
        torch.testing.assert_close(first.double(), wide, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 2.0, 0.0])])
def test_classes_of_pixels(reduction: str, weight: torch.Tensor | None) -> None:
    """Of float32, which has kernels, beside float64."""
    target = torch.tensor([[[0, 1], [2, -100], [1, 1]], [[2, 2], [0, 1], [0, 0]]])
    x, found = torch.randn(2, 3, 3, 2, requires_grad=True), []
    for kind in (torch.float32, torch.float64):
        weights = None if weight is None else weight.to(kind)
        loss = F.cross_entropy(x.to(kind), target, weights, reduction=reduction)
        found.append(torch.autograd.grad((loss * loss).sum(), x)[0])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-6)
    assert found[0].is_contiguous()


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(kind: str, batch_first: bool) -> None:
    torch.manual_seed(1)
    options = {"batch_first": batch_first, "bidirectional": batch_first, "dtype": torch.float64}
    net = getattr(torch.nn, kind)(3, 4, 2, bias=batch_first, **options)
    x = _random(5, 2, 3)
    out, ends = net(x)
    _agree((out, *(ends if kind == "LSTM" else (ends,))), (x, *net.parameters()))
    last = ends[1] if kind == "LSTM" else ends
    _agree(last, (x, *net.parameters()))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_cells(kind: str) -> None:
    torch.manual_seed(2)
    cell = getattr(torch.nn, f"{kind}Cell")(3, 4, dtype=torch.float64)
    for rows in ((2,), ()):
        x, h, c = _random(*rows, 3), _random(*rows, 4), _random(*rows, 4)
        _agree(cell(x, (h, c) if kind == "LSTM" else h), (x, h, c, *cell.parameters()))


def test_cells_take_a_bias_for_each_sample() -> None:
    names = ("rnn_tanh_cell", "rnn_relu_cell")
    given = [torch.rand(2, 2, dtype=torch.float64).requires_grad_() for _ in range(6)]
    for name in names:
        made = getattr(torch, name)(*given)
        grads = torch.autograd.grad(made.sum(), given)
        assert [each.shape for each in grads] == [(2, 2)] * 6
        assert torch.equal(grads[4], grads[5])


POWERS = [lambda x: x**2, lambda x: x.pow(3.0), torch.square]
GELU_OF_TANH = partial(F.gelu, approximate="tanh")
ACTIVATIONS = [F.relu, torch.tanh, torch.sigmoid, F.silu, F.gelu, GELU_OF_TANH, *POWERS]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("number", range(len(ACTIVATIONS)))
def test_kernels_of_activations_give_the_bits_of_their_formulas(
    number: int, dtype: torch.dtype
) -> None:
    torch.manual_seed(number)
    x = torch.randn(7, 33, dtype=dtype, requires_grad=True)
    with torch.no_grad():
        x[0, 0], x[0, 1], x[0, 2] = torch.nan, torch.inf, 0.0
    (formula,) = torch.autograd.grad(ACTIVATIONS[number](x).sum(), x, create_graph=True)
    for _ in range(8):
        (found,) = torch.autograd.grad(ACTIVATIONS[number](x).sum(), x)
        assert found.tolist()[1:] == formula.tolist()[1:]
        assert str(found[0].tolist()) == str(formula[0].tolist())


def test_linear_with_parts_that_need_no_gradient() -> None:
    x, weight, bias = _random(2, 4, 3), _random(5, 3), _random(5)
    for given in ([x], [weight], [bias], [x, bias], [x, weight, bias]):
        for each in (x, weight, bias):
            each.requires_grad_(any(each is one for one in given))
        _agree(F.linear(x, weight, bias), tuple(given))


def test_gradients_that_others_see_are_copied() -> None:
    heard: list[torch.Tensor] = []
    one, other = _random(3, 3), _random(3, 3)
    shared = one + other
    shared.register_hook(heard.append)
    (shared * 2).sum().backward()
    one.grad.add_(1)
    assert other.grad.tolist() == heard[0].tolist() == [[2.0] * 3] * 3


def _mixed(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    parts = F.linear(x, weight, bias).view(2, 2, 3)
    kept = parts[1]
    idle = x.detach().t()[0]
    kept = torch.tanh(kept) * 2 + idle[:3]
    kept = kept.sigmoid_() + parts[0].relu()
    return F.layer_norm(kept.transpose(0, 1), [2])


def test_scripts_walk_back_as_eager_calls_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes made of a script's notes are walked by the same texts, to the same bits."""
    from rushlight.ops.gradients.nodes import bound

    torch.manual_seed(3)
    given = torch.randn(4, 5), torch.randn(3, 5), torch.randn(3)
    found = []
    general = bound.RowNode._applied
    names: list[str] = []

    def noted(self: bound.RowNode, grads: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
        names.append(self.name())
        return general(self, grads)

    for function in (_mixed, torch.jit.script(_mixed)):
        leaves = [each.clone().requires_grad_() for each in given]
        result = function(*leaves)
        monkeypatch.setattr(bound.RowNode, "_applied", noted)
        result.backward(torch.arange(6.0).reshape(result.shape))
        monkeypatch.undo()
        found.append([each.grad for each in leaves])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
    assert not names


def _float32(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, requires_grad=True)


ROWS = [
    lambda x, y, w: x.softmax(-1),
    lambda x, y, w: x.log_softmax(1),
    lambda x, y, w: (x.expand(2, 20, 9) * 2).softmax(2).transpose(0, 1),
    lambda x, y, w: F.layer_norm(x, (9,), w, w),
    lambda x, y, w: F.layer_norm(x, (9,), w),
    lambda x, y, w: F.layer_norm(x.detach(), (9,), w, y[0]),
    lambda x, y, w: F.layer_norm(x, (20, 9)),
    lambda x, y, w: F.layer_norm(x.reshape(2, 10, 9), (10, 9), y[:10], None),
    lambda x, y, w: F.layer_norm(x.reshape(2, 10, 9), (10, 9), None, y[:10]),
    lambda x, y, w: F.group_norm(x.reshape(10, 18), 3, y[0].repeat(2), y[1].repeat(2)),
    lambda x, y, w: F.group_norm(
        x.reshape(2, 10, 3, 3), 5, y[0, 0].expand(10) + y[1, 1], y[2, :1].expand(10)
    ),
    lambda x, y, w: F.group_norm(x.t().reshape(3, 6, 10), 2),
    lambda x, y, w: F.instance_norm(x.reshape(4, 5, 9), weight=w[:5], bias=y[0, :5]),
    lambda x, y, w: F.instance_norm(x.reshape(2, 2, 9, 5).transpose(2, 3)),
    *(
        lambda x, y, w, reduction=reduction: F.cross_entropy(
            x, torch.arange(20) % 9, ignore_index=3, reduction=reduction
        )
        for reduction in ("mean", "sum", "none")
    ),
    lambda x, y, w: F.cross_entropy(x, torch.full((20,), -100), reduction="sum"),
    lambda x, y, w: F.cross_entropy(x.t(), torch.arange(9)),
    lambda x, y, w: F.scaled_dot_product_attention(x, y, y, is_causal=True),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_rows(number: int, dtype: torch.dtype) -> None:
    """Kernels along rows give what formulas give, whatever was learned of them before."""
    torch.manual_seed(number)
    for count in range(3):
        given = [torch.randn(s, dtype=dtype, requires_grad=True) for s in ((20, 9), (20, 9), (9,))]
        result = ROWS[number](*given)
        share = torch.randn(result.shape, dtype=dtype)
        ways = [
            torch.autograd.grad(
                result, given, share, create_graph=create, retain_graph=True, allow_unused=True
            )
            for create in (True, False)
        ]
        for composed, direct in zip(*ways, strict=True):
            assert (composed is None) == (direct is None), count
            if composed is not None:
                torch.testing.assert_close(direct, composed.detach(), rtol=1e-4, atol=1e-5)


MOVES = [
    lambda x: x.view(3, 4, 5).permute(2, 0, -2),
    lambda x: x.reshape(5, 12).transpose(0, -1)[2:9:3, 1],
    lambda x: x[3].unsqueeze(0).squeeze(),
    lambda x: x.unbind(1)[2],
    lambda x: x.chunk(5, 1)[1] * x.split(2)[1][0, 0] + x.split([5, 7])[1][0, 1],
    lambda x: torch.cat([x.split_with_sizes([4, 8])[0], x[:, :5]], 0),
    lambda x: torch.stack([x, x * 2], -1).flatten(1),
    lambda x: F.max_pool2d(x.reshape(1, 1, 6, 10), 3, 2, 1),
    lambda x: F.max_pool1d(x, 2),
    lambda x: F.avg_pool2d(x.reshape(1, 1, 6, 10), 2),
    lambda x: F.avg_pool2d(x.reshape(1, 1, 6, 10), (2, 5), divisor_override=3),
    lambda x: F.avg_pool1d(x, 2, 1),
    lambda x: F.adaptive_avg_pool2d(x.reshape(1, 2, 6, 5), (3, 1)),
    lambda x: F.adaptive_avg_pool2d(x.reshape(1, 2, 6, 5), 4),
    lambda x: F.binary_cross_entropy(x.sigmoid(), x.detach().sin().abs()),
    lambda x: F.kl_div(x, x.detach().exp(), reduction="sum"),
    lambda x: F.kl_div(x, x.detach()[:1], reduction="none", log_target=True),
    lambda x: x[torch.tensor([[1, -1], [0, 1]])] * 2,
    lambda x: x[:, torch.tensor([3, 3, -4])].index_select(1, torch.tensor([0, 2])),
    lambda x: x[torch.tensor([1, 2]), torch.tensor([0, -1])] + x[0, 0],
    lambda x: F.embedding(torch.arange(20).reshape(4, 5) % 12, x, padding_idx=3),
    lambda x: F.embedding_bag(torch.arange(20) % 12, x, torch.tensor([0, 5, 5, 11])),
    lambda x: F.embedding_bag(torch.arange(20).reshape(4, 5) % 12, x, mode="mean", padding_idx=-2),
    lambda x: x.var(0) * x.std() + x.var((0, 1), correction=0),
    lambda x: x.std(1, correction=2, keepdim=True) + (x[:1] * torch.ones(4, 5)).std(0),
    lambda x: x.diagonal() + x.reshape(3, 4, 5).diagonal(-1, 2, 0)[0, 0] + torch.diagonal(x, 2)[0],
    lambda x: F.pad(x, (1, 2, 0, 3)) * F.pad(x, (-1, 4, 2, 1)),
    lambda x: x.roll(2) + x.roll((1, -2), (0, 1)),
    lambda x: F.pixel_shuffle(x.reshape(1, 12, 5, 1), 2),
    lambda x: F.pixel_unshuffle(x.reshape(1, 1, 10, 6), 2) * F.channel_shuffle(x[None], 3)[0, 0, 0],
]


@pytest.mark.parametrize("number", range(len(MOVES)))
def test_what_moves_elements(number: int) -> None:
    torch.manual_seed(number)
    x = _random(12, 5)
    _agree(MOVES[number](x), (x,))


@pytest.mark.parametrize("options", [{"batch_first": True}, {"bidirectional": True, "bias": False}])
def test_lstm_of_float32(options: dict[str, bool]) -> None:
    torch.manual_seed(2)
    layer = torch.nn.LSTM(7, 19, 2, **options)
    x = _float32(3, 5, 7)
    outputs, (hidden, cell) = layer(x)
    given = [x, *layer.parameters()]
    total = sum((each * torch.randn_like(each)).sum() for each in (outputs, hidden, cell))
    composed = torch.autograd.grad(total, given, create_graph=True, retain_graph=True)
    for one, other in zip(composed, torch.autograd.grad(total, given), strict=True):
        torch.testing.assert_close(other, one.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_layers_are_not_run_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = getattr(torch.nn, kind)(5, 6, 3, bidirectional=True)
    out, _ = layer(torch.randn(4, 2, 5))
    wanted = out.sum()

    def never(*given: object) -> None:
        raise AssertionError

    monkeypatch.setattr(recurrent_layers, "_by_kernel", never)
    monkeypatch.setattr(recurrent_layers, "_run", never)
    wanted.backward()
    assert all(each.grad is not None for each in layer.parameters())


def test_losses_have_second_derivatives() -> None:
    """Forms made of operators are used where gradients are differentiated, too."""
    torch.manual_seed(3)
    y = torch.randn(6, dtype=torch.float64)
    for loss in (F.mse_loss, F.huber_loss, F.binary_cross_entropy_with_logits, F.l1_loss):
        x = _random(6)
        assert torch.autograd.gradgradcheck(lambda x, loss=loss: loss(x, y.sigmoid()), (x,))


TRANSFORMS = [
    lambda z: torch.fft.fftn(z, (3, 6), (0, 2), "ortho"),
    lambda z: torch.fft.fft2(z.real),
    lambda z: torch.fft.ifftn(z),
    lambda z: torch.fft.ifft2(z, (-1, 7), (2, 0)),
    lambda z: torch.fft.rfftn(z.real, dim=(0, -2), norm="forward"),
    lambda z: torch.fft.rfft2(z.imag, (3, 7)),
    lambda z: torch.fft.irfftn(z, (2, 8), (1, 2)),
    lambda z: torch.fft.irfft2(z, norm="ortho"),
    lambda z: torch.einsum("abc,cd->abd", z, z[0].mT.conj() @ z[0]),
    lambda z: torch.einsum("bix,iox->box", z, z.transpose(0, 1)[:, :2] * 1j),
    lambda z: torch.einsum("abc,abc->", z, z.conj() * z),
]


@pytest.mark.parametrize("number", range(len(TRANSFORMS)))
def test_transforms_and_complex_products(number: int) -> None:
    torch.manual_seed(number)
    z = torch.randn(2, 3, 5, dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(TRANSFORMS[number], (z,))
    assert torch.autograd.gradgradcheck(TRANSFORMS[number], (z,))
