"""Tools for parameters, gradients and sequences."""

from __future__ import annotations

from . import rnn

__all__ = ["rnn"]
