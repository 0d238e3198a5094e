"""Values that are written to parts of quantized tensors: they become numbers by its scale."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch

VALUES = torch.tensor([[-0.6, -0.2, 0.1], [0.2, 0.4, 0.6]])
DTYPES = (torch.qint8, torch.quint8, torch.qint32)


def quantized(dtype: torch.dtype = torch.qint8) -> torch.Tensor:
    return torch.quantize_per_tensor(VALUES, 0.1, 20, dtype)


def numbers(write: Callable[[torch.Tensor], object], dtype: torch.dtype) -> list[list[int]]:
    """What the elements are after the writing, in steps."""
    tensor = quantized(dtype)
    write(tensor)
    return [[number - 20 for number in row] for row in tensor.int_repr().tolist()]


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_are_given_values(dtype: torch.dtype) -> None:
    def at(key: object, value: object) -> list[list[int]]:
        return numbers(lambda tensor: tensor.__setitem__(key, value), dtype)

    assert at((0, 1), 0.54) == [[-6, 5, 1], [2, 4, 6]]
    assert at(0, 1) == [[10, 10, 10], [2, 4, 6]]
    assert at((0, 0), torch.tensor([0.3])) == [[3, -2, 1], [2, 4, 6]]
    assert at(slice(None), torch.tensor([0.1, 0.2, 0.3])) == [[1, 2, 3], [1, 2, 3]]
    assert at(torch.tensor([1]), 0.5) == [[-6, -2, 1], [5, 5, 5]]
    assert at(VALUES > 0.3, 0.7) == [[-6, -2, 1], [2, 7, 7]]
    assert at(VALUES > 0.3, torch.tensor([0.0, 0.1])) == [[-6, -2, 1], [2, 0, 1]]
    assert at(0, quantized(dtype)[1]) == [[2, 4, 6], [2, 4, 6]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_and_indices(dtype: torch.dtype) -> None:
    first = (torch.tensor([0]),)
    assert numbers(lambda t: t.masked_fill_(VALUES < 0, 0.5), dtype) == [[5, 5, 1], [2, 4, 6]]
    assert numbers(lambda t: t.index_put_(first, torch.tensor(0.5)), dtype)[0] == [5, 5, 5]
    assert numbers(lambda t: t.fill_(0.5), dtype) == [[5, 5, 5], [5, 5, 5]]
    assert numbers(lambda t: t[1].fill_(torch.tensor(0.3)), dtype) == [[-6, -2, 1], [3, 3, 3]]
    given = quantized(dtype)
    made = given.masked_fill(VALUES < 0, torch.tensor(0.5))
    assert torch.equal(made.int_repr()[0, :2], torch.tensor([25, 25], dtype=made.int_repr().dtype))
    put = torch.index_put(given, first, torch.tensor(0.5))
    assert (made.dtype, put.q_scale(), put.q_zero_point()) == (dtype, 0.1, 20)
    assert torch.equal(given, quantized(dtype))


def test_what_cannot_be_written() -> None:
    tensor, first = quantized(), (torch.tensor([0]),)
    with pytest.raises(RuntimeError, match="should not be quantized"):
        tensor.index_put_(first, quantized()[0])
    with pytest.raises(RuntimeError, match="only supported for accumulate=False"):
        tensor.index_put_(first, torch.tensor(0.5), accumulate=True)
    with pytest.raises(RuntimeError, match="only works with kFloat"):
        tensor[0] = torch.tensor(0.5, dtype=torch.float64)
    scales = torch.tensor([0.1, 0.2])
    by_rows = torch.quantize_per_channel(VALUES, scales, torch.zeros(2), 0, torch.qint8)
    with pytest.raises(RuntimeError, match="only supported for per tensor"):
        by_rows[torch.tensor([0])] = 0.5


def test_the_range_of_the_numbers() -> None:
    ranges = [(each.min, each.max, each.bits) for each in map(torch.iinfo, DTYPES)]
    assert ranges == [(-128, 127, 8), (0, 255, 8), (-(2**31), 2**31 - 1, 32)]
    assert torch.iinfo(torch.qint8) == torch.iinfo(torch.qint8) != torch.iinfo(torch.quint8)
    with pytest.raises(NotImplementedError, match="\"dtype\" not implemented for 'QInt8'"):
        _ = torch.iinfo(torch.qint8).dtype


REFUSED: dict[str, Callable[[torch.Tensor], object]] = {
    "zero_": torch.Tensor.zero_,
    "fill_diagonal_": lambda t: t.fill_diagonal_(1.0),
    "scatter_": lambda t: t.scatter_(0, torch.tensor([[0]]), 1.0),
    "tril_": torch.Tensor.tril_,
    "uniform_": torch.Tensor.uniform_,
    "normal_": torch.Tensor.normal_,
    "random_": torch.Tensor.random_,
    "bernoulli_": torch.Tensor.bernoulli_,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_knows_no_scales_writes_nothing(name: str) -> None:
    given = quantized()
    with pytest.raises(NotImplementedError, match=f"^Could not run 'aten::{name}.*QuantizedCPU"):
        REFUSED[name](given)
    assert torch.equal(given, quantized())


def test_new_ones_have_the_scale_of_others() -> None:
    made = torch.full_like(quantized(), 0.52)
    assert made.q_scale() == 0.1
    assert made.int_repr().tolist() == [[25] * 3] * 2
    assert torch.ones_like(quantized()).dequantize().tolist() == torch.ones(2, 3).tolist()
    with pytest.raises(NotImplementedError, match="'aten::zero_' with arguments from the 'Quan"):
        torch.zeros_like(quantized())


def test_empty_ones_have_the_scale_of_others() -> None:
    made = torch.empty_like(quantized())
    assert (made.dtype, made.shape, made.q_scale(), made.q_zero_point()) == (
        *(torch.qint8, (2, 3), 0.1, 20),
    )
    image = quantized()[None, None].expand(2, 2, 2, 3)
    last = torch.empty_like(image, memory_format=torch.channels_last)
    assert last.stride() == (12, 1, 6, 2)
    scales, points = torch.tensor([0.1, 0.2]), torch.tensor([0, 1])
    by_rows = torch.quantize_per_channel(VALUES, scales, points, 0, torch.quint8)
    assert torch.equal(torch.empty_like(by_rows).q_per_channel_scales(), scales.double())
    said = r"Specified: c10::quint8 Input tensor's dtype: c10::qint8"
    with pytest.raises(RuntimeError, match=said):
        torch.empty_like(quantized(), dtype=torch.quint8)


@pytest.mark.parametrize("count", [1, 3, 100])
def test_numbers_of_four_bytes_end_at_the_largest(count: int) -> None:
    values = torch.tensor([1e10, float("inf"), -1e12, 5.0, 214748364.7] * 20)[:count]
    wanted = [2147483647, 2147483647, -2147483648, 57, 2147483647] * 20
    made = torch.quantize_per_tensor(values, 0.1, 7, torch.qint32)
    assert made.int_repr().tolist() == wanted[:count]
    made[0] = 1e12
    assert made.int_repr()[0].item() == 2147483647
    made.masked_fill_(torch.ones(count, dtype=torch.bool), 1e12)
    assert made.int_repr().tolist() == [2147483647] * count


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_keeps_the_scale(dtype: torch.dtype, approximate: str) -> None:
    made = torch.nn.functional.gelu(quantized(dtype), approximate=approximate)
    of_floats = torch.nn.functional.gelu(quantized(dtype).dequantize(), approximate=approximate)
    wanted = torch.quantize_per_tensor(of_floats, 0.1, 20, dtype)
    assert torch.equal(made.int_repr(), wanted.int_repr())
    assert (made.q_scale(), made.q_zero_point()) == (0.10000000149011612, 20)


def test_pools_by_the_names_of_kernels() -> None:
    given = quantized()[None]
    made = torch.ops.quantized.max_pool2d(given, [2, 2], [1, 1], [0, 0], [1, 1], False)
    assert torch.equal(made, torch.nn.functional.max_pool2d(given, 2, 1))
    along = torch.ops.quantized.max_pool1d(given, [2], [], [0], [1], True)
    assert torch.equal(along, torch.nn.functional.max_pool1d(given, 2, ceil_mode=True))
    with pytest.raises(NotImplementedError):
        torch.ops.quantized.max_pool2d(VALUES[None], [2, 2], [1, 1], [0, 0], [1, 1], False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_elements_keep_their_numbers(dtype: torch.dtype, mode: str) -> None:
    image = quantized(dtype).reshape(1, 1, 2, 3)
    made = torch.nn.functional.interpolate(image, size=(4, 5), mode=mode)
    plain = torch.nn.functional.interpolate(image.dequantize(), size=(4, 5), mode=mode)
    assert (made.dtype, made.q_scale()) == (dtype, 0.1)
    assert torch.equal(made.dequantize(), plain)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_largest_of_windows_along_lines(dtype: torch.dtype) -> None:
    made = torch.nn.functional.max_pool1d(quantized(dtype)[None], 2, 1)
    assert (made.int_repr().int() - 20).tolist() == [[[-2, 1], [4, 6]]]


@pytest.mark.parametrize("name", ["greater", "less", "greater_equal", "less_equal", "not_equal"])
def test_other_names_of_comparisons(name: str) -> None:
    compare, given = getattr(torch, name), quantized()
    assert torch.equal(compare(given, 0.2), compare(given.dequantize(), 0.2))
    assert torch.equal(compare(given, given), compare(given.dequantize(), given.dequantize()))


def test_prelu_with_a_quantized_slope() -> None:
    slope = torch.quantize_per_tensor(torch.tensor([0.5]), 0.1, 0, torch.qint8)
    made = torch.prelu(quantized(), slope)
    assert (made.int_repr() - 20).tolist() == [[-3, -1, 1], [2, 4, 6]]
    assert made.q_scale() == 0.1
    with pytest.raises(RuntimeError, match="prelu"):
        torch.prelu(quantized(), torch.tensor([0.5]))
