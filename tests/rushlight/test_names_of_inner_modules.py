"""What `torch._C` has of torch's own names, and what it refuses by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rushlight as torch


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("_jit_pass_fuse_tensorexprs", "torch.jit.freeze"),
        ("_jit_pass_insert_observers", "torch.ao.quantization.quantize_jit"),
        ("_jit_pass_onnx", "torch.onnx.export"),
        ("_jit_pass_vulkan_optimize_for_mobile", "optimize_for_mobile"),
        ("_jit_try_infer_type", "torch.jit"),
    ],
)
def test_passes_that_are_not_here_say_what_to_use(name: str, said: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"torch\._C\.{name}: .*{said}"):
        getattr(torch._C, name)()


def test_what_both_have_is_one_thing() -> None:
    for name in ("Size", "default_generator", "is_grad_enabled", "get_num_threads", "AVG"):
        assert getattr(torch._C, name) is getattr(torch, name)
    with torch.no_grad():
        assert not torch._C.is_grad_enabled()
    assert torch._C._jit_has_cpp_tests() is False
    with pytest.raises(AttributeError, match="_no_such_name"):
        torch._C._no_such_name  # noqa: B018


def test_modules_are_there_before_anybody_imports_them() -> None:
    names = (
        "ao.nn.quantized.modules.rnn backends.kleidiai backends.nnpack backends.python_native "
        "fx.passes.infra.pass_manager fx.passes.utils.matcher_utils masked.maskedtensor.creation "
        "nn.modules.linear_cross_entropy_options profiler.itt"
    )
    program = (
        "import operator, types, rushlight as torch\n"
        f"found = [operator.attrgetter(name)(torch) for name in {names.split()!r}]\n"
        "assert all(type(module) is types.ModuleType for module in found), found\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_programs_load_no_archives_before_they_read_or_write_some() -> None:
    program = """
import sys, rushlight as torch
scripted = torch.jit.script(torch.nn.Linear(2, 2))
scripted(torch.ones(1, 2))
later = [
    f"rushlight.{name}"
    for name in ("serialization", "testing", "jit.freezing", "nn.utils.prune", "nn.utils.fusion")
]
assert not set(sys.modules) & set(later), set(sys.modules) & set(later)
assert set(torch.jit.__all__) <= set(dir(torch.jit)), "names"
assert "self.weight" in scripted.code
buffer = scripted.save_to_buffer()
assert torch.jit.freeze.__name__ == "freeze" and torch.jit.load.__name__ == "load"
assert torch.jit.load is torch.jit.load and "load" in vars(torch.jit)
assert later[0] in sys.modules and later[2] in sys.modules
utils = torch.nn.utils
assert set(utils.__all__) <= set(dir(utils))
assert all(hasattr(utils, name) for name in dir(utils))
assert utils.clip_grad.clip_grad_norm_ is utils.clip_grad_norm_
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
