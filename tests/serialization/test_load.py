"""`torch.load` of what `torch.jit.save` wrote."""

from __future__ import annotations

import io

import pytest

import rushlight as torch


def test_an_archive_goes_to_jit_load() -> None:
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.ReLU()), buffer)
    buffer.seek(0)
    with pytest.warns(UserWarning, match="dispatching to 'torch.jit.load'"):
        loaded = torch.load(buffer, weights_only=False)
    assert type(loaded).__name__ == "RecursiveScriptModule"
    buffer.seek(0)
    with pytest.raises(RuntimeError, match="it is a TorchScript archive"):
        torch.load(buffer)
