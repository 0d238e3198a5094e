"""Profiles of scripted code: operators, lines, modules, and which tier runs each function.

    from rushlight.profiling import profile
    found = profile(model, (x,))
    print(found)
    Path("profile.html").write_text(found.html())

While no profile is taken, nothing of this is even loaded.
"""

from __future__ import annotations

from .profile import Profile, profile
from .times import Frame, Total

__all__ = ["Frame", "Profile", "Total", "profile"]
