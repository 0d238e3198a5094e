"""Private names of torch's that packages call."""

from __future__ import annotations

import warnings
from importlib import import_module

import pytest

import rushlight as torch
from rushlight.distributed import ReduceOp, rpc
from rushlight.serialization import DEFAULT_PROTOCOL
from rushlight.utils.data._utils.pin_memory import pin_memory


def test_marks_for_the_compiler_are_taken() -> None:
    x = torch.ones(2)
    torch._dynamo.mark_static(x)
    torch._dynamo.mark_static(x, 0)
    torch._dynamo.mark_static_address(x)
    torch._dynamo.mark_static_address(x, guard=True)
    torch._dynamo.maybe_mark_dynamic(x, 0)


def test_kinds_of_reductions() -> None:
    assert ReduceOp.RedOpType.SUM is ReduceOp.SUM
    assert "RedOpType" not in ReduceOp.__members__


def test_functions_that_call_other_processes_can_be_defined() -> None:
    @rpc.api._require_initialized
    def ask() -> int:
        return 1

    with pytest.raises(RuntimeError, match="RPC has not been initialized"):
        ask()


def test_pinning_enters_containers() -> None:
    class Pins:
        def pin_memory(self) -> str:
            return "pinned"

    assert pin_memory({"a": [Pins(), 1], "b": "c"}) == {"a": ["pinned", 1], "b": "c"}
    assert DEFAULT_PROTOCOL == 2


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_combines_slices(reverse: bool) -> None:
    scan = import_module("rushlight._higher_order_ops.associative_scan").associative_scan
    x = torch.randn(3, 5, requires_grad=True)
    pair = scan(
        lambda a, b: {"s": a["s"] + b["s"], "p": a["p"] * b["p"]},
        {"s": x, "p": x},
        1,
        reverse=reverse,
        combine_mode="generic",
    )
    turned = x.flip(1) if reverse else x
    expected = turned.cumsum(1), turned.cumprod(1)
    for found, wanted in zip((pair["s"], pair["p"]), expected, strict=True):
        assert torch.allclose(found, wanted.flip(1) if reverse else wanted)
    with pytest.raises(ValueError, match="need to be on CUDA or XPU"):
        scan(lambda a, b: a, x, 1)


def test_what_packages_tell_about_loaded_names_and_arrays() -> None:
    keys = torch.nn.modules.module._IncompatibleKeys(["a"], [])
    assert isinstance(torch.nn.Linear(1, 1).load_state_dict({}, strict=False), type(keys))
    pattern = import_module("rushlight.utils.data._utils.collate").np_str_obj_array_pattern
    assert [bool(pattern.search(each)) for each in ("<U3", "|O", "<f4")] == [True, True, False]


def test_warnings_about_lines_of_the_library_can_be_ignored() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.jit.TracerWarning.ignore_lib_warnings()
        for module in ("rushlight.nn.layers", "rushlight.jit.trace", "mine"):
            warnings.warn_explicit("said", torch.jit.TracerWarning, module, 1, module)
    assert [warning.filename for warning in seen] == ["rushlight.jit.trace", "mine"]


def test_the_check_of_texts_has_a_second_name() -> None:
    assert torch._C.FileCheck is torch.testing.FileCheck
