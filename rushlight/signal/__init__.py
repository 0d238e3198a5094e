"""Signals; the names are those of `torch.signal`."""

from ..module_names import names_of
from . import windows as windows

__all__ = ["windows"]

__getattr__ = names_of(__name__)
