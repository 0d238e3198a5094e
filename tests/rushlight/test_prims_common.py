"""`torch._prims`, `torch._prims_common` and `torch._refs`: what torch's tools take from there."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight import _prims as prims
from rushlight import _prims_common as utils
from rushlight._prims_common.wrappers import elementwise_type_promotion_wrapper, out_wrapper

KINDS = utils.ELEMENTWISE_TYPE_PROMOTION_KIND
X = torch.tensor([3.0, 1.0])
WHOLE = torch.arange(2)


@pytest.mark.parametrize(
    ("operands", "kind", "computed", "result"),
    [
        ((X.half(), X.bfloat16()), KINDS.DEFAULT, torch.float32, torch.float32),
        ((X.half(), 2.5), KINDS.DEFAULT, torch.float32, torch.float16),
        ((X.half(), 2.5), KINDS.NO_OPMATH, torch.float16, torch.float16),
        ((WHOLE, 2.5), KINDS.DEFAULT, torch.float32, torch.float32),
        ((WHOLE.short(), torch.tensor(1)), KINDS.DEFAULT, torch.int16, torch.int16),
        ((WHOLE.byte(), WHOLE.char()), KINDS.INT_TO_FLOAT, torch.float32, torch.float32),
        ((X.double(), 1j), KINDS.COMPLEX_TO_FLOAT, torch.complex128, torch.float64),
        ((X > 0, None), KINDS.BOOL_TO_LONG, torch.int64, torch.int64),
        ((X, True), KINDS.ALWAYS_BOOL, torch.float32, torch.bool),
    ],
)
def test_the_dtypes_of_operands_together(
    operands: tuple[object, ...], kind: object, computed: torch.dtype, result: torch.dtype
) -> None:
    found = utils.elementwise_dtypes(*operands, type_promotion_kind=kind)
    assert found == (computed, result)


def test_kinds_of_dtypes_and_their_order() -> None:
    assert utils.is_integer_dtype(torch.uint16)
    assert not utils.is_integer_dtype(torch.bool)
    assert utils.get_higher_dtype(torch.uint8, torch.int8) is torch.int16
    assert utils.get_higher_dtype(X, None) is torch.float32
    assert utils.get_higher_type(int, complex) is complex
    assert utils.can_safe_cast_to(cast_from=torch.float64, cast_to=torch.float16)
    assert not utils.can_safe_cast_to(cast_from=torch.float64, cast_to=torch.int64)
    assert utils.corresponding_real_dtype(torch.complex64) is torch.float32
    fold = utils.REDUCTION_OUTPUT_TYPE_KIND
    assert utils.reduction_dtypes(X.half(), fold.SAME) == (torch.float32, torch.float16)
    assert utils.reduction_dtypes(X, fold.ALWAYS_BOOL) == (torch.float32, torch.bool)


def test_sizes_and_dimensions() -> None:
    assert utils.reduction_dims((2, 3), None) == (0, 1)
    assert utils.compute_reduction_output_shape((2, 3), (1,)) == (2,)
    assert utils.infer_size_shapes((3, 1), (2,)) == (3, 2)
    assert utils.compute_required_storage_length((2, 3), (3, 1), 1) == 7
    assert utils.is_expandable_to((3, 1), (2, 3, 4))
    assert utils.set_correction(None, 2) == 2.0
    assert utils.invert_perm([2, 0, 1]) == [1, 2, 0]
    with pytest.raises(AssertionError, match="idx 2 is out of bounds for rank 2"):
        utils.validate_idx(2, 2)
    with pytest.raises(RuntimeError, match="duplicate value in the list of dims"):
        utils.reduction_dims((2, 3), (1, -1))
    with pytest.raises(RuntimeError, match="cannot specify both"):
        utils.set_correction(True, 1)


def test_strides_of_results() -> None:
    wide = torch.zeros(4, 6)
    strides = utils.compute_elementwise_output_strides
    assert strides(wide.t(), wide.t().contiguous()) == (1, 6)
    assert strides(wide[:, ::2]) == (3, 1)
    assert strides(torch.zeros(3, 1, 2).expand(3, 5, 2)) == (10, 2, 1)
    assert strides(torch.zeros(1, 1).as_strided((1, 1), (4, 2))) == (4, 2)
    assert utils.clone_preserve_strides(wide[:, ::2]).stride() == (6, 2)
    assert not utils.is_non_overlapping_and_dense_or_false(wide[:, ::2])
    assert utils.make_channels_last_strides_for((2, 3, 4, 5)) == (60, 1, 15, 3)


def test_results_into_given_tensors() -> None:
    @out_wrapper()
    def added(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b

    @out_wrapper("values", "indices")
    def ordered(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return a.sort().values, a.sort().indices

    out = torch.empty(2)
    assert added(X, X, out=out) is out
    assert out.tolist() == [6.0, 2.0]
    with pytest.raises(RuntimeError, match="can't be cast because it is not safe"):
        added(X, X, out=torch.empty(2, dtype=torch.int64))
    assert ordered(X).indices.tolist() == [1, 0]
    into = torch.empty(2), torch.empty(2, dtype=torch.int64)
    ordered(X, out=into)
    assert into[0].tolist() == [1.0, 3.0]


def test_operands_of_one_dtype() -> None:
    seen = []

    @elementwise_type_promotion_wrapper(
        type_promoting_args=("a", "b"), type_promotion_kind=KINDS.INT_TO_FLOAT
    )
    def added(a: torch.Tensor, b: object, *, c: int = 1) -> torch.Tensor:
        seen.append((a.dtype, b))
        return a + b

    assert added(WHOLE, 2).dtype is torch.float32
    assert added(X.half(), b=2.5, c=3).dtype is torch.float16
    assert seen == [(torch.float32, 2.0), (torch.float32, 2.5)]


def test_operators_by_their_names_alone() -> None:
    assert prims.add is torch.ops.prims.add.default
    assert prims.view_element_type is torch.ops.prims.view_of_dtype.default
    assert prims.expand_dims(X[None], [0, 1]).shape == (1, 1, 1, 2)
    assert prims.TensorMeta(X, dtype=torch.int8).dtype is torch.int8
    with pytest.raises(AssertionError, match="strides must be provided"):
        prims.TensorMeta(shape=(2,))
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = prims.nosuch


def test_functions_of_the_same_meaning() -> None:
    assert torch._refs.add is torch.add
    assert torch._refs.nn.functional.relu is torch.nn.functional.relu
    assert torch._refs.special.i0e is torch.special.i0e
