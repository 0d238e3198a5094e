"""`torch.save` in script: the file has torch's bytes, archives keep the call, guards refuse it."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest

import rushlight as torch
from rushlight import Tensor


class Saving(torch.nn.Module):
    def forward(self, x: Tensor, counts: dict[str, int], path: str) -> Tensor:
        torch.save((x, counts, [x], "a", None), path)
        return x


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    scripted = torch.jit.script(Saving())
    assert "torch.save(" in scripted.code
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    path = str(tmp_path / "values.pt")
    for program in (scripted, torch.jit.load(buffer)):
        program(torch.ones(2), {"b": 3}, path)
        x, counts, several, text, nothing = torch.load(path, weights_only=False)
        assert x.tolist() == several[0].tolist() == [1, 1]
        assert (counts, text, nothing) == ({"b": 3}, "a", None)
        Path(path).unlink()


def test_lists_and_dicts_have_their_types(tmp_path: Path) -> None:
    path = tmp_path / "values.pt"
    torch.jit.script(Saving())(torch.ones(2), {"b": 3}, str(path))
    with zipfile.ZipFile(path) as file:
        assert file.namelist()[:3] == ["archive/data/0", "archive/data.pkl", "archive/version"]
        pickled = file.read("archive/data.pkl")
    assert re.findall(rb"ctorch.jit._pickle\n(\w+)|Dict\[(.*?)\]", pickled) == [
        *((b"restore_type_tag", b""), (b"", b"str, int"), (b"build_tensorlist", b"")),
    ]


def test_untrusted_archives_do_not_write() -> None:
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Saving()), buffer)
    buffer.seek(0)
    with pytest.raises(RuntimeError, match="`aten::save` is not allowed in an archive"):
        torch.jit.load(buffer, trust="none")


def test_loading_is_no_operator() -> None:
    def load(path: str) -> Tensor:
        return torch.load(path)

    with pytest.raises(RuntimeError, match="Unknown builtin op: aten::load"):
        torch.jit.script(load)
