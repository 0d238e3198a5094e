"""A port is filled once."""

from __future__ import annotations

import pytest

from rushlight.frontend.foundations.port import Port


def test_a_port_is_filled_once() -> None:
    port: Port[str] = Port()
    assert port.installed is None
    assert port.install("first") == "first"
    with pytest.raises(RuntimeError, match="'first'"):
        port.install("second")
    assert port.installed == "first"
