"""What is told of mobile files, and their writing anew in earlier versions."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.jit import mobile

VERSIONS = (4, 5, 6, 7)


class Model(torch.nn.Module):
    """Operators with defaults, instructions that were operators, containers, a constant tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, key: str | None = None) -> tuple[torch.Tensor, str]:
        found: list[str] = []
        if key is not None:
            found.append(f"{key} {x.dim()}")
        if not x.is_cuda and len(found) > 5:
            raise ValueError("never")
        pair = (torch.sum(x), self.linear(x) + torch.tensor([1.0, 2.0]))
        return pair[1] + pair[0], ",".join(found)


@pytest.fixture(scope="module")
def saved() -> tuple[Any, bytes]:
    module = torch.jit.script(Model())
    return module, module._save_to_buffer_for_lite_interpreter(_extra_files={"note": "hi"})


@pytest.mark.parametrize("version", VERSIONS)
def test_earlier_versions_run_the_same(saved: tuple[Any, bytes], version: int) -> None:
    module, data = saved
    made = mobile._backport_for_mobile_to_buffer(io.BytesIO(data), version)
    assert mobile._get_model_bytecode_version(io.BytesIO(made)) == version
    extra = {"note": b""}
    lite = mobile._load_for_lite_interpreter(io.BytesIO(made), _extra_files=extra)
    assert extra == {"note": b"hi"}
    x = torch.arange(4.0).reshape(2, 2)
    for key in (None, "k"):
        mine, wanted = lite(x, key), module(x, key)
        assert torch.equal(mine[0], wanted[0])
        assert mine[1] == wanted[1]


def test_only_earlier_versions_that_exist_are_written(
    saved: tuple[Any, bytes], tmp_path: Path
) -> None:
    data = saved[1]
    target = tmp_path / "old.ptl"
    for version in (3, 8, 9):
        assert not mobile._backport_for_mobile(io.BytesIO(data), target, version)
        assert not target.exists()
        with pytest.raises(RuntimeError, match="no way to bytecode of version"):
            mobile._backport_for_mobile_to_buffer(io.BytesIO(data), version)
    assert mobile._backport_for_mobile(io.BytesIO(data), target, 7)
    assert mobile._get_model_bytecode_version(target) == 7


def test_operators_and_their_arguments(saved: tuple[Any, bytes]) -> None:
    data = saved[1]
    found = mobile._get_model_ops_and_info(io.BytesIO(data))
    assert found["aten::sum"].num_schema_args == 1  # its dtype is the default
    assert found["aten::linear"].num_schema_args == 3
    assert found["aten::add.Tensor"].num_schema_args == 2
    lite = mobile._load_for_lite_interpreter(io.BytesIO(data))
    assert mobile._export_operator_list(lite) == set(found)
    old = mobile._backport_for_mobile_to_buffer(io.BytesIO(data), 5)
    assert mobile._get_model_ops_and_info(io.BytesIO(old))["aten::sum"].num_schema_args is None


def test_words_of_types(saved: tuple[Any, bytes]) -> None:
    assert mobile._get_mobile_model_contained_types(io.BytesIO(saved[1])) == {
        "List",
        "float",
        "str",
    }


def test_a_file_that_is_not_there() -> None:
    for function in (
        mobile._get_model_ops_and_info,
        mobile._get_mobile_model_contained_types,
        mobile._get_model_bytecode_version,
    ):
        with pytest.raises(ValueError, match="does not exist"):
            function("nowhere.ptl")
