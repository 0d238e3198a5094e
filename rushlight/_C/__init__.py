"""Operators under the names that torch gives its compiled part."""

from . import _nn as _nn
