"""Write down the errors that real torch raises; run by a Python that has torch 2.13.

    python tools/record_errors.py FOLDER

Every FOLDER/NAME.py is run (`run()` is called, `rushlight` being torch); the exception's class and
text go to FOLDER/NAME.torch.txt.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch
from programs import run_file

sys.modules["rushlight"] = torch
warnings.simplefilter("ignore")


def main() -> None:
    os.chdir(sys.argv[1])
    for path in sorted(Path().glob("*.py")):
        module = run_file(path)
        try:
            module.run()
        except Exception as error:
            text = f"{type(error).__name__}\n{error}"
        else:
            raise SystemExit(f"{path} raises nothing")
        path.with_suffix(".torch.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
