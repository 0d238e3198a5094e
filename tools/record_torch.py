"""Write down what real torch makes of the programs; run by a Python that has torch 2.13.

    python tools/record_torch.py PROGRAMS OUT

OUT/NAME.json then holds every program's texts (`code`, `code_with_constants`, `graph`,
`inlined_graph`) and results, OUT/NAME.pt is torch's archive.  With `--replay ARCHIVES` the results
are those of ARCHIVES/NAME.pt instead.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import programs
import torch

sys.modules["rushlight"] = torch
warnings.simplefilter("ignore")


def texts(scripted: Any) -> dict[str, str]:
    """Every text by which a scripted object can be read; a function has no code_with_constants."""
    found = {
        "code": scripted.code,
        "graph": str(scripted.graph),
        "inlined_graph": str(scripted.inlined_graph),
    }
    if hasattr(scripted, "code_with_constants"):
        found["code_with_constants"] = scripted.code_with_constants[0]
    return found


def record(program: programs.Program, out: Path) -> dict[str, Any]:
    """The record of one program, its refusal if it does not compile; writes its archive."""
    try:
        scripted = program.make()[1]
    except Exception as error:
        return {"file": program.file, "refused": str(error).strip().split("\n")[0]}
    scripted.save(str(out / f"{program.name}.pt"))
    calls = [programs.call(scripted, arguments) for arguments in program.inputs()]
    return {"file": program.file, **texts(scripted), "calls": calls}


def replay(program: programs.Program, archives: Path) -> dict[str, Any]:
    """The results that an archive of the program gives."""
    try:
        loaded = torch.jit.load(str(archives / f"{program.name}.pt"))
    except Exception as error:
        return {"load_error": f"{type(error).__name__}: {error}"}
    calls = [programs.call(loaded, arguments) for arguments in program.inputs()]
    return {"calls": calls, "code": loaded.code}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=lambda p: Path(p).resolve())
    parser.add_argument("out", type=lambda p: Path(p).resolve())
    parser.add_argument("--replay", type=lambda p: Path(p).resolve(), metavar="ARCHIVES")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for program in programs.load(options.programs):
        if options.replay is not None and not (options.replay / f"{program.name}.pt").exists():
            continue
        if options.replay is None:
            result = record(program, options.out)
        else:
            result = replay(program, options.replay)
        text = json.dumps(result, indent=1, ensure_ascii=False)
        (options.out / f"{program.name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
