"""The tensor as Python sees it: memory, indexing, protocol."""

from __future__ import annotations

import copy
import math
import pickle
from operator import add
from typing import Any

import numpy as np
import pytest
from hearing import heard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from recorded import TORCH, load

import rushlight as torch
from rushlight.ops.memory.storage import storage_of
from rushlight.ops.tensors.sizes import Size
from rushlight.ops.tensors.tensor import Parameter, Tensor


@given(
    hnp.array_shapes(min_dims=1, max_dims=4).flatmap(
        lambda shape: st.tuples(
            st.just(shape),
            hnp.basic_indices(shape, allow_newaxis=True).filter(
                lambda key: all(
                    not isinstance(part, slice) or part.step is None or part.step > 0
                    for part in (key if isinstance(key, tuple) else (key,))
                )
            ),
        )
    )
)
def test_plain_indexing_is_numpys_and_a_view(case: tuple[tuple[int, ...], Any]) -> None:
    shape, key = case
    array = np.arange(np.prod(shape)).reshape(shape)
    part = TORCH.from_numpy(array)[key]
    np.testing.assert_array_equal(part._array, array[key])
    assert part.numel() == 0 or np.may_share_memory(part._array, array)


@given(st.lists(st.integers(-4, 3), min_size=1, max_size=5), st.booleans())
def test_tensors_index_as_in_numpy(places: list[int], first: bool) -> None:
    array = np.arange(48).reshape(4, 4, 3)
    where = TORCH.tensor(places)
    x = TORCH.from_numpy(array)
    found = x[where, 1:] if first else x[:, where, 1]
    expected = array[places, 1:] if first else array[:, places, 1]
    np.testing.assert_array_equal(found.numpy(), expected)
    assert not np.may_share_memory(found.numpy(), array)


def test_masks_select_and_are_written_to() -> None:
    x = TORCH.arange(6).view(2, 3)
    assert x[x > 2].tolist() == [3, 4, 5]
    x[x > 2] = 0
    assert x.tolist() == [[0, 1, 2], [0, 0, 0]]
    x[1] = TORCH.tensor([7, 8, 9])
    x[:, 0] = 5
    assert x.tolist() == [[5, 1, 2], [5, 8, 9]]


def test_a_0d_part_of_a_vector_is_a_view() -> None:
    x = TORCH.zeros(3)
    x[1].fill_(2.0)
    assert x.tolist() == [0.0, 2.0, 0.0]
    assert x[1].shape == ()


def test_views_share_memory_and_storage() -> None:
    x = TORCH.zeros(2, 3)
    for view in (x.t(), x.view(6), x[1], x.unsqueeze(0), x.detach(), x.expand(4, 2, 3), x.T):
        owner, _, size = storage_of(view._array)
        assert owner is storage_of(x._array)[0]
        assert size == 6
    assert x[1].storage_offset() == 3
    x.t()[2, 1] = 5
    assert x[1, 2].item() == 5


def test_strides_are_counted_in_elements() -> None:
    x = TORCH.zeros(2, 3, 4)
    assert x.stride() == (12, 4, 1)
    assert x.transpose(0, 2).stride() == (1, 4, 12)
    assert x[:, 1:2].unsqueeze(3).stride()[0] == 12
    assert not x.transpose(0, 2).is_contiguous()
    assert x.transpose(0, 2).contiguous().stride() == (6, 2, 1)
    assert x.expand(5, 2, 3, 4).stride(0) == 0


def test_in_place_operators_return_the_same_tensor() -> None:
    x = TORCH.ones(2)
    handle = x
    assert x.add_(1) is x
    x += TORCH.ones(2)
    x *= 2
    assert x is handle
    assert x.tolist() == [6.0, 6.0]
    assert x.contiguous() is x
    assert x.to(TORCH.float32) is x


