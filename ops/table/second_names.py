"""Operators that go by a second name, and the name that stands for it."""

from __future__ import annotations

from typing import Final

__all__ = ["SECOND_NAMES"]

_PAIRS: Final = """
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
SECOND_NAMES: Final[dict[str, str]] = {
    f"aten::{second}": f"aten::{name}"
    for second, _, name in (pair.partition("=") for pair in _PAIRS.split())
}
"""By the second name, `aten::absolute`, the one that stands for it."""
