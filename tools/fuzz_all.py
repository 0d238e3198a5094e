"""All families of programs that tools/fuzz_programs.py knows."""

from __future__ import annotations

import fuzz_families
from fuzz_choices import CHOICES
from fuzz_kinds import DTYPES, FORMS, FUNCTIONS
from fuzz_language import LANGUAGE, METHODS
from fuzz_modules import CLASSES, LAYERS
from fuzz_streams import STREAMS
from fuzz_views import GRADIENTS, VIEWS

__all__ = ["FAMILIES"]

FAMILIES = {
    **fuzz_families.FAMILIES,
    "views": VIEWS,
    "gradients": GRADIENTS,
    "layers": LAYERS,
    "classes": CLASSES,
    "dtypes": DTYPES,
    "functions": FUNCTIONS,
    "forms": FORMS,
    "language": LANGUAGE,
    "methods": METHODS,
    "choices": CHOICES,
    "streams": STREAMS,
}
