"""`torch.ao.quantization`: observers, configurations, and models made to compute with them."""

from __future__ import annotations

from ...module_names import names_of
from . import fake_quantize, observer, qconfig, qconfig_mapping, stubs
from .fake_quantize import *  # noqa: F403
from .observer import *  # noqa: F403
from .qconfig import *  # noqa: F403
from .qconfig_mapping import *  # noqa: F403
from .quant_type import QuantType
from .stubs import *  # noqa: F403

__all__ = ["QuantType"]
__all__ += fake_quantize.__all__
__all__ += observer.__all__
__all__ += qconfig.__all__
__all__ += qconfig_mapping.__all__
__all__ += stubs.__all__

__getattr__ = names_of(__name__)
