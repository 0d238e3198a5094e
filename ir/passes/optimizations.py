"""The passes that run when they are asked for, by the names that users know them by."""

from __future__ import annotations

from . import fewer_operators, fold_frozen
from .activations import write_activations, write_no_activations
from .batched_products import batch_products
from .common_subexpressions import merge_common
from .constant_pooling import pool_constants
from .constant_propagation import propagate_constants
from .context import Pass
from .dead_code import eliminate_dead_code
from .inline_tasks import inline_tasks
from .loop_unrolling import unroll_constant_loops, unroll_loops
from .lower_tuples import lower_all_tuples, lower_simple_tuples
from .mutable_constants import propagate_all_constants
from .mutation import remove_mutation, remove_tensor_mutation
from .outputs import canonicalize_outputs
from .refinement import refine_numbers
from .tensor_facts import erase_facts, erase_number_types
from .transposed_linear import transpose_linear
from .tuples import refine_tuple_types

__all__ = ["OPTIMIZATIONS"]

OPTIMIZATIONS: tuple[Pass, ...] = (
    Pass("batch_mm", batch_products, "where many small matrices are multiplied"),
    Pass("canonicalize_graph_fuser_ops", canonicalize_outputs, "before graphs are compared"),
    Pass("constant_loop_unrolling", unroll_constant_loops, "makes the rounds' numbers constants"),
    Pass("constant_pooling", pool_constants, "after passes that make constants"),
    Pass("constant_propagation", propagate_all_constants, "computes tensors and lists too"),
    Pass(
        "constant_propagation_immutable_types",
        propagate_constants,
        "where what a caller changes must not be a constant",
    ),
    Pass("cse", merge_common, "after inlining, which repeats computations"),
    Pass("dce", eliminate_dead_code, "after passes that make nodes superfluous"),
    Pass("dce_graph", eliminate_dead_code, "its other name"),
    Pass("decompose_ops", fewer_operators.decompose_addmm, "for those who know fewer operators"),
    Pass("erase_number_types", erase_number_types, "for formats that have only tensors"),
    Pass("erase_shape_information", erase_facts, "where other sizes will come"),
    Pass("fold_frozen_conv_add_or_sub", fold_frozen.fold_convolution_shift, "on frozen graphs"),
    Pass("fold_frozen_conv_bn", fold_frozen.fold_convolution_batch_norm, "on frozen graphs"),
    Pass("fold_frozen_conv_mul_or_div", fold_frozen.fold_convolution_scale, "on frozen graphs"),
    Pass("fold_frozen_linear_bn", fold_frozen.fold_linear_batch_norm, "on frozen graphs"),
    Pass("functional_to_inplace_activation", write_activations, "on frozen graphs"),
    Pass("fuse_add_relu", fewer_operators.fuse_add_relu, "for interpreters of small programs"),
    Pass("fuse_addmm", fewer_operators.fuse_addmm, "where sizes are known"),
    Pass("fuse_linear", fewer_operators.fuse_linear, "on traced graphs"),
    Pass("inplace_to_functional_activation", write_no_activations, "before pairs are merged"),
    Pass("inline_fork_wait", inline_tasks, "for formats without tasks"),
    Pass("integer_value_refinement", refine_numbers, "before constant propagation"),
    Pass("loop_unrolling", unroll_loops, "before passes that know no loops"),
    Pass("lower_all_tuples", lower_all_tuples, "for formats without tuples"),
    Pass("lower_simple_tuples", lower_simple_tuples, "after inlining"),
    Pass("refine_integer_values", refine_numbers, "its other name"),
    Pass("refine_tuple_types", refine_tuple_types, "where elements have become known"),
    Pass("remove_expands", fewer_operators.remove_expands, "on traced graphs"),
    Pass("remove_inplace_ops", remove_tensor_mutation, "for formats without changes in place"),
    Pass("remove_mutation", remove_mutation, "uncovers constants and equal computations"),
    Pass("transpose_frozen_linear", transpose_linear, "on frozen graphs"),
)
"""Each with when it is of use; none changes what a graph computes, rounding aside."""
