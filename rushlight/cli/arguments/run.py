"""The arguments of `rushlight run`."""

from __future__ import annotations

import argparse

from .options import add_archive, add_force, add_json, add_method, add_trust

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Call a method of an archive and print what it returns. An input is a Python literal "
        "(nested lists become tensors where the method takes one), an .npy file, an .npz file "
        "(arrays by parameter name, or arr_0, arr_1 ... in order), FILE.npz:NAME, or "
        "NAME=INPUT. Write -- before inputs that begin with a minus sign."
    )
    add_archive(parser)
    add_method(parser)
    parser.add_argument("--output", metavar="FILE.npz", help="also write the tensors there")
    parser.add_argument(
        "--each",
        action="store_true",
        help="call the method once for every INPUT; a terminal shows how far it is",
    )
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="the arguments, in order")
    add_json(parser)
    add_force(parser)
    add_trust(parser)
