"""Functions and classes of `torch` itself that few programs use; results are torch 2.13's."""

from __future__ import annotations

from pathlib import Path

import pytest

import rushlight as torch


def _sparse() -> torch.Tensor:
    return torch.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2)).coalesce()


def test_branches_and_loops_as_functions() -> None:
    x = torch.ones(2, requires_grad=True)
    made = torch.cond(x.sum() > 1, lambda t: t * 3, lambda t: t, (x,))
    made.sum().backward()
    assert (made.tolist(), x.grad.tolist()) == ([3, 3], [3, 3])
    i, y = torch.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), torch.ones(1))
    )
    assert (i.item(), y.item()) == (3, 8)
    with pytest.raises(RuntimeError, match=r"^Expected pred to be bool or tensor, but got a.$"):
        torch.cond("a", abs, abs)  # type: ignore[arg-type]


def test_open_sizes_are_numbers() -> None:
    assert (torch.sym_sum([1, 2.5]), torch.sym_sqrt(2)) == (3.5, 2**0.5)
    assert torch.sym_sum(3) == torch.sym_sum((1, 2)) == 3
    assert torch.sym_ite(True, 2, 3) == 2
    with pytest.raises(AssertionError, match=r"^expected SymBool or bool, got <class 'int'>$"):
        torch.sym_ite(1, 2, 3)


def test_settings_are_kept() -> None:
    torch.set_deterministic_debug_mode("warn")
    assert torch.get_deterministic_debug_mode() == 1
    torch.set_deterministic_debug_mode(0)
    torch.set_anomaly_enabled(True, False)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
    torch.set_anomaly_enabled(False)
    with pytest.raises(RuntimeError, match="expected 0, 1, or 2, but got 3"):
        torch.set_deterministic_debug_mode(3)


def test_dtypes_and_schemes_that_can_be_named() -> None:
    assert repr((torch.int4, torch.bit, torch.float4_e2m1fn_x2)) == (
        "(torch.int4, torch.uint1, torch.float4_e2m1fn_x2)"
    )
    assert (torch.int4.is_signed, torch.uint4.is_signed, torch.int4.itemsize) == (True, False, 1)
    with pytest.raises(NotImplementedError, match=r"tensors of torch\.int4 are not supported"):
        torch.zeros(2, dtype=torch.int4)
    q = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    assert q.qscheme() is torch.per_tensor_affine
    assert isinstance(q.qscheme(), torch.qscheme)


def test_sparse_tensors_get_other_sizes() -> None:
    grown = _sparse().sparse_resize_((3, 3), 2, 0)
    assert (grown.shape, grown.values().tolist()) == ((3, 3), [2, 3])
    assert _sparse().resize_as_sparse_(torch.eye(4).to_sparse()).shape == (4, 4)
    empty = _sparse().sparse_resize_and_clear_((3, 3), 1, 1)
    assert (empty.indices().shape, empty.values().shape) == ((1, 0), (0, 3))
    with pytest.raises(RuntimeError, match=r"^shrinking the size of sparse dimensions \(from \[2"):
        _sparse().sparse_resize_((1, 1), 2, 0)
    with pytest.raises(RuntimeError, match="changing the number of sparse dimensions"):
        _sparse().sparse_resize_((3, 3), 1, 1)


def test_sparse_products_are_methods_too() -> None:
    made = _sparse().sspaddmm(_sparse(), torch.eye(2), beta=2, alpha=3)
    assert made.to_dense().tolist() == [[0, 10], [15, 0]]
    assert _sparse().smm(torch.eye(2)).to_dense().tolist() == [[0, 2], [3, 0]]
    with pytest.raises(RuntimeError, match=r"sspaddmm\(...\) can only be called on sparse"):
        torch.eye(2).smm(torch.eye(2))


def test_what_dense_tensors_say_of_their_layout() -> None:
    x = torch.ones(2, 3)
    assert (x.sparse_dim(), x.dense_dim()) == (0, 2)
    with pytest.raises(RuntimeError, match=r"^values expected sparse tensor layout but got"):
        x.values()


def test_copies_of_parts_of_sparse_tensors() -> None:
    assert torch.crow_indices_copy(torch.eye(2).to_sparse_csr()).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match=r"^row_indices expected sparse column compressed"):
        torch.row_indices_copy(torch.eye(2).to_sparse_csr())


def test_slice_inverse_sees_the_whole() -> None:
    x = torch.arange(5.0)
    whole = torch.slice_inverse(x[1:4], x, 0, 1, 4, 1)
    assert (whole.tolist(), whole.data_ptr()) == ([0, 1, 2, 3, 4], x.data_ptr())


def test_files_as_tensors(tmp_path: Path) -> None:
    name = str(tmp_path / "numbers")
    shared = torch.from_file(name, shared=True, size=3, dtype=torch.int32)
    shared[1] = 7
    assert torch.from_file(name, size=2, dtype=torch.int32).tolist() == [0, 7]
    with pytest.raises(RuntimeError, match="size <12> is smaller than the required mapping size"):
        torch.from_file(name, size=4)
    with pytest.raises(RuntimeError, match=r"in read-only mode: No such file or directory \(2\)$"):
        torch.from_file(name + "2", size=1)


