"""The operators of `prims`: what they give, refuse and share, eagerly, in scripts, on `meta`."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.fx.experimental.proxy_tensor import make_fx

P = torch.ops.prims
X = torch.arange(12.0).reshape(3, 4) - 5
N = torch.arange(4)
Z = X + 1j
OPTIONS = {"dtype": torch.float32, "device": "cpu", "requires_grad": False}
WHOLE = {**OPTIONS, "dtype": torch.int64}

GIVEN: list[tuple[Callable[[], torch.Tensor], torch.dtype, list[int], list[int], list[complex]]] = [
    (lambda: P.add(N, 2.5), torch.float32, [4], [1], [2.5, 3.5, 4.5, 5.5]),
    (lambda: P.add(X, torch.tensor(1.0)), torch.float32, [3, 4], [4, 1], [-4, -3, -2, -1]),
    (lambda: P.add(X.t(), X.t().contiguous()), torch.float32, [4, 3], [1, 4], [-10, -2, 6, -8]),
    (lambda: P.maximum(N, 1.5), torch.int64, [4], [1], [1, 1, 2, 3]),
    (lambda: P.div(N, torch.full([4], 2)), torch.int64, [4], [1], [0, 0, 1, 1]),
    (lambda: P.div(6, N + 1), torch.int64, [4], [1], [6, 3, 2, 1]),
    (lambda: P.div(X, 2.0), torch.float32, [3, 4], [4, 1], [-2.5, -2, -1.5, -1]),
    (lambda: P.where(X > 0, X, 1.0), torch.float32, [3, 4], [4, 1], [1, 1, 1, 1]),
    (lambda: P.fill(X.t(), 3), torch.float32, [4, 3], [1, 4], [3, 3, 3, 3]),
    (lambda: P.cbrt(N), torch.float32, [4], [1], [0, 1, 1.2599210739, 1.4422495365]),
    (lambda: P.sqrt(N), torch.float32, [4], [1], [0, 1, 1.4142135381, 1.7320507764]),
    (lambda: P.shift_left(N, N), torch.int64, [4], [1], [0, 2, 8, 24]),
    (lambda: P.abs(Z[:0]), torch.float32, [0, 4], [4, 1], []),
    (lambda: P.convert_element_type(X.t(), torch.int32), torch.int32, [4, 3], [1, 4], [-5, -1, 3]),
    (lambda: P.convert_element_type(X[:, ::2], torch.float16), torch.float16, [3, 2], [2, 1], [-5]),
    (lambda: P.copy_strided(X, [1, 3]), torch.float32, [3, 4], [1, 3], [-5, -4, -3, -2]),
    (lambda: P.as_strided(X, [2, 2], [1, 1], 3), torch.float32, [2, 2], [1, 1], [-2, -1, -1, 0]),
    (lambda: P.broadcast_in_dim(N, [4, 3], [0]), torch.int64, [4, 3], [1, 0], [0, 0, 0, 1]),
    (
        lambda: P.broadcast_in_dim(X[:1], [3, 1, 4], [0, 2]),
        torch.float32,
        [3, 1, 4],
        [0, 4, 1],
        [-5],
    ),
    (lambda: P.collapse(X.t(), 0, 1), torch.float32, [12], [1], [-5, -1, 3, -4]),
    (lambda: P.collapse(torch.tensor(1.0), 0, 0), torch.float32, [1], [1], [1]),
    (lambda: P.collapse_view(torch.zeros(2, 0, 4), 1, 2), torch.float32, [2, 0], [1, 1], []),
    (lambda: P.split_dim(X.t(), 0, 2), torch.float32, [2, 2, 3], [2, 1, 4], [-5, -1, 3, -4]),
    (lambda: P.squeeze(X[None, :, None], [0, 2]), torch.float32, [3, 4], [4, 1], [-5]),
    (lambda: P.reshape(X, [4, 3]), torch.float32, [4, 3], [3, 1], [-5, -4, -3, -2]),
    (lambda: P.rev(X.t(), [0]), torch.float32, [4, 3], [1, 4], [-2, 2, 6, -3]),
    (lambda: P.sum(X > 0, [0]), torch.int64, [4], [1], [1, 1, 2, 2]),
    (lambda: P.prod(X, [0]), torch.float32, [4], [1], [15, 0, -15, -24]),
    (lambda: P.amax(X[:0], [1]), torch.float32, [0], [1], []),
    (lambda: P.var(X, [0], 2), torch.float32, [4], [1], [32, 32, 32, 32]),
    (lambda: P.iota(3, start=0, step=-2, **WHOLE), torch.int64, [3], [1], [0, -2, -4]),
    (lambda: P.full_like(X.t(), 1, **WHOLE), torch.int64, [4, 3], [1, 4], [1, 1, 1, 1]),
    (lambda: P.fft_c2c(Z, dim=[1], forward=False), torch.complex64, [3, 4], [4, 1], [-14 + 4j]),
    (lambda: P.real(Z), torch.float32, [3, 4], [8, 2], [-5, -4, -3, -2]),
    (lambda: P.view_of_dtype(X, torch.int32), torch.int32, [3, 4], [4, 1], [-1063256064]),
]


@pytest.mark.parametrize("number", range(len(GIVEN)))
def test_what_they_give(number: int) -> None:
    call, dtype, sizes, strides, first = GIVEN[number]
    made = call()
    assert (made.dtype, list(made.shape), list(made.stride())) == (dtype, sizes, strides)
    assert made.flatten()[: len(first)].tolist() == pytest.approx(first)


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: P.add(X, X[0]), RuntimeError, "Shape torch.Size([4]) is not the expected shape"),
    (lambda: P.add(X, torch.tensor(1)), RuntimeError, "Tensor with dtype torch.int64 is not the"),
    (lambda: P.where(X, X, X), RuntimeError, "where expected condition to be a boolean tensor"),
    (lambda: P.conj_physical(X), RuntimeError, "prims.conj_physical is only defined for complex"),
    (lambda: P.broadcast_in_dim(N, [4, 3], [1]), RuntimeError, "4 must be broadcastable to 3"),
    (
        lambda: P.broadcast_in_dim(X, [3, 4], [1, 0]),
        AssertionError,
        "must be strictly ascending: 0",
    ),
    (lambda: P.collapse(X, 1, 0), ValueError, "end, 0, is less than start, 1!"),
    (lambda: P.collapse(X, 0, 3), AssertionError, "idx 3 is out of bounds for rank 2"),
    (lambda: P.collapse_view(X.t(), 0, 1), RuntimeError, "but no such view exists!"),
    (lambda: P.split_dim(X, 1, 3), ValueError, "outer length of 3 divides it with a remainder!"),
    (lambda: P.squeeze(X, [0]), AssertionError, "Cannot squeeze dimension 0 with size 3"),
    (lambda: P.squeeze(X[None], [0, 0]), RuntimeError, "dim 0 appears multiple times"),
    (lambda: P.transpose(X, [0, 0]), ValueError, "Received an invalid permutation, [0, 0]!"),
    (lambda: P.cat([X, X], -1), AssertionError, "dim must be non-negative, got -1"),
    (lambda: P.cat([X, N], 0), AssertionError, "Expected 2 but tensor 1 has 1"),
    (lambda: P.reshape(X, [4, 4]), ValueError, "12 elements to a shape with 16 elements!"),
    (lambda: P.as_strided(X, [20, 2], [1, 1], 0), ValueError, "requires a storage of size 21"),
    (lambda: P.sum(X, [-1]), AssertionError, "idx -1 is out of bounds for rank 2"),
    (lambda: P.sum(X, None), TypeError, "'NoneType' object is not iterable"),
    (lambda: P.sum(X, [0], output_dtype=torch.float64), TypeError, "argument 'output_dtype'"),
    (lambda: P.xor_sum(N, [0]), NotImplementedError, "xor_sum only implemented with inductor"),
    (lambda: P.iota(3, start=0, step=0, **WHOLE), RuntimeError, "step must be nonzero"),
    (lambda: P.iota(3, start=0, step=1, **OPTIONS), RuntimeError, "only supports integer dtypes"),
    (lambda: P.normal([3], mean=1.0, std=-2.0, **OPTIONS), RuntimeError, "but got std=-2.0"),
    (lambda: P.copy_to(torch.zeros(3), X), RuntimeError, "Attempting to copy 12 elements to"),
    (lambda: P.fft_c2c(X, dim=[0], forward=True), RuntimeError, "but found: Float"),
    (lambda: P.frexp(N), RuntimeError, "only supports floating-point dtypes"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_they_refuse(number: int) -> None:
    call, kind, sentence = REFUSED[number]
    with pytest.raises(kind) as caught:
        call()
    assert sentence in str(caught.value)


def test_views_share_memory_and_copies_do_not() -> None:
    base = torch.zeros(2, 3)
    for view in (P.view_of(base), P.transpose(base, [1, 0]), P.collapse_view(base, 0, 1)):
        view += 1
        assert view._is_view()
    assert base.unique().tolist() == [3.0]
    for copy in (P.clone(base), P.reshape(base, [2, 3]), P.collapse(base, 0, 1)):
        assert copy.data_ptr() != base.data_ptr()
    assert P.convert_element_type(base, torch.float32).data_ptr() != base.data_ptr()
    assert P.device_put(base, "cpu").data_ptr() == base.data_ptr()
    assert P.copy_to(base, X[:2, :3]) is base


def test_random_numbers_are_those_of_the_tensors_own_methods() -> None:
    torch.manual_seed(3)
    made = P.normal([5], mean=1.0, std=2.0, **OPTIONS), torch.rand(2)
    torch.manual_seed(3)
    wanted = torch.empty(5).normal_(1.0, 2.0), torch.rand(2)
    assert all(map(torch.equal, made, wanted))
    drawn = P.uniform(
        [2, 2], low=1, high=2, dtype=torch.float32, device="cpu", stride=[1, 2],
        generator=torch.Generator().manual_seed(1),
    )  # fmt: skip
    assert drawn.stride() == (1, 2)
    assert bool(((drawn >= 1) & (drawn < 2)).all())


def test_results_that_require_gradients_fail_on_the_way_back() -> None:
    x = X.clone().requires_grad_()
    made = P.abs(x)
    assert made.requires_grad
    with pytest.raises(RuntimeError, match="prims::abs"):
        made.sum().backward()
    assert P.full([2], 1, **{**OPTIONS, "requires_grad": True}).requires_grad
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        P.iota(3, start=0, step=1, **{**WHOLE, "requires_grad": True})


def test_scripts_call_them() -> None:
    def f(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        wide = torch.ops.prims.convert_element_type(a, torch.float64)
        numbers = torch.ops.prims.iota(
            3, start=1, step=2, dtype=torch.int64, device=a.device, requires_grad=False
        )
        return torch.ops.prims.sum(wide, [0]), torch.ops.prims.collapse(a, 0, 1), numbers

    scripted = torch.jit.script(f)
    assert "prims::sum(" in str(scripted.graph)
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    for run in (scripted, scripted, torch.jit.load(buffer)):
        total, flat, numbers = run(X)
        assert total.tolist() == X.double().sum(0).tolist()
        assert flat.shape == (12,)
        assert numbers.tolist() == [1, 3, 5]


def test_graphs_of_make_fx_hold_them() -> None:
    def f(a: torch.Tensor) -> torch.Tensor:
        return P.sum(P.mul(P.convert_element_type(a, torch.float64), 2.0), [0])

    made = make_fx(f)(X)
    assert "torch.ops.prims.convert_element_type.default(a_1, torch.float64)" in made.code
    assert "torch.ops.prims.sum.default(" in made.code
    assert torch.equal(made(X), f(X))


def test_tensors_without_data() -> None:
    large = torch.empty(1 << 20, 1 << 20, device="meta")
    assert P.add(large, large).shape == large.shape
    assert P.sum(large, [0], output_dtype=torch.float64).dtype is torch.float64
    assert P.transpose(large, [1, 0]).stride() == (1, 1 << 20)
    made = P.empty([1 << 20, 1 << 20], **{**OPTIONS, "device": "meta"})
    assert made.device.type == "meta"
    assert made.shape == large.shape
    assert P.device_put(X, "meta").device.type == "meta"
    assert P.add(large, torch.tensor(1.0)).device.type == "meta"
    with pytest.raises(RuntimeError, match="is not on the expected device meta"):
        P.add(torch.empty(3, device="meta"), torch.zeros(3))


def test_numbers_at_the_ends_of_dtypes() -> None:
    assert (P.maximum_value(torch.uint8), P.minimum_value(torch.int64)) == (255, -(2**63))
    assert P.maximum_value(torch.bool) is True
    assert P.item(torch.tensor(2.5)) == 2.5
