"""`torch.ao.quantization`: observers, configurations, and models made to compute with them."""

from __future__ import annotations

from ...module_names import names_of
from . import (
    fake_quantize,
    fuser_method_mappings,
    observer,
    qconfig,
    qconfig_mapping,
    quantization_mappings,
    stubs,
)
from . import (
    fuse_modules as fusing,
)
from . import quantize as quantizing
from . import quantize_jit as quantizing_graphs
from .fake_quantize import *  # noqa: F403
from .fuse_modules import *  # noqa: F403
from .fuser_method_mappings import *  # noqa: F403
from .observer import *  # noqa: F403
from .qconfig import *  # noqa: F403
from .qconfig_mapping import *  # noqa: F403
from .quant_type import QuantType
from .quantization_mappings import *  # noqa: F403
from .quantize import *  # noqa: F403
from .quantize_jit import *  # noqa: F403
from .stubs import *  # noqa: F403

__all__ = ["QuantType"]
__all__ += fake_quantize.__all__
__all__ += fusing.__all__
__all__ += fuser_method_mappings.__all__
__all__ += observer.__all__
__all__ += qconfig.__all__
__all__ += qconfig_mapping.__all__
__all__ += quantization_mappings.__all__
__all__ += quantizing.__all__
__all__ += quantizing_graphs.__all__
__all__ += stubs.__all__

__getattr__ = names_of(__name__, "backend_config", "fx", "quantize_fx")
