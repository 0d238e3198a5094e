"""Modules of torch about models and machines: some work, some say what is missing."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.utils import benchmark, collect_env
from rushlight.utils.module_tracker import ModuleTracker


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("export", "export"),
        ("export", "ExportedProgram"),
        ("onnx", "InputObserver"),
        ("ao.nn.sparse.quantized", "Linear"),
    ],
)
def test_what_is_missing_says_so_when_it_is_used(module: str, name: str) -> None:
    found = getattr(import_module(f"rushlight.{module}"), name)
    with pytest.raises(NotImplementedError, match=rf"torch\..*\b{name}: .*rushlight"):
        found()
    if isinstance(found, type):
        assert not isinstance(1, type("Own", (found,), {}))
    assert torch.onnx.is_in_onnx_export() is False


def test_the_modules_at_work_are_known() -> None:
    seen: list[set[str]] = []

    class Inner(nn.Module):
        def forward(self, x: Any) -> Any:
            seen.append(set(tracker.parents))
            return x * 2

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x: Any) -> Any:
            return self.inner(x)

    with ModuleTracker() as tracker:
        Outer()(torch.ones(2))
    assert seen == [{"Global", "Outer", "Outer.inner"}]
    assert tracker.parents == {"Global"}


def test_modules_at_work_are_forgotten_when_the_gradients_are_there() -> None:
    seen: list[bool] = []
    layer = nn.Linear(2, 2)
    with ModuleTracker() as tracker:
        for _ in range(2):
            result = layer(torch.ones(2, requires_grad=True))
            result.register_hook(lambda _: seen.append(tracker.is_bw))
            assert not tracker.is_bw
            result.sum().backward()
            assert tracker.parents == {"Global"}
    assert seen == [True, True]


def test_statements_are_measured_and_compared() -> None:
    options: dict[str, Any] = {"globals": {"x": 1}, "label": "sums"}
    one = benchmark.Timer("x + 1", sub_label="small", description="old", **options).timeit(10)
    two = benchmark.Timer("x + 2", sub_label="large", description="new", **options)
    three = two.blocked_autorange(min_run_time=0.001)
    assert one.number_per_run == 10
    assert re.fullmatch(
        r"<.*Measurement object at 0x\w+>\nsums: small\nold\n  [\d.]+ ns\n"
        r"  1 measurement, 10 runs , 1 thread",
        repr(one),
    )
    assert three.median == sorted(three.times)[len(three.times) // 2] or len(three.times) % 2 == 0
    lines = str(benchmark.Compare([one, three])).splitlines()
    assert lines[0].strip("[-] ") == "sums"
    assert re.sub("[ -]+", " ", lines[2]).strip() == "1 threads:"
    assert [line.split()[0] for line in lines[3:5]] == ["small", "large"]
    assert lines[-1] == "Times are in nanoseconds (ns)."
    with pytest.raises(NotImplementedError, match="only Python is measured"):
        benchmark.Timer(language="c++")


def test_numbers_keep_the_digits_that_count() -> None:
    assert benchmark.trim_sigfig(12345.0, 2) == 12000.0
    assert benchmark.select_unit(3e-5) == ("us", 1e-6)
    assert benchmark.unit_to_english("ms") == "milliseconds"


def test_the_machine_is_described() -> None:
    told = collect_env.get_pretty_env_info()
    assert "Is CUDA available: False\n" in told
    assert "\n[pip3] lark==" in told
    known = collect_env.get_env_info()
    assert known.python_platform == collect_env.get_python_platform()
    assert len(known) == 26


def test_the_report_reads_what_commands_say() -> None:
    def fake(command: object) -> tuple[int, str, str]:
        said = {
            "gcc --version": "gcc (Debian 12.2.0-14) 12.2.0\nCopyright",
            "clang --version": "Debian clang version 14.0.6",
            "nvidia-smi": "| NVIDIA-SMI 550 Driver Version: 550.54 CUDA |",
            "nvidia-smi -L": "GPU 0: Tesla T4 (UUID: GPU-1-2)",
            "nvcc --version": "Cuda compilation tools, release 12.4, V12.4.131",
        }
        found = said.get(str(command))
        return (1, "", "no") if found is None else (0, found, "")

    assert collect_env.get_gcc_version(fake) == "(Debian 12.2.0-14) 12.2.0"
    assert collect_env.get_clang_version(fake) == "14.0.6"
    assert collect_env.get_cmake_version(fake) is None
    assert collect_env.get_nvidia_driver_version(fake) == "550.54"
    assert collect_env.get_gpu_info(fake) == "GPU 0: Tesla T4"
    assert collect_env.get_running_cuda_version(fake) == "12.4.131"
    assert (
        collect_env.run_and_return_first_line(fake, "gcc --version")
        == "gcc (Debian 12.2.0-14) 12.2.0"
    )
    assert collect_env.get_pip_packages(fake, {"ml_dtypes"})[1].startswith("ml_dtypes==")  # type: ignore[union-attr]
    assert collect_env.run("no-such-command-here")[0] != 0


def test_the_report_waits_for_no_input_where_the_system_has_no_file_of_its_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unasked(command: object) -> tuple[int, str, str]:
        raise AssertionError(command)

    monkeypatch.setattr(collect_env.os.path, "exists", lambda path: False)
    assert collect_env.check_release_file(unasked) is None


def test_annotations_have_the_old_names_of_typing() -> None:
    annotations = import_module("rushlight.jit.annotations")
    assert annotations.List[int].__origin__ is list
    with pytest.raises(AttributeError, match=r"no attribute 'Lists'"):
        annotations.Lists  # noqa: B018
