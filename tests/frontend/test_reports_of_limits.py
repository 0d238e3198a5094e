"""What is told where a limit is reached."""

from __future__ import annotations

import pytest
from frontend_support import marked

from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.limits.bounds import report_exhausted


@pytest.mark.parametrize("error", [RecursionError(), MemoryError()])
def test_the_statement_is_named_if_there_is_one(error: BaseException) -> None:
    for at in (None, marked("x = y + 1", "y + 1")):
        collector = Collector(at=at)
        report_exhausted(error, collector, "function `f`")
        (found,) = collector.found
        assert (found.code, found.where) == ("limit-exceeded", "function `f`")
        assert found.torch_message == found.message
        if at is None:
            assert found.primary is None
        else:
            assert found.primary is not None
            assert found.primary.text == "being compiled here"
