"""What the library loads is no longer looked through for garbage; all else is, as ever."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight.frontend.foundations import own_objects
from rushlight.frontend.foundations.own_objects import apart


class Cyclic:
    """An object that only those who look for garbage can free."""

    def __init__(self) -> None:
        self.itself = self
        self.parts: list[list[int]] = [[number] for number in range(100)]


def is_looked_through(made: object) -> bool:
    return any(each is made for each in gc.get_objects())


known = pytest.mark.skipif(not own_objects._is_known(), reason="objects are linked otherwise here")


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process where nothing else runs."""
    monkeypatch.setattr(own_objects, "_is_alone", lambda: True)
    assert gc.isenabled()


@known
def test_what_is_loaded_is_set_apart(looking: None) -> None:
    earlier = Cyclic()
    made = apart(lambda: [Cyclic() for _ in range(5)])
    later = apart(Cyclic)
    assert gc.isenabled()
    for one in (*made, later):
        assert gc.is_tracked(one)
        assert not is_looked_through(one)
    assert is_looked_through(earlier)
    gc.collect()
    assert [len(one.parts) for one in made] == [100] * 5
    ends = [weakref.ref(one) for one in (made[0], made[2], made[4], later, earlier)]
    for one in (made[0], made[2], made[4], later):
        one.itself = None  # type: ignore[assignment]
    del one, made[4], made[2], made[0], later, earlier
    gc.collect()
    assert [end() for end in ends] == [None] * 5  # those leave their list by themselves
    assert not is_looked_through(made[1])
    gc.freeze()
    gc.unfreeze()
    gc.collect()


@known
def test_what_is_garbage_at_the_end_is_freed(looking: None) -> None:
    ends = list[weakref.ref[Cyclic]]()
    apart(lambda: ends.extend(weakref.ref(Cyclic()) for _ in range(3)))
    assert [end() for end in ends] == [None] * 3


@known
def test_what_was_made_before_stays(looking: None) -> None:
    young = [Cyclic() for _ in range(300)]
    apart(lambda: None)
    assert all(map(is_looked_through, (young[0], young[-1], young)))


def looks(load: Callable[[], object]) -> Callable[[], object]:
    return lambda: (load(), gc.collect())[0]


@pytest.mark.parametrize("hindrance", ["thread", "unknown", "looked", "off"])
def test_where_it_cannot_be_sure_nothing_is_done(
    hindrance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load: Callable[[], object] = Cyclic
    if hindrance == "thread":
        monkeypatch.setattr(own_objects, "_is_alone", iter([True, False]).__next__)
    else:
        monkeypatch.setattr(own_objects, "_is_alone", lambda: True)
    if hindrance == "unknown":
        monkeypatch.setattr(own_objects, "_is_known", lambda: False)
    if hindrance == "looked":
        load = looks(load)
    if hindrance == "off":
        gc.disable()
    try:
        made = apart(load)
        assert gc.isenabled() is (hindrance != "off")
    finally:
        gc.enable()
    assert is_looked_through(made)


def test_other_threads_are_seen() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not own_objects._is_alone()
    finally:
        done.set()
        thread.join()


def test_a_load_that_fails_leaves_all_as_it_was(looking: None) -> None:
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)
    assert gc.isenabled()


PROGRAM = """
import gc, sys, weakref

class Cyclic:
    def __init__(self):
        self.itself = self

before = Cyclic()
before.file = open(sys.argv[1], "w")
before.file.write("written")
gone = Cyclic()
end = weakref.ref(gone)
{load}
count = len(gc.get_objects())
del gone
gc.collect()
assert end() is None
layer = torch.jit.script(torch.nn.Linear(2, 2))
assert layer(torch.ones(1, 2)).shape == (1, 2)
gc.collect()
print(count)
"""


@known
@pytest.mark.parametrize(
    "load",
    [
        "import rushlight as torch; torch.nn.Linear; torch.jit.script",
        "import rushlight.jit, rushlight.nn; import rushlight as torch",
        "from rushlight.nn import Linear; import rushlight as torch",
    ],
)
def test_a_program_that_loads_the_library(load: str, tmp_path: Path) -> None:
    file = tmp_path / "written.txt"
    command = [sys.executable, "-c", PROGRAM.format(load=load), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 30_000  # of some 90,000
    assert done.stderr == ""
    assert file.read_text(encoding="utf-8") == "written"  # which only a look for garbage does
