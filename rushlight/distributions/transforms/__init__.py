"""Maps of values, their inverses and how they stretch space; the names are those of
`torch.distributions.transforms`.

Every transform says what it takes (`domain`) and gives (`codomain`), and, where it is `bijective`,
the logarithm of its Jacobian determinant.  With `cache_size=1` it remembers its last argument and
result, so that going back costs nothing and is exact.
"""

from ...module_names import names_of
from .arranged import CatTransform, ReshapeTransform, StackTransform
from .base import ComposeTransform, IndependentTransform, Transform, identity_transform
from .base import _InverseTransform as _InverseTransform
from .pointwise import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from .pointwise import _clipped_sigmoid as _clipped_sigmoid
from .vectors import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "Transform",
    "identity_transform",
]


__getattr__ = names_of(__name__)
