"""The compiled operators of torchaudio: recursive filters, transducer loss, forced alignment."""

from . import alignment, filters, library, transducer

__all__ = ["alignment", "filters", "library", "transducer"]
