"""The arguments of `rushlight view`."""

from __future__ import annotations

import argparse

from .options import add_archive, add_force, add_json, add_sizes, add_trust

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Write a page that shows an archive, and open it in a browser: the tree of modules with "
        "their sizes, the graph, the code, the weights as histograms. Of two archives it shows "
        "what differs. The page is one file and asks nothing of the network. With --input the "
        "model runs on tensors without data, which tells the sizes on the edges."
    )
    add_archive(parser)
    parser.add_argument("second", nargs="?", metavar="OTHER", help="an archive to compare with")
    add_sizes(parser)
    parser.add_argument("--method", default="forward", help="the method that runs or is drawn")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write; - is the terminal")
    parser.add_argument("--no-open", action="store_true", help="write the page and open nothing")
    parser.add_argument("--no-weights", action="store_true", help="read no weights: no histograms")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--svg", action="store_true", help="write the graph as SVG instead")
    forms.add_argument("--dot", action="store_true", help="write the graph for Graphviz instead")
    parser.add_argument(
        "--depth",
        type=int,
        metavar="N",
        help="for --svg and --dot: how deep calls are drawn open (all in a small graph, else none)",
    )
    add_json(parser)
    add_force(parser)
    add_trust(parser)
