"""Record what the examples compute under real torch, and compare times.

    python tools/record_examples.py PYTHON [--time]

PYTHON is an interpreter that has torch.  There each example runs with `import torch` in place of
`import rushlight as torch`; the results go to tests/examples/recorded.npz.  With `--time` nothing
is recorded: printed are the milliseconds of a scripted call, torch's and rushlight's, each with one
thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("char_rnn", "crf_tagger", "mobilenet", "resnet", "seq2seq", "translator", "unet")
RECORDED = ROOT / "tests" / "examples" / "recorded.npz"
OURS = "import rushlight as torch"


def load(name: str, with_torch: bool) -> types.ModuleType:
    """An example as a module, with rushlight or with torch.

    Raises:
        ValueError: the example has no line that says which it uses.
    """
    path = ROOT / "examples" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    if OURS not in text:
        raise ValueError(f"{path} does not say `{OURS}`")
    if with_torch:  # script reads the source, so it must lie in a file
        path = Path(os.environ["EXAMPLES_FOLDER"]) / path.name
        path.write_text(text.replace(OURS, "import torch"), encoding="utf-8")
    sys.path.insert(0, str(path.parent))
    return __import__(name)


def results() -> dict[str, Any]:
    """What `main` of each example gives under torch."""
    return {name: load(name, True).main().detach().numpy() for name in NAMES}


def milliseconds(name: str, with_torch: bool) -> float:
    """The fastest of some calls of the scripted model."""
    module = load(name, with_torch)
    model, inputs = module.example()
    scripted = module.torch.jit.script(model)
    best = float("inf")
    with module.torch.no_grad():
        for _ in range(8):
            start = time.perf_counter()
            scripted(*inputs)
            best = min(best, time.perf_counter() - start)
    return best * 1000


def _elsewhere(python: str, what: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
        given = {**os.environ, **dict.fromkeys(names, "1"), "EXAMPLES_FOLDER": folder}
        command = [python, __file__, what]
        done = subprocess.run(command, env=given, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[-1]


def main() -> None:
    """Record, or time."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("python")
    parser.add_argument("--time", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.python == ":results":
        np.savez_compressed(RECORDED, **results())
    elif given.python.startswith(":time"):
        with_torch = given.python == ":time-torch"
        if not with_torch:
            sys.path.insert(0, str(ROOT))
        print(json.dumps({name: milliseconds(name, with_torch) for name in NAMES}))
    elif given.time:
        theirs = json.loads(_elsewhere(given.python, ":time-torch"))
        ours = json.loads(_elsewhere(sys.executable, ":time-rushlight"))
        for name in NAMES:
            print(f"{name:12} torch {theirs[name]:8.2f} ms   rushlight {ours[name]:8.2f} ms")
    else:
        _elsewhere(given.python, ":results")
        print(f"recorded in {RECORDED}")


if __name__ == "__main__":
    main()
