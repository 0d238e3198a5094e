"""The arguments of `rushlight summary`."""

from __future__ import annotations

import argparse

from .options import add_json, add_sizes, add_trust

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Print a table of the layers of an archive, or of the tensors in a file of weights. "
        "With --input the model runs on tensors without data, so that nothing is computed and "
        "no weight is read: that tells output shapes and multiply-adds."
    )
    parser.add_argument(
        "archives",
        nargs="+",
        metavar="ARCHIVE",
        help="a TorchScript archive, a file of weights, or a folder of them",
    )
    add_sizes(parser)
    parser.add_argument(
        "--values",
        action="store_true",
        help="read the weights and compute, on ones: for models that decide by values",
    )
    parser.add_argument("--depth", type=int, metavar="N", help="show layers down to this depth")
    add_json(parser)
    add_trust(parser)
