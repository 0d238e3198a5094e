"""The layers, under the module names that archives know them by (`torch.nn.modules.linear`)."""

from __future__ import annotations

from ...module_names import names_of
from . import (
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy_layers,
    linear,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
from . import utils as utils

_PARTS = (
    *(activation, adaptive, batchnorm, channelshuffle, container, conv, distance, dropout),
    *(flatten, fold, instancenorm, lazy_layers, linear, loss, module, normalization, padding),
    *(pixelshuffle, pooling, rnn, sparse, transformer, upsampling),
)
globals().update({name: vars(part)[name] for part in _PARTS for name in part.__all__})
__all__ = [name for part in _PARTS for name in part.__all__]

__getattr__ = names_of(__name__, "linear_cross_entropy_options")
