"""Indexing, sorting, searching, shapes and views: expressions and what torch shows for them."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest
from recorded import load

import rushlight
from rushlight.ops.memory.metadata import become
from rushlight.ops.memory.storage import storage_of

DATA = load("families.json")


def shown(expression: str) -> str:
    names: dict[str, Any] = {"torch": rushlight, "nan": nan}
    exec("\n".join(DATA["setup"]), names)
    try:
        return repr(eval(expression, names))
    except Exception as error:
        kinds = (kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return f"!{next(kinds).__name__}: {error}"


@pytest.mark.parametrize(("expression", "wanted"), DATA["rows"], ids=lambda text: text[:60])
def test_shown_as_in_torch(expression: str, wanted: str) -> None:
    assert shown(expression).splitlines() == wanted.splitlines()


# --------------------------------------------------------------------------- changed in place


def test_an_array_that_becomes_another_keeps_its_views_alive() -> None:
    array = np.arange(6.0).reshape(2, 3).copy()
    view = array[0]
    become(array, array.T)
    assert array.shape == (3, 2)
    array[1, 0] = 9
    assert view.tolist() == [0, 9, 2]
    assert storage_of(array)[1:] == (0, 6)


def test_other_memory_leaves_old_views_as_they_were() -> None:
    array = np.zeros(3)
    view = array[1:]
    become(array, np.arange(10.0))
    assert array.tolist() == list(range(10))
    del array
    assert view.tolist() == [0, 0]


def test_many_changes_do_not_pile_up() -> None:
    array = np.arange(6.0).reshape(2, 3).copy()
    for _ in range(1001):
        become(array, array.T)
    depth, owner = 0, array.base
    while owner is not None:
        depth, owner = depth + 1, getattr(owner, "base", None)
    assert depth < 6
    assert array.shape == (3, 2)


def test_growing_keeps_the_elements() -> None:
    tensor = rushlight.arange(4)
    same = tensor
    tensor.resize_(2, 3)
    assert same.shape == (2, 3)
    assert same.reshape(-1)[:4].tolist() == [0, 1, 2, 3]


def test_views_share_memory_and_copies_do_not() -> None:
    x = rushlight.arange(6).reshape(2, 3)
    for view in (x.as_strided((2,), (3,)), rushlight.hsplit(x, 3)[1], x.unsafe_chunk(2)[1]):
        assert np.may_share_memory(view.numpy(), x.numpy())
    for copy in (rushlight.t_copy(x), rushlight.expand_copy(x, (2, 3)), rushlight.rot90(x, 0)):
        assert not np.may_share_memory(copy.numpy(), x.numpy())


def test_large_sums_at_positions() -> None:
    source = rushlight.ones(100_000)
    places = rushlight.arange(100_000) % 7
    sums = rushlight.zeros(7).index_add(0, places, source)
    assert sums.tolist() == np.bincount(np.arange(100_000) % 7).tolist()


def test_masked_reductions_leave_elements_out() -> None:
    from rushlight import masked

    x = rushlight.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    mask = rushlight.tensor([[True, False, True], [False, False, False]])
    assert masked.sum(x, 1, mask=mask).tolist() == [4, 0]
    assert masked.amax(x, 1, mask=mask).tolist() == [3, -np.inf]
    assert masked.prod(x, mask=mask).item() == 3
    assert masked.var(x[0], 0, mask=mask[0]).item() == 2
    assert masked.softmax(x[0], 0, mask=mask[0])[1].item() == 0
    mean = masked.mean(x, 1, mask=mask)
    assert mean[0].item() == 2
    assert np.isnan(mean[1].item())


def test_masked_means_are_of_floats_and_spreads_of_one_correction() -> None:
    from rushlight import masked

    whole = rushlight.tensor([1, 2, 4])
    with pytest.raises(ValueError, match=r"Input dtype must be either .* Got: torch\.int64"):
        masked.mean(whole)
    with pytest.raises(ValueError, match=r"Optional dtype must be either .* Got: torch\.int32"):
        masked.mean(whole.float(), dtype=rushlight.int32)
    assert masked.mean(whole, dtype=rushlight.float64, mask=whole < 3).item() == 1.5
    with pytest.raises(AssertionError, match="Only one of unbiased and correction"):
        masked.var(whole.float(), unbiased=True, correction=1)
    assert masked.var(whole, correction=0).item() == pytest.approx(14 / 9)


def test_the_mode_among_nan() -> None:
    nan = float("nan")
    for values, place in (
        ([nan, nan, 1], 0),
        ([1, 1, nan, nan, nan], 1),
        ([3.0, nan, 1, nan], 2),
        ([2.0, 2, 1, 1, nan, nan], 3),
        ([nan, 1], 0),
    ):
        most = rushlight.mode(rushlight.tensor(values))
        assert most.indices.item() == place
        assert repr(most.values.item()) == repr(float(values[place]))


def test_narrow_copy_of_a_dimension_too_far() -> None:
    with pytest.raises(RuntimeError, match="Expected dim < static_cast<int64_t>"):
        rushlight.narrow_copy(rushlight.zeros(2, 3), 2, 0, 1)


def test_fake_quantization() -> None:
    x = rushlight.arange(4.0) - 1.3
    assert rushlight.fake_quantize_per_tensor_affine(x, 0.5, 0, -2, 1).tolist() == [
        *(-1.0, -0.5, 0.5, 0.5)
    ]
    scale, zero = rushlight.tensor([0.5, 0.3]), rushlight.tensor([0, 1], dtype=rushlight.int32)
    by_tensors = rushlight.fake_quantize_per_tensor_affine(x, scale[:1], zero[:1], -2, 1)
    assert by_tensors.tolist() == [-1.0, -0.5, 0.5, 0.5]
    rows = rushlight.fake_quantize_per_channel_affine(x.reshape(2, 2), scale, zero, 0, -2, 2)
    np.testing.assert_allclose(rows.numpy(), [[-1, -0.5], [0.3, 0.3]], rtol=1e-6)
    with pytest.raises(RuntimeError, match="zero_point"):
        rushlight.fake_quantize_per_tensor_affine(x, 0.5, 9, -2, 1)
    with pytest.raises(RuntimeError, match="consistent"):
        rushlight.fake_quantize_per_channel_affine(x, scale, zero, 0, -2, 1)


def test_methods_of_other_names() -> None:
    x = rushlight.zeros(2, 3)
    assert (x.nelement(), x.ndimension(), x.dim_order()) == (6, 2, (0, 1))
    assert x.t().dim_order() == (1, 0)
    assert x.to_dense() is x
    assert not x.is_shared()
    assert rushlight.ones(2).polygamma(1).allclose(rushlight.full((2,), np.pi**2 / 6))


def test_tensors_in_the_memory_of_a_buffer() -> None:
    memory = bytearray(8)
    part = rushlight.frombuffer(memory, dtype=rushlight.int16, count=2, offset=2)
    part[0] = 5
    assert list(memory) == [0, 0, 5, 0, 0, 0, 0, 0]
    assert rushlight.frombuffer(memory, dtype=rushlight.int16).tolist() == [0, 5, 0, 0]
    for words, message in (({"offset": 9}, "offset"), ({"count": 9}, "requested")):
        with pytest.raises(ValueError, match=message):
            rushlight.frombuffer(memory, dtype=rushlight.int16, **words)
    with pytest.raises(ValueError, match="multiple of element size"):
        rushlight.frombuffer(bytearray(7), dtype=rushlight.int16)
    with pytest.raises(ValueError, match="buffer protocol"):
        rushlight.frombuffer(3, dtype=rushlight.int16)


def test_copies_of_complex_views() -> None:
    z = rushlight.ones(2, dtype=rushlight.complex64)
    pairs = rushlight.view_as_real_copy(z)
    assert pairs.tolist() == [[1, 0], [1, 0]]
    assert not np.may_share_memory(pairs.numpy(), z.numpy())
    assert rushlight.view_as_complex_copy(pairs).tolist() == [1, 1]
