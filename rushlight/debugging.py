"""`rushlight.debug`: scripted code line by line, for debuggers, coverage and profilers."""

from __future__ import annotations

from .interpreter.running import tiers

__all__ = ["debug"]


def debug(on: bool = True) -> None:
    """Have scripted code run line by line from now on, or as always again.

    `pdb`, editors' debuggers, `sys.settrace`, `sys.monitoring`, coverage and `cProfile` then see
    its lines, its functions and, as locals, its variables; code of archives has files of its own.
    Results are the same; it takes many times as long.  `RUSHLIGHT_DEBUG=1` does so from the start.
    """
    tiers.debug(on)
