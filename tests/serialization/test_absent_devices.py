"""Archives whose code and data name devices which are not here, opened for the CPU."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.__main__ import main


class OnCard(torch.nn.Module):
    __constants__ = ("place",)

    def __init__(self) -> None:
        super().__init__()
        self.place = torch.device("cuda:0")
        self.other = torch.device("cuda", 1)

    def forward(self, x: Tensor) -> tuple[Tensor, bool]:
        start = torch.zeros(2, device=self.place) + torch.ones(2, device=self.other)
        moved = x.to(torch.device("cuda:0"), torch.float64).cuda()
        for _ in range(2):
            moved = moved + torch.arange(2, device="cuda").to(x.device)
        return start + moved, x.device == torch.device("cuda:0")


def opened(module: Any, **options: Any) -> Any:
    sink = io.BytesIO()
    torch.jit.save(module, sink)
    sink.seek(0)
    return torch.jit.load(sink, **options)


@pytest.mark.parametrize("trust", ["full", "none"])
@pytest.mark.parametrize("location", ["cpu", torch.device("cpu")])
def test_code_for_a_card_computes_on_the_cpu_if_that_is_asked_for(
    location: Any, trust: str
) -> None:
    module = opened(torch.jit.script(OnCard()), map_location=location, trust=trust)
    for _ in range(3):
        result, is_on_card = module(torch.ones(2))
        assert result.tolist() == [2.0, 4.0]
        assert result.dtype == torch.float64
        assert not is_on_card  # what is compared stays as it was
    assert module.other == torch.device("cpu")
    assert 'torch.device("cuda:0")' in module.code  # in the comparison alone
    again = opened(module)
    assert again(torch.ones(2))[0].tolist() == [2.0, 4.0]


def test_without_a_location_the_device_is_missing_as_it_is_in_torch() -> None:
    module = opened(torch.jit.script(OnCard()))
    with pytest.raises(RuntimeError, match="Torch not compiled with CUDA enabled"):
        module(torch.ones(2))
    assert module.other == torch.device("cuda", 1)


def test_functions_and_tasks_that_code_calls_are_moved_too() -> None:
    @torch.jit.script
    def made(n: int) -> Tensor:
        return torch.full([n], 3.0, device="cuda:0")

    @torch.jit.script
    def calling(n: int) -> Tensor:
        task = torch.jit.fork(made, n)
        return made(n) + torch.jit.wait(task)

    assert opened(calling, map_location="cpu")(2).tolist() == [6.0, 6.0]


def test_sizes_are_known_without_weights() -> None:
    module = opened(torch.jit.script(OnCard()), map_location="meta")
    assert module(torch.ones(2, device="meta"))[0].shape == (2,)


def test_flatbuffers_and_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = torch.jit.script(OnCard())
    module.save(str(tmp_path / "card.pt"))
    torch.jit.save_jit_module_to_flatbuffer(module, str(tmp_path / "card.ff"))
    flat = torch.jit.load(str(tmp_path / "card.ff"), map_location="cpu")
    assert flat(torch.ones(2))[0].tolist() == [2.0, 4.0]
    assert main(["run", str(tmp_path / "card.pt"), "[1.0, 1.0]"]) == 0
    assert "[2., 4.]" in capsys.readouterr().out
