"""The CPU that code is made for, known without LLVM."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Target", "about_processor", "host"]


@dataclass(frozen=True, slots=True)
class Target:
    """A CPU: LLVM's words for it, and what our code asks of it.

    `has_byte_products`: VNNI's sums of four products; `has_scaling`: AVX-512's product with a power
    of two; `has_pairs`: sums of two products of bfloat16; `has_halves`: casts of float16;
    `has_byte_lookups`: AVX-512's bytes that are found in two registers.
    `description` tells CPUs apart whose code differs; an empty `cpu` or `triple` is the machine at
    hand.
    """

    description: str
    has_fma: bool
    has_byte_products: bool
    has_scaling: bool
    cpu: str = ""
    features: str = ""
    triple: str = ""
    has_pairs: bool = False
    has_halves: bool = False
    has_byte_lookups: bool = False


@cache
def host() -> Target:
    """This machine."""
    flags = _flags()
    description = " ".join((sys.platform, platform.machine(), _model(), *sorted(flags)))
    is_arm = platform.machine().lower() in ("aarch64", "arm64")
    return Target(
        description,
        has_fma=is_arm or "fma" in flags,
        has_byte_products="avx512_vnni" in flags,
        has_scaling="avx512f" in flags,
        has_pairs="avx512_bf16" in flags,
        has_halves=is_arm or "f16c" in flags,
        has_byte_lookups="avx512vbmi" in flags,
    )


@cache
def _first_processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            return file.read(16384).partition("\n\n")[0]
    except OSError:
        return ""


def about_processor(name: str) -> str:
    """What Linux says of the first processor under a name ("flags"); nothing elsewhere."""
    for line in _first_processor().splitlines():
        key, _, text = line.partition(":")
        if key.strip() == name:
            return text.strip()
    return ""


def _flags() -> frozenset[str]:
    return frozenset(about_processor("flags").split())


def _model() -> str:
    words = (about_processor(name) for name in ("cpu family", "model", "model name"))
    return " ".join(words) if _first_processor() else platform.processor()
