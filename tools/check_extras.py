"""Install each extra alone into an environment of its own, and use it there.

    python tools/check_extras.py [EXTRA ...] [--keep FOLDER]

Everything else is absent there; what `pip` says goes to standard error if it fails.  Exit status 1
if an extra cannot be installed, or does not do what it is for.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

_SAVE: Final = (
    "import rushlight as torch, numpy as np, sys; from rushlight.__main__ import main; "
    "torch.jit.script(torch.nn.Linear(3, 2)).save('m.pt'); "
    "np.save('x.npy', np.ones((5, 3), np.float32)); "
)
USES: Final = {
    "": _SAVE + "sys.exit(main(['run', 'm.pt', 'x.npy']))",
    "onnx": _SAVE + "sys.exit(main(['convert', 'm.pt', 'm.onnx', '--input', 'batch,3']))",
    "onnxruntime": "import rushlight as torch; "
    "from rushlight.backends.onnxruntime import delegate; "
    "made = delegate(torch.nn.Linear(3, 2).eval()); "
    "print(made(torch.ones(1, 3)).shape, made.parts)",
    "numba": "import numba; print(numba.cfunc('float64(float64)')(lambda x: x * 2).address != 0)",
    "dask": _SAVE + "sys.exit(main(['map', 'm.pt', 'x.npy', 'out', '--threads', '1']))",
    "mpi": "import rushlight.distributed as dist; dist.init_process_group('mpi'); "
    "print(dist.get_world_size())",
    "lsp": "import rushlight.lsp.server; print('the server is there')",
    "docs": "import mkdocs; print(mkdocs.__version__)",
}
"""What is done with an extra; `""` is the library without any."""


def tried(extra: str, folder: Path) -> str:
    """What went wrong, or nothing."""
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    venv.create(folder, with_pip=True)
    wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted]
    for words in (pip, [python, "-c", USES[extra]]):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return (done.stderr or done.stdout).strip()
    return ""


def main() -> int:
    """Try what is asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", help=", ".join(filter(None, USES)))
    parser.add_argument("--keep", type=Path, help="make the environments in this folder")
    wishes = parser.parse_args()
    failed = 0
    for extra in wishes.extras or USES:
        with tempfile.TemporaryDirectory() as place:
            begun = time.monotonic()
            why = tried(extra, (wishes.keep or Path(place)) / (extra or "none"))
        failed += bool(why)
        told = f"FAILED\n{why}" if why else "installs alone and works"
        print(f"{extra or 'no extra'}: {told} ({time.monotonic() - begun:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
