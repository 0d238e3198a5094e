"""Divergences of normal vectors, with full covariances or such of low rank.

KL = (tr(S_q^-1 S_p) + m^T S_q^-1 m - n + log |S_q| - log |S_p|) / 2, m the difference of means.
"""

from __future__ import annotations

from ...ops.gradients.table.rows import aten
from ...ops.tensors.tensor import Tensor
from ..covariances import half_log_det, squared_length
from ..lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from ..multivariate_normal import MultivariateNormal
from .registry import register_kl

Full = MultivariateNormal
LowRank = LowRankMultivariateNormal


def _log_det(law: Full | LowRank) -> Tensor:
    if isinstance(law, LowRank):
        return _batch_lowrank_logdet(*law._parts)
    return 2 * half_log_det(law._unbroadcasted_scale_tril)


def _distance(law: Full | LowRank, off: Tensor) -> Tensor:
    """m^T S^-1 m."""
    if isinstance(law, LowRank):
        W, D, tril = law._parts
        return _batch_lowrank_mahalanobis(W, D, off, tril)
    return squared_length(law._unbroadcasted_scale_tril, off)


def _roots(law: Full | LowRank) -> list[Tensor]:
    """Matrices A, B ... with S = A A^T + B B^T + ..."""
    if isinstance(law, LowRank):
        W, D, _ = law._parts
        return [W, D.sqrt().diag_embed()]
    return [law._unbroadcasted_scale_tril]


def _trace(q: Full | LowRank, root: Tensor) -> Tensor:
    """tr(S_q^-1 A A^T), the squares of A's columns seen by q added up."""
    if isinstance(q, LowRank):
        W, D, tril = q._parts
        outer = (root.pow(2) / D.unsqueeze(-1)).sum((-2, -1))
        inside = aten.linalg_solve_triangular(tril, (W.mT / D.unsqueeze(-2)) @ root, upper=False)
        return outer - inside.pow(2).sum((-2, -1))
    solved = aten.linalg_solve_triangular(q._unbroadcasted_scale_tril, root, upper=False)
    return solved.pow(2).sum((-2, -1))


def _register(kind_p: type, kind_q: type) -> None:
    @register_kl(kind_p, kind_q)
    def _normal_vectors(p: Full | LowRank, q: Full | LowRank) -> Tensor:
        if p.event_shape != q.event_shape:
            raise ValueError(_refusal(kind_p, kind_q))
        spread = _log_det(q) - _log_det(p)
        traces = sum((_trace(q, root) for root in _roots(p)[1:]), _trace(q, _roots(p)[0]))
        inside = traces + _distance(q, q.loc - p.loc) - p.event_shape[0]
        return 0.5 * (spread + inside)


def _refusal(kind_p: type, kind_q: type) -> str:
    low = {(LowRank, LowRank): "Low Rank ", (Full, Full): ""}.get((kind_p, kind_q), "(Low Rank) ")
    return (
        f"KL-divergence between two {low}Multivariate Normals with "
        "                         different event shapes cannot be computed"
    )


for _p in (Full, LowRank):
    for _q in (Full, LowRank):
        _register(_p, _q)
