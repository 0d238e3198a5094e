"""What the tests here share: `recorded` can be imported, and threads are counted as before."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rushlight.ops.kernels import threads

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def any_threads() -> Iterator[None]:
    """The number of threads may be set."""
    before = threads.get_threads()
    yield
    threads.set_threads(before)
