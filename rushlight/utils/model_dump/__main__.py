"""`python -m rushlight.utils.model_dump m.pt`."""

from __future__ import annotations

import sys

from . import main

main(sys.argv)
