"""`torch.fx.passes.dialect`: passes for graphs of operators of one kind."""

from ....module_names import names_of

__getattr__ = names_of(__name__)
