"""What carries values between processes, how they become one, and what can go wrong."""

from __future__ import annotations

import os
import warnings
from datetime import timedelta
from enum import Enum
from importlib.util import find_spec
from typing import ClassVar, Final, Self

__all__ = [
    *("Backend", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError"),
    *("ReduceOp", "default_pg_timeout", "is_available", "is_backend_available", "reduce_op"),
    *("is_gloo_available", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched"),
    *("is_ucc_available", "is_xccl_available", "supports_complex"),
]

default_pg_timeout: Final = timedelta(minutes=30)


class DistError(RuntimeError):
    """What went wrong between processes."""


class DistBackendError(DistError):
    """What went wrong in a backend."""


class DistNetworkError(DistError):
    """What went wrong on the network."""


class DistStoreError(DistError):
    """What went wrong in a store."""


class ReduceOp(Enum):
    """How values of several processes become one."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    RedOpType: ClassVar[type[Self]]


ReduceOp.RedOpType = ReduceOp


class _OldReduceOp:
    """The former name of `ReduceOp`, whose members are asked for with a warning."""

    def __getattr__(self, name: str) -> ReduceOp:
        if name not in ReduceOp.__members__:
            raise AttributeError(name)
        warnings.warn(
            "`torch.distributed.reduce_op` is deprecated, please use "
            "`torch.distributed.ReduceOp` instead",
            FutureWarning,
            stacklevel=2,
        )
        return ReduceOp[name]


reduce_op = _OldReduceOp()


class Backend(str):
    """The name of a backend, in small letters."""

    GLOO = "gloo"
    MPI = "mpi"
    NCCL = "nccl"
    UCC = "ucc"
    UNDEFINED = "undefined"
    XCCL = "xccl"
    backend_list: Final = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map: Final = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}
    backend_capability: Final = {
        **{GLOO: ["cpu", "cuda"], NCCL: ["cuda"], XCCL: ["xpu"]},
        **{UCC: ["cpu", "cuda"], MPI: ["cpu", "cuda"]},
    }

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: {name!r}")
        return super().__new__(cls, name.lower())


def is_available() -> bool:
    """Whether there is `torch.distributed`: yes; for several processes with MPI."""
    return True


def is_gloo_available() -> bool:
    """Whether groups of the CPU's backend can be made, which talk over MPI here."""
    return True


def is_mpi_available() -> bool:
    """Whether `mpi4py` is installed."""
    return find_spec("mpi4py") is not None


def is_nccl_available() -> bool:
    """Never."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Whether a backend is there, by its name."""
    name = backend.lower()
    return name == Backend.GLOO or (name == Backend.MPI and is_mpi_available())


def is_torchelastic_launched() -> bool:
    """Whether `torchrun`, or `rushlight.distributed.run`, started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def supports_complex(reduceOp: ReduceOp) -> bool:
    """Whether complex numbers can be reduced so."""
    ordered = {ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT}
    return reduceOp not in ordered | {ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR}
