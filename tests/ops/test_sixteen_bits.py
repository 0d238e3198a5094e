"""16-bit floats: what is rounded once at the end, and what at every step, as in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops import kernels

F: Any = torch.nn.functional
HALVES = [torch.bfloat16, torch.float16]


def _numbers(*shapes: tuple[int, ...], dtype: Any) -> list[Any]:
    torch.manual_seed(3)
    return [torch.randn(*shape).to(dtype) for shape in shapes]


ONCE: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "linear": (F.linear, [(20, 30), (12, 30), (12,)]),
    "addmm": (lambda *t: torch.addmm(*t, beta=0.3, alpha=0.7), [(9, 8), (9, 30), (30, 8)]),
    "baddbmm": (torch.baddbmm, [(3, 4, 5), (3, 4, 30), (3, 30, 5)]),
    "glu": (F.glu, [(30, 20)]),
    "scatter_add": (
        lambda x, y: x.scatter_add(0, torch.zeros(9, 8, dtype=torch.int64), y),
        [(9, 8), (9, 8)],
    ),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1), [(1, 4, 6, 6), (5, 4, 3, 3)]),
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ONCE)
def test_rounded_once(name: str, dtype: Any) -> None:
    function, shapes = ONCE[name]
    given = _numbers(*shapes, dtype=dtype)
    found = function(*given)
    wide = function(*(each.float() for each in given))
    assert torch.equal(found, wide.to(dtype))
    assert not torch.equal(found.float(), wide)


@pytest.mark.parametrize("dtype", HALVES)
def test_batches_are_added_one_by_one(dtype: Any) -> None:
    total, a, b = _numbers((4, 5), (6, 4, 30), (6, 30, 5), dtype=dtype)
    wanted = total
    for one, other in zip(a, b, strict=True):
        wanted = (wanted.float() + one.float() @ other.float()).to(dtype)
    assert torch.equal(torch.addbmm(total, a, b), wanted)


@pytest.mark.parametrize("dtype", HALVES)
def test_rounded_at_every_step(dtype: Any) -> None:
    x, y = _numbers((20, 30), (20, 30), dtype=dtype)

    def step(value: Any) -> Any:
        return value.to(dtype).float()

    apart = step(x.float() - y.float())
    assert torch.equal(F.mse_loss(x, y, reduction="none"), (apart * apart).to(dtype))
    top = x.float().amax(1, True)
    logs = step(step((x.float() - top).exp().sum(1, True)).log())
    assert torch.equal(torch.log_softmax(x, 1), (x.float() - logs - top).to(dtype))
    grown = step(step(x.float() - top).exp())
    total = step(step(grown.sum(1, True)).log()) + top
    assert torch.equal(torch.logsumexp(x, 1, True), total.to(dtype))
    logarithm = step(y.float().abs().log())
    assert torch.equal(torch.xlogy(x, y.abs()), (x.float() * logarithm).to(dtype))


def test_means_of_likelihoods_are_added_up_as_by_torch() -> None:
    scores = (torch.arange(300).reshape(100, 3) / 7).sin().bfloat16()
    found = F.nll_loss(scores, torch.arange(100) % 3)
    assert found.item() == -0.0140380859375
    half = (torch.arange(300).reshape(100, 3) / 7).sin().half()
    assert F.nll_loss(half, torch.arange(100) % 3).item() == -0.01343536376953125


@pytest.mark.parametrize("dtype", HALVES)
def test_a_second_number_of_a_product_counts_unrounded(dtype: Any) -> None:
    (x,) = _numbers((50,), dtype=dtype)
    exact, rounded = torch.tensor(0.1), torch.tensor(0.1).to(dtype).float()
    for factor in (0.1, exact, exact.double()):
        assert torch.equal(x * factor, (x.float() * exact).to(dtype))
        assert torch.equal(x / factor, (x.float() / exact).to(dtype))
        assert torch.equal(x + factor, (x.float() + rounded).to(dtype))


def _told(dtype: Any) -> tuple[Any, Any]:
    steps = torch.arange(210)
    x = ((steps * 37 % 101).float() / 17 - 3).to(dtype).reshape(3, 2, 35)
    y = ((steps * 53 % 97).float() / 19 - 2).to(dtype).reshape(2, 3, 35)
    return x.transpose(0, 1).contiguous().reshape(2, 3, 35), y


def _normalized(x: Any, y: Any) -> Any:
    mean, variance = y[0, :, 0].clone(), y[0, :, 1].abs()
    made = F.batch_norm(x, mean, variance, y[1, :, 0].clone(), y[1, :, 1].clone(), True)
    return torch.cat([made.reshape(-1), mean, variance])


_CLASSES = torch.arange(70).remainder(3).reshape(2, 35)

AS_TORCH: dict[str, tuple[Callable[[Any, Any], Any], int, int]] = {
    "softmax": (lambda x, y: x.softmax(1), 351236379, 268970291),
    "cross_entropy, smoothed": (
        lambda x, y: F.cross_entropy(x, _CLASSES, label_smoothing=0.1, reduction="none"),
        *(40560127, 39479477),
    ),
    "cross_entropy, probabilities": (
        lambda x, y: F.cross_entropy(x, y.softmax(1), reduction="none"),
        *(40756491, 41052790),
    ),
    "cosine_embedding_loss": (
        lambda x, y: F.cosine_embedding_loss(
            x[0], y[0], torch.tensor([1, -1, 1]), reduction="none"
        ),
        *(65034, 61525),
    ),
    "triplet_margin_loss": (
        lambda x, y: F.triplet_margin_loss(x, y, x.flip(2), reduction="none"),
        *(230460, 238270),
    ),
    "huber_loss": (
        lambda x, y: F.huber_loss(x, y, delta=0.6, reduction="none"),
        *(357776071, 321172559),
    ),
    "grid_sample": (
        lambda x, y: F.grid_sample(
            x[:, :, :30].reshape(2, 3, 2, 3, 5),
            y[:, :, :30].reshape(2, 1, 6, 5, 3) / 2,
            align_corners=False,
        ),
        *(-16017616, -50241437),
    ),
    "interpolate, bicubic": (
        lambda x, y: F.interpolate(x[:, :, :30].reshape(2, 3, 5, 6), (7, 4), mode="bicubic"),
        *(-8057037, -25710424),
    ),
    "cumsum": (lambda x, y: x.cumsum(-1), *(-157717456, -165789708)),
    "cumsum, turned": (lambda x, y: x.cumsum(2) + y.cumsum(0), *(-37248214, -46244017)),
    "cumprod": (lambda x, y: (y.abs() * 2).cumprod(1), *(354987413, 377738729)),
    "binary_cross_entropy_with_logits": (
        lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction="none"),
        *(359754423, 337114806),
    ),
    "batch_norm": (_normalized, -132262268, -144262446),
    "scaled_dot_product_attention": (
        lambda x, y: F.scaled_dot_product_attention(x[None], y[None], y[None] * 2),
        *(103298052, 99353974),
    ),
}
"""Functions of two tensors; sums of the bits of torch's results, each times its place, in bfloat16
and in float16."""


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", AS_TORCH)
def test_the_bits_are_those_of_torch(name: str, which: int) -> None:
    function, *sums = AS_TORCH[name]
    bits = function(*_told(HALVES[which])).view(torch.int16).long().reshape(-1)
    assert (bits * torch.arange(1, bits.numel() + 1)).sum().item() == sums[which]


def test_numbers_are_divided_before_they_are_cast() -> None:
    byte = torch.tensor(3, dtype=torch.uint8)
    assert (torch.div(300, byte).item(), (-3 / byte).item()) == (100.0, -1.0)
    assert torch.div(300, byte, rounding_mode="floor").item() == 14
    assert str(torch.remainder(torch.tensor([-3.0]), 3.0)) == "tensor([-0.])"


def test_what_one_rounding_leaves_of_a_row_of_one_element() -> None:
    x = torch.tensor([[1.1], [2.3], [-3.7], [100.3]], dtype=torch.bfloat16)
    recorded = [1.9073486328125e-06, -3.814697265625e-06, -3.814697265625e-06, -0.0003662109375]
    assert torch.nn.functional.layer_norm(x, (1,)).flatten().tolist() == recorded


@pytest.mark.parametrize(
    ("dtypes", "message"),
    [
        (("bfloat16", "bfloat16", "float32", "float32"), "expected scalar type BFloat16 but found"),
        (("float32", "float32", "float32", "float64"), "expected scalar type Float but found Doub"),
        (("float64", "float32", "float32", "float32"), "all inputs must share same datatype"),
        (("float64", "float32", "float64", "float64"), "parameter to have scalar type of Float"),
    ],
)
def test_dtypes_that_batch_norm_does_not_mix(dtypes: tuple[str, ...], message: str) -> None:
    input, *parameters = (torch.ones(2, 2, dtype=getattr(torch, name)) for name in dtypes)
    weight, mean, variance = (each[0] for each in parameters)
    with pytest.raises(RuntimeError, match=message):
        torch.nn.functional.batch_norm(input, mean, variance, weight)


LEARNED = """
x + 0.1; 0.1 - x; x * 0.1; x / 0.3; x ** 2; x ** 0.5; x ** -1; x ** 2.5; 2.0 ** x; x % 0.3
torch.fmod(x, 0.3); x > 0.1; x.clamp(-0.1, 0.3); F.leaky_relu(x, 0.1); F.elu(x, 0.7)
F.softplus(x, 0.7, 1.3); F.hardswish(x); F.mish(x); F.silu(x); F.gelu(x); F.relu6(x)
F.gelu(x, approximate="tanh"); F.hardtanh(x, -0.3, 0.7); F.softshrink(x, 0.3)
F.hardshrink(x, 0.3); F.threshold(x, 0.1, 0.3); F.logsigmoid(x); torch.sigmoid(x); torch.tanh(x)
torch.exp(x); torch.sin(x); torch.log1p(x); torch.rsqrt(x); torch.sign(x); torch.frac(x)
torch.round(x); torch.deg2rad(x); x + y; x * y; x / y; torch.add(x, y, alpha=0.3); x // y
torch.addcmul(x, y, z, value=0.3); torch.addcdiv(x, y, z, value=0.3); torch.lerp(x, y, 0.3)
torch.lerp(x, y, z); torch.maximum(x, y); torch.hypot(x, y); torch.atan2(x, y); x % y
torch.pow(x, y); torch.logaddexp(x, y); torch.where(x > y, x, 0.1); x.masked_fill(y > 0, 0.1)
torch.nan_to_num(x); x.float(); x.double(); x.half(); x.bfloat16(); x.to(torch.bool); x * y[0]
x.reshape(-1, 2).sum(1); x.reshape(2, -1).mean(0); x.reshape(-1, 2).amax(0); x.norm(); x.norm(1)
torch.softmax(x.reshape(2, -1), 1); torch.log_softmax(x.reshape(2, -1), 1); F.huber_loss(x, y)
torch.logsumexp(x.reshape(2, -1), 1); F.mse_loss(x, y); F.smooth_l1_loss(x, y)
x * torch.tensor(0.1); torch.tensor(0.1) - x; x.clone().mul_(0.3); x.clone().add_(y, alpha=0.3)
F.interpolate(x.reshape(1, 2, -1), size=77, mode="linear"); F.instance_norm(x.reshape(1, 2, -1))
torch.logit(x); torch.logit(x, 0.1)
""".replace("\n", ";")


@pytest.mark.parametrize("dtype", HALVES)
def test_learned_calls_give_the_bits_of_the_first(dtype: Any) -> None:
    """Of all numbers there are, and of some, in which small sizes are computed."""
    words = torch.arange(-(1 << 15), 1 << 15).to(torch.int16)
    torch.manual_seed(5)
    near = (words.float() / 9000).to(dtype)
    orders = [torch.randperm(1 << 16) for _ in range(2)]
    for numbers in (words.view(dtype), near):
        whole = numbers, numbers[orders[0]], numbers[orders[1]]
        parts = tuple(each[:90] for each in whole)
        for text in filter(None, map(str.strip, LEARNED.split(";"))):
            call = eval(f"lambda x, y, z: {text}", {"torch": torch, "F": F})
            for given in (whole, parts):
                first = call(*given)
                for _ in range(4):
                    again = call(*given)
                    assert first.dtype == again.dtype
                    assert torch.equal(first.isnan(), again.isnan()), text
                    assert torch.equal(first.nan_to_num(7), again.nan_to_num(7)), text


def scripted(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    a = torch.sigmoid(x * 0.3) * y + 0.1
    b = torch.where(a > x, a, x / 3.0).clamp(-1.0, 1.0)
    return b * b - torch.exp(y).float()


@pytest.mark.parametrize("size", [50, 20_000])
@pytest.mark.parametrize("dtype", HALVES)
def test_scripts_round_at_every_operator(
    dtype: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first call, in later ones, and where operators have become one expression."""
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    x, y = _numbers((size,), (size,), dtype=dtype)
    want, compiled = scripted(x, y), torch.jit.script(scripted)
    for _ in range(120):
        assert torch.equal(compiled(x, y), want)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("reduce", ["prod", "mean"])
