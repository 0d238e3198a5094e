"""Which refusal comes first, and mixed dtypes that are refused: sentences of torch 2.13."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from rushlight.ops.memory.errors import OperatorError

f = torch.zeros(2, 2)
i = f.int()
v = torch.zeros(2)
b = torch.zeros(2, 2, 2)
short = torch.tensor([1, 2], dtype=torch.int16)
bools = torch.tensor([True, False])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: torch.addmm(f, i, f), "mat1 and mat2 must have the same dtype, but got Int and"),
        (lambda: torch.addmm(i, f[None], f), "self and mat2 must have the same dtype, but got Int"),
        (lambda: torch.addmv(v.int(), f, v), "same dtype, but got Int, Float, and Float"),
        (lambda: torch.addmv(v, f, v.int()), "same dtype, but got Float, Float, and Int"),
        (lambda: torch.baddbmm(b.int(), b, b), "got: input int, batch1: float, batch2: float"),
        (lambda: torch.baddbmm(b, b, b.int()), "expected scalar type Float but found Int"),
        (lambda: torch.baddbmm(b[:, :1], b[None], b), "The expanded size of the tensor (1)"),
        (lambda: torch.addbmm(f.int(), b, b), "self and mat2 must have the same dtype"),
        (lambda: torch.addbmm(f, b[:1], b), "must have same number of batches, got 1 and 2"),
        (lambda: torch.addbmm(f, b[..., :1], b), "Incompatible matrix sizes for bmm (2x1 and 2x2)"),
        (lambda: f[:1].addmm_(f, f), "input tensor size [1, 2] and output tensor size [2, 2]"),
        (lambda: f.addmm_(f[:1], f), "input tensor size [2, 2] and output tensor size [1, 2]"),
        (lambda: v[:1].addmv_(f, v), "input tensor size [1] and output tensor size [2]"),
        (lambda: b[:1].baddbmm_(b, b), "Bad in-place call: input tensor size [1, 2, 2]"),
        (lambda: b[:1].int().baddbmm_(b, b), "Input dtypes must be the same"),
        (lambda: f[:1].addr_(v, v), "size mismatch, input: [1, 2], v1: [2], v2: [2]"),
        (lambda: F.linear(f, f, v.int()), "self and mat2 must have the same dtype, but got Int"),
        (lambda: F.linear(f.half(), f.half(), v), "same dtype, but got Float and Half"),
        (lambda: b @ v.int(), "addmv input tensors must have the same dtype, but got Int, Float"),
        (lambda: f.int() @ b, "expected scalar type Int but found Float"),
        (lambda: torch.linalg.cross(f.new_zeros(3), torch.zeros(3).int()), "but found Int"),
        (lambda: F.bilinear(f, f, b, v.int()), "input2: float, weight: float, bias: int"),
        (lambda: F.cross_entropy(f, v.long(), v.double()), "type Float but found Double"),
        (lambda: torch.meshgrid(v, v.int(), indexing="ij"), "all tensors to have the same dtype"),
        (lambda: F.conv1d(b, b.double()), "(torch.FloatTensor) and weight type (torch.DoubleTen"),
        (lambda: F.conv1d(b[:1], b.double()), "expected scalar type Float but found Double"),
        (lambda: F.embedding(bools, f), "but got CPUBoolType instead"),
        (lambda: torch.tensor([1]).softmax(0), '"softmax_lastdim_kernel_impl" not implemented'),
        (lambda: i.softmax(0), "\"softmax_kernel_impl\" not implemented for 'Int'"),
        (lambda: i.log_softmax(0), "\"log_softmax_kernel_impl\" not implemented for 'Int'"),
        (lambda: i.softmax(5), "Dimension out of range"),
        (lambda: bools.floor_divide_(0), "result type Long can't be cast to the desired output"),
        (lambda: bools.remainder_(0), "result type Long can't be cast to the desired output"),
        (lambda: short.add_(torch.ones(2), alpha=1j), "result type Float can't be cast to the"),
        (lambda: short.add_(1, alpha=1j), "argument alpha must not be a floating point number"),
        (lambda: torch.dropout(i, 0.5, True), "result type Float can't be cast to the desired"),
        (lambda: torch.var_mean(i, 0), "var_mean only support floating point and complex"),
        (lambda: torch.tril_indices(2, 2, dtype=torch.uint8), '"tril_indices" not implemented'),
        (lambda: F.nll_loss(i, v.long()), "\"nll_loss_out_frame\" not implemented for 'Int'"),
        (lambda: F.pad(bools[None, None], (1, 1), mode="replicate"), '"replication_pad1d" not'),
        (lambda: F.adaptive_avg_pool1d(i, 1), "mean(): could not infer output dtype"),
        (lambda: torch.clamp(f, 1, 2, out=f.double()), "Found dtype Double but expected Float"),
        (lambda: torch.clamp_min(i, 1, out=i.long()), "Found dtype Long but expected Int"),
        (lambda: f.double().clamp_(2 + 1j, 5), "value cannot be converted to type double without"),
        (lambda: f.clamp_max_(1j), "clamp is not supported for complex types"),
        (lambda: i.clamp_(1j, 2), "result type ComplexFloat can't be cast to the desired output"),
        (lambda: F.soft_margin_loss(v[0], v), "output with shape [] doesn't match the broadcast"),
        (lambda: F.soft_margin_loss(i, v), "result type Float can't be cast to the desired"),
        (lambda: torch.diag(f, out=v.double()), "Expected out tensor to have dtype float, but got"),
        (lambda: torch.trapezoid(torch.tensor(1.0)), "Dimension specified as -1 but tensor has"),
        (lambda: torch.cumulative_trapezoid(torch.tensor(1.0)), "slice() cannot be applied to a 0"),
        (
            lambda: torch.cumulative_trapezoid(torch.ones(2, 3), torch.ones(2)),
            "cumulative_trapezoid: There must be one `x` value for each sample point",
        ),
        (
            lambda: torch.cumulative_trapezoid(torch.ones(2), dx=1j),
            "cumulative_trapezoid: Currently, we only support dx as a real number.",
        ),
        (lambda: f.rot90(1, (0, 5)), "Dimension out of range"),
        (lambda: f.cfloat().random_(0, 2), "check_random_bounds handles only integral"),
        (lambda: bools.geometric_(0.5), "\"geometric_cpu\" not implemented for 'Bool'"),
    ],
)
def test_the_sentence_is_that_of_the_check_which_torch_makes_first(
    call: Callable[[], object], sentence: str
) -> None:
    with pytest.raises((RuntimeError, IndexError)) as caught:
        call()
    assert sentence in str(caught.value)


def test_what_needs_no_kernel_is_not_refused() -> None:
    assert torch.tensor(5).cumsum(0, dtype=torch.bool).item() is True
    assert torch.tensor(2.5).cumprod(0, dtype=torch.bool).item() is True
    assert torch.zeros(0, dtype=torch.int32).softmax(0).dtype == torch.int32
    assert torch.addbmm(f.int(), b[:0], b[:0]).dtype == torch.int32
    assert F.linear(torch.zeros(2, 0, 0), torch.zeros(3, 0), torch.ones(3)).shape == (2, 0, 3)


def test_sought_values_may_have_another_dtype() -> None:
    places = torch.searchsorted(torch.arange(5), torch.tensor([0.5, 1.5, 9.0]))
    assert places.tolist() == [1, 2, 5]
    bytes = torch.arange(5, dtype=torch.uint8)
    assert torch.searchsorted(bytes, torch.tensor([-1, 300])).tolist() == [0, 5]


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ([0, 5], torch.arange(2), "shape mismatch: value tensor of shape [2] cannot be broadcast"),
        ([0, 5], torch.tensor([1.5]), "Index put requires the source and destination dtypes"),
        ("a", 2j, "value cannot be converted to type int64_t without overflow"),
        (5, 2j, "value cannot be converted to type int64_t without overflow"),
        (True, torch.arange(2), "The expanded size of the tensor (4) must match the existing size"),
        (5, 2, "index 5 is out of bounds for dimension 0 with size 2"),
    ],
)
def test_what_is_written_is_looked_at_before_the_rows(
    key: object, value: object, sentence: str
) -> None:
    x = torch.arange(24).view(2, 3, 4)
    with pytest.raises((RuntimeError, IndexError)) as caught:
        x[key] = value
    assert sentence in str(caught.value)
    assert x.sum() == 276


def test_zero_to_a_complex_power_is_what_the_c_library_has() -> None:
    powers = 0 ** torch.tensor([2 + 1j, 2 - 1j, -1 + 0j, 0j])
    assert powers.real.tolist()[:3] == [0, 0, float("inf")]
    assert [str(each) for each in powers.imag.tolist()] == ["-0.0", "0.0", "nan", "nan"]
    assert str((torch.tensor([0j]) ** 3).item()) == "0j"


def test_the_determinant_of_what_is_no_number_has_no_sign() -> None:
    sign, size = torch.linalg.slogdet(torch.tensor([[float("nan"), 2], [3, 4]]))
    assert sign.item() == 0
    assert size.isnan().item()


_I, _F, _C = torch.ones(3, dtype=torch.int64), torch.ones(3), torch.ones(3, dtype=torch.complex64)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: _I.lerp_(torch.ones(2, dtype=torch.int64), 0.5), "The size of tensor a (3)"),
        (lambda: _I.lerp_(_I, 0.5), "\"lerp_kernel_scalar\" not implemented for 'Long'"),
        (lambda: _I.lerp(torch.ones(2).long(), 1), "The size of tensor a (3) must match the size"),
        (lambda: torch.ones(2, 3).addcmul(torch.ones(2), torch.ones(3)), "(3) must match the size"),
        (lambda: _I.atan2_(torch.ones(2) + 0j), "The size of tensor a (3) must match the size"),
        (lambda: _F.remainder_(torch.ones(2, 3) + 0j), "output with shape [3] doesn't match"),
        (lambda: _F.remainder_(_C), "result type ComplexFloat can't be cast to the desired output"),
        (lambda: _I.ldexp_(torch.ones(2)), "ldexp can't be cast to the desired output type Long"),
        (lambda: _F.ldexp_(_C), "result type ComplexFloat can't be cast to the desired output"),
        (lambda: _I.float_power_(torch.ones(2)), "the base given to float_power_ has dtype Long"),
        (lambda: _F.masked_fill_(torch.ones(2), 1), "masked_fill_ only supports boolean masks"),
        (lambda: _F.masked_scatter_(_I, _I), "masked_scatter: expected self and source to have"),
        (lambda: _F.masked_scatter_(_I[:2], _F), "The expanded size of the tensor (3) must match"),
        (lambda: torch.inner(bools, bools), "\"dot\" not implemented for 'Bool'"),
        (
            lambda: torch.tensordot(bools, bools, 0),
            "\"addmm_impl_cpu_\" not implemented for 'Bool'",
        ),
    ],
)
def test_sizes_are_looked_at_before_dtypes_and_dtypes_before_kernels(
    call: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        call()
    assert sentence in str(caught.value)


def test_products_of_no_bools_need_no_kernel() -> None:
    assert torch.inner(bools[:0].view(0, 2), torch.ones(2).bool()).shape == (0,)
    assert (
        torch.inner(torch.ones(2, 0).bool(), torch.ones(2, 0).bool()).tolist() == [[False] * 2] * 2
    )


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: torch.lerp(v, torch.ones(3), v), ["self", "end"]),
        (lambda: torch.lerp(v, v, torch.ones(3)), ["self", "weight"]),
        (lambda: v.double().lerp(torch.ones(3).double(), 0.5), ["self", "end"]),
        (lambda: torch.addcmul(v, v, torch.ones(3)), ["self", "tensor2"]),
        (lambda: torch.addcdiv(v, torch.ones(3), v), ["self", "tensor1"]),
    ],
)
def test_shapes_of_several_operands_are_told_of_by_the_operands_names(
    call: Callable[[], object], named: list[str]
) -> None:
    with pytest.raises(OperatorError, match="must match the size of tensor b") as caught:
        call()
    assert list(caught.value.roles or ()) == named


def test_a_mask_of_another_shape_is_told_before_a_number_that_does_not_fit() -> None:
    x = torch.zeros((), dtype=torch.float16)
    with pytest.raises(RuntimeError, match=r"output with shape \[\] doesn't match the broadcast"):
        x.masked_fill_(torch.ones(3, dtype=torch.bool), complex(0.5, -2.0))
