"""The arguments of `rushlight completions`."""

from __future__ import annotations

import argparse
from typing import Final

__all__ = ["SHELLS", "add"]

SHELLS: Final = ("bash", "zsh", "fish")


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        'Print a script for a shell. bash: put `eval "$(rushlight completions bash)"` into '
        "~/.bashrc; zsh: write it to a file called _rushlight in a folder of $fpath; fish: write "
        "it to ~/.config/fish/completions/rushlight.fish."
    )
    parser.add_argument("shell", choices=SHELLS)
