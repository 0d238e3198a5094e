"""The table of error codes, and what `rushlight explain` says of them."""

from __future__ import annotations

import re
import textwrap

from .code import Code
from .codes_names import NAMES
from .codes_run_time import RUN_TIME
from .codes_types import TYPES
from .near_miss import near_misses

__all__ = ["CODES", "Code", "explain", "find"]

CODES: dict[str, Code] = {code.slug: code for code in (*NAMES, *TYPES, *RUN_TIME)}
"""Every code a diagnostic may carry, by its slug."""

TORCH_SENTENCES: tuple[tuple[str, str], ...] = (
    (r"undefined value \S+|undefined value", "undefined-name"),
    (r"is not defined in the (true|false) branch", "possibly-undefined"),
    (r"has no attribute", "missing-attribute"),
    (r"Unknown type (name|constructor)|type comment|type annotation", "unknown-type"),
    (r"python value of type .* cannot be used as a value", "global-value"),
    (r"Can't get source for", "unresolved-source"),
    (r"aren't supported|is not supported|unsupported kind of", "unsupported-syntax"),
    (r"variable number of arguments|keyword-only arguments", "variadic-signature"),
    (r"Arguments for call are not valid", "argument-type"),
    (r"Expected a value of type .* for argument", "argument-type"),
    (r"(?i)expected at most \d+ argument", "too-many-arguments"),
    (r"missing value for argument|Argument \S+ not provided", "missing-argument"),
    (r"Unknown keyword argument|Keyword argument \S+ unknown", "unknown-keyword"),
    (r"Expected integer literal for index", "modulelist-index"),
    (r"List consists of heterogeneous types", "mixed-list"),
    (r"Dict values consist of heterogeneous types", "mixed-dict"),
    (r"[Cc]ould not export Python function", "not-scriptable"),
    (r"recursive(ly)?", "recursion"),
    (r"previously had type", "type-changed"),
    (r"Type mismatch: .* in the true branch", "branch-types-differ"),
    (r"Return value was annotated as", "return-type"),
    (r"does not return along all paths", "missing-return"),
    (r"is annotated with type", "annotation-conflict"),
    (r"shapes? cannot be multiplied|must match the size|is invalid for input", "shape-mismatch"),
    (r"Sizes of tensors must match|equal size|to have \d+ channels", "shape-mismatch"),
    (r"can't be cast to|to have the same dtype|expected scalar type", "dtype-mismatch"),
    (r"index out of range|Dimension out of range", "index-out-of-range"),
    (r"KeyError", "key-missing"),
    (r"Unwrapping null optional", "none-value"),
    (r"AssertionError", "assertion-failed"),
    (r"Boolean value of Tensor", "ambiguous-condition"),
    (r"division by (0|zero)|ZeroDivisionError", "division-by-zero"),
    (r"a leaf Variable that requires grad", "inplace-on-leaf"),
    (r"PytorchStreamReader|istream reader failed", "not-an-archive"),
)
"""Torch's sentences, tried in order, and the codes that stand for them here."""


def find(text: str) -> Code | None:
    """The code called `text`, or the one for a sentence of torch's."""
    found = CODES.get(text.strip())
    if found is not None:
        return found
    for pattern, slug in TORCH_SENTENCES:
        if re.search(pattern, text):
            return CODES[slug]
    return None


def explain(text: str) -> str:
    """The page of a code, which may also be found by torch's sentence.

    Raises:
        KeyError: there is no such code; the message names near ones.
    """
    code = find(text)
    if code is None:
        close = near_misses(text, CODES)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise KeyError(f"no error code {text!r}{hint}")
    return (
        f"{code.slug}: {code.line}\n\n{textwrap.fill(code.why, 90)}\n\n"
        f"This has the error:\n\n{_example(code.bad)}\nThis does not:\n\n{_example(code.good)}"
    )


def _example(text: str) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n") + "\n", "    ")
