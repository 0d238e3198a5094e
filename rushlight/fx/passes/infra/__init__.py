"""`torch.fx.passes.infra`: what passes are, and running several."""

from ....module_names import names_of

__getattr__ = names_of(__name__, "pass_base", "pass_manager")
