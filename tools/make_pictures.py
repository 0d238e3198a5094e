"""Draw the pictures of the README: `python tools/make_pictures.py [--check]`.

docs/images/error.svg is an error as a terminal shows it, docs/images/view.svg a graph as
`rushlight view --svg` draws it.  `--check` writes nothing and fails if they are out of date.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

import rushlight as torch
from rushlight.cli.checked_file import check_file
from rushlight.frontend.diagnostics.render import render_rich
from rushlight.pictures.document import describe
from rushlight.pictures.svg import svg_of
from rushlight.summary import inputs_without_data, without_data

FOLDER = ROOT / "docs" / "images"

MODEL: Final = """\
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(2, 3))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if input.sum() > 0:
            output = self.weight.mv(inpu)
        else:
            output = self.weight + input
        return output


torch.jit.script(Gate())
"""

_COLORS: Final = {
    "1": "#e6e9ef",
    "31": "#f07178",
    "32": "#a5d66f",
    "33": "#e6c06a",
    "34": "#7aa2f7",
}
_LETTER, _LINE, _EDGE = 7.83, 18, 16


def error_text() -> str:
    """The error of the model, with the colours of a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.py"
        file.write_text(MODEL, encoding="utf-8")
        found = check_file(str(file)).diagnostics
        text = render_rich(found, width=80, color=True)
        return re.sub(r"\S*model\.py", "model.py", text.replace(folder + "/", ""))


def terminal_svg(text: str) -> str:
    """A text with a terminal's colours as a picture."""
    lines = text.rstrip("\n").split("\n")
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    width = max(map(len, plain)) * _LETTER + 2 * _EDGE
    height = len(lines) * _LINE + 2 * _EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" '
        f'width="{width:g}" height="{height}">',
        "<title>An error of rushlight's</title>",
        f'<rect width="{width:g}" height="{height}" rx="8" fill="#161a22"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13" '
        'fill="#c3c9d5">',
    ]
    for number, line in enumerate(lines):
        y = _EDGE + 13 + number * _LINE
        parts.extend(_spans(line, y))
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _spans(line: str, y: int) -> list[str]:
    """The stretches of a line, each of one colour."""
    column, style, made = 0, "", []
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if piece.startswith("\x1b"):
            style = piece[2:-1]
            continue
        if piece.strip():
            codes = style.split(";")
            color = next((_COLORS[c] for c in reversed(codes) if c in _COLORS), "")
            marks = f' fill="{color}"' if color else ""
            marks += ' font-weight="bold"' if "1" in codes else ""
            blank = len(piece) - len(piece.lstrip())
            x = _EDGE + (column + blank) * _LETTER
            length = len(piece.strip()) * _LETTER
            size = f'textLength="{length:g}" lengthAdjust="spacingAndGlyphs"'
            words = escape(piece.strip()).replace(" ", chr(0xA0))
            made.append(f'<text x="{x:g}" y="{y}" {size}{marks}>{words}</text>')
        column += len(piece)
    return made


class Attention(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.query = torch.nn.Linear(size, size)
        self.key = torch.nn.Linear(size, size)

    def forward(self, x: torch.Tensor, causal: bool) -> torch.Tensor:
        weights = self.query(x) @ self.key(x).transpose(1, 2)
        if causal:
            weights = weights.tril()
        return weights.softmax(-1) @ x


def view_svg() -> str:
    """The graph of a small model."""
    module = torch.jit.script(Attention(64))._c
    sizes = inputs_without_data([[2, 10, 64]])
    bare = without_data(module)
    document, _ = describe(module, "attention", inputs=[*sizes, True], bare=bare, weights=False)
    return svg_of(document, "forward", 0)


def main() -> int:
    """Draw the pictures, or compare them."""
    pictures = {"error.svg": terminal_svg(error_text()), "view.svg": view_svg()}
    stale = []
    for name, text in pictures.items():
        file = FOLDER / name
        if "--check" not in sys.argv:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"out of date: {', '.join(stale)}; run tools/make_pictures.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
