"""Refused dtypes, derived forms and plans of eager calls."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.dtype import DTYPES
from rushlight.ops.table.declare import twin_schema
from rushlight.ops.table.out_dtypes import OutDtype
from rushlight.ops.table.table import TABLE

_MISSING = "NotImplementedError"

_REFUSED: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "bool": (
        lambda x: x % x,
        "NotImplementedError",
        "\"remainder_cpu\" not implemented for 'Bool'",
    ),
    "uint16": (lambda x: x + x, "NotImplementedError", "\"add_stub\" not implemented for 'UInt16'"),
    "complex64": (torch.ceil, "NotImplementedError", "ceil is not supported for complex inputs"),
    "int64": (
        lambda x: x.add_(1.5),
        "RuntimeError",
        "result type Float can't be cast to the desired output type Long",
    ),
    "float16": (
        lambda x: x & x,
        "NotImplementedError",
        "\"bitwise_and_cpu\" not implemented for 'Half'",
    ),
    "uint8": (
        lambda x: x.masked_fill(x > 0, 300),
        *("RuntimeError", "value cannot be converted to type uint8_t without overflow"),
    ),
}


@pytest.mark.parametrize("dtype", _REFUSED)
def test_refusals_have_torchs_class_and_sentence(dtype: str) -> None:
    call, name, sentence = _REFUSED[dtype]
    with pytest.raises(RuntimeError) as caught:
        call(torch.ones(2, dtype=getattr(torch, dtype)))
    assert (type(caught.value).__name__, str(caught.value)) == (name, sentence)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again).__module__, type(again).__name__) == ("builtins", name)


def test_casting_is_refused_before_the_kernel() -> None:
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Bool"):
        torch.ones(2, dtype=torch.bool).floor_divide_(torch.ones(2, dtype=torch.complex64))
    with pytest.raises(RuntimeError, match=r"output with shape \[\] doesn't match"):
        torch.ones((), dtype=torch.bool).floor_divide_(torch.ones(2, dtype=torch.bool))


def test_numbers_are_not_wrapped_where_floats_are_computed() -> None:
    x = torch.ones(1, dtype=torch.uint8)
    assert torch.copysign(x, -1).item() == -1.0
    assert (True // torch.tensor(3, dtype=torch.int16)).dtype is torch.int16


def test_twins_and_out_forms_are_derived() -> None:
    schema = "aten::f.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    twin = "aten::f_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    assert twin_schema(schema) == twin
    entry = TABLE.operator("aten::add.out")
    assert entry is not None
    assert entry.schema == (
        "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    assert entry.signature.is_mutable
    assert entry.signature.returns[0].alias is not None
    out = np.zeros(1, np.float64)
    given = np.ones(3, np.float32)
    assert entry.forward(given, given, 1, out) is out
    assert out.tolist() == [2.0] * 3


def test_plans_keep_quiet_and_leave_the_users_state_alone() -> None:
    x, zero = torch.ones(2), torch.zeros(2)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):  # the second call goes by its plan
            assert (x / zero).tolist() == [float("inf")] * 2
        with pytest.raises(FloatingPointError):
            np.ones(2) / np.zeros(2)
        for _ in range(2):
            with pytest.raises(RuntimeError):
                x.add(torch.ones(3))
        with pytest.raises(FloatingPointError):
            np.ones(2) / np.zeros(2)


def test_plans_give_back_the_handle_that_was_changed() -> None:
    x = torch.ones(3)
    for _ in range(3):
        assert x.add_(x) is x
        assert x.mul_(1.0) is x
    assert x.view(3, 1).shape == x.view(3, 1).shape == (3, 1)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("dim", "keepdim"), "keepdim=int, dim=int"),
        (
            ("bb", "foo", "dimx", "keepdim", "dim"),
            "dim=int, keepdim=int, dimx=int, foo=int, bb=int",
        ),
        (("zz", "a", "stable", "weird_long_name", "dim", "b", "c"), None),
    ],
)
def test_keywords_that_fit_nothing(given: tuple[str, ...], named: str | None) -> None:
    with pytest.raises(TypeError, match="invalid combination") as caught:
        torch.sort(torch.zeros(2), **dict.fromkeys(given, 1))
    for name in given:
        assert f"{name}=int" in str(caught.value)
    assert named is None or f"(Tensor, {named})" in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: torch.ones(1 << 20).repeat(1 << 20, 1 << 10),
        lambda: torch.zeros(1 << 25, 1 << 25),
        lambda: torch.tril_indices(1 << 28, 1 << 28),
        lambda: torch.add(torch.ones(1).expand(1 << 50), 1),
    ],
)
def test_more_memory_than_there_is_is_refused(ask: Any) -> None:
    with pytest.raises(RuntimeError, match=r"not enough memory: you tried to allocate \d+ bytes"):
        ask()


@pytest.mark.parametrize("scatter", [torch.scatter_add, torch.scatter_reduce, torch.scatter])
def test_all_scattering_is_refused_as_scatter(scatter: Callable[..., Any]) -> None:
    more = ("sum",) if scatter is torch.scatter_reduce else ()
    zeros, place = torch.zeros(3), torch.tensor([0])
    with pytest.raises(RuntimeError, match=r"^scatter\(\): Expected self.dtype to be equal to src"):
        scatter(zeros, 0, place, torch.ones(1).double(), *more)
    with pytest.raises(RuntimeError, match=r"^scatter\(\): Expected dtype int32/int64 for index"):
        scatter(zeros, 0, place * 1.0, torch.ones(1), *more)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: torch.arange(0.0, 1e300, 1e-300), "possible overflow"),
        (lambda: _grown(float("inf")), "without overflow"),
        (lambda: _grown(float("nan")), "without overflow"),
        (lambda: _segments([1 << 62, 1 << 62, 1 << 62, (1 << 62) + 4]), "Expected all rows"),
        (lambda: _segments([2, 9], unsafe=True), "Expected all rows"),
        (lambda: _segments([-4, 8], unsafe=True), "negative value"),
    ],
)
def test_counts_that_cannot_be_are_refused(ask: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        ask()


def _grown(factor: float) -> Any:
    return torch.nn.functional.interpolate(torch.ones(1, 1, 4, 4), scale_factor=factor)


def _segments(lengths: list[int], **more: Any) -> Any:
    return torch.segment_reduce(torch.ones(4), "sum", lengths=torch.tensor(lengths), **more)


def test_prelu_asks_for_one_dtype_before_it_asks_for_floats() -> None:
    x, weight = torch.ones(2, 3).long(), torch.ones(1)
    with pytest.raises(RuntimeError, match="Type promoting not supported"):
        torch.nn.functional.prelu(x, weight)
    with pytest.raises(NotImplementedError, match="\"prelu_cpu\" not implemented for 'Long'"):
        torch.nn.functional.prelu(x, weight.long())


def test_the_sign_of_inversion_takes_whole_numbers_alone() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.complex64):
        with pytest.raises(TypeError, match=r"^~ \(operator.invert\) is only implemented on"):
            ~torch.ones(2, dtype=dtype)
    assert (~torch.tensor([1])).item() == -2


def test_the_sizes_of_a_weight_may_be_a_vector() -> None:
    v = torch.arange(24.0).reshape(4, 2, 3)
    for dim, sizes in ((0, (4, 1, 1)), (2, (1, 1, 3))):
        g = torch.arange(1.0, v.shape[dim] + 1)
        wanted = torch._weight_norm(v, g.view(sizes), dim)
        assert torch._weight_norm(v, g, dim).equal(wanted)


def test_elements_are_taken_out_of_a_row_that_is_a_view() -> None:
    x, places = torch.arange(6.0).reshape(2, 3), torch.zeros(2, 3).long()
    for given, index in ((x.t(), places), (x, places.t())):
        with pytest.raises(RuntimeError, match="view size is not compatible with input tensor's"):
            torch.take_along_dim(given, index)
    with pytest.raises(RuntimeError, match="Expected dtype int32/int64 for index"):
        torch.take_along_dim(x, places.float())
    assert torch.take_along_dim(x, places.int() + 5).tolist() == [5.0] * 6


@pytest.mark.parametrize("name", ["input_lengths", "target_lengths"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bool])
def test_lengths_of_sequences_are_integral(name: str, dtype: Any) -> None:
    lengths = {"input_lengths": torch.tensor([2]), "target_lengths": torch.tensor([1])}
    lengths[name] = lengths[name].to(dtype)
    with pytest.raises(RuntimeError, match=f"^{name} must be integral"):
        torch.nn.functional.ctc_loss(torch.zeros(2, 1, 3), torch.tensor([[1]]), **lengths)


def test_a_subclass_inherits_from_tensor() -> None:
    with pytest.raises(TypeError, match=r"^Creating a Tensor subclass from a class that does not"):
        torch.ones(1).as_subclass(int)
    with pytest.raises(TypeError, match=r"^cls must be a type .got int."):
        torch.ones(1).as_subclass(3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: torch.ones(3, 3).renorm(2, 0, -1.0),
            "renorm: expected maxnorm to be >= 0 but got -1",
        ),
        (
            lambda: torch.nn.functional.embedding_bag(
                torch.tensor([1, 5]), torch.ones(3, 4).t(), torch.tensor([0, 1]), mode="sum"
            ),
            "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be 5",
        ),
        (
            lambda: torch.searchsorted(torch.tensor(1.0), torch.ones(3)),
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension",
        ),
        (
            lambda: torch.zeros(0, 3, dtype=torch.bool).median(0),
            "median(): Expected reduction dim 0 to have non-zero size.",
        ),
        (
            lambda: torch.zeros(2, dtype=torch.device("cpu")),
            "zeros(): argument 'dtype' must be torch.dtype, not torch.device",
        ),
    ],
    ids=[
        "renorm",
        "a table in columns",
        "one boundary",
        "no rows",
        "a device for a dtype",
    ],
)
def test_sentences_tell_numbers_and_classes_as_torch_does(
    call: Callable[[], object], sentence: str
) -> None:
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (torch.float32, "dtype"),
        (torch.device("cpu"), "device"),
        (torch.strided, "layout"),
        (torch.channels_last, "memory_format"),
        (torch.per_tensor_affine, "qscheme"),
    ],
)
def test_classes_of_what_is_no_tensor_have_torchs_names(value: object, name: str) -> None:
    kind = type(value)
    assert kind.__name__ == kind.__qualname__ == name
    assert pickle.loads(pickle.dumps(kind)) is kind is getattr(torch, name)
    assert pickle.loads(pickle.dumps(value)) == value


def test_nothing_has_a_median_in_every_dtype() -> None:
    assert torch.zeros(0, dtype=torch.bool).median().item() is True
    assert torch.zeros(0, dtype=torch.complex64).median().real.isnan().item()
    with pytest.raises(RuntimeError, match="not implemented for 'Bool'"):
        torch.zeros(1, dtype=torch.bool).median()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("count", [1, 100])
def test_the_zeros_of_lgamma_have_no_sign(dtype: str, count: int) -> None:
    x = torch.tensor([1.0, 2.0] * count, dtype=getattr(torch, dtype))
    found = torch.lgamma(x)
    assert not found.any()
    assert not torch.signbit(found).any()


def test_dtypes_are_refused_in_the_words_of_the_kernels() -> None:
    flags, halves = torch.ones(2, 2, dtype=torch.bool), torch.ones(2, 2).half()
    probabilities = torch.ones(2, 1, 2).half()
    one = torch.ones(1, dtype=torch.long)
    for call, words in (
        (lambda: torch.linalg.lu_factor(flags), "\"lu_cpu\" not implemented for 'Bool'"),
        (lambda: torch.linalg.qr(halves), "\"geqrf_cpu\" not implemented for 'Half'"),
        (
            lambda: torch.nn.functional.ctc_loss(probabilities, one[None], one, one),
            "\"ctc_loss_cpu\" not implemented for 'Half'",
        ),
        (
            lambda: torch.nn.functional.adaptive_max_pool3d(torch.ones(1, 2, 2, 2).bool(), 1),
            "\"adaptive_max_pool3d_cpu\" not implemented for 'Bool'",
        ),
    ):
        with pytest.raises(NotImplementedError, match=words):
            call()
    with pytest.raises(RuntimeError, match=r"^quantile\(\) input tensor must be either float or"):
        torch.nanquantile(flags, 0.5)


def _refused_by_records() -> list[tuple[str, Any, str]]:
    """Operators, a dtype that their record refuses, and what is said of it."""
    found = []
    for entry in TABLE:
        refuses = entry.refuses
        if refuses is None or entry.is_in_place or not entry.signature.arguments:
            continue
        for name in ("bool", "uint8", "int32", "float16", "complex64", "uint16"):
            try:
                refuses(np.dtype(name), (2, 3))
            except Exception as error:
                found.append((entry.full_name, np.dtype(name), str(error)))
                break
    return found


def test_what_a_record_refuses_is_refused_before_anything_else() -> None:
    rows = _refused_by_records()
    assert len(rows) > 50
    for name, dtype, said in rows:
        entry = TABLE.operator(name)
        assert entry is not None
        rest = [None] * (len(entry.signature.arguments) - 1)
        with pytest.raises(Exception, match=re.escape(said)):
            entry.forward(np.ones((2, 3), dtype), *rest)


@pytest.mark.parametrize(
    ("demand", "held"),
    [
        ("same", [("float32", "float32")]),
        ("complex", [("float32", "complex64"), ("int64", "complex128")]),
        ("floating", [("float64", "float32"), ("complex64", "float16")]),
        ("none", [("complex64", "bool"), ("float32", "int8")]),
        ("castable", [("int64", "float16"), ("float64", "complex64")]),
    ],
)
def test_what_out_may_hold(demand: Any, held: list[tuple[str, str]]) -> None:
    rule = OutDtype(demand, "")
    assert all(rule.holds(DTYPES[result], DTYPES[out]) for result, out in held)
    lost = {"complex": "float64", "floating": "int64", "none": ""}.get(demand, "bool")
    assert not lost or not rule.holds(DTYPES["float32"], DTYPES[lost])
