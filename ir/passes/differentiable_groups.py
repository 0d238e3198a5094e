"""The parts of a graph that PyTorch's executor differentiates itself, as nodes of their own.

    %2 = aten::mul(%x, %y)                  %4 = prim::DifferentiableGraph_0(%x, %y)
    %4 = aten::tanh(%2)             ->      with prim::DifferentiableGraph_0 = graph(%x, %y): ...

Gradients are recorded operator by operator here, with or without such groups: they show which
operators PyTorch has a derivative of for whole graphs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from ..aliases.alias_db import AliasDb
from ..graphs.constants import constant_value
from ..graphs.graph import Block, Graph, Node
from .groups import Group, find_groups, made_by, make_group, used_by

__all__ = ["differentiate_in_groups"]

_DIFFERENTIATED: Final = frozenset(
    f"aten::{name}"
    for name in """
    _autocast_to_full_precision _autocast_to_reduced_precision _dim_arange _grad_sum_to_size
    _slow_conv2d_forward abs acos adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
    add.Scalar add.Tensor addcmul addmm asin atan avg_pool2d batch_norm bmm cat ceil clamp
    clamp.Tensor contiguous cos cosh div.Scalar div.Scalar_mode div.Tensor div.Tensor_mode dot
    dropout embedding eq.Scalar erf erfc exp expand expm1 floor fmod.Scalar frac ge.Scalar gelu
    gt.Scalar hardshrink hardsigmoid hardswish hardtanh index.Tensor_hacked_twin layer_norm
    le.Scalar leaky_relu lerp.Scalar lerp.Tensor linear log log10 log1p log2 log_softmax.int
    logsumexp lt.Scalar matmul max.other max_pool2d max_pool2d_with_indices mean mean.dim min.other
    mm mul.Scalar mul.Tensor mv native_batch_norm ne.Scalar neg nll_loss nonzero permute pow.Scalar
    pow.Tensor_Scalar pow.Tensor_Tensor reciprocal relu relu6 remainder.Scalar reshape round rsqrt
    rsub.Scalar sigmoid silu sin sinh softmax.int softplus sqrt squeeze squeeze.dim stack std
    std.correction std.dim sub.Scalar sub.Tensor t tan tanh threshold to.prim_Device trunc type_as
    unsqueeze var var.correction var.dim view where.self
    """.split()
)
"""What PyTorch 2.13 has derivatives of for whole graphs."""

_NEED_CONSTANTS: Final = {"aten::expand": 1, "aten::reshape": 1, "aten::view": 1}
"""Those that it takes with known sizes alone, and which argument says them."""


def differentiate_in_groups(graph: Graph, fewest: int = 2) -> bool:
    """Put what PyTorch differentiates together into nodes of at least so many operators.

    The graph has no calls.
    """
    aliases = AliasDb(graph)
    changed = False
    for block in graph.all_blocks:
        changed = _group(block, fewest, aliases) or changed
    return changed


def _group(block: Block, fewest: int, aliases: AliasDb) -> bool:
    changed = False
    for group in find_groups(block, aliases, _is_member):
        kept = _without_shared(group, aliases)
        if len(kept) >= fewest:
            make_group("prim::DifferentiableGraph", kept)
            changed = True
    return changed


def _is_member(node: Node) -> bool:
    if node.signature is None or node.signature.full_name not in _DIFFERENTIATED:
        return False
    if node.kind == "aten::dropout" and constant_value(node.inputs[2]) is not True:
        return False
    sizes = _NEED_CONSTANTS.get(node.kind)
    return sizes is None or node.inputs[sizes].node.is_constant


def _without_shared(group: Group, aliases: AliasDb) -> Group:
    """A group without views that share memory with its operands or its other results, and without
    what is made of those; they stand behind it."""
    kept = group
    while (shared := _shared(kept, aliases)) is not None:
        out = {shared}
        for node in kept:
            if any(value.node in out for value in node.inputs):
                out.add(node)
        kept = [node for node in kept if node not in out]
        for before, node in pairwise(kept):
            node.move_after(before)
    return kept


def _shared(group: Group, aliases: AliasDb) -> Node | None:
    """A view whose memory is seen outside of a group in another way, too."""
    operands, results = used_by(group), made_by(group)
    for value in results:
        signature = value.node.signature
        if signature is not None and signature.returns[0].alias is not None:
            others = [*operands, *(other for other in results if other is not value)]
            if aliases.may_contain_alias([value], others):
                return value.node
    return None
