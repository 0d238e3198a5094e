"""The arguments of `rushlight convert`."""

from __future__ import annotations

import argparse
from typing import Final

from .options import add_force, add_json, add_sizes, add_trust

__all__ = ["SUFFIXES", "add"]

SUFFIXES: Final = (".ptl", ".ff", ".pt", ".npz", ".safetensors", ".py", ".onnx")
"""The forms an archive is written in."""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Write an archive in the form the name of the target asks for: .ptl for the lite "
        "interpreter, .ff for the same in a flatbuffer, .pt for an ordinary archive, .npz for "
        "the weights as NumPy arrays, .safetensors for the weights with the model as Python "
        "source beside them, .py for that source alone, .onnx for an ONNX file. The source is "
        "a module whose `load` makes the model. An ONNX file needs the sizes of the inputs. "
        "Several archives, or a folder of them, go into a folder, in the form that --to names."
    )
    parser.add_argument("sources", nargs="+", metavar="ARCHIVE", help="an archive, or a folder")
    parser.add_argument("target", metavar="TARGET", help="the file to write, or a folder")
    parser.add_argument(
        "--to", choices=SUFFIXES, metavar="SUFFIX", help="the form of what goes into a folder"
    )
    add_sizes(parser, "for .onnx: ", named=True)
    parser.add_argument(
        "--opset", type=int, metavar="N", help="for .onnx: the version of operators"
    )
    add_json(parser)
    add_force(parser)
    add_trust(parser)
