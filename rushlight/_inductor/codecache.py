"""`torch._inductor.codecache`: where that compiler keeps what it made.  Nothing is made here, so
there is nothing in it; packages import it for what importing it does in torch."""

from __future__ import annotations

__all__: list[str] = []
