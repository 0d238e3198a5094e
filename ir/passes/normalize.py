"""Several operators that do the same become one.

    %2 = aten::multiply(%a, %b)        ->   %2 = aten::mul(%a, %b)
    %3 = aten::rsub(%a, %b, %alpha)    ->   %3 = aten::sub(%b, %a, %alpha)
    %4 = aten::__is__(%flag, %other)   ->   %4 = aten::eq(%flag, %other)     (both bool)

So that whoever reads graphs has fewer operators to know.
"""

from __future__ import annotations

from ...typecheck.schema import Signature
from ...typecheck.types import BOOL, NUMBER
from ..graph import Graph, Node
from .context import PassContext

__all__ = ["ALIASES", "normalize"]

_RENAMED = """
absolute=abs absolute_=abs_ adjoint=mH arccos=acos arccos_=acos_ arccosh=acosh arccosh_=acosh_
arcsin=asin arcsin_=asin_ arcsinh=asinh arcsinh_=asinh_ arctan=atan arctan_=atan_ arctan2=atan2
arctan2_=atan2_ arctanh=atanh arctanh_=atanh_ clip=clamp clip_=clamp_ concat=cat concatenate=cat
det=linalg_det divide=div divide_=div_ fix=trunc fix_=trunc_ ger=outer greater=gt greater_=gt_
greater_equal=ge greater_equal_=ge_ inverse=linalg_inv less=lt less_=lt_ less_equal=le
less_equal_=le_ linalg_matmul=matmul matrix_exp=linalg_matrix_exp
matrix_power=linalg_matrix_power moveaxis=movedim multiply=mul multiply_=mul_ negative=neg
negative_=neg_ not_equal=ne not_equal_=ne_ orgqr=linalg_householder_product row_stack=vstack
special_digamma=digamma special_erf=erf special_erfc=erfc special_erfinv=erfinv special_exp2=exp2
special_expit=sigmoid special_expm1=expm1 special_gammainc=igamma special_gammaincc=igammac
special_gammaln=lgamma special_i0=i0 special_log1p=log1p special_log_softmax=log_softmax
special_logit=logit special_logsumexp=logsumexp special_multigammaln=mvlgamma special_psi=digamma
special_round=round special_sinc=sinc special_softmax=softmax special_xlogy=xlogy subtract=sub
subtract_=sub_ swapaxes=transpose swapaxes_=transpose_ swapdims=transpose swapdims_=transpose_
true_divide=div true_divide_=div_
"""
ALIASES: dict[str, str] = {
    f"aten::{alias}": f"aten::{name}"
    for alias, _, name in (pair.partition("=") for pair in _RENAMED.split())
}
"""The name that stands for each alias."""


def normalize(graph: Graph, context: PassContext) -> bool:
    """Replace aliases, `rsub`, and `is` between bools."""
    changed = False
    for node in graph.all_nodes:
        kind = _wanted_kind(node)
        signature = None if kind is None else _counterpart(node, kind, context)
        if kind is None or signature is None:
            continue
        if node.kind == "aten::rsub":
            first, second = node.inputs[:2]
            node.set_input(0, second)
            node.set_input(1, first)
        node.kind, node.signature = kind, signature
        changed = True
    return changed


def _wanted_kind(node: Node) -> str | None:
    if node.kind in ("aten::__is__", "aten::__isnot__"):
        both_bool = all(value.type == BOOL for value in node.inputs)
        return ("aten::eq" if node.kind == "aten::__is__" else "aten::ne") if both_bool else None
    if node.kind == "aten::rsub":
        is_number = node.signature is None or node.signature.arguments[1].type == NUMBER
        return None if is_number else "aten::sub"
    return ALIASES.get(node.kind)


def _counterpart(node: Node, kind: str, context: PassContext) -> Signature | None:
    """The overload of `kind` that takes the arguments the node has; None if there is none."""
    if node.signature is None:
        return None
    wanted = [argument.type for argument in node.signature.arguments]
    if node.kind.startswith("aten::__is"):
        wanted = [BOOL, BOOL]
    if node.kind == "aten::rsub":
        return _overload(context, kind, "Tensor")
    for signature in context.table.overloads(kind):
        if [argument.type for argument in signature.arguments] == wanted:
            return signature
    return None


def _overload(context: PassContext, kind: str, overload: str) -> Signature | None:
    return next((s for s in context.table.overloads(kind) if s.overload == overload), None)
