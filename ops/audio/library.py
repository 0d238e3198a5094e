"""What torchaudio asks its compiled library about itself."""

from __future__ import annotations

from .declaring import audio


@audio("cuda_version() -> int?", "_torchaudio")
def cuda_version() -> None:
    """There is none: it is built for CPUs."""


@audio("is_align_available() -> bool", "_torchaudio")
def is_align_available() -> bool:
    """Forced alignment is there."""
    return True
