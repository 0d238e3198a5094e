"""Tensors given as `out=`: the dtypes they may have, the strides they get, what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

X = torch.arange(6.0).reshape(2, 3)
SQUARE = torch.tensor([[2.0, 1.0], [1.0, 3.0]])

REFUSED: list[tuple[Callable[..., Any], Any, str]] = [
    (
        lambda out: torch.mm(X, X.t(), out=out),
        torch.float64,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    (lambda out: torch.neg(X, out=out), torch.int64, "Found dtype Long but expected Float"),
    (
        lambda out: torch.frexp(X, out=(out, torch.empty_like(X, dtype=torch.int32))),
        torch.float64,
        "torch.frexp() expects mantissa to have dtype float but got double",
    ),
    (
        lambda out: torch.frexp(X, out=(torch.empty_like(X), out)),
        torch.int64,
        "torch.frexp() expects exponent to have int dtype but got long int",
    ),
    (
        lambda out: torch.frexp(X, out=(torch.empty_like(X), out)),
        torch.complex64,
        "torch.frexp() expects exponent to have int dtype but got c10::complex<float>",
    ),
    (
        lambda out: torch.heaviside(X, X, out=out),
        torch.complex64,
        "heaviside is not yet implemented for complex tensors.",
    ),
    (
        lambda out: torch.nonzero_static(X, size=2, out=out),
        torch.float32,
        "nonzero_static: Expected out tensor to have scalar type Long but got scalar typeFloat",
    ),
    (
        lambda out: torch.exp(X, out=out),
        torch.int64,
        "result type Float can't be cast to the desired output type Long",
    ),
    (
        lambda out: torch.isposinf(X, out=out),
        torch.float32,
        "isposinf does not support non-boolean outputs.",
    ),
    (lambda out: torch.any(X, out=out), torch.int64, "any only supports bool tensor for result"),
    (
        lambda out: torch.fft.fft(X, out=out),
        torch.float32,
        "fft expects a complex output tensor, but got Float",
    ),
    (
        lambda out: torch.fft.ifft2(X, out=out),
        torch.float32,
        "fftn expects a complex output tensor, but got Float",
    ),
    (
        lambda out: torch.select_copy(X, 0, 0, out=out),
        torch.float64,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    (
        lambda out: torch.linalg.pinv(X, out=out),
        torch.int64,
        "linalg.pinv: Expected result to be safely castable from Float dtype, but got result "
        "with dtype Long",
    ),
    (
        lambda out: torch.linalg.matrix_power(SQUARE, 0, out=out),
        torch.int64,
        "matrix_power: Expected result to be safely castable",
    ),
    (
        lambda out: torch.zeros(3, dtype=torch.float32, out=out),
        torch.float64,
        "dtype Float does not match dtype of out parameter (Double)",
    ),
    (
        lambda out: torch.sort(X, out=(out, torch.empty(0, dtype=torch.int64))),
        torch.float64,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    (
        lambda out: torch.mode(X, out=(torch.empty(0), out)),
        torch.int32,
        "expected scalar type 'Long' but got 'Int' for indices output",
    ),
    (
        lambda out: torch.max(X, 0, out=(torch.empty(0), out)),
        torch.int32,
        "Expected out tensor to have dtype long int, but got int instead",
    ),
    (
        lambda out: torch.min(X, 0, out=(out, torch.empty(0, dtype=torch.int64))),
        torch.float64,
        "Expected out tensor to have dtype float, but got double instead",
    ),
]


@pytest.mark.parametrize(("call", "dtype", "sentence"), REFUSED)
def test_a_dtype_that_out_may_not_have(call: Callable[..., Any], dtype: Any, sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(torch.empty(0, dtype=dtype))
    assert str(caught.value).startswith(sentence)


def test_joined_tensors_are_of_a_wrong_type() -> None:
    with pytest.raises(TypeError, match="input types can't be cast to the desired output type Int"):
        torch.cat([X, X], out=torch.empty(0, dtype=torch.int32))


def test_methods_take_no_out() -> None:
    with pytest.raises(TypeError) as caught:
        X.gather(1, torch.zeros(2, 1, dtype=torch.int64), out=torch.empty(0))
    assert str(caught.value) == "gather() got an unexpected keyword argument 'out'"


def test_a_result_of_floats_is_not_written_into_whole_numbers() -> None:
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        torch.ones(2, dtype=torch.int64).polygamma_(1)


def test_scripts_refuse_the_same_dtypes() -> None:
    @torch.jit.script
    def product(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, x.t(), out=out)

    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got d"):
        product(X, torch.empty(0, dtype=torch.float64))


def test_zeros_are_made_in_the_dtype_of_out() -> None:
    out = torch.ones(2, dtype=torch.float64)
    assert torch.zeros(2, out=out).dtype is torch.float64
    assert out.tolist() == [0.0, 0.0]


def test_an_empty_out_gets_the_order_of_the_result() -> None:
    out = torch.exp(X.t(), out=torch.empty(0))
    assert out.stride() == (1, 3)


def test_several_results_come_back_under_the_name_of_the_out_form() -> None:
    targets = (torch.empty(0), torch.empty(0, dtype=torch.int64))
    found = torch.sort(X, out=targets)
    assert type(found).__name__ == "sort_out"
    assert found.values is targets[0]


def test_out_may_lie_where_torch_lets_it() -> None:
    x = torch.arange(12.0)
    assert torch.sum(x.view(3, 4), 0, out=x[:4]).tolist() == [12, 15, 18, 21]
    refused = "some elements of the input tensor and the written-to tensor refer to a single"
    for call in (
        lambda: torch.add(x[1:], 1, out=x[:-1]),
        lambda: torch.cat([x[:3], x[3:6]], out=x[2:8]),
        lambda: torch.gather(x, 0, torch.arange(12), out=x),
        lambda: torch.sort(x[2:], out=(x[:10], torch.empty(10, dtype=torch.int64))),
    ):
        with pytest.raises(RuntimeError, match=refused):
            call()


def test_what_comes_back_unchanged_is_the_same_tensor() -> None:
    x = torch.ones(2, 3)
    assert torch.atleast_2d([x])[0] is x
    assert torch.cartesian_prod(x[0]).shape == (3,)
    turned = x.t()
    assert turned.to(torch.float32, memory_format=torch.contiguous_format) is turned


def test_out_that_would_grow_into_an_input_is_refused() -> None:
    message = "refer to a single memory location"
    places = torch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match=message):
        torch.gather(torch.tensor([4, 5, 6]), 0, places[1:], out=places[:1])
    nothing = torch.zeros(0)
    with pytest.raises(RuntimeError, match=message):
        torch.cat([nothing, torch.ones(2, 3)], out=nothing)
    assert torch.cat([torch.zeros(2), torch.ones(2)], out=nothing).tolist() == [0, 0, 1, 1]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_out_that_grows_to_no_elements_takes_the_order_of_the_result() -> None:
    sparse = torch.zeros(1, 1, 6)[:, :0, ::2]
    assert torch.nan_to_num(sparse, out=torch.zeros(1)).stride() == (3, 3, 1)
    vectors = torch.linalg.solve(torch.ones(0, 5, 5), torch.ones(0, 5), out=torch.zeros(1))
    assert vectors.stride() == (1, 1)
    norms = torch.linalg.matrix_norm(torch.ones(1, 3, 4, 4), 2, (2, 3), True, out=torch.zeros(1))
    assert norms.stride() == (3, 1, 1, 1)


@pytest.mark.parametrize(("name", "values"), [("max", [1.0, 2.0]), ("min", [0.0, 1.0])])
def test_the_larger_of_two_may_be_written_over_one_of_them(name: str, values: list[float]) -> None:
    kept = torch.tensor([0.0, 2.0])
    getattr(torch, name)(kept, torch.ones(2), out=kept)
    assert kept.tolist() == values
    whole = torch.ones(3)
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        getattr(torch, name)(whole[1:], torch.ones(2), out=whole[:-1])


@pytest.mark.parametrize("name", ["maximum", "minimum", "atan2", "fmod"])
def test_out_may_not_lie_across_any_operand(name: str) -> None:
    whole = torch.arange(6.0)
    for pair in ((whole[1:4], torch.ones(3)), (torch.ones(3), whole[1:4])):
        with pytest.raises(RuntimeError, match="some elements of the input tensor"):
            getattr(torch, name)(*pair, out=whole[:3])


def into(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    torch.sum(x, dim=[-2], keepdim=True, out=out)
    return out


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("call", [into, torch.jit.script(into)], ids=["eager", "scripted"])
def test_a_smaller_result_lies_in_the_memory_that_is_there(call: Callable[..., Any]) -> None:
    lent = np.full((4, 3), 9, np.float32)
    for _ in range(3):
        out = torch.from_numpy(lent)
        assert call(X, out) is out
        assert out.shape == (1, 3)
        assert lent[0].tolist() == [3.0, 5.0, 7.0]
        assert lent[1].tolist() == [9.0] * 3
        whole = torch.full((3, 3), 9.0)
        part = whole[1:]
        call(X, part)
        assert whole.tolist() == [[9.0] * 3, [3.0, 5.0, 7.0], [9.0] * 3]
        assert part.data_ptr() == whole[1].data_ptr()
        with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
            call(torch.ones(5, 2, 3), torch.from_numpy(lent[:2]))


@pytest.mark.parametrize("overload", ["Scalar", "ScalarOpt_dim", "ScalarOpt_dtype"])
def test_norms_of_the_old_names_refuse_whole_numbers_in_their_own_words(overload: str) -> None:
    norm = getattr(torch.ops.aten.norm, overload)
    whole = torch.ones(2, dtype=torch.int64)
    if overload == "ScalarOpt_dtype":
        told = r"norm\(\): the desired output dtype should be .* Got Long instead"
        with pytest.raises(RuntimeError, match=told):
            norm(whole.float(), 2, dtype=torch.int64)
        return
    with pytest.raises(RuntimeError, match=r"norm\(\): input dtype should be .* Got Long instead"):
        norm(whole, 2, *([[0]] if overload == "ScalarOpt_dim" else []))


def test_norms_in_a_dtype_have_an_out_of_it() -> None:
    norm = torch.ops.aten.norm.dtype_out
    x, out = torch.ones(4, 2), torch.zeros(2, dtype=torch.float64)
    norm(x, 2, [0], False, dtype=torch.float64, out=out)
    assert out.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype double, but got fl"):
        norm(x, 2, [0], False, dtype=torch.float64, out=torch.zeros(2))
