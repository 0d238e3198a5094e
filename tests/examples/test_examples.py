"""The examples run, and give what real torch gives for the same seeded weights."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDED = np.load(Path(__file__).parent / "recorded.npz")


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDED.files)
def test_an_example_gives_torchs_results(name: str) -> None:
    wanted = RECORDED[name]
    result = example(name).main().detach().numpy()
    assert result.shape == wanted.shape
    assert np.allclose(result, wanted, rtol=1e-4, atol=1e-4 * float(np.abs(wanted).max()))


def test_every_example_is_recorded() -> None:
    named = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert named - {"quickstart"} <= set(RECORDED.files)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["char_rnn", "crf_tagger", "seq2seq", "unet"])
def test_a_model_gives_the_same_in_python_and_in_script(name: str) -> None:
    module = example(name)
    model, inputs = module.example()
    with module.torch.no_grad():
        eager, scripted = model(*inputs), module.torch.jit.script(model)(*inputs)
    first, second = (r[0] if isinstance(r, tuple) else r for r in (eager, scripted))
    assert module.torch.equal(first, second)
