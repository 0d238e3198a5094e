"""`torch.utils.model_dump`: what is in an archive, as plain data and as a page."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.utils import model_dump


class Net(nn.Module):
    sizes: list[int]
    table: dict[str, Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.sizes = [1, 2]
        self.table = {"a": torch.ones(2)}
        self.text = "</script><b>it's"
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + self.table["a"] + len(self.sizes) + len(self.text)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "net.pt"
    extra = {"a.json": '{"x": 1}', "bad.json": "{", "b.txt": "hello"}
    torch.jit.save(torch.jit.script(Net()), str(path), _extra_files=extra)
    return path


def test_the_information(archive: Path) -> None:
    info = model_dump.get_model_info(archive)["model"]
    assert json.loads(json.dumps(info)) == info
    assert info["title"] == str(archive)
    assert info["file_size"] == archive.stat().st_size
    assert info["extra_files_jsons"] == {"net/extra/a.json": {"x": 1}}
    assert info["model_data"]["__module_type__"].endswith("Net")
    keys, values = (info["model_data"]["state"][k] for k in ("keys", "values"))
    state = dict(zip(keys, values, strict=True))
    assert state["sizes"] == [1, 2]
    tensor = state["table"]["values"][0]["__tensor_v2__"]
    assert tensor[0][0] == "Float"
    assert tensor[1:] == [0, [2], [1], False]
    assert state["linear"]["state"]["keys"][:2] == ["weight", "bias"]
    assert "torch._utils._rebuild_tensor_v2(pers.obj(" in info["extra_pickles"]["net/data.pkl"]


def test_pieces_of_code_know_their_places(archive: Path) -> None:
    info = model_dump.get_model_info(archive)["model"]
    (pieces,) = (p for name, p in info["code_files"].items() if "test_model_dump" in name)
    with_archive = "".join(piece[0] for piece in pieces)
    assert "def forward" in with_archive
    strings = info["interned_strings"]
    found = {
        text: strings[source][start:end] for text, _, _, source, start, end in pieces if source
    }
    assert found['"a"'].startswith('"a')
    assert {strings[piece[1]] for piece in pieces if piece[3]} == {__file__}


def test_the_page_holds_everything_and_runs_nothing(archive: Path) -> None:
    page = model_dump.get_info_and_burn_skeleton(archive, title="<i>mine")
    assert "</script><b>" not in page
    assert "<i>mine" not in page
    script = page.partition("const model = (")[2].partition(" || ")[0]
    assert json.loads(script) == model_dump.get_model_info(archive, title="<i>mine")
    with pytest.raises(ValueError, match="no place"):
        model_dump.burn_in_info("<html>", {})


def test_large_files_are_left_out(archive: Path) -> None:
    info = model_dump.get_model_info(io.BytesIO(archive.read_bytes()), extra_file_size_limit=5)
    assert info["model"]["title"] == "buffer"
    assert info["model"]["extra_files_jsons"] == {}
    assert list(info["model"]["extra_pickles"]) == ["net/constants.pkl"]


def test_the_command(archive: Path) -> None:
    command = [sys.executable, "-m", "rushlight.utils.model_dump"]
    done = subprocess.run([*command, str(archive)], capture_output=True, check=True)
    assert json.loads(done.stdout)["model"]["title"] == str(archive)
    out = io.StringIO()
    model_dump.main(["x", "--style", "html", "--title", "T", str(archive)], stdout=out)
    assert out.getvalue().startswith("<!DOCTYPE html>")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(b"no archive")
    with pytest.raises(RuntimeError, match="archive"):
        model_dump.get_model_info(path)
    with pytest.raises(FileNotFoundError):
        model_dump.get_model_info(tmp_path / "none.pt")
