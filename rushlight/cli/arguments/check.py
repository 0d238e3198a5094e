"""The arguments of `rushlight check`."""

from __future__ import annotations

import argparse

from ...frontend.diagnostics.render import FORMATS, MAXIMUM

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Run each file as a module (not as a program: `if __name__ == '__main__'` is skipped) "
        "in which `import torch` gives rushlight, compile what it scripts, and print all "
        "diagnostics. Of a folder the Python files that import torch are taken; without any, the "
        "`paths` of [tool.rushlight] in pyproject.toml, which may also name files to `exclude` and "
        "codes to `ignore`. Exit status 1 if there are errors."
    )
    parser.add_argument(
        "files", nargs="*", metavar="PATH", help="a Python file, a folder, or - for standard input"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="rich", help="default: rich")
    parser.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="the same as --format json",
    )
    parser.add_argument(
        "--max-errors",
        type=_count,
        default=MAXIMUM,
        metavar="N",
        help=f"print at most N diagnostics in the rich form (default: {MAXIMUM})",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="apply the edits that are sure to be right; a file is changed whole or not at all",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print the diagnostics and nothing else"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)
