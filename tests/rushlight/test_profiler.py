"""`rushlight.profiler`: which operators ran, how often and for how long."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.autograd import profiler as older
from rushlight.profiler import (
    ProfilerAction,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)


def _work(x: Tensor) -> Tensor:
    return torch.mm(x, x).relu() + torch.mm(x, x)


@pytest.mark.parametrize("times", [1, 300], ids=["at first", "known"])
@pytest.mark.parametrize("way", ["eager", "scripted", "gradients"])
def test_operators_are_counted_and_timed(way: str, times: int) -> None:
    call = torch.jit.script(_work) if way == "scripted" else _work
    x = torch.rand(4, 4, requires_grad=way == "gradients")
    for _ in range(times):
        call(x)
    with profile(record_shapes=True, profile_memory=True) as p, record_function("three times"):
        for _ in range(3):
            call(x)
    found = {event.key: event for event in p.key_averages()}
    assert {key: event.count for key, event in found.items()} == {
        "three times": 1, "aten::mm": 6, "aten::relu": 3, "aten::add": 3,
    }  # fmt: skip
    label = found["three times"]
    inside = sum(e.cpu_time_total for key, e in found.items() if key != "three times")
    assert 0 < inside < label.cpu_time_total
    assert label.self_cpu_time_total == pytest.approx(label.cpu_time_total - inside)
    assert found["aten::mm"].cpu_memory_usage == 6 * 64
    first = next(e for e in p.events() if e.name == "aten::mm")
    assert first.input_shapes == [[4, 4], [4, 4]]
    assert first.cpu_parent.name == "three times"


def test_tables_have_torchs_columns() -> None:
    x = torch.rand(4, 4)
    with profile() as p:
        _work(x)
    text = p.key_averages().table(sort_by="count", row_limit=2)
    rule, heads, _, first, _, _, total, _ = text.split("\n")
    assert heads.split("  ")[-2].strip() == "# of Calls"
    assert rule.startswith("-" * len("aten::relu    "))
    assert first.split()[0] == "aten::mm"
    assert first.split()[-1] == "2"
    assert total.startswith("Self CPU time total: ")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        p.key_averages().table(sort_by="nothing")
    assert p.key_averages().total_average().count == 4


def test_traces_are_written(tmp_path: Path) -> None:
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path)), with_stack=True) as p:
        _work(torch.rand(400, 400))
    (file,) = tmp_path.iterdir()
    events = json.loads(file.read_text())["traceEvents"]
    names = [event["name"].removeprefix("aten::") for event in events]
    assert names == ["rand", "mm", "relu", "mm", "add"]
    assert all(event["dur"] >= 0 and event["ph"] == "X" for event in events)
    assert "_work" in p.events()[1].stack[0]
    p.export_stacks(tmp_path / "stacks")
    assert any("_work" in line for line in (tmp_path / "stacks").read_text().splitlines())


def test_schedules() -> None:
    what = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    names = [what(step).name for step in range(7)]
    assert names == ["NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE"]
    assert what(4) is ProfilerAction.RECORD_AND_SAVE
    ready: list[int] = []
    x = torch.ones(2)
    with profile(schedule=what, on_trace_ready=lambda p: ready.append(p.step_num)) as p:
        for _ in range(8):
            x = x + 1
            p.step()
    assert ready == [5]
    assert [(e.key, e.count) for e in p.key_averages()] == [("ProfilerStep*", 2), ("aten::add", 2)]
    with pytest.raises(AssertionError, match=r"active=0 \(need > 0\)"):
        schedule(wait=0, warmup=0, active=0)


def test_the_older_face_and_nothing_when_off() -> None:
    def heard(*event: object) -> None:
        pass

    sys.setprofile(heard)
    try:
        with older.profile() as p:
            torch.ones(2) * 2
        assert sys.getprofile() is heard
    finally:
        sys.setprofile(None)
    assert "aten::mul" in {event.name for event in p.function_events}
    assert "aten::mul" in str(p)
    with older.profile(enabled=False) as nothing:
        assert nothing is None
    with pytest.raises(AssertionError, match="must be initialized"):
        profile().key_averages()
    with record_function("unheard"):
        pass
    assert sys.getprofile() is None


def test_calls_that_are_done_natively_are_heard() -> None:
    x = torch.ones(20000)
    for _ in range(80):
        torch.exp(x)
    with torch.profiler.profile() as found:
        torch.exp(x)
        torch.exp(torch.ones(3))
    counts = {each.key: each.count for each in found.key_averages()}
    assert counts["aten::exp"] == 2


class Labelled(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        for _ in range(n):
            with torch.profiler.record_function("step"):
                x = x + 1
        return x


def labels_in(module: Any, *arguments: Any) -> int:
    with torch.profiler.profile() as profile:
        module(*arguments)
    return sum(event.name == "step" for event in profile.events())


def test_labels_in_scripts_are_recorded() -> None:
    scripted = torch.jit.script(Labelled())
    assert "CallMethod" in str(scripted.graph)
    sink = io.BytesIO()
    torch.jit.save(scripted, sink)
    for trust in ("full", "none"):
        sink.seek(0)
        loaded = torch.jit.load(sink, trust=trust)
        assert loaded(torch.ones(2), 2).tolist() == [3.0, 3.0]
        assert labels_in(loaded, torch.ones(2), 3) == 3
    for _ in range(60):  # also once it is quick
        assert scripted(torch.ones(2), 2).tolist() == [3.0, 3.0]
    assert labels_in(scripted, torch.ones(2), 2) == 2


def test_labels_of_older_archives_are_numbers() -> None:
    def steps(x: torch.Tensor) -> torch.Tensor:
        handle = torch.ops.profiler._record_function_enter("step")
        y = x * 2
        torch.ops.profiler._record_function_exit(handle)
        return y

    scripted = torch.jit.script(steps)
    assert "Tensor = profiler::_record_function_enter(" in str(scripted.graph)
    assert labels_in(scripted, torch.ones(1)) == 1
    assert scripted(torch.ones(1)).tolist() == [2.0]


def test_a_label_that_is_open_cannot_be_saved() -> None:
    def begun():  # type: ignore[no-untyped-def]
        return torch.ops.profiler._record_function_enter_new("step", None)

    class Holder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.label = torch.jit.script(begun)()

        def forward(self) -> int:
            return 1

    scripted = torch.jit.script(Holder())
    with pytest.raises(RuntimeError, match="cannot be saved"):
        torch.jit.save(scripted, io.BytesIO())


def test_the_older_profiler_counts_by_shapes_and_has_its_classes() -> None:
    with older.profile(record_shapes=True) as p:
        torch.rand(2, 2).neg()
        torch.rand(3).neg()
    found = p.key_averages(group_by_input_shape=True)
    assert sorted(event.key for event in found).count("aten::neg") == 2
    util = torch.autograd.profiler_util
    assert util.FunctionEventAvg is older.FunctionEventAvg
    assert all(isinstance(event, util.FunctionEventAvg) for event in found)
    assert torch.autograd.kineto_available() is older.kineto_available()


def test_what_the_first_calls_of_a_process_learn_is_no_call() -> None:
    program = (
        "import rushlight as torch\n"
        "from rushlight.profiler import profile\n"
        "x = torch.rand(300, 300)\n"
        "with profile() as p:\n"
        "    for _ in range(3): (x @ x).relu()\n"
        "print(*sorted((e.key, e.count) for e in p.key_averages()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, env={**os.environ, "RUSHLIGHT_PLAN": "now"},
    )  # fmt: skip
    assert done.stdout == "('aten::matmul', 3) ('aten::relu', 3)\n", done.stderr
