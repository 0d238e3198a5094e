"""Programs compiled ahead of time beside libtorch: `python benchmarks/ahead.py --torch PYTHON`.

A program of `programs/` is saved, compiled by `rushlight compile`, and built by `cc` with a loop
that times it; with `--torch` the same archive, frozen, is timed by a program of C++ that is built
against the libtorch of that Python.  Times are processor time of a call on one thread, the least of
some rounds that alternate; results are compared.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from rushlight.__main__ import main as rushlight_command

PROGRAMS = ["vision:resnet18_b1", "rnn:rnn64", "sequences:mlp_batch1", "matrices:encoder_layer"]

_TIMING = """
static double least = 1e300;
#define TIMED(CALLS, CALL) for (int round = 0; round < 7; round++) { clock_t begin = clock(); \\
    for (int call = 0; call < CALLS; call++) { CALL; } \\
    double spent = (double)(clock() - begin) / CLOCKS_PER_SEC / CALLS; \\
    if (spent < least) least = spent; }
"""

_IN_C = """#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "model.h"
{timing}
static void *elements(const char *path, size_t size) {{
    void *found = aligned_alloc(64, (size + 64) / 64 * 64);
    FILE *file = fopen(path, "rb");
    if (!file || fread(found, 1, size, file) != size) exit(2);
    fclose(file);
    return found;
}}
int main(void) {{
    void *workspace = aligned_alloc(64, (MODEL_WORKSPACE + 64) / 64 * 64);
{reads}    float *result = malloc({bytes} + 1);
    TIMED({calls}, if (model(workspace, {given})) return 1)
    FILE *file = fopen("ours", "wb");
    fwrite(result, 1, {bytes}, file);
    fclose(file);
    printf("%.9f\\n", least);
    return 0;
}}
"""

_IN_CPP = """#include <ATen/Parallel.h>
#include <torch/script.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>
TIMING
// the number of calls, then the sizes of each argument
int main(int argc, char **argv) {
    at::set_num_threads(1);
    c10::InferenceMode guard;
    auto module = torch::jit::freeze(torch::jit::load("program.pt"));
    std::vector<c10::IValue> given;
    for (int n = 2; n < argc; n++) {
        std::vector<int64_t> sizes;
        std::stringstream words(argv[n]);
        for (std::string word; std::getline(words, word, ',');) sizes.push_back(std::stoll(word));
        auto x = torch::empty(sizes);
        FILE *file = fopen(("in" + std::to_string(n - 2)).c_str(), "rb");
        if (!file || fread(x.data_ptr(), 1, x.nbytes(), file) != x.nbytes()) return 2;
        fclose(file);
        given.push_back(x);
    }
    at::Tensor result;
    for (int n = 0; n < 20; n++) module.forward(given);
    TIMED(atoi(argv[1]), auto found = module.forward(given);
          result = found.isTensor() ? found.toTensor() : found.toTuple()->elements()[0].toTensor())
    result = result.contiguous();
    FILE *file = fopen("theirs", "wb");
    fwrite(result.data_ptr(), 1, result.nbytes(), file);
    fclose(file);
    printf("%.9f\\n", least);
}
"""


def ran(folder: Path, *command: str) -> str:
    """What a command prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def built(folder: Path, args: list, results: list, calls: int) -> None:
    """The program in C that times the compiled one."""
    reads = "".join(
        f'    const float *x{n} = elements("in{n}", {x.nbytes});\n' for n, x in enumerate(args)
    )
    others = results[1:]
    reads += "".join(f"    float *other{n} = malloc({x.nbytes});\n" for n, x in enumerate(others))
    given = [*(f"x{n}" for n in range(len(args))), "result"]
    given += [f"other{n}" for n in range(len(others))]
    parts = {"timing": _TIMING, "reads": reads, "bytes": results[0].nbytes, "calls": calls}
    (folder / "ours.c").write_text(_IN_C.format(**parts, given=", ".join(given)), "utf-8")
    ran(folder, "cc", "-O2", "ours.c", "model.o", "-lm", "-o", "ours_run")


def built_with_torch(folder: Path, torch: str) -> Path:
    """The program in C++ that times an archive."""
    where = Path(ran(folder, torch, "-c", "import torch; print(torch.__path__[0])").strip())
    (folder / "theirs.cpp").write_text(_IN_CPP.replace("TIMING", _TIMING), "utf-8")
    headers = [f"-I{where}/include", f"-I{where}/include/torch/csrc/api/include"]
    library = [f"-L{where}/lib", f"-Wl,-rpath,{where}/lib", "-ltorch", "-ltorch_cpu", "-lc10"]
    flags = ["-std=c++20", "-O1", *headers]
    ran(folder, "g++", *flags, "theirs.cpp", "-o", "theirs", "-Wl,--no-as-needed", *library)
    return folder / "theirs"


def compared(name: str, theirs_run: Path | None, rounds: int) -> str:
    """A line of the table."""
    file, _, program = name.partition(":")
    module, scripted, args = importlib.import_module(file).PROGRAMS[program]()
    found = module.eval()(*args)
    results = [x.detach().numpy() for x in (found if isinstance(found, tuple) else (found,))]
    arrays = [x.numpy() for x in args]
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        scripted.eval().save(str(folder / "program.pt"))
        for n, x in enumerate(arrays):
            np.ascontiguousarray(x).tofile(folder / f"in{n}")
        sizes = [",".join(map(str, x.shape)) for x in arrays]
        words = [word for each in sizes for word in ("--input", each)]
        archive = str(folder / "program.pt")
        if rushlight_command(["compile", archive, "-o", f"{folder}/model", *words]):
            return f"{program}: it is not compiled"
        calls = 3 if "resnet" in program else 200
        built(folder, arrays, results, calls)
        ours = theirs = float("inf")
        for _ in range(rounds):
            ours = min(ours, float(ran(folder, "./ours_run")))
            if theirs_run is not None:
                theirs = min(theirs, float(ran(folder, str(theirs_run), str(calls), *sizes)))
        for written in ("ours", "theirs")[: 1 + (theirs_run is not None)]:
            given = np.fromfile(folder / written, np.float32)
            np.testing.assert_allclose(given, results[0].ravel(), 1e-3, 1e-4)
        size = (folder / "model.o").stat().st_size / 1e6
    line = f"{program:<16} {size:>9.2f} {1e3 * ours:>10.4f}"
    return line if theirs_run is None else f"{line} {1e3 * theirs:>12.4f} {theirs / ours:>7.2f}"


def main() -> int:
    """Compile and time the programs."""
    parser = argparse.ArgumentParser(description="Compare compiled programs with libtorch.")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch; needs g++")
    parser.add_argument("--only", metavar="FILE:NAME", action="append", help="this program")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent / "programs"))
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        torch = arguments.torch
        theirs = None if torch is None else built_with_torch(Path(folder), torch)
        lines = [compared(each, theirs, arguments.rounds) for each in arguments.only or PROGRAMS]
    print(f"{'program':<16} {'object MB':>9} {'ours ms':>10} {'libtorch ms':>12} {'ratio':>7}")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
