"""The Kullback-Leibler divergence of two laws; the names are those of `torch.distributions.kl`."""

from ...module_names import names_of
from . import cross as _cross
from . import same_family as _same_family
from . import vectors as _vectors
from .registry import _KL_MEMOIZE, _KL_REGISTRY, _dispatch_kl, kl_divergence, register_kl
from .same_family import _exponential_families as _kl_expfamily_expfamily

__all__ = ["kl_divergence", "register_kl"]

_KEPT = (
    _cross,
    _same_family,
    _vectors,
    _KL_MEMOIZE,
    _KL_REGISTRY,
    _dispatch_kl,
    _kl_expfamily_expfamily,
)


__getattr__ = names_of(__name__)
