"""`torch.fx.passes.dialect.common`: passes for graphs of any operators."""

from .....module_names import names_of

__getattr__ = names_of(__name__)