def test_copies_keep_what_shares_memory_together() -> None:
    base = TORCH.arange(6.0)
    pair = copy.deepcopy([base, base[2:4]])
    pair[0][2] = 50
    assert pair[1].tolist() == [50.0, 3.0]
    assert base[2].item() == 2.0
    again = pickle.loads(pickle.dumps(Parameter(base)))
    assert type(again) is Parameter
    assert again.requires_grad
    assert TORCH.equal(again, base)


def test_parameters_are_tensors_that_want_gradients() -> None:
    data = TORCH.ones(2)
    parameter = Parameter(data)
    assert isinstance(parameter, Tensor)
    assert parameter.requires_grad
    assert repr(parameter) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    data[0] = 4
    assert parameter.tolist() == [4.0, 1.0]
    with pytest.raises(RuntimeError, match="can require gradients"):
        Parameter(TORCH.arange(3))


def test_the_python_protocol() -> None:
    x = TORCH.tensor([[1, 2], [3, 4]])
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert bool(x[0, 0])
    assert int(x[1, 1]) == 4
    assert [10, 20, 30][x[0, 0]] == 20
    assert f"{TORCH.tensor(1.5):.2f}" == "1.50"
    assert 3 in x
    assert np.int64(3) in x
    assert np.float32(5) not in x
    assert x in {x}
    assert (x == None) is False  # noqa: E711
    assert x.shape == (2, 2)
    assert repr(x.shape[:1]) == "torch.Size([2])"
    assert isinstance(x.shape + x.shape, Size)
    assert np.asarray(x).tolist() == x.tolist()
    with pytest.raises(TypeError, match="only integer tensors"):
        range(TORCH.tensor(1.5))


def test_arrays_and_tensors_share_memory() -> None:
    array = np.zeros(3, np.float32)
    x = TORCH.from_numpy(array)
    x[0] = 1
    assert array[0] == 1
    assert x.numpy().ctypes.data == array.ctypes.data
    with pytest.raises(ValueError, match="negative"):
        TORCH.from_numpy(array[::-1])
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type"):
        TORCH.from_numpy(np.array(["a"]))


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([1, 2], "int64"),
        ([1.0, 2], "float32"),
        ([True, False], "bool"),
        ([True, 2], "int64"),
        (1j, "complex64"),
        ([], "float32"),
        (np.float64(1.5), "float64"),
        (np.arange(3, dtype=np.int16), "int16"),
        ([np.int32(3)], "int32"),
    ],
)
def test_dtypes_of_new_tensors(data: Any, dtype: str) -> None:
    assert TORCH.tensor(data).dtype is getattr(TORCH, dtype)


def test_0d_tensors_stay_tensors() -> None:
    one = TORCH.tensor(1.0)
    for result in (
        one + one,
        one * 2,
        one.tanh(),
        one.sum(),
        one.max(),
        one @ one.view(1)[0:0] if 0 else -one,
    ):
        assert type(result._array) is np.ndarray
        assert result.shape == ()


def test_functions_take_torchs_argument_forms() -> None:
    x = TORCH.arange(6.0).view(2, 3)
    assert TORCH.zeros(2, 3).shape == TORCH.zeros((2, 3)).shape == TORCH.zeros(size=[2, 3]).shape
    assert TORCH.sum(input=x, axis=1, keepdims=True).shape == (2, 1)
    assert x.sum((0, 1)).item() == 15
    assert x.permute(1, 0).shape == x.permute((1, 0)).shape == (3, 2)
    assert TORCH.ones(2, dtype=TORCH.int32, requires_grad=False).dtype is TORCH.int32
    assert TORCH.ones(2, requires_grad=True).requires_grad
    largest = TORCH.max(x, 1)
    assert largest.values.tolist() == [2.0, 5.0]
    assert largest[1].tolist() == [2, 2]
    assert repr(largest).startswith("torch.return_types.max(\nvalues=tensor(")
    out = TORCH.empty(0)
    assert TORCH.add(x, 1, out=out) is out
    assert out.shape == (2, 3)
    assert TORCH.result_type(x, 1j) is TORCH.complex64
    assert isinstance(x.split(1), tuple)


