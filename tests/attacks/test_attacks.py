"""The attacks that are short, each in a process of its own; `tools/red_team.py` runs them all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import harness

EVERYTHING = harness.families()
SHORT = [
    (family.name, attack.name)
    for family in EVERYTHING.values()
    for attack in family.attacks.values()
    if not attack.long
]
SECURITY = Path(__file__).resolve().parents[2] / "docs" / "security.md"


@pytest.fixture(scope="module")
def zygote() -> Iterator[harness.Zygote]:
    started = harness.Zygote()
    yield started
    started.close()


@pytest.mark.skipif(sys.platform != "linux", reason="children get Linux's limits")
@pytest.mark.parametrize(("family", "name"), SHORT, ids=[f"{f}: {n}" for f, n in SHORT])
def test_the_promise_is_held(family: str, name: str, zygote: harness.Zygote) -> None:
    assert zygote.run(family, name) == "", EVERYTHING[family].promise


def test_there_are_a_thousand_attacks() -> None:
    assert sum(len(family.attacks) for family in EVERYTHING.values()) > 1000


@pytest.mark.parametrize("family", harness.FAMILIES)
def test_the_documents_promise_what_is_attacked(family: str) -> None:
    text = " ".join(SECURITY.read_text(encoding="utf-8").split())
    assert EVERYTHING[family].promise in text


def _crash() -> None:
    import ctypes

    ctypes.string_at(0)


def _hang() -> None:
    while True:
        pass


def _surprise() -> None:
    raise KeyError("surprise")


def _fill() -> None:
    print(len(bytearray(3 << 30)))


@pytest.mark.parametrize(
    ("action", "told", "seconds"),
    [
        (_crash, "SIGSEGV", 3.0),
        (_hang, "hangs", 0.3),
        (_surprise, "KeyError", 3.0),
        (_fill, "MemoryError", 3.0),
    ],
)
def test_broken_promises_are_seen(action: harness.Action, told: str, seconds: float) -> None:
    attack = harness.Attack("itself", action, seconds=seconds, megabytes=1024)
    assert told in harness.run_forked(attack)
