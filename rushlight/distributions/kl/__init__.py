"""The Kullback-Leibler divergence of two laws; the names are those of `torch.distributions.kl`."""

from ...module_names import names_of
from . import cross as _cross
from . import same_family as _same_family
from . import vectors as _vectors
from .registry import _KL_MEMOIZE, _KL_REGISTRY, _dispatch_kl, kl_divergence, register_kl

__all__ = ["kl_divergence", "register_kl"]

_KEPT = (_cross, _same_family, _vectors, _KL_MEMOIZE, _KL_REGISTRY, _dispatch_kl)


__getattr__ = names_of(__name__)
