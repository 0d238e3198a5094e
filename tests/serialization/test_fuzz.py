"""A short run of the fuzzer, in this process; the long one is `tools/fuzz_archives.py`."""

from __future__ import annotations

import importlib.util
import io
import os
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "fuzz_archives.py"


@pytest.fixture(scope="module")
def fuzz() -> Any:
    spec = importlib.util.spec_from_file_location("fuzz_archives", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_archives"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sources(fuzz: Any) -> Any:
    return fuzz.originals()


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_mutations_end_in_documented_errors(fuzz: Any, sources: Any, start: int) -> None:
    broken = {}
    for number in range(start, start + 50):
        told = fuzz.try_one(fuzz.mutated(number, sources))
        if told:
            broken[number] = told
    assert not broken


def test_mutations_are_the_same_every_time(fuzz: Any, sources: Any) -> None:
    assert fuzz.mutated(7, sources) == fuzz.mutated(7, sources)


def test_what_cannot_be_read_is_mutated_all_the_same(fuzz: Any) -> None:
    """An entry that says it lies beyond what a file can hold."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        file.writestr("a/data.pkl", b"\x80\x02N.")
    data = bytearray(sink.getvalue())
    entry = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    far = struct.pack("<HHQ", 1, 8, 2**63)
    data[entry + 42 : entry + 46] = b"\xff" * 4
    data[entry + 30 : entry + 32] = struct.pack("<H", len(far))
    data[end + 12 : end + 16] = struct.pack("<I", end - entry + len(far))
    data[end:end] = far
    with pytest.raises(OverflowError):
        fuzz._entries(bytes(data))
    for number in range(20):
        assert isinstance(fuzz.mutated(number, [bytes(data)]), bytes)


def test_graph_texts_are_parsed(fuzz: Any, sources: Any) -> None:
    texts = [source for source in sources if source.startswith(fuzz.GRAPH)]
    assert len(texts) == 3
    for text in texts:
        assert fuzz.try_one(text) == ""
    broken = {n: fuzz.try_one(fuzz.mutated(n, texts)) for n in range(150)}
    assert not {n: told for n, told in broken.items() if told}


def test_broken_rules_are_seen(fuzz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def use(data: bytes, limits: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr(fuzz, "_look", use)
    assert "surprise" in fuzz.try_one(b"")


@pytest.mark.parametrize("kind", ["pickles", "flatbuffers", "graphs", "archives"])
def test_kinds_of_files_are_mutated_by_themselves(fuzz: Any, kind: str) -> None:
    found = fuzz.sources(kind)
    assert found
    assert {fuzz.kind_of(data) for data in found} == {kind}
    assert all(fuzz.try_one(fuzz.mutated(number, found)) == "" for number in range(25))


def test_batches_name_what_breaks_stops_or_ends_their_process(fuzz: Any) -> None:
    def trials() -> Callable[[int], str]:
        def attempt(number: int) -> str:
            if number == 3:
                os._exit(7)
            while number == 5:
                pass
            return "broken" if number in (2, 8) else ""

        return attempt

    batches = fuzz.Batches(trials, 0.2)
    try:
        assert list(batches.run(0, 5)) == [(2, "broken"), (3, "the process ended (status 7)")]
        assert list(batches.run(5, 8)) == [(5, "it ran for more than 0.2 seconds")]
        assert list(batches.run(8, 10)) == [(8, "broken")]
    finally:
        batches.stop()
