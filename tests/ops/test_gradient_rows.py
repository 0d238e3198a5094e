"""Every operator over tensors has a gradient, is marked as having none, or is known to lack one."""

from __future__ import annotations

import rushlight as torch
from rushlight.ops.eager.open_operators import OpenOperator
from rushlight.ops.gradients.nodes.bound import bound_row
from rushlight.ops.gradients.table.families import row_of
from rushlight.ops.table.table import TABLE, Operator

NOT_OF_FLOATS = """
__and_ __iand_ __ilshift_ __ior_ __irshift_ __ixor_ __lshift_ __or_ __rshift_ __xor_ _cast_Byte
_cast_Char _cast_Int _cast_Long _cast_Short _dim_arange _int_mm _is_all_true _is_any_true
_shape_as_tensor all any argwhere bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor eq gcd ge greater greater_equal gt hash_tensor isclose isfinite
isin isinf isnan isneginf isposinf isreal lcm le less less_equal linalg_matrix_rank logical_and
logical_not logical_or logical_xor lt ne nonzero nonzero_numpy not_equal one_hot signbit
"""
"""Their results or arguments are truths or whole numbers."""

QUANTIZED = """
_empty_per_channel_affine_quantized
_make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor _saturate_weight_to_fp16
dequantize int_repr q_per_channel_scales q_per_channel_zero_points quantized_batch_norm
quantized_gru quantized_lstm
"""
"""They take or give quantized tensors, which have no gradients."""

NOT_OPERATORS_OVER_ELEMENTS = """
_no_grad_fill _no_grad_normal _no_grad_uniform _no_grad_zero as_tensor dict items keys popitem
requires_grad sorted
"""
"""Containers, modes, and what runs without gradients."""

LACKING_IN_TORCH = """
_add_relu _aminmax _dirichlet_grad _embedding_bag_forward_only _histogramdd_bin_edges
_histogramdd_from_bin_cts _histogramdd_from_bin_tensors _linalg_eigvals _logcumsumexp
_native_multi_head_attention _sample_dirichlet _scaled_mm _stack _test_optional_filled_intlist
_test_optional_floatlist _test_optional_intlist _test_string_default
_transformer_encoder_layer_fwd binomial
detach_copy floor_divide heaviside histogramdd linalg__powsum linalg_ldl_factor
linalg_ldl_factor_ex linalg_ldl_solve normal_functional vander view_as_complex_copy
"""
"""Walking back ends in an error there too."""

NESTED = (
    "_ncf_unsqueeze _ncf_view _nested_tensor_from_mask nested_to_padded_tensor to_padded_tensor"
)
"""They are about nested tensors."""

SPARSE = """
_coalesced _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo _indices
_sparse_addmm _sparse_log_softmax _sparse_mm _sparse_mm_reduce_impl _sparse_softmax _sparse_sum
_values ccol_indices coalesce col_indices crow_indices indices row_indices sparse_coo_tensor
sparse_bsc_tensor sparse_bsr_tensor sparse_csc_tensor sparse_csr_tensor sparse_mask to_dense
to_sparse to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr values
"""
"""They serve sparse tensors, whose own forms carry the gradients."""

REFUSED = "_pin_memory cuda"
"""They are refused."""

TO_BE_WRITTEN = "_pack_sequence embedding_renorm"


def _is_of_tensors(entry: Operator) -> bool:
    """Whether it makes tensors of tensors, and not in `out`; what is put together of others when it
    is first named has their gradients."""
    if isinstance(entry, OpenOperator):
        return False
    given = any("Tensor" in str(argument.type) for argument in entry.signature.arguments)
    made = any("Tensor" in str(returned.type) for returned in entry.signature.returns)
    return given and made and entry.name.startswith("aten::") and not entry.is_out_form


def test_every_operator_without_a_gradient_is_sorted_by_reason() -> None:
    names = {e.name for e in TABLE if _is_of_tensors(e) and row_of(e) is None}
    lacking = sorted({name.removeprefix("aten::").removesuffix("_") for name in names})
    groups = (NOT_OF_FLOATS, QUANTIZED, NOT_OPERATORS_OVER_ELEMENTS, LACKING_IN_TORCH, NESTED)
    sorted_out = (*groups, SPARSE, REFUSED, TO_BE_WRITTEN)
    assert lacking == sorted(name for text in sorted_out for name in text.split())


def test_second_names_have_the_rows_and_the_nodes_of_the_first() -> None:
    x, y = torch.tensor([0.5], requires_grad=True), torch.tensor([0.25])
    made = {
        "Atan2Backward0": torch.arctan2(x, y),
        "ClampBackward0": torch.clip(x, y),
        "ClampBackward1": torch.clip(x, 0.25),
        "DivBackward0": torch.divide(x, 2),
        "DivBackward2": torch.divide(x, y, rounding_mode="floor"),
        "LgammaBackward0": torch.special.gammaln(x),
        "MvlgammaBackward0": torch.special.multigammaln(x + 2, 2),
        "XlogyBackward1": torch.xlogy(2.0, x),
        "XlogyBackward2": torch.xlogy(x, 2.0),
    }
    assert {name: result.grad_fn.name() for name, result in made.items()} == {n: n for n in made}
    assert torch.multiply(x, 2).grad_fn.next_functions[1] == (None, 0)
    for name in TABLE.names():
        for entry in TABLE.operators(name):
            first = TABLE.operator(entry.full_name.replace(name, TABLE.first_name(name), 1))
            own = row_of(entry)
            if first is not None and own is not None and own.operator != name.removesuffix("_"):
                assert own is row_of(first), entry


def test_rows_know_arguments_of_their_operators() -> None:
    of_places = {"aten::where", "aten::repeat_interleave.Tensor"}
    idle = {
        entry.full_name
        for name in TABLE.names()
        for entry in TABLE.operators(name)
        if (row := row_of(entry)) is not None
        and not (row.is_constant or row.rewritten or bound_row(entry).keeps)
    }
    assert idle == of_places | {"aten::einsum.sublist"}  # which becomes the other overload
    vectors, tau = torch.eye(3).requires_grad_(), torch.ones(3, requires_grad=True)
    assert torch.orgqr(vectors, tau).requires_grad
