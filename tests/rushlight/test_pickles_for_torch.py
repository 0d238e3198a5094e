"""Pickles that are written while rushlight stands in for torch say torch's names alone."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

_PROGRAM = """
    import copy, pickle, pickletools
    from multiprocessing.reduction import ForkingPickler
    import rushlight
    stand_in = rushlight.as_torch()
    import torch

    def names(data):
        words = [word for op, word, _ in pickletools.genops(data) if isinstance(word, str)]
        return {each.partition(".")[0].partition(" ")[0] for each in words}

    tensor = torch.arange(6.0).view(2, 3)
    parameter = torch.nn.Parameter(tensor)
    parameter.kept = [parameter]
    bytes_of_it = torch.quantize_per_tensor(tensor, 0.1, 0, torch.quint8)
    values = [tensor.T, parameter, torch.nn.Linear(2, 2), tensor.to_sparse(), bytes_of_it]
    values += [tensor.to_sparse_csr(), tensor.bool(), tensor.bfloat16(), tensor.untyped_storage()]
    values += [torch.nn.Buffer(torch.ones(2)), torch.distributions.Normal(0.0, 1.0)]
    for value in values:
        for protocol in (2, 5):
            data = pickle.dumps(value, protocol)
            assert not {"rushlight", "numpy"} & names(data), (value, names(data))
            again = pickle.loads(data)
            assert type(again) is type(value)
    again = pickle.loads(pickle.dumps(tensor.T))
    assert again.tolist() == tensor.T.tolist() and again.stride() == (1, 3)
    again = pickle.loads(pickle.dumps(parameter))
    assert again.kept[0] is again and again.requires_grad
    torchs = b"c__builtin__\\ngetattr\\n(ctorch._C\\n_VariableFunctionsClass\\nVrelu\\ntR."
    assert pickle.loads(torchs) is torch.relu and torch._C._VariableFunctions.relu is torch.relu
    assert copy.deepcopy(tensor).tolist() == copy.copy(tensor).tolist() == tensor.tolist()
    import torch.multiprocessing  # between processes there is no need of torch's words
    assert b"_load_from_bytes" not in bytes(ForkingPickler.dumps(tensor))
    stand_in.undo()
    data = pickle.dumps(tensor)
    assert b"_load_from_bytes" not in data and "rushlight" in names(data)
"""


_FUNCTIONS = """
    import io, pickle, pickletools, sys
    import rushlight
    stand_in = rushlight.as_torch()
    import torch
    import torch.nn.functional as F

    def words(value):
        data = pickle.dumps(value, 2)
        again = pickle.loads(data)
        assert again is value or type(value).__module__ == "torch.return_types", value
        said = [word for op, word, _ in pickletools.genops(data) if isinstance(word, str)]
        return " ".join(word.partition("\\n")[0] for word in said if word != "unicode")

    top = "importlib import_module torch"
    owner = "torch" if sys.version_info < (3, 13) else "torch._tensor"  # which torch has, too
    for value, found in [
        (torch.relu, f"__builtin__ getattr {top} relu"),
        (torch.randperm, f"__builtin__ getattr {top} randperm"),
        (F.conv2d, f"__builtin__ getattr {top} conv2d"),
        (F.gelu, "__builtin__ getattr importlib import_module torch._C._nn gelu"),
        (torch.fft.fft, "__builtin__ getattr importlib import_module torch._C._fft fft_fft"),
        (torch.Tensor.relu, "__builtin__ getattr torch Tensor relu"),
        (torch.Tensor.__add__, f"__builtin__ getattr {owner} Tensor __add__"),
        (torch.Tensor.split, f"__builtin__ getattr {owner} Tensor split"),
        (F.relu, "torch.nn.functional relu"),
        (torch.einsum, "torch.functional einsum"),
        (torch.numel, "torch numel"),
        (torch.jit.fork, "torch.jit._async fork"),
        (torch.nn.utils.prune.L1Unstructured, "torch.nn.utils.prune L1Unstructured"),
        (torch.distributions.ExpTransform, "torch.distributions.transforms ExpTransform"),
        (torch.optim.lr_scheduler.OneCycleLR, "torch.optim.lr_scheduler OneCycleLR"),
        (torch.cuda.is_available, "torch.cuda is_available"),
        (torch.return_types.max, "torch.return_types max"),
        (torch.inference_mode, "torch.autograd.grad_mode inference_mode"),
    ]:
        said = words(value).replace("\\n", " ")
        assert said.split()[-len(found.split()):] == found.split(), (said, found)
    pairs = pickle.loads(pickle.dumps(torch.tensor([[1.0, 2.0]]).max(1)))
    assert type(pairs) is torch.return_types.max and pairs.indices.item() == 1
    stand_in.undo()
    for value in (rushlight.relu, rushlight.Tensor.split, rushlight.einsum, type(pairs)):
        assert b"torch" not in pickle.dumps(value) and pickle.loads(pickle.dumps(value)) is value
"""


def test_functions_and_classes_are_pickled_where_torch_has_them() -> None:
    done = subprocess.run(
        [sys.executable, "-c", dedent(_FUNCTIONS)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_pickles_say_the_names_of_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", dedent(_PROGRAM)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
