"""Large results lie in memory that earlier ones have given back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rushlight.ops import kernels

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or kernels.family("elementwise.arrays") is None,
    reason="the heap is ruled on Linux only",
)

PROGRAM = """
import resource
import rushlight as torch
x = torch.randn(512, 512)
a, b = x[:, None, :8], x[None, :, :8]
def call():
    return (a - b).pow(2).sum(-1)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    call()
before = faults()
for _ in range(20):
    call()
print((faults() - before) / 20)
"""


def test_pages_of_large_results_are_not_asked_for_again() -> None:
    settings = {**os.environ, "OMP_NUM_THREADS": "1"}
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=settings
    )
    assert float(made.stdout) < 300  # two results are 4096 pages
