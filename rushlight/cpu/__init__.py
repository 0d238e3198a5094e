"""`torch.cpu`: the one kind of device there is."""

from __future__ import annotations

import os
import platform
from contextlib import AbstractContextManager

from ..ops.kernels.code.language.target import about_processor
from . import amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "get_capabilities",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Always."""
    return True


def is_initialized() -> bool:
    """Always."""
    return True


def device_count() -> int:
    """One."""
    return 1


def current_device() -> str:
    """Its name."""
    return "cpu"


def set_device(device: object) -> None:
    """Choose the device there is."""


def synchronize(device: object = None) -> None:
    """Nothing to wait for: every operator has ended when it returns."""
    del device


class Stream:
    """The order of operators, which is that of the program."""

    def __init__(self, priority: int = -1) -> None:
        del priority

    def wait_stream(self, stream: object) -> None:
        """Nothing to wait for."""


def current_stream(device: object = None) -> Stream:
    """The only stream."""
    del device
    return Stream()


class StreamContext:
    """A block in which operators go to a stream: all go to one."""

    def __init__(self, stream: object) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        """Go on as before."""

    def __exit__(self, *raised: object) -> None:
        """Go on as before."""


def stream(stream: object) -> AbstractContextManager[None]:
    """The block in which operators go to a stream."""
    return StreamContext(stream)


class Event:
    """A mark in the order of operators: what stands before it has ended."""

    def query(self) -> bool:
        """Whether it has been reached: yes."""
        return True

    def record(self, stream: object = None) -> None:
        """Set the mark."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: object = None) -> None:
        """Nothing to wait for."""


_FLAGS = """sse sse2 sse3 ssse3 sse4_1 sse4_2 sse4a avx avx2 fma3 f16c avx512_f avx512_bw avx512_cd
avx512_dq avx512_vl avx512_vnni avx512_bf16 avx512_vbmi avx512_ifma avx_vnni amx_tile amx_int8
amx_bf16 bmi bmi2 popcnt lzcnt aes sha""".split()
_WORDS = {"sse3": "pni", "fma3": "fma", "lzcnt": "abm", "bmi": "bmi1", "sha": "sha_ni"}
"""What Linux calls some of them."""


def get_capabilities() -> dict[str, object]:
    """What the processor is and can do: `architecture`, `num_logical_cores`, `avx2` and others."""
    flags = set(about_processor("flags").split())
    known = flags | {flag.replace("avx512", "avx512_", 1).replace("__", "_") for flag in flags}
    return {
        "architecture": platform.machine(),
        "cpu_name": about_processor("model name"),
        "num_logical_cores": os.cpu_count() or 1,
        **{name: _WORDS.get(name, name) in known for name in _FLAGS},
    }


def _can(name: str) -> bool:
    return bool(get_capabilities()[name])


def _is_avx2_supported() -> bool:
    """Whether the processor has AVX2."""
    return _can("avx2")


def _is_avx512_supported() -> bool:
    """Whether it has the parts of AVX-512 that kernels need."""
    return all(map(_can, ("avx512_f", "avx512_vl", "avx512_bw", "avx512_dq")))


def _is_avx512_bf16_supported() -> bool:
    """Whether it multiplies bfloat16 in AVX-512."""
    return _can("avx512_bf16")


def _is_vnni_supported() -> bool:
    """Whether it multiplies bytes in AVX-512."""
    return _can("avx512_vnni")


def _is_amx_tile_supported() -> bool:
    """Whether it has tiles."""
    return _can("amx_tile")
