"""Pointwise operators of plans by their direct forms: the same bits, while it pays."""

import math

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.kernels import family

module = family("calls.prepared")
pytestmark = pytest.mark.skipif(
    module is None or module.CREW is None, reason="there is no native code here"
)


def gate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x * y + 1.0) * torch.tanh(x - 2) / (y.abs() + 0.5)


@pytest.fixture
def scripted(monkeypatch):
    """A new script, whose kernels are there at once."""
    monkeypatch.setattr("rushlight.ops.table.direct.is_there", lambda *_: True)
    unit = torch.jit.CompilationUnit(
        "def gate(x: Tensor, y: Tensor) -> Tensor:\n"
        "    return torch.sigmoid(x * y + 1.0) * torch.tanh(x - 2) / (y.abs() + 0.5)\n"
    )
    return unit.gate


def warm(scripted):
    space = tiers_of(scripted._rushlight_function).way(False).plan.run.__globals__
    return [value for name, value in sorted(space.items()) if name.startswith("warm")]


def random(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def test_calls_one_to_a_hundred_give_the_same_bits(scripted):
    with torch.no_grad():
        for shapes in (((7, 9), (7, 9)), ((7, 9), (9,)), ((1,), (4, 1))):
            x, y = (random(*shape, seed=len(shape)) for shape in shapes)
            wanted = gate(x, y).numpy().tobytes()
            assert {scripted(x, y).numpy().tobytes() for _ in range(100)} == {wanted}
    assert all(warm(scripted))


def test_operands_that_change_all_the_time_cool_down(scripted):
    with torch.no_grad():
        for size in range(1, 1700):
            x, y = random(size), random(size, seed=2)
            assert scripted(x, y).numpy().tobytes() == gate(x, y).numpy().tobytes()
    assert not any(warm(scripted))


def test_other_kinds_of_operands_are_as_before(scripted):
    x = random(6, 5)
    with torch.no_grad():
        for _ in range(60):
            scripted(x, x)
        for other in (x.double(), (x * 10).long(), x.t().contiguous().t(), x[:, ::2], x[0, 0]):
            assert scripted(other, other).dtype is gate(other, other).dtype
            assert torch.equal(scripted(other, other), gate(other, other))
        with pytest.raises(RuntimeError, match="must match the size"):
            scripted(x, random(6, 4))
    y = x.clone().requires_grad_()
    scripted(y, x).sum().backward()
    assert y.grad is not None


def known_calls(expression, **given):
    """A function of the expression that has run often, and the bits of all its calls."""
    parameters = ", ".join(f"{name}: Tensor" for name in given)
    text = f"def known({parameters}) -> Tensor:\n    return {expression}\n"
    known = torch.jit.CompilationUnit(text).known
    wanted = eval(expression, {"torch": torch, **given})
    with torch.no_grad():
        found = {known(*given.values()).numpy().tobytes() for _ in range(100)}
    assert found == {wanted.numpy().tobytes()}
    return known, found


PREPARED = [
    "torch.softmax(x, -1)",
    "torch.log_softmax(x, 1)",
    "torch.logsumexp(x, [1])",
    "torch.layer_norm(x, [30], w, w)",
    "torch.rms_norm(x, [30], None)",
    "torch.group_norm(x.view(2, 10, 15), 5, w[:10], w[10:20])",
    "x.sum() + x.mean() + x.max() - x.min()",
    "x.sum(1) + x.mean(-1) + x.amax(1) - x.amin([1])",
    "x.sum(0, keepdim=True) * x.mean([0, 1])",
    "x @ y + x.mm(y) + torch.addmm(w[:7], x, y)",
    "torch.bmm(x.view(2, 5, 30), y.expand(2, 30, 7))",
    "torch.conv1d(x.view(2, 5, 30), w.view(2, 5, 3), w[:2], [1], [1])",
    "torch.conv2d(x.view(1, 3, 10, 10), y.view(-1)[:54].view(2, 3, 3, 3), None, [2, 1], [1, 2])",
]


@pytest.mark.parametrize("expression", PREPARED)
def test_prepared_operators_give_the_same_bits_in_all_calls(expression):
    x, y, w = random(10, 30), random(30, 7, seed=2), random(30, seed=3)
    known, found = known_calls(expression, x=x, y=y, w=w)
    with torch.no_grad():
        known(random(10, 30, seed=5), y, w)
        assert {known(x, y, w).numpy().tobytes()} == found
    assert any(warm(known))


@pytest.mark.parametrize("count", [9, 100, 130])
def test_many_pieces_are_put_together_as_few_are(count):
    wide = random(2 * count, 6)
    pieces = [wide[2 * n, : 3 + n % 3] if n % 4 else wide[2 * n, ::2] for n in range(count)]
    rows = [wide[2 * n, ::2] if n % 3 else wide[2 * n, :3] for n in range(count)]
    whole, stacked = torch.cat(pieces), torch.stack(rows, 1)
    for _ in range(80):
        assert torch.cat(pieces).numpy().tobytes() == whole.numpy().tobytes()
        assert torch.stack(rows, 1).numpy().tobytes() == stacked.numpy().tobytes()
    wide += 1.0
    expected = np.concatenate([each.numpy() for each in pieces])
    assert torch.cat(pieces).numpy().tobytes() == expected.tobytes()
    assert torch.stack(rows, 1).tolist() == np.stack([r.numpy() for r in rows], 1).tolist()


LEARNED = [
    "torch.nn.functional.mse_loss(x, z) + torch.nn.functional.l1_loss(x, z)",
    "torch.nn.functional.smooth_l1_loss(x, z, beta=0.7)",
    "torch.nn.functional.huber_loss(x, z, 'none', 0.8)",
    "torch.nn.functional.binary_cross_entropy_with_logits(x, torch.sigmoid(z))",
    "torch.norm(x, 2, [-1]) + torch.norm(x)",
    "torch.cosine_similarity(x, z)",
    "torch.index_select(x, 0, i) + torch.nn.functional.embedding(i, x)",
    "torch.gather(x, 1, i.view(10, 1))",
    "torch.zeros_like(x).index_add_(0, i.view(-1), x).index_copy_(0, i[:1], z[:1])",
]


@pytest.mark.parametrize("expression", LEARNED)
def test_losses_and_lookups_give_the_same_bits_in_all_calls(expression):
    x, z, i = random(10, 30), random(10, 30, seed=2), torch.arange(10).flip(0) // 2
    known, _ = known_calls(expression, x=x, z=z, i=i)
    with torch.no_grad():
        if "i)" in expression or "i." in expression:
            i[3] = 30
            with pytest.raises((IndexError, RuntimeError), match="out of"):
                known(x, z, i)
    assert any(warm(known))


def test_groups_on_small_tensors_are_one_call(scripted, monkeypatch):
    """Once their kernels are there; others' sizes, dtypes and layouts are done as before."""
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    x, y = random(4, 5), random(4, 5, seed=2)
    with torch.no_grad():
        wanted = gate(x, y).numpy().tobytes()
        assert {scripted(x, y).numpy().tobytes() for _ in range(300)} == {wanted}
        space = tiers_of(scripted._rushlight_function).way(False).plan.run.__globals__
        assert space["warmg0"]
        assert type(space["dg0"]).__name__ == "builtin_function_or_method"
        others = (x.double(), (x * 10).long(), x.t().contiguous().t(), x[:, ::2], x[0, 0], x[:0])
        for _ in range(3):
            for other in others:
                assert scripted(other, other).dtype is gate(other, other).dtype
                assert torch.equal(scripted(other, other), gate(other, other))
        assert scripted(x, y).numpy().tobytes() == wanted


SMALL_GROUPS = [
    "x * y + w, x - 1, x.abs()",
    "torch.sigmoid(x.t() * 2) * x.t()",
    "x.long() // 2 + 1, x.long() / 2",
    "(x > y) & (y < w), torch.where(x > y, x, y * w)",
    "x.relu() * 2.5 + x, -x, x.neg().exp()",
    "w + 1, x + w, (x + w) * (x + w)",
    "x.double() * 2 + y, x.half() + 1",
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("results", SMALL_GROUPS)
def test_small_groups_give_the_bits_of_operators(results, dtype, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    expressions = f"{results},".rstrip()
    text = f"def known(x: Tensor, y: Tensor, w: Tensor):\n    return [{expressions}]\n"
    known = torch.jit.CompilationUnit(text).known
    x, y, w = (random(*s, seed=len(s)) for s in ((3, 6), (3, 1), (6,)))
    x.view(-1)[:5] = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0])
    x, y, w = x.to(dtype), y.to(dtype), w.to(dtype)

    def bits(made):
        return [(each.dtype, each.stride(), each.numpy().tobytes()) for each in made]

    with torch.no_grad():
        wanted = bits(eval(f"[{expressions}]", {"torch": torch, "x": x, "y": y, "w": w}))
        for _ in range(300):
            assert bits(known(x, y, w)) == wanted
        torch.set_default_dtype(torch.float64)
        try:
            wanted = bits(eval(f"[{expressions}]", {"torch": torch, "x": x, "y": y, "w": w}))
            assert bits(known(x, y, w)) == wanted
        finally:
            torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_cross_entropies_of_sigmoids_are_those_of_operators_one_by_one(dtype, reduction):
    x = (random(60, 70) * 30 - 15).to(getattr(torch, dtype))
    x[0, :3] = torch.tensor([math.inf, -math.inf, -0.0], dtype=x.dtype)
    wanted = random(60, 70, seed=2).to(x.dtype)
    ones = torch.ones(70, dtype=x.dtype)  # with which they are computed in another way
    made, other = (
        torch.nn.functional.binary_cross_entropy_with_logits(
            x, wanted, pos_weight=weight, reduction=reduction
        )
        for weight in (None, ones)
    )
    assert made.dtype == x.dtype
    assert torch.equal(made.isnan(), other.isnan())
    assert torch.allclose(made, other, equal_nan=True, rtol=1e-5)


def test_an_operator_whose_first_operand_is_known_is_called_directly(monkeypatch):
    unit = torch.jit.CompilationUnit(
        "def joined(x: Tensor, y: Tensor) -> Tensor:\n"
        "    return torch.einsum('ij,kj->ik', [x, y])\n"
    )
    x, y = random(5, 7), random(4, 7, seed=3)
    wanted = torch.einsum("ij,kj->ik", x, y)
    assert all(torch.equal(unit.joined(x, y), wanted) for _ in range(100))
    assert warm(unit.joined) == [True]
    assert torch.equal(unit.joined(x[:2], y), torch.einsum("ij,kj->ik", x[:2], y))
