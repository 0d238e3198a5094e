"""Inputs for several devices, and the device that blocks and functions make tensors on."""

from __future__ import annotations

from collections.abc import Iterator

import rushlight as torch
from rushlight.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs
from rushlight.utils._device import DeviceContext, set_device


def test_inputs_are_cut_and_joined() -> None:
    x = torch.arange(4.0)
    rows = scatter({"x": x, "n": [1, x]}, [0, 1])
    assert [row["x"].tolist() for row in rows] == [[0.0, 1.0], [2.0, 3.0]]
    assert [row["n"][0] for row in rows] == [1, 1]
    joined = gather([(row["x"], row["n"][1]) for row in rows], "cpu")
    assert [each.tolist() for each in joined] == [x.tolist()] * 2
    places, names = scatter_kwargs((x,), None, [0, 1])
    assert [each[0].tolist() for each in places] == [[0.0, 1.0], [2.0, 3.0]]
    assert names == ({}, {})


def test_a_block_and_a_function_on_a_device() -> None:
    with DeviceContext("meta"):
        assert torch.ones(1).device.type == "meta"
    assert torch.ones(1).device.type == "cpu"
    assert set_device("meta")(torch.zeros)(2).device.type == "meta"

    @set_device("meta")
    def steps() -> Iterator[torch.Tensor]:
        yield torch.ones(1)
        yield torch.ones(1)

    assert [each.device.type for each in steps()] == ["meta", "meta"]
