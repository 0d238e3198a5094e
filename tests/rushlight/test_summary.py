"""Tables of models: `rushlight summary`, and the function behind it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.summary import summary

nn = torch.nn
Captured = pytest.CaptureFixture[str]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.cell = nn.LSTM(8, 16, batch_first=True)
        self.head = nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.features(x).flatten(2).transpose(1, 2)
        return self.head(self.cell(y)[0][:, -1])


CONV, CELL, HEAD = 2 * 256 * 8 * 27, 2 * 256 * (64 * 8 + 64 * 16), 2 * 16 * 10


@pytest.mark.parametrize("kind", ["live", "scripted", "traced"])
def test_layers_outputs_parameters_and_multiply_adds(kind: str) -> None:
    model: nn.Module = Net().eval()
    if kind == "scripted":
        model = torch.jit.script(model)
    if kind == "traced":
        model = torch.jit.trace(model, torch.ones(2, 3, 16, 16))
    found = summary(model, (2, 3, 16, 16)).data()
    rows = {each["name"]: each for each in found["layers"]}
    assert rows["features.0"]["outputs"] == [[2, 8, 16, 16]]
    assert rows["head"]["outputs"] == [[2, 10]] == rows[""]["outputs"]
    assert rows["cell"]["outputs"][0] == [2, 256, 16]
    counted = {name: row["multiply_adds"] for name, row in rows.items()}
    assert counted["features.0"] == counted["features"] == CONV
    assert (counted["cell"], counted["head"], counted["features.2"]) == (CELL, HEAD, 0)
    assert found["multiply_adds"] == counted[""] == CONV + CELL + HEAD
    assert found["parameters"] == sum(p.numel() for p in model.parameters())
    assert {p.device.type for p in model.parameters()} == {"cpu"}
    assert model(torch.ones(1, 3, 4, 4)).shape == (1, 10)  # it is as it was


def test_a_table_of_a_model_that_fits_no_memory(tmp_path: Path) -> None:
    wide = nn.Sequential(
        nn.Linear(1 << 19, 1 << 19, device="meta"), nn.GELU(), nn.Linear(1 << 19, 4, device="meta")
    )
    wide[2].requires_grad_(False)
    torch.jit.script(wide).save(tmp_path / "wide.pt")
    text = str(summary(torch.jit.load(tmp_path / "wide.pt"), (2, 1 << 19)))
    assert re.search(r"Linear \(0\) +\[2, 524288\] +274,878,431,232 +549,755,813,888\n", text)
    assert "Total params: 274,880,528,388\nTrainable params: 274,878,431,232\n" in text
    assert "Params size (MB): 1099522.11" in text


def test_layers_that_share_and_repeat() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 4, bias=False)
            self.outer = nn.Linear(4, 4, bias=False)
            self.outer.weight = self.inner.weight
            self.unused = nn.Linear(1, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.outer(self.inner(self.inner(x)))

    found = summary(Twice(), (1, 4)).data()
    rows = {each["name"]: each for each in found["layers"]}
    assert (rows["inner"]["multiply_adds"], rows["outer"]["multiply_adds"]) == (32, 16)
    assert rows["unused"]["outputs"] is None
    assert found["parameters"] == 16 + 2


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, words: torch.Tensor, by: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"made": self.table(words) * by}


def test_several_inputs_and_dtypes() -> None:
    found = summary(Two(), [(2, 3), (4,)], dtypes=[torch.int64, torch.float64])
    assert found.data()["layers"][0]["outputs"] == [[2, 3, 4]]
    with pytest.raises(ValueError, match="2 inputs have 3 dtypes"):
        summary(Two(), [(2, 3), (4,)], dtypes=[torch.int64] * 3)


@pytest.mark.parametrize("words", [["2,3:int64", "4"], ["2,3", "4:float32", "--dtype", "int64"]])
def test_an_input_may_say_its_dtype(words: list[str], tmp_path: Path, capsys: Captured) -> None:
    torch.jit.script(Two()).save(path := str(tmp_path / "two.pt"))
    first, second, *rest = words
    assert main(["summary", path, "--json", "--input", first, "--input", second, *rest]) == 0
    assert json.loads(capsys.readouterr().out)["layers"][0]["outputs"] == [[2, 3, 4]]


def test_the_command(tmp_path: Path, capsys: Captured) -> None:
    path = str(tmp_path / "net.pt")
    torch.jit.script(Net().eval()).save(path)
    assert main(["summary", path]) == 0
    assert "Mult-Adds" in (text := capsys.readouterr().out)
    assert "Total mult-adds" not in text
    assert main(["summary", path, "--input", "2,3,16,16", "--depth", "1"]) == 0
    assert f"Total mult-adds: {CONV + CELL + HEAD:,}\n" in (text := capsys.readouterr().out)
    assert "Sequential (features)" in text
    assert "Conv2d" not in text
    assert main(["summary", path, "--input", "2,3,16,16", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["model"], told["inputs"], told["multiply_adds"]) == (
        *("Net", [[2, 3, 16, 16]]),
        CONV + CELL + HEAD,
    )


def test_the_command_on_weights(tmp_path: Path, capsys: Captured) -> None:
    torch.save({"epoch": 3, "model": Net().state_dict()}, path := str(tmp_path / "net.pth"))
    assert main(["summary", path, "--json"]) == 0
    rows = {each["name"]: each for each in json.loads(capsys.readouterr().out)["layers"]}
    assert rows["model.features.0"]["tensors"] == {"weight": [8, 3, 3, 3], "bias": [8]}
    assert main(["summary", path, "--input", "1"]) == 2
    assert "weights alone cannot be run" in capsys.readouterr().err


def test_what_the_command_refuses(tmp_path: Path, capsys: Captured) -> None:
    path = str(tmp_path / "net.pt")
    torch.jit.script(Net()).save(path)
    assert main(["summary", path, "--input", "2,5,16,16"]) == 1
    assert "channels" in capsys.readouterr().err
    assert main(["summary", str(tmp_path / "none.pt")]) == 2
    assert main(["summary", path, "--dtype", "int64", "--dtype", "int64"]) == 2
    for wrong in (["--input", "a"], ["--input=-1"], ["--input", "1:int65"], ["--dtype", "float7"]):
        with pytest.raises(SystemExit):
            main(["summary", path, *wrong])


class Deciding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.first(x) if bool(x.sum() > 0) else self.second(x)


def test_a_model_that_decides_by_values(tmp_path: Path, capsys: Captured) -> None:
    path = str(tmp_path / "net.pt")
    torch.jit.script(Deciding()).save(path)
    assert main(["summary", path, "--input", "3,4"]) == 1
    assert "try --values\n" in capsys.readouterr().err
    assert main(["summary", path, "--input", "3,4", "--values", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [layer["outputs"] for layer in told["layers"]] == [[[3, 8]], [[3, 8]], None]
    live = summary(Deciding(), input_data=[-torch.ones(3, 4)], values=True)
    assert [layer.outputs for _, layer in live.root.walk()] == [[[3, 2]], None, [[3, 2]]]
    assert live.multiply_adds == 3 * 4 * 2


def test_tensors_that_a_script_makes_of_lists_are_seen() -> None:
    class Maker(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x, torch.tensor([[1.0, float("nan")]])

    found = summary(torch.jit.script(Maker()), (3, 2)).data()
    assert found["layers"][0]["outputs"] == [[3, 2], [1, 2]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_quantized_archives_have_a_table_and_a_picture(tmp_path: Path, capsys: Captured) -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).eval()
    path = str(tmp_path / "quantized.pt")
    torch.jit.script(torch.ao.quantization.quantize_dynamic(model)).save(path)
    assert main(["summary", path]) == 0
    assert "LinearPackedParams" in capsys.readouterr().out
    assert main(["view", path, "--svg", "-o", str(tmp_path / "it.svg")]) == 0
