"""The arguments of `rushlight profile`."""

from __future__ import annotations

import argparse
from math import isfinite

from .options import add_archive, add_force, add_json, add_method, add_trust

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Call a method of an archive many times with the same inputs, and print how long "
        "operators, lines and modules take, what runs each function (machine, plan or native "
        "code), and why nothing quicker does. Inputs are written as for `rushlight run`."
    )
    add_archive(parser)
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="the arguments, in order")
    add_method(parser)
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=0.5,
        metavar="N",
        help="how long to call it, and how long to time it (0.5); three calls there are at least",
    )
    parser.add_argument(
        "--no-grad", action="store_true", help="note nothing for gradients, as in `torch.no_grad()`"
    )
    add_json(parser)
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="also write a page with a flame graph, which needs no network",
    )
    add_force(parser)
    add_trust(parser)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (seconds > 0 and isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"not a positive number of seconds: {text}")
    return seconds
