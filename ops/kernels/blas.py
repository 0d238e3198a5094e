"""Products and decompositions of matrices by NumPy's library for them (OpenBLAS).

It shares what is large among threads of its own and holds locks meanwhile.  A fork amid that would
leave both processes waiting for ever, so forks wait for the functions here.  Whatever of ours
reaches that library does so through this file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...frontend.locks import whole
from ..memory.dtype import Array

__all__ = [
    *(
        "ALONE",
        "LONGEST",
        "cholesky",
        "det",
        "dot",
        "eig",
        "eigh",
        "eigvals",
        "inv",
        "matmul",
        "multi_dot",
    ),
    *("norm", "qr", "slogdet", "solve", "svd", "tensordot", "vecdot", "vector_norm"),
]

ALONE: Final = 230_000
"""Multiplications of real numbers: OpenBLAS shares no product that needs fewer, unless it is of a
row and a column of more than `LONGEST`.  Such a one is done before a fork could begin, so it may
be called directly.  (It shares products of a matrix with itself turned from 237,184 on, with
vectors from 460,800, others from 524,288.)"""

LONGEST: Final = 10_000
"""Elements of two vectors from which OpenBLAS shares their product."""

_Made = Callable[..., Array]

dot: _Made = whole(np.ndarray.dot)
matmul: Any = whole(np.matmul)
tensordot: _Made = whole(np.tensordot)
vecdot: _Made = whole(np.vecdot)

cholesky: _Made = whole(np.linalg.cholesky)
det: _Made = whole(np.linalg.det)
eig: Any = whole(np.linalg.eig)
eigh: Any = whole(np.linalg.eigh)
eigvals: _Made = whole(np.linalg.eigvals)
inv: _Made = whole(np.linalg.inv)
multi_dot: _Made = whole(np.linalg.multi_dot)
norm: _Made = whole(np.linalg.norm)
qr: Any = whole(np.linalg.qr)
slogdet: Any = whole(np.linalg.slogdet)
solve: _Made = whole(np.linalg.solve)
svd: Any = whole(np.linalg.svd)
vector_norm: _Made = whole(np.linalg.vector_norm)
