"""What a core can do at most: float32 multiplications and additions of registers alone."""

from __future__ import annotations

import time
from functools import partial

ROUNDS = 250_000
"""Rounds of one piece of work: some milliseconds."""
SUMS = 12
"""Sums that are under way at once: more than a CPU's units have in flight."""


def text(target, in_pairs):
    """A kernel that adds `ROUNDS` times to sums of vectors, which it writes to `out` in the end."""
    from rushlight.ops.kernels.code.language.text import FLOAT, FLOATS, INT64, LANES, POINTER, Code

    code = Code(target)
    out, number = code.argument(POINTER, "out"), code.argument(POINTER, "number")
    add = code.add_pairs if in_pairs else code.multiply_add
    with code.units():
        one = code.load(FLOATS, number)
        begun = (code.load(FLOATS, code.at(number, lane, FLOAT)) for lane in range(SUMS))
        sums = [code.variable(each) for each in begun]
        with code.counted(code.constant(INT64, 0), code.constant(INT64, ROUNDS)):
            for total in sums:
                total.set(add(one, one, total.now))
        for place, total in enumerate(sums):
            code.store(total.now, code.at(out, place * LANES, FLOAT))
    return code.kernel("peak", [(POINTER, "out"), (POINTER, "number")])


def peak(threads=1, in_pairs=False):
    """GFLOP/s of so many threads, the best of some runs; `in_pairs` of bfloat16."""
    import numpy as np

    from rushlight.ops.kernels.code.calls.run import run
    from rushlight.ops.kernels.code.language.text import LANES
    from rushlight.ops.kernels.code.loading.objects import kernel

    place = kernel("peak", (ROUNDS, SUMS, int(in_pairs)), partial(text, in_pairs=in_pairs))
    out, number = (
        np.zeros(SUMS * LANES, np.float32),
        np.linspace(1e-3, 2e-3, 2 * LANES, dtype=np.float32),
    )
    took = []
    for _ in range(20):
        began = time.perf_counter()
        run(place, threads, 1 if threads > 1 else 2, out, number)
        took.append(time.perf_counter() - began)
    return threads * ROUNDS * SUMS * LANES * (4 if in_pairs else 2) / min(took) / 1e9
