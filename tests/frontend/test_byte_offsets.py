"""Offsets in bytes and in characters."""

from __future__ import annotations

import gc
import time

from hypothesis import given
from hypothesis import strategies as st

from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.sources.byte_offsets import ByteOffsets
from rushlight.frontend.sources.source import Source, Span
from rushlight.frontend.syntax.from_text import function_trees


@given(st.text(st.sampled_from("aé→𝄞\n\udc80\udcff"), max_size=30))
def test_offsets_are_those_of_the_encoded_text(text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    offsets = ByteOffsets(text)
    for place in range(len(text) + 3):
        before = text[:place].encode("utf-8", "surrogateescape")
        assert offsets.to_byte(place) == len(before)
        if place <= len(text):
            assert offsets.to_character(len(before)) == place
    for byte in range(len(data)):
        character = offsets.to_character(byte)
        assert offsets.to_byte(character) <= byte < offsets.to_byte(character + 1)
    assert offsets.to_character(len(data) + 1) == len(text)


def test_columns_in_bytes() -> None:
    source = Source("x = 'é→'\ny = '𝄞' + z")
    at = source.text.index("z")
    assert (Span(source, at, at + 1).column, Span(source, at, at + 1).byte_column) == (10, 13)


def test_a_long_line_of_other_letters_is_read_as_fast_as_one_of_ascii() -> None:
    def seconds(letter: str) -> float:
        text = "def f():\n    return [" + f"'{letter}', " * 20_000 + "]\n"
        gc.disable()  # what earlier tests left takes long to go through
        began = time.process_time()
        (function,) = function_trees(text, Collector())
        taken = time.process_time() - began
        gc.enable()
        elements = function.body[0].value.elements  # type: ignore[union-attr]
        assert {each.span.text for each in elements} == {f"'{letter}'"}
        return taken

    assert seconds("é") < 8 * max(seconds("e"), 0.05)  # 50 times, were it a matter of squares