@pytest.mark.parametrize(("expression", "kind", "message"), load("errors.json"))
def test_errors_are_torchs(expression: str, kind: str, message: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        eval(expression, {"torch": TORCH})
    assert kind in [cls.__name__ for cls in type(caught.value).__mro__]
    assert str(caught.value).split("\n")[0] == message


def test_a_tracer_hears_every_eager_operator() -> None:
    with heard() as calls:
        (TORCH.ones(2) + 1).tanh()
    names = [entry.full_name for entry, _ in calls]
    assert names == ["aten::ones", "aten::add.Scalar", "aten::tanh"]


def test_gradient_modes_nest_and_decorate() -> None:
    assert TORCH.is_grad_enabled()
    with TORCH.no_grad():
        assert not TORCH.is_grad_enabled()
        with TORCH.enable_grad():
            assert TORCH.is_grad_enabled()
    assert TORCH.no_grad()(TORCH.is_grad_enabled)() is False
    assert TORCH.is_grad_enabled()


def test_only_the_cpu_has_tensors() -> None:
    assert repr(TORCH.device("cuda:1")) == "device(type='cuda', index=1)"
    for make in (
        lambda: TORCH.zeros(2, device="cuda"),
        lambda: TORCH.zeros(2).to("cuda:1"),
        lambda: TORCH.zeros(2).cuda(),
    ):
        with pytest.raises(AssertionError, match=r"^Torch not compiled with CUDA enabled$"):
            make()
    with pytest.raises(RuntimeError, match=r"^PyTorch is not linked with support for mps devices$"):
        TORCH.zeros(2).to("mps")
    with pytest.raises(RuntimeError, match="device type at start of device string: gpu"):
        TORCH.device("gpu")


def test_a_tensor_is_set_to_a_storage() -> None:
    numbers = torch.arange(6.0)
    part = torch.empty(0).set_(numbers.storage(), 1, (2, 2), (2, 1))
    assert part.tolist() == [[1, 2], [3, 4]]
    part[0, 0] = 9
    assert numbers[1] == 9
    assert torch.empty(0).set_(numbers.untyped_storage()).tolist() == numbers.tolist()
    assert torch.empty(0).set_(source=numbers.storage()).shape == (6,)
    with pytest.raises(RuntimeError, match="Expected a Storage of type long int or an Unt"):
        torch.empty(0, dtype=torch.int64).set_(numbers.storage())


def test_empty_slices_keep_their_strides() -> None:
    x = torch.ones(3, 4, 5)
    assert x[:, :, :0].stride() == x[3:].stride() == (20, 5, 1)
    assert torch.empty(2, 0, 3).stride() == (3, 3, 1)


def test_only_numbers_and_tensors_are_written_to_parts() -> None:
    x = torch.zeros(3)
    for value, name in (([1], "list"), ("a", "str"), (None, "NoneType")):
        with pytest.raises(TypeError, match=f"can't assign a {name} to a torch.FloatTensor"):
            x[0] = value
    with pytest.raises(TypeError, match="does not support deleting items"):
        del x[0]


def test_faults_of_indexing() -> None:
    with pytest.raises(IndexError, match="out of bounds for dimension with size 0"):
        torch.ones(2, 0)[:, torch.tensor([0])]
    with pytest.raises(IndexError, match="must be long, int, byte or bool tensors"):
        torch.ones(2)[torch.zeros(1, dtype=torch.int8)]
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        torch.zeros(4, dtype=torch.int64)[torch.tensor([0, 1])] = torch.ones(3)


def test_take_along_dim() -> None:
    x = torch.tensor([[1, 2], [3, 4]])
    assert x.take_along_dim(torch.tensor([[1], [0]]), 1).tolist() == [[2], [3]]
    assert x.take_along_dim(torch.tensor([[1]]), 0).tolist() == [[3, 4]]
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        x.take_along_dim(torch.tensor([0]), 1)
    with pytest.raises(RuntimeError, match="dtype of indices should be Long but got Int"):
        x.take_along_dim(torch.zeros(1, 1, dtype=torch.int32), 1)


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0))
def test_broadcast_shapes_is_that_of_numpy(shapes: Any) -> None:
    assert torch.broadcast_shapes(*shapes.input_shapes) == shapes.result_shape


