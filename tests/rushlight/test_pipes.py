"""Data sets made of data sets, as packages derive them from torch's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from rushlight.utils.data import DataLoader, IterDataPipe, MapDataPipe, functional_datapipe


class Numbers(IterDataPipe):
    def __iter__(self) -> Iterator[int]:
        return iter(range(3))


class Times(IterDataPipe):
    def __init__(self, source: IterDataPipe, factor: int = 2) -> None:
        self.source, self.factor = source, factor

    def __iter__(self) -> Iterator[int]:
        return (each * self.factor for each in self.source)


@pytest.fixture
def times() -> Iterator[None]:
    functional_datapipe("times")(Times)
    yield
    del IterDataPipe.functions["times"]


@pytest.mark.usefixtures("times")
def test_a_decorated_class_is_a_method_of_every_pipe() -> None:
    assert list(Numbers().times()) == [0, 2, 4]
    assert list(Numbers().times(factor=5).times()) == [0, 10, 20]
    assert list(DataLoader(Numbers().times(), batch_size=None)) == [0, 2, 4]
    assert "times" not in MapDataPipe.functions


@pytest.mark.usefixtures("times")
def test_a_name_is_taken_once() -> None:
    with pytest.raises(Exception, match="Unable to add DataPipe function name times as it is alr"):
        functional_datapipe("times")(Numbers)


def test_other_classes_are_left_as_they_are() -> None:
    class Other:
        pass

    assert functional_datapipe("other")(Other) is Other
    with pytest.raises(AttributeError, match="'Numbers' object has no attribute 'other'"):
        Numbers().other()


def test_kinds_of_pipes_are_loaded_when_a_pipe_is_used() -> None:
    code = """
import sys
from rushlight.utils.data import DataLoader, IterDataPipe

def loaded():
    return [n for n in ("iter", "map") if f"rushlight.utils.data.datapipes.{n}" in sys.modules]

assert [batch.tolist() for batch in DataLoader([1, 2], batch_size=2)] == [[1, 2]]
print(loaded())
try:
    IterDataPipe.register_datapipe_as_function("batch", IterDataPipe)
except Exception as error:
    print(error, loaded())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = "Unable to add DataPipe function name batch as it is already taken"
    assert done.stdout.splitlines() == ["[]", f"{told} ['iter']"]
