"""Counters of programs: `torch.jit._logging`, and operators that take no tensors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rushlight as torch


@pytest.fixture
def logger() -> Iterator[torch.LockingLogger]:
    made = torch.LockingLogger()
    before = torch.jit._logging.set_logger(made)
    yield made
    assert torch.jit._logging.set_logger(before) is made


def counted(x: torch.Tensor) -> torch.Tensor:
    begin = torch.jit._logging.time_point()
    for _ in range(x.size(0)):
        x = x + 1
        torch.jit._logging.add_stat_value("rounds", 1)
    torch.jit._logging.add_stat_value("time", torch.jit._logging.time_point() - begin)
    return x


def test_scripts_count_in_every_call(logger: torch.LockingLogger) -> None:
    scripted = torch.jit.script(counted)
    for _ in range(40):
        scripted(torch.rand(3))
    counted(torch.rand(5))
    assert logger.get_counter_val("rounds") == 125
    assert logger.get_counter_val("time") > 0
    assert logger.get_counter_val("other") == 0


def test_traces_keep_what_is_counted_and_loggers_can_give_means(
    logger: torch.LockingLogger,
) -> None:
    def traced(x: torch.Tensor) -> torch.Tensor:
        for value in (1, 2, 6):
            torch.jit._logging.add_stat_value("value", value)
        return x + 1

    made = torch.jit.trace(traced, torch.rand(2), check_trace=False)
    logger.set_aggregation_type("value", torch.AggregationType.AVG)
    made(torch.rand(2))
    assert logger.get_counter_val("value") == 3
    assert str(made.graph).count("prim::AddStatValue") == 3


def test_nothing_is_kept_without_a_logger() -> None:
    torch.jit._logging.add_stat_value("rounds", 1)
    with pytest.raises(RuntimeError, match="Expected a value of type 'str' for argument 'key'"):
        torch.jit._logging.add_stat_value(1, 1)


def test_packets_call_overloads_that_take_no_tensors() -> None:
    assert torch.ops.aten.len([1, 2]) == 2
    assert torch.ops.aten.add("a", "b") == "ab"
    with pytest.raises(RuntimeError, match="failed to match any schema"):
        torch.ops.aten.add("a", 1)
