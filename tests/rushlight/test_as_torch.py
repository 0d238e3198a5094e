"""rushlight under torch's name: each in a process of its own, since names are the process's."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rushlight.torch_version import TorchVersion


def run(*arguments: str, code: str = "", folder: Path | None = None) -> str:
    """What Python prints, run with arguments or a program."""
    words = arguments or ("-c", textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_packages_that_import_torch_get_rushlight(tmp_path: Path) -> None:
    program = """
        import importlib.metadata, importlib.util, pickle
        import rushlight
        before = rushlight.__version__
        stand_in = rushlight.as_torch()
        assert rushlight.as_torch() is stand_in
        import torch, torch.nn as nn, torch.nn.functional as F
        from torch.utils.data import DataLoader
        import torch.utils.data.distributed
        assert torch is rushlight and nn is rushlight.nn and F is rushlight.nn.functional
        import torch.fx  # not loaded before, and not to be loaded twice
        assert vars(torch.fx)["graph"].Graph is torch.fx.Graph
        assert torch.__version__ == "2.13.0" and torch.__version__ >= (2, 9)
        assert importlib.metadata.version("torch") == "2.13.0"
        assert importlib.util.find_spec("torch") is not None
        assert importlib.util.find_spec("torch.nowhere") is None
        assert torch.Tensor.__module__ == "torch" and repr(torch.Tensor) == "<class 'torch.Tensor'>"
        assert nn.Linear.__module__ == "torch.nn.modules.linear"
        assert F.relu.__module__ == F.max_pool2d.__module__ == "torch.nn.functional"
        assert torch.add.__module__ == torch.dropout.__module__ == "torch"
        assert torch.linalg.det.__module__ == "torch._C._linalg"
        assert F.gelu.__module__ == "torch._C._nn"
        assert not hasattr(torch.Tensor.add, "__module__")
        assert torch.Tensor.backward.__module__ == torch.Tensor.cuda.__module__ == "torch._tensor"
        assert torch.masked.amax.__module__ == "torch.masked._ops"
        assert torch.accelerator.empty_cache.__module__ == "torch.accelerator.memory"
        assert torch.backends.cuda.enable_flash_sdp.__module__ == "torch.backends.cuda"
        assert torch.get_num_threads.__module__ == torch.spmm.__module__ == "torch"
        assert torch.jit.freeze.__module__ == "torch.jit._freeze"
        assert torch.jit.TracerWarning.__module__ == "torch.jit._trace"
        assert torch.testing.assert_close.__module__ == "torch.testing._comparison"
        assert torch.utils._pytree.SequenceKey.__module__ == "torch.utils._pytree"
        for each in (torch.jit.RecursiveScriptModule, torch.jit.fuser, torch.testing.make_tensor):
            assert getattr(importlib.import_module(each.__module__), each.__name__) is each
        assert torch.optim.Adam.__module__ == "torch.optim.adam"  # loaded after
        assert torch.nn.utils.get_total_norm.__module__ == "torch.nn.utils.clip_grad"
        assert torch.nn.utils.get_total_norm.__name__ == "_get_total_norm"
        assert torch.sparse.SparseSemiStructuredTensor.__module__ == "torch.sparse.semi_structured"
        assert torch.utils.swap_tensors.__module__ == "torch.utils"
        assert torch.utils._pytree.keystr.__module__ == "torch.utils._pytree"
        assert torch.cuda.device.__module__ == torch.cuda.stream.__module__ == "torch.cuda"
        assert torch.cuda.Stream.__module__ == "torch.cuda.streams"
        assert torch.mps.empty_cache.__name__ == "empty_cache"
        assert torch.Tensor.register_hook.__qualname__ == "Tensor.register_hook"
        for name in ("func.functional_call", "compiler.is_exporting", "multiprocessing.spawn.spawn",
            "multiprocessing.queue.Queue", "multiprocessing.pool.Pool", "cpu.StreamContext",
            "nn.parallel.parallel_apply.parallel_apply", "backends.mps.get_name",
            "backends.cuda.can_use_cudnn_attention", "autograd.profiler.emit_itt"):
            module, _, own = f"torch.{name}".rpartition(".")
            value = getattr(importlib.import_module(module), own)
            assert (value.__module__, value.__name__) == (module, own), name
        scripted = torch.jit.script(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
        assert scripted.original_name == "Sequential"
        scripted.save("m.pt")
        assert b"__torch__.torch.nn.modules.linear" in open("m.pt", "rb").read()
        assert pickle.loads(pickle.dumps(nn.Linear(2, 2))).in_features == 2
        torch.save(nn.Linear(2, 2), "w.pt")
        functions = [F.gelu, torch.tanh, torch.Tensor.add, torch.special.erf]
        torch.save(functions, "f.pt")
        try:
            import torch.nowhere
        except ModuleNotFoundError as error:
            assert error.name == "torch.nowhere"
        stand_in.undo()
        assert rushlight.__version__ == before
        assert rushlight.__name__ == "rushlight"
        assert rushlight.nn.Linear.__module__ == "rushlight.nn.modules.linear"
        assert rushlight.add.__module__ == "rushlight.ops.eager.dispatch"
        assert rushlight.load("w.pt", weights_only=False).out_features == 2
        assert rushlight.load("f.pt", weights_only=False) == functions
        try:
            import torch
        except ModuleNotFoundError:
            print("undone")
    """
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("PyTorch is installed here, and found after `undo`")
    assert run(code=program, folder=tmp_path) == "undone\n"


def test_programs_run_with_their_arguments(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 3")
    program = "import sys, torch, beside\nprint(torch.ones(2), beside.value, sys.argv, __name__)"
    (tmp_path / "program.py").write_text(program)
    (tmp_path / "file.py").write_text("print(__file__, (lambda: 0).__code__.co_filename)")
    start = ("-m", "rushlight.as_torch")
    shown = run(*start, "program.py", "--x", "1", folder=tmp_path)
    assert shown == "tensor([1., 1.]) 3 ['program.py', '--x', '1'] __main__\n"
    for own in ((), start):  # absolute, as graphs print it
        assert run(*own, "file.py", folder=tmp_path).split() == [str(tmp_path / "file.py")] * 2
    shown = run(*start, "-m", "program", "y", folder=tmp_path)
    assert shown.endswith("program.py', 'y'] __main__\n")
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "__main__.py").write_text("import torch\nprint(torch.ones(1).shape)")
    assert run(*start, "whole", folder=tmp_path) == "torch.Size([1])\n"
    annotated = "def f(x: int): ...\nprint(f.__annotations__)"  # objects: no futures of ours
    assert run(*start, "-c", annotated) == "{'x': <class 'int'>}\n"
    shown = run(*start, "-c", "import torch, sys; print(torch.__name__, sys.argv)", "z")
    assert shown == "torch ['-c', 'z']\n"


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_it_says_how_it_is_called(arguments: tuple[str, ...]) -> None:
    assert "python -m rushlight.as_torch" in run("-m", "rushlight.as_torch", *arguments)


def test_pytorch_itself_is_not_mixed_in() -> None:
    program = """
        import sys, types
        sys.modules["torch"] = types.ModuleType("torch")
        import rushlight
        try:
            rushlight.as_torch()
        except ImportError as error:
            print(error)
    """
    assert run(code=program).startswith("PyTorch itself is imported already")


def test_modules_are_not_loaded_again_where_somebody_puts_the_package_in_place() -> None:
    program = """
        import sys, rushlight
        sys.modules["torch"] = rushlight
        from torch import nn
        from torch.nn import functional as F
        from torch.nn.modules.conv import Conv2d
        assert F is rushlight.nn.functional and nn is rushlight.nn and Conv2d is nn.Conv2d
        assert F.relu(rushlight.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
        print(str(rushlight.jit.script(F.softsign).graph).count("aten::abs"))
        try:
            import torch.nonsense
        except ModuleNotFoundError as error:
            print(error.name)
    """
    assert run(code=program).split() == ["1", "torch.nonsense"]


def test_functorch_belongs_to_torch_whoever_puts_it_in_place() -> None:
    program = """
        import importlib.util, sys, types
        import rushlight
        assert importlib.util.find_spec("functorch") is None  # nobody asked for torch
        sys.modules["torch"] = types.ModuleType("torch")
        assert importlib.util.find_spec("functorch") is None  # that of another
        sys.modules["torch"] = rushlight
        from functorch import vmap
        import functorch
        assert functorch is rushlight.functorch and vmap.__wrapped__ is rushlight.func.vmap
        assert functorch.__spec__.name == "rushlight.functorch"
    """
    if importlib.util.find_spec("functorch") is not None:
        pytest.skip("PyTorch is installed here")
    run(code=program)


def test_versions_compare_as_torchs() -> None:
    version = TorchVersion("2.13.0+cpu")
    assert version >= "2.13"
    assert version > (2, 9)
    assert version != "2.13.0"
    assert TorchVersion("2.13.0a1") < (2, 13)
    assert TorchVersion("1.10.0") > "1.9"
    assert TorchVersion("2.13.0") == (2, 13)
    assert TorchVersion("2.13.0.dev1") < "2.13.0a"
    assert version != object()
    with pytest.raises(TypeError):
        assert version < object()  # type: ignore[operator]


def test_new_processes_have_torch_too(tmp_path: Path) -> None:
    script = tmp_path / "many.py"
    script.write_text(
        textwrap.dedent("""
            import torch
            import torch.multiprocessing as mp

            def work(number, results):
                results.put((number, torch.__version__, torch.Tensor.__module__))

            if __name__ == "__main__":
                for method in ("spawn", "forkserver"):
                    results = mp.get_context(method).SimpleQueue()
                    mp.start_processes(work, (results,), nprocs=1, start_method=method)
                    print(method, *results.get())
        """)
    )
    printed = run("-m", "rushlight.as_torch", str(script))
    assert printed.splitlines() == ["spawn 0 2.13.0 torch", "forkserver 0 2.13.0 torch"]


def test_what_tells_new_processes_is_undone() -> None:
    program = """
        import multiprocessing.spawn as spawn
        import rushlight
        before = spawn.get_preparation_data
        with rushlight.as_torch():
            assert "torch" in spawn.get_preparation_data("p")
        assert spawn.get_preparation_data is before
    """
    run(code=program)


def test_modules_say_torchs_names_while_it_stands_in() -> None:
    program = """
        import warnings
        import rushlight, rushlight.jit
        stand_in = rushlight.as_torch()
        import functorch, torch, torch.jit._recursive, torch.nn.functional as F, torch.utils.data
        modules = [torch.jit, torch.jit._recursive, F, torch.utils.data, functorch]
        print([module.__name__ for module in modules])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            torch.jit.trace(torch.nn.LSTM(2, 3), torch.ones(1, 2, 2))  # whose code reads sizes
        stand_in.undo()
        print([module.__name__ for module in modules])
    """
    first, second = run(code=program).splitlines()
    names = ["jit", "jit._recursive", "nn.functional", "utils.data"]
    assert first == str([*(f"torch.{name}" for name in names), "functorch"])
    assert second == str([f"rushlight.{name}" for name in [*names, "functorch"]])


def test_the_packages_lines_are_known_while_it_stands_in() -> None:
    program = """
        import warnings
        import rushlight
        rushlight.as_torch()
        import torch
        layer = torch.nn.Softmax()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            layer(torch.ones(2, 2))
            place = caught[0].filename
        with torch.profiler.profile(with_stack=True) as seen:
            layer(torch.ones(2, 2))
        stacks = {line for event in seen.events() for line in event.stack}
        print(place, [any(part in line for line in stacks) for part in ("<string>", "activation")])
    """
    assert run(code=program) == "<string> [True, False]\n"
