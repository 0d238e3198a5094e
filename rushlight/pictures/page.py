"""The page: one HTML file that asks nothing of the network.

What comes from a file is data in a JSON script element, from which the page's own script makes text
nodes.  The page's policy allows that script and that style alone, by their digests, so that nothing
else could run even if markup got in.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Final

from .document import Document

__all__ = ["page_of"]

_SCRIPTS: Final = ("layout.js", "graph.js", "panels.js", "page.js")


def page_of(models: list[Document], changes: Mapping[str, object] | None = None) -> str:
    """The page of an archive, or of two with what differs between them."""
    folder = files(__package__) / "page"
    style = (folder / "page.css").read_text(encoding="utf-8")
    script = '"use strict";\n' + "\n".join(
        (folder / name).read_text(encoding="utf-8") for name in _SCRIPTS
    )
    policy = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}"
    return Template((folder / "page.html").read_text(encoding="utf-8")).substitute(
        policy=policy,
        title=html.escape(" and ".join(model["name"] for model in models)),
        style=style,
        script=script,
        data=_as_data({"models": models, "changes": changes}),
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _as_data(value: object) -> str:
    """JSON without the characters that end a script element or begin a comment in it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
