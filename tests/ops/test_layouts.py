"""Strides of results, as torch 2.13 gives them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

MATRIX = torch.eye(3) * 2 + 1
BATCH = torch.stack([MATRIX, MATRIX + 1])
BLOCK = torch.arange(24.0).reshape(2, 3, 4)

BY_COLUMNS = {
    "cholesky": torch.linalg.cholesky,
    "cholesky_inverse": torch.cholesky_inverse,
    "cholesky_solve": lambda a: torch.cholesky_solve(a, a),
    "eigh": lambda a: torch.linalg.eigh(a)[1],
    "eig": lambda a: torch.linalg.eig(a)[1],
    "geqrf": lambda a: torch.geqrf(a)[0],
    "inv": torch.linalg.inv,
    "ldl_factor": lambda a: torch.linalg.ldl_factor(a)[0],
    "lstsq": lambda a: torch.linalg.lstsq(a, a)[0],
    "lu_factor": lambda a: torch.linalg.lu_factor(a)[0],
    "lu_solve": lambda a: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), a),
    "matrix_power(-1)": lambda a: torch.linalg.matrix_power(a, -1),
    "qr": lambda a: torch.linalg.qr(a)[1],
    "solve": lambda a: torch.linalg.solve(a, a),
    "solve_triangular": lambda a: torch.linalg.solve_triangular(a, a, upper=True),
    "svd": lambda a: torch.linalg.svd(a)[2],
}


@pytest.mark.parametrize("name", BY_COLUMNS)
def test_matrices_that_lapack_writes_are_stored_by_columns(name: str) -> None:
    function = BY_COLUMNS[name]
    assert function(MATRIX).stride() == (1, 3)
    assert function(BATCH).stride() == (9, 1, 3)
    assert function(MATRIX[:1, :1]).stride() == (1, 1)


def test_results_by_rows() -> None:
    for found in (torch.linalg.pinv(MATRIX), torch.linalg.lu(MATRIX)[1], torch.svd(MATRIX)[2]):
        assert found.stride() == (3, 1)
    assert torch.linalg.solve(MATRIX, MATRIX, left=False).stride() == (3, 1)
    assert torch.linalg.cross(BLOCK[:, :, :3].mT, BLOCK[:, :, :3].mT).stride() == (9, 3, 1)


def test_least_squares_leave_the_solution_among_the_rows_of_the_right_side() -> None:
    tall = torch.arange(12.0).reshape(4, 3)
    assert torch.linalg.lstsq(tall, tall, driver="gelsd")[0].stride() == (1, 4)


def test_matrices_without_elements() -> None:
    assert torch.linalg.inv(torch.empty(0, 5, 5)).stride() == (25, 1, 5)
    assert torch.linalg.qr(torch.empty(5, 0))[0].stride() == (1, 5)


def test_transformed_dimensions_are_innermost() -> None:
    complex_block = BLOCK + 0j
    assert torch.fft.fft(BLOCK, dim=1).stride() == (12, 1, 3)
    assert torch.fft.fft2(complex_block, dim=(2, 0)).stride() == (4, 8, 1)
    assert torch.fft.rfft2(BLOCK, dim=(2, 0)).stride() == (1, 8, 2)
    assert torch.fft.fftn(complex_block.permute(2, 0, 1)).stride() == (1, 12, 4)
    assert torch.fft.irfft(complex_block, dim=0).stride() == (1, 8, 2)
    assert torch.fft.fft(BLOCK).stride() == (12, 4, 1)


def test_dimensions_of_size_1_keep_their_strides() -> None:
    x = torch.zeros(6, 5)
    assert x[::2][:1].stride() == (10, 1)
    assert x[:1].t().stride() == (1, 5)
    assert x[0].unsqueeze(0).stride() == (5, 1)
    assert (x[::2][:1] + 1).stride() == (5, 1)


def test_out_of_another_shape_takes_the_layout_of_the_result() -> None:
    out = torch.empty(0)
    assert torch.linalg.inv(MATRIX, out=out).stride() == (1, 3)
    assert torch.add(BLOCK.mT, 1, out=torch.empty(0)).stride() == (12, 1, 4)
    assert torch.linalg.cholesky(MATRIX, out=torch.empty(0)).stride() == (1, 3)
    assert torch.cholesky(MATRIX, out=torch.empty(0)).stride() == (3, 1)
    assert torch.fft.fft(BLOCK, dim=1, out=torch.empty(0) + 0j).stride() == (12, 4, 1)


def test_slices_that_are_unique_are_stored_one_after_another() -> None:
    for found in (torch.unique(BLOCK, dim=1), torch.unique_consecutive(BLOCK, dim=1)):
        assert found.equal(BLOCK)
        assert found.stride() == (4, 8, 1)
    assert torch.unique(torch.empty(3, 0), dim=1).stride() == (1, 1)


def test_places_of_each_dimension_lie_beside_each_other() -> None:
    rows, columns = torch.unravel_index(torch.tensor([3, -1]), (4, 200))
    assert (rows.tolist(), columns.tolist()) == ([0, 3], [3, 199])
    assert (rows.stride(), columns.storage_offset()) == ((2,), 1)


def test_a_part_is_replaced_in_a_copy_of_the_whole_storage() -> None:
    inner = torch.zeros(6, 5)[1::2, 1::2]
    found = torch.select_scatter(inner, torch.ones(2), 0, 1)
    assert found.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert (found.stride(), found.storage_offset()) == ((10, 2), 6)
    assert found.untyped_storage().nbytes() == 120
    assert not inner.any()
    assert torch.slice_scatter(torch.zeros(6, 5).t(), torch.ones(5, 6)).stride() == (1, 5)
    assert torch.diagonal_scatter(torch.zeros(6, 5)[2:], torch.ones(4)).storage_offset() == 10


def test_a_part_of_rows_that_share_memory_is_replaced_in_one_of_them() -> None:
    rows = torch.zeros(5).expand(3, 5)
    found = torch.as_strided_scatter(rows, torch.ones(4), (4,), (1,), 1)
    assert found.sum() == 4
    assert found.stride() == (5, 1)


def _strided(sizes: tuple[int, ...], steps: tuple[int, ...]) -> torch.Tensor:
    reach = 1 + sum(max(n - 1, 0) * step for n, step in zip(sizes, steps, strict=True))
    return torch.arange(1.0, reach + 1).as_strided(sizes, steps)


@pytest.mark.parametrize(
    ("sizes", "steps", "wanted"),
    [
        ((2, 3), (1, 2), (1, 2)),
        ((2, 3), (2, 4), (1, 2)),
        ((1, 0, 3), (6, 6, 2), (6, 6, 2)),
        ((1,), (2,), (2,)),
        ((3, 1, 3, 1), (1, 3, 6, 3), (1, 3, 3, 3)),
        ((2, 3), (3, 0), (3, 1)),
    ],
)
def test_new_tensors_beside_others(
    sizes: tuple[int, ...], steps: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    x = _strided(sizes, steps)
    assert x.stride() == steps
    makers = (torch.zeros_like, torch.clone, torch.rand_like, torch.isreal, torch.nan_to_num)
    for make in makers[: None if 0 not in steps else 3]:
        assert make(x).stride() == wanted, make


def test_strides_of_what_is_empty_or_turned() -> None:
    assert torch.zeros(0, 3).nonzero().stride() == (1, 0)
    assert torch.zeros(0).nonzero().stride() == (1, 0)
    assert torch.argwhere(torch.tensor(2.0)).stride() == (1, 1)
    assert [n.storage_offset() for n in torch.eye(3).nonzero(as_tuple=True)] == [0, 3]
    assert torch.rand(5, 5, 5).mode(1, True)[0].stride() == (5, 5, 1)
    assert torch.rand(2, 3, 4).rot90(1, (0, 1)).stride() == (4, 12, 1)
    assert torch.empty_permuted((1, 0, 5), (0, 2, 1)).stride() == (5, 1, 1)


def test_gradients_lie_as_torchs() -> None:
    x = torch.rand(2, 3, requires_grad=True)

    def of(result: torch.Tensor) -> tuple[int, ...]:
        weights = torch.rand(result.shape)
        return torch.autograd.grad(result, x, weights)[0].stride()

    assert of(torch.hstack([x, torch.rand(2, 4)])) == (7, 1)
    assert of(torch.block_diag(torch.rand(1, 2), x)) == (5, 1)
    assert of(x.rot90(1, (0, 1))) == (1, 2)
    assert of(torch.diag_embed(x)) == (9, 4)
    assert of(torch.transpose_copy(x, 0, 1)) == (1, 2)
    assert of(torch.linalg.qr(x.mT @ x + torch.eye(3))[0]) == (3, 1)
    w = torch.rand(4, 3, 2, requires_grad=True)
    grad = torch.autograd.grad(torch.conv1d(torch.rand(2, 3, 8), w).sum(), w)[0]
    assert grad.stride() == (6, 2, 1)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", ["mm", "matmul", "addmm"])
def test_gradients_of_factors_by_columns_are_stored_by_columns(name: str, keep: bool) -> None:
    x = torch.rand(3, 5).t().requires_grad_()
    y = torch.rand(2, 3).t().requires_grad_()
    first = [torch.rand(5, 2)] if name == "addmm" else []
    found = getattr(torch, name)(*first, x, y)
    weights = torch.rand(5, 2)
    of_x, of_y = torch.autograd.grad(found, (x, y), weights, create_graph=keep)
    assert (of_x.stride(), of_y.stride()) == ((1, 5), (1, 3))
    torch.testing.assert_close(of_x, weights @ y.t())
    torch.testing.assert_close(of_y, x.t() @ weights)
    rows = torch.rand(5, 3).requires_grad_()
    (of_rows,) = torch.autograd.grad(rows @ y, rows, weights, create_graph=keep)
    assert of_rows.stride() == (3, 1)


def test_second_gradients_of_factors_lie_as_these() -> None:
    for one, two in (((5, 3), (3, 4)), ((2, 5, 3), (3, 4)), ((7, 2, 5, 3), (3, 4))):
        x, y = torch.rand(one).requires_grad_(), torch.rand(two).requires_grad_()
        found = x @ y
        grads = torch.autograd.grad(found, (x, y), torch.rand(found.shape), create_graph=True)
        again = torch.autograd.grad(grads, (x, y), [torch.rand(one), torch.rand(two)])
        assert [each.stride() for each in (*grads, *again)] == [x.stride(), y.stride()] * 2


def test_a_matrix_times_a_batch_is_one_product_of_the_columns() -> None:
    x, y = torch.rand(5, 3).requires_grad_(), torch.rand(2, 3, 4).requires_grad_()
    weights = torch.rand(2, 5, 4)
    of_x, of_y = torch.autograd.grad(x @ y, (x, y), weights, create_graph=True)
    assert (of_x.stride(), of_y.stride()) == ((3, 1), (12, 1, 3))
    torch.testing.assert_close(of_x, (weights @ y.mT).sum(0))
    torch.testing.assert_close(of_y, x.t() @ weights)
    vector = torch.rand(3)
    (grad,) = torch.autograd.grad(vector @ y, y, weights[:, 0])
    assert grad.stride() == (12, 1, 3)
    torch.testing.assert_close(grad, vector[:, None] * weights[:, 0, None])


def test_a_batch_of_solved_vectors_is_stored_as_one_matrix_by_columns() -> None:
    assert torch.linalg.solve(BATCH, torch.ones(2, 3)).stride() == (1, 2)
    assert torch.linalg.solve(torch.ones(0, 3, 3), torch.ones(3)).stride() == (1, 1)


@pytest.mark.parametrize(
    ("equation", "sizes", "strides"),
    [
        ("aij,ajk->aik", ((1, 2, 3), (1, 3, 4)), (8, 4, 1)),
        ("aij,ajk->aki", ((5, 2, 3), (5, 3, 4)), (8, 2, 1)),  # the right operand comes first
        ("aij,ajk->ika", ((1, 2, 3), (1, 3, 4)), (4, 1, 4)),
        ("ij,jk->ki", ((1, 3), (3, 4)), (1, 4)),
        ("ij,jkl->lki", ((2, 3), (3, 1, 4)), (2, 2, 1)),
    ],
)
def test_sums_of_products_are_views_of_a_product_of_matrices(
    equation: str, sizes: tuple[tuple[int, ...], ...], strides: tuple[int, ...]
) -> None:
    made = torch.einsum(equation, *(torch.ones(each) for each in sizes))
    assert made.stride() == strides
    assert (made == 3).all()


def test_norms_of_matrices_that_keep_their_dimensions() -> None:
    block = torch.ones(3, 4, 2)
    assert torch.linalg.matrix_norm(block, 2, (0, -1), True).stride() == (1, 1, 1)
    assert torch.linalg.matrix_norm(block, 1, (0, -1), True).stride() == (4, 1, 1)


def test_views_of_a_new_tensor_without_elements() -> None:
    rows = torch.zeros(0, 2, 3)
    assert [part.stride() for part in rows.unbind(1)] == [(6, 1), (6, 1)]
    assert rows.select(2, 0).stride() == (6, 3)
    assert rows.transpose(0, 2).stride() == (1, 3, 6)
    assert rows.unsqueeze(0).stride() == (0, 6, 3, 1)
    assert rows.diagonal(0, 1, 2).stride() == (6, 4)
    found = torch.unravel_index(torch.zeros(0, dtype=torch.int64), (3, 4))
    assert [part.stride() for part in found] == [(2,), (2,)]


def test_another_dtype_of_an_expanded_tensor_lies_like_a_new_tensor_beside_it() -> None:
    wide = torch.ones(1, 2, 3).expand(4, 2, 3)
    assert wide.double().stride() == wide.clone().stride() == (6, 3, 1)
    turned = torch.ones(2, 1, 3).expand(2, 4, 3).transpose(0, 2)
    assert turned.int().stride() == torch.zeros_like(turned).stride() == (1, 3, 12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.softmax(1),
        lambda x: x.log_softmax(-1),
        lambda x: x.masked_fill(x > 0, 1.0),
        lambda x: x.masked_fill(x > 0, torch.tensor(1.0)),
    ],
)
def test_contiguous_results_of_turned_tensors(function: Callable[..., Any]) -> None:
    assert function(torch.ones(4, 2, 3).permute(2, 0, 1)).stride() == (8, 2, 1)


TURNED = torch.arange(6.0).reshape(3, 2).t()
TURNED_BLOCK = torch.ones(2, 3, 2).permute(1, 0, 2)
PLACES = torch.tensor([0, 0, 1])
CONTIGUOUS = {
    "cat": lambda a: torch.cat([a, a]),
    "cat of dtypes": lambda a: torch.cat([a, a.double()], -1),
    "stack": lambda a: torch.stack([a, a]),
    "stack behind": lambda a: torch.stack([a, a], -1),
    "cumsum": lambda a: a.cumsum(0),
    "cumprod": lambda a: a.cumprod(-1),
    "layer_norm": lambda a: torch.nn.functional.layer_norm(a, [a.shape[-1]]),
    "number ** tensor": lambda a: 2**a,
    "renorm": lambda a: torch.renorm(a, 2, 0, 1.0),
    "tril": lambda a: a.tril(),
    "logcumsumexp": lambda a: a.logcumsumexp(0),
    "cumulative_trapezoid": lambda a: torch.cumulative_trapezoid(a, a),
}


@pytest.mark.parametrize("name", CONTIGUOUS)
def test_what_is_contiguous_also_of_turned_tensors(name: str) -> None:
    for given in (TURNED, TURNED_BLOCK):
        assert CONTIGUOUS[name](given).is_contiguous()


REDUCTIONS = (
    "sum mean amax amin nansum nanmean var std norm any all logsumexp count_nonzero "
    "prod var_mean std_mean aminmax trapezoid linalg.vector_norm"
).split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_contiguous(name: str) -> None:
    function = operator.attrgetter(name)(torch)
    for block in (torch.rand(4, 3, 2).permute(2, 1, 0), torch.rand(40, 30, 20).permute(2, 1, 0)):
        for dim in range(3):
            found = function(block, 2, dim) if name == "norm" else function(block, dim=dim)
            for each in found if isinstance(found, tuple) else [found]:
                assert each.ndim == 2
                assert each.is_contiguous()


def test_what_is_indexed_lies_as_it_is_read() -> None:
    assert TURNED[:, PLACES].stride() == (3, 1)
    assert TURNED[PLACES[:2]].stride() == (3, 1)
    assert TURNED_BLOCK[PLACES].stride() == (4, 2, 1)
    assert TURNED_BLOCK[:, :, PLACES[:2]].stride() == (2, 6, 1)
    assert TURNED_BLOCK[:, PLACES[:2]].stride() == (4, 2, 1)


REPEATED = torch.ones(2, 3).expand(2, 2, 3)
OF_REPEATED = "exp log erf erfc erfinv lgamma digamma i0 special.ndtr special.bessel_j0".split()


@pytest.mark.parametrize("name", OF_REPEATED)
def test_functions_of_repeated_elements_lie_by_rows(name: str) -> None:
    function = operator.attrgetter(name)(torch)
    assert function(REPEATED).stride() == (6, 3, 1)
    assert function(REPEATED.transpose(0, 2)).stride() == (2, 6, 1)


PAIRS = (
    "complex polar igamma logical_and logical_xor xlogy heaviside special.zeta add sub mul div eq "
    "lt pow maximum fmin fmod remainder floor_divide atan2 hypot copysign nextafter logaddexp"
).split()


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_pairs_lie_beside_the_first_that_tells(name: str) -> None:
    function = operator.attrgetter(name)(torch)
    block, turned = torch.ones(2, 4, 3), torch.ones(2, 3, 4).transpose(1, 2)
    assert function(turned, turned).stride() == (12, 1, 4)
    assert function(turned, block).stride() == (12, 1, 4)
    assert function(block, turned).stride() == (12, 3, 1)
    assert function(REPEATED, REPEATED).stride() == (6, 3, 1)
    assert function(torch.ones(2, 1, 3).expand(2, 4, 3), turned).stride() == (12, 1, 4)


@pytest.mark.parametrize("name", ["where", "lerp", "addcmul", "addcdiv", "clamp"])
@pytest.mark.parametrize("size", [2, 40])
def test_functions_of_three_lie_beside_the_first(name: str, size: int) -> None:
    block, turned = torch.ones(size, 40, 30), torch.ones(size, 30, 40).transpose(1, 2)
    for first, other in ((block, turned), (turned, block)):
        given = first > 0 if name == "where" else first
        assert getattr(torch, name)(given, other, other).stride() == first.stride()


@pytest.mark.parametrize("size", [3, 300])
def test_a_result_in_script_lies_beside_the_first_operand(size: int) -> None:
    @torch.jit.script
    def f(a: torch.Tensor, b: torch.Tensor):
        return a + b, a - b, a * b, a / b, a < b, (a / b) * a

    block, turned = torch.ones(size, 40), torch.ones(40, size).t()
    for first, other in ((block, turned), (turned, block)):
        for _ in range(3):
            assert {each.stride() for each in f(first, other)} == {first.stride()}


def test_operands_that_are_repeated_tell_of_the_dimensions_they_have() -> None:
    rows, turned = torch.ones(2, 2), torch.ones(2, 2, 1).permute(1, 2, 0)
    assert torch.pow(rows, turned).stride() == (1, 2, 4)
    assert (torch.ones(3) + TURNED).stride() == (1, 2)


@pytest.mark.parametrize("name", ["kl_div", "hinge_embedding_loss", "margin_ranking_loss"])
def test_losses_of_elements_lie_beside_the_target(name: str) -> None:
    turned, rows = torch.rand(3, 2).t(), torch.rand(2, 3)
    operands = (rows, rows, turned) if name == "margin_ranking_loss" else (rows, turned)
    found = getattr(torch.nn.functional, name)(*operands, reduction="none")
    assert found.stride() == (1, 2)


OF_WHOLE = "isnan isinf isfinite isposinf floor ceil trunc round sign".split()


@pytest.mark.parametrize("name", OF_WHOLE)
def test_what_is_known_of_whole_numbers_lies_like_them(name: str) -> None:
    function = getattr(torch, name)
    assert function(TURNED.long()).stride() == (1, 2)
    assert torch.angle(TURNED + 0j).stride() == (3, 1)


F = torch.nn.functional
IMAGES = torch.arange(2.0 * 8 * 4 * 6).view(2, 8, 4, 6)
LAST = IMAGES.to(memory_format=torch.channels_last)


@pytest.mark.parametrize("images", [LAST, LAST[:, :4], LAST[:, ::2]])
def test_images_keep_their_channels_last(images: torch.Tensor) -> None:
    channels = images.shape[1]
    for function in (
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.avg_pool2d(x, 2),
        lambda x: F.adaptive_avg_pool2d(x, 2),
        lambda x: F.interpolate(x, scale_factor=2.0),
        lambda x: F.pad(x, [1, 1]),
        lambda x: F.conv2d(x, torch.ones(3, channels, 2, 2)),
        lambda x: F.group_norm(x, 2),
        lambda x: F.channel_shuffle(x, 2),
        lambda x: F.pixel_unshuffle(x, 2),
        lambda x: torch.roll(x, 1, 1),
        lambda x: torch.cat([x, x], 2),
    ):
        made = function(images)
        assert made.is_contiguous(memory_format=torch.channels_last)
        assert not made.is_contiguous()
    assert F.instance_norm(images).is_contiguous()
    assert F.pad(images, [1, 1, 1, 1], mode="circular").is_contiguous()


def test_what_is_stacked_lies_as_what_is_joined() -> None:
    assert torch.stack([LAST, LAST], 1).stride() == (384, 8, 1, 96, 16)
    assert torch.stack([LAST, LAST], 4).is_contiguous()


def test_other_layouts_end_with_norms_and_pools() -> None:
    turned, ones = IMAGES.transpose(2, 3), torch.ones(8)
    for function in (
        lambda x: F.batch_norm(x, ones, ones),
        lambda x: F.batch_norm(x.bfloat16(), ones.bfloat16(), ones.bfloat16(), training=True),
        lambda x: F.rms_norm(x, [4]),
        lambda x: torch.cat([x, x], 1),
        lambda x: F.adaptive_avg_pool2d(x.transpose(0, 1), 2),
    ):
        assert function(turned).is_contiguous()


def test_an_empty_vector_has_a_gradient_of_its_norm() -> None:
    x = torch.ones(0, requires_grad=True)
    F.batch_norm(x, torch.ones(0), torch.ones(0), training=True).sum().backward()
    assert x.grad.shape == (0,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_results_beside_memory_that_overlaps(dtype: torch.dtype) -> None:
    """Where steps are equal the smaller dimension lies inside; what is repeated tells nothing."""
    whole = torch.ones(60, dtype=dtype)
    assert whole.as_strided((5, 6, 2), (1, 1, 7)).cosh().stride() == (1, 5, 30)
    assert torch.ones(7, 1, 3, dtype=dtype).expand(7, 5, 3).exp().stride() == (15, 3, 1)
    repeated = whole.as_strided((2, 3, 4), (0, 1, 1))
    assert repeated.sin().stride() == (12, 1, 3)
    for function in (torch.remainder, torch.maximum, torch.fmod):
        assert function(repeated, repeated.double()).stride() == (12, 1, 3)
        assert function(repeated, torch.ones(2, 3, 4).double()).stride() == (12, 1, 3)


def test_gradients_of_wide_matrices_and_running_sums_are_contiguous() -> None:
    for shape, strides in (((2, 5), (5, 1)), ((5, 2), (1, 5)), ((2, 2, 5), (10, 5, 1))):
        a = torch.rand(shape, dtype=torch.float64, requires_grad=True)
        q, r = torch.linalg.qr(a)
        (grad,) = torch.autograd.grad(q.sum() + r.sum(), a)
        assert grad.stride() == strides
    a = torch.rand(5, 4, 3).permute(2, 1, 0).requires_grad_()
    for dim in (0, 1, 2):
        assert torch.autograd.grad(a.logcumsumexp(dim).sum(), a)[0].stride() == (20, 5, 1)


@pytest.mark.parametrize("name", ["mm", "matmul"])
@pytest.mark.parametrize("first", [True, False])
def test_products_of_which_one_factor_wants_a_gradient(name: str, first: bool) -> None:
    a, b = torch.ones(3, 4).requires_grad_(first), torch.ones(4, 5).requires_grad_(not first)
    result = getattr(torch, name)(a, b)
    node = result.grad_fn
    assert [node.kept(at) is None for at in (0, 1)] == [first, not first]
    result.sum().backward()
    assert (a if first else b).grad.sum().item() == 60


def test_rows_that_are_repeated_tell_no_order() -> None:
    whole = torch.arange(4).view(1, 4).expand(2, 4)
    column = torch.tensor([[3.0], [2.0]])
    for made in (
        whole.type_as(column),
        whole >= column,
        whole + column,
        whole * 2.5,
        whole / 2,
        whole > 1.5,
        torch.atan2(whole, column),
    ):
        assert made.stride() == (4, 1)
    planes = torch.arange(8.0).view(2, 1, 4).expand(2, 3, 4).transpose(0, 2)
    for made in (planes + 1, 1 - planes, planes > 1, planes * 2, planes.double()):
        assert made.stride() == (1, 4, 12)


def test_flipped_tensors_lie_like_what_they_were() -> None:
    x = torch.arange(60.0).view(3, 4, 5)
    for given in (x, x.permute(2, 0, 1), x[:, ::2], x[:1].expand(3, 4, 5), x[:0], x.mT):
        for dims in ([], [0], [-1, 0]):
            made = torch.flip(given, dims)
            assert made.stride() == torch.empty_like(given).stride()
            places = [range(size) for size in given.shape]
            for dim in dims:
                places[dim] = places[dim][::-1]
            wanted = given
            for dim, order in enumerate(places):
                wanted = wanted.index_select(dim, torch.tensor(list(order), dtype=torch.int64))
            assert torch.equal(made, wanted)