def test_pools_of_quantized_tensors() -> None:
    q = torch.quantize_per_tensor(torch.arange(8.0), 0.1, 0, torch.quint8)
    assert torch.quantized_max_pool1d(q.view(1, 1, 8), 2).int_repr().tolist() == [
        [[10, 30, 50, 70]]
    ]
    assert torch.quantized_max_pool3d(q.view(1, 1, 2, 2, 2), 2).int_repr().item() == 70
    assert torch.empty_quantized((2,), q).q_scale() == 0.1


@pytest.mark.parametrize(("largest", "values"), [(True, [20, 19]), (False, [1, 2])])
def test_some_eigenvalues(largest: bool, values: list[float]) -> None:
    torch.manual_seed(0)
    matrix = torch.diag(torch.arange(1.0, 21.0))
    found, vectors = torch.lobpcg(matrix, 2, largest=largest)
    assert found.round(decimals=3).tolist() == values
    torch.testing.assert_close(matrix @ vectors, vectors * found, atol=1e-2, rtol=1e-3)
    torch.testing.assert_close(vectors.mT @ vectors, torch.eye(2), atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match=r"number of A rows \(=4\) is smaller than 3 x the number"):
        torch.lobpcg(torch.eye(4), 2)


def test_gradients_of_some_eigenvalues_and_vectors_are_symmetric() -> None:
    matrix = torch.diag(torch.arange(6.0, dtype=torch.double)).add(0.1).requires_grad_()
    values, vectors = torch.lobpcg(matrix, X=torch.eye(6, 1, dtype=torch.double))
    (found,) = torch.autograd.grad((vectors[:3] ** 2).sum() + values.sum(), matrix)
    values, vectors = torch.linalg.eigh(matrix)
    loss = (vectors[:3, -1] ** 2).sum() + values[-1]
    (wanted,) = torch.autograd.grad(loss, matrix)
    torch.testing.assert_close(found, (wanted + wanted.mT) / 2, atol=1e-6, rtol=0)


def test_quantized_tensors_whose_numbers_are_open() -> None:
    q = torch._empty_affine_quantized([2, 3], scale=0.5, zero_point=3, dtype=torch.quint8)
    assert (tuple(q.shape), q.dtype, q.q_scale(), q.q_zero_point()) == (
        *((2, 3), torch.quint8, 0.5, 3),
    )
    channels = {"scales": torch.tensor([1.0, 2.0]), "zero_points": torch.tensor([0, 1]), "axis": 0}
    q = torch._empty_per_channel_affine_quantized((2, 3), dtype=torch.qint32, **channels)
    assert (q.q_per_channel_scales().tolist(), q.q_per_channel_axis()) == ([1.0, 2.0], 0)
    for dtype in (None, torch.float32):
        with pytest.raises(RuntimeError, match=r"^Creation of quantized tensor requires quantized"):
            torch._empty_affine_quantized((2,), dtype=dtype)


def test_channels_stay_where_other_dimensions_are_joined() -> None:
    channels = {"scales": torch.tensor([1.0, 2.0]), "zero_points": torch.tensor([0, 1]), "axis": 0}
    q = torch.quantize_per_channel(torch.arange(24.0).view(2, 3, 4), dtype=torch.qint8, **channels)
    for joined in (q.flatten(1), q.view(2, 12), q.reshape(2, -1)):
        assert (joined.q_per_channel_axis(), tuple(joined.shape)) == (0, (2, 12))
        assert torch.equal(joined.dequantize(), q.dequantize().view(2, 12))
    for call in (q.flatten, lambda: q.view(4, 6), lambda: q.transpose(0, 1)):
        with pytest.raises(RuntimeError, match=r"^Setting strides is possible only on uniformly"):
            call()


def test_nothing_has_no_pattern_to_combine() -> None:
    assert torch.hash_tensor(torch.ones(0, 2), dim=1).shape == (0,)
    for sizes, dim in (((0, 2), 0), ((2, 0), 1)):
        with pytest.raises(IndexError, match=f"Expected reduction dim {dim} to have non-zero"):
            torch.hash_tensor(torch.ones(sizes), dim=dim)


def test_a_star_gives_what_it_gives_of_torch() -> None:
    space: dict[str, object] = {}
    exec("from rushlight import *", space)
    for name in ("tensor", "Tensor", "relu", "float32", "no_grad", "load", "cat", "pi", "export"):
        assert space[name] is getattr(torch, name)
    assert set(torch.__all__) <= space.keys()
    absent = "nn sys Path debug unique set_grad_enabled Parameter channels_last lu _foreach_add"
    assert not space.keys() & set(absent.split())


def test_the_pickle_module_that_serialization_uses() -> None:
    import pickle

    assert torch.serialization.pickle is pickle