def test_indices_round_each_step_and_scattering_before_it_divides(reduce: str, dtype: Any) -> None:
    x, values = _numbers((3, 20), (8, 20), dtype=dtype)
    index = torch.tensor([0, 1, 0, 0, 1, 0, 0, 0])
    apply = torch.mul if reduce == "prod" else torch.add
    each, once = x.clone(), x.float()
    for place, value in zip(index.tolist(), values, strict=True):
        each[place] = apply(each[place], value)
        once[place] = apply(once[place], value.float())
    counts = torch.tensor([[7], [3], [1]] if reduce == "mean" else [[1]], dtype=dtype)
    assert torch.equal(x.index_reduce(0, index, values, reduce), each / counts)
    places = index[:, None].expand(8, 20)
    assert torch.equal(x.scatter_reduce(0, places, values, reduce), once.to(dtype) / counts)
    assert not torch.equal(each, once.to(dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_numbers_beside_sixteen_bits_are_rounded_where_torch_rounds_them(dtype: Any) -> None:
    number = 0.3
    x = torch.tensor([number, -number, 1.0] * 6, dtype=dtype)
    assert x[0].item() > number
    assert F.hardshrink(x, number)[:3].tolist() == [0, 0, 1]
    seven = torch.tensor(0.7, dtype=dtype).item()
    assert F.threshold(x, number, 0.7)[:3].tolist() == [x[0].item(), seven, 1]
    near = torch.isclose(x[:2], torch.zeros(2, dtype=dtype), rtol=0.0, atol=number)
    assert near.tolist() == [True, True]
    below = 0.7 if dtype is torch.bfloat16 else 0.1
    for function, value in (
        (lambda y: F.threshold(y, number, 7.0), number),
        (lambda y: F.hardtanh(y, -1.0, below), below),
    ):
        leaf = torch.tensor(value, dtype=dtype, requires_grad=True)
        function(leaf).backward()
        assert leaf.grad.item() == 1


@pytest.mark.parametrize("dtype", HALVES)
def test_logits_are_rounded_at_every_step(dtype: Any) -> None:
    x = torch.rand(60, generator=torch.Generator().manual_seed(1)).to(dtype)
    low = torch.tensor(0.1, dtype=dtype)
    held = x.clamp(low, 1 - low)
    assert torch.equal(torch.logit(x, 0.1), (held / (1 - held)).log())
    assert not torch.equal(torch.logit(x, 0.1), (held.float() / (1 - held.float())).log().to(dtype))


@pytest.mark.parametrize(
    ("exponent", "function"), [(0.5, torch.sqrt), (-0.5, torch.rsqrt), (-1, torch.reciprocal)]
)
def test_powers_of_bfloat16_that_are_functions_of_their_own(
    exponent: float, function: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    every = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    for given in (every, every[16000:16007], every[-9:]):
        wanted = function(given)
        for _ in range(40):
            made = given**exponent
            assert ((made == wanted) | (made.isnan() & wanted.isnan())).all()
            assert torch.equal(made.signbit() | made.isnan(), wanted.signbit() | wanted.isnan())


@pytest.mark.parametrize("dtype", HALVES)
def test_rows_that_were_looked_up_are_added_up_in_turn(dtype: Any) -> None:
    (grad,) = _numbers((60, 5), dtype=dtype)
    named = [(7 * at * at) % 11 for at in range(60)]
    wanted = torch.zeros(11, 5, dtype=dtype)
    for row, at in zip(grad, named, strict=True):
        if at != 2:
            wanted[at] = (wanted[at].float() + row.float()).to(dtype)
    for whole in (torch.int64, torch.int32):
        table = torch.zeros(11, 5, dtype=dtype).requires_grad_()
        F.embedding(torch.tensor(named, dtype=whole), table, padding_idx=2).backward(grad)
        assert torch.equal(table.grad, wanted)


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32])
def test_no_rows_that_were_looked_up_leave_a_gradient_of_zeros(dtype: Any) -> None:
    table = torch.ones(4, 3, dtype=dtype).requires_grad_()
    F.embedding(torch.zeros(0, dtype=torch.int64), table).sum().backward()
    assert torch.equal(table.grad, torch.zeros(4, 3, dtype=dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_elements_that_were_taken_are_added_up_in_turn(dtype: Any) -> None:
    (grad,) = _numbers((60,), dtype=dtype)
    named = [(7 * at * at) % 22 - 11 for at in range(60)]
    wanted = torch.zeros(11, dtype=dtype)
    for number, at in zip(grad, named, strict=True):
        wanted[at] = (wanted[at].float() + number.float()).to(dtype)
    x = torch.zeros(11, dtype=dtype).requires_grad_()
    torch.take(x, torch.tensor(named)).backward(grad)
    assert torch.equal(x.grad, wanted)


@pytest.mark.skipif(kernels.family("rows.rows") is None, reason="native code")
@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_of_groups_are_by_the_means_and_scales_that_are_kept(dtype: Any) -> None:
    (x,) = _numbers((1, 4, 50), dtype=dtype)
    x = x * 3 + 7
    g = torch.zeros_like(x)
    g[..., 5] = 1
    for of_weights in (dtype, torch.float32):
        weight = torch.ones(4, dtype=of_weights, requires_grad=True)
        bias = torch.zeros(4, dtype=of_weights)
        F.group_norm(x, 2, weight, bias).backward(g)
        kept = torch.ops.aten.native_group_norm(x, weight.detach(), bias, 1, 4, 50, 2, 1e-5)[1:]
        mean, scale = (each.float().reshape(2, 1) for each in kept)
        wanted = (x[..., 5].float().reshape(2, 2) - mean) * scale
        assert torch.allclose(weight.grad, wanted.reshape(4).to(of_weights), rtol=1e-5, atol=1e-6)