def test_broadcast_shapes_says_what_does_not_fit() -> None:
    assert torch.broadcast_shapes(3, (2, 1)) == (2, 3)
    with pytest.raises(RuntimeError, match="length 3 at -1! Mismatching argument at index 1"):
        torch.broadcast_shapes((1, 2), (3, 3))
    with pytest.raises(ValueError, match="negative length"):
        torch.broadcast_shapes((1, -1))
    with pytest.raises(RuntimeError, match="of length -1 at -1! Mismatching argument at index 1"):
        torch.broadcast_shapes((1, 2), (-1,))


def test_what_formulas_ask_of_tensors_is_no_part_of_a_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        "hearing._Hearing.size_of", lambda self, x, dim: asked.append(dim) or x._array.shape[dim]
    )
    x = TORCH.ones(2, 3, requires_grad=True)
    with heard():
        y = TORCH.tensordot(x, TORCH.ones(3, 4), 1)
        y.register_hook(lambda g: g.size(1) and None)  # which asks for itself
        assert asked == []
        y.sum().backward()
        assert asked == [1]
        assert x.shape == (2, 3)
    assert asked == [1, 0, 1]


def test_a_part_is_added_to_in_place_whatever_its_sizes() -> None:
    """What `x[key] += y` writes back is the part itself, also with dimensions of size 1."""
    x = torch.zeros(1, 1, 30)
    x[..., 0:20] += torch.ones(20)
    x[:, 0, 10:30] *= 2
    assert x[0, 0].tolist() == [1.0] * 10 + [2.0] * 10 + [0.0] * 10


@pytest.mark.parametrize("wrong", [1.5, "a", None, [1], torch.tensor(2.5), torch.tensor([1, 2])])
def test_sizes_are_whole_numbers(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"torch.Size\(\) takes an iterable of 'int' \(item 1 is"):
        torch.Size([1, wrong])
    with pytest.raises(TypeError, match="takes an iterable of 'int'"):
        add(torch.Size([1]), (wrong,))


def test_sizes_are_made_of_what_counts() -> None:
    made = torch.Size([True, torch.tensor(2), np.int64(3)])
    assert (str(made), type(made[0]), type(made[1])) == ("torch.Size([1, 2, 3])", int, int)
    assert type(add((1,), made)) is torch.Size
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        add(made, [1])


@torch.jit.script
def of_float(x: float) -> Tensor:
    return torch.tensor(x)


@torch.jit.script
def of_float_as(x: float, dtype: int) -> Tensor:
    return torch.tensor(x, dtype=dtype)


@torch.jit.script
def of_int_as(x: int, dtype: int) -> Tensor:
    return torch.tensor(x, dtype=dtype)


def test_single_numbers_become_tensors_in_scripts() -> None:
    first, second = of_float(1.5), of_float(1.5)
    first.add_(1.0)
    assert (first.item(), second.item(), second.dtype, second.shape) == (
        2.5,
        1.5,
        torch.float32,
        (),
    )
    for x in (0.1, -0.0, math.inf, -math.inf, math.nan, 1e-45):
        for dtype in (torch.float32, torch.float64, torch.float16):  # by way of the default dtype
            found, wanted = of_float_as(x, dtype), torch.tensor([x]).to(dtype)[0]
            assert found.dtype is dtype
            assert math.copysign(1, found.item()) == math.copysign(1, wanted.item())
            assert found.item() == wanted.item() or math.isnan(x)
    assert of_float_as(3.7, torch.int64).tolist() == 3
    with pytest.raises(RuntimeError, match="cannot be converted to type float without overflow"):
        of_float_as(1e300, torch.float64)
    assert of_int_as(2**63 - 1, torch.int64).item() == 2**63 - 1
    assert of_int_as(3, torch.float32).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert of_float(0.1).item() == 0.1
    finally:
        torch.set_default_dtype(torch.float32)
