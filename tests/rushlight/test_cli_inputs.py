"""Words of the command line become arguments of a method."""

from __future__ import annotations

import argparse
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight.cli.arguments.options import add_sizes
from rushlight.cli.failure import CommandError
from rushlight.cli.inputs import convert, read_inputs
from rushlight.cli.output import arrays_of, write_output
from rushlight.ops.tensors.tensor import Tensor
from rushlight.serialization.files.limits import Limits
from rushlight.serialization.files.npy import loaded_arrays
from rushlight.typecheck.definitions.schema import Argument
from rushlight.typecheck.types.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)

PARAMETERS = [Argument("x", TENSOR), Argument("n", INT), Argument("s", STRING)]


def plain(value: Any) -> Any:
    """A value with tensors written as (dtype, numbers)."""
    if isinstance(value, Tensor):
        return str(value._array.dtype), value._array.tolist()
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    ("value", "type", "expected"),
    [
        ([[1, 2], [3, 4]], TENSOR, ("int64", [[1, 2], [3, 4]])),
        ([1, 2.5], TENSOR, ("float32", [1.0, 2.5])),
        (True, TENSOR, ("bool", True)),
        (1j, TENSOR, ("complex64", 1j)),
        ([1, 2], ListType(INT), [1, 2]),
        ((1, 2), ListType(TENSOR), [("int64", 1), ("int64", 2)]),
        (None, OptionalType(TENSOR), None),
        ([1.0], OptionalType(TENSOR), ("float32", [1.0])),
        ((1, [2]), TupleType((INT, TENSOR)), (1, ("int64", [2]))),
        ((1, 2, 3), TupleType((INT, TENSOR)), (1, 2, 3)),
        ({"a": [1]}, DictType(STRING, TENSOR), {"a": ("int64", [1])}),
        ([1], UnionType((TENSOR, STRING)), ("int64", [1])),
        ("a", UnionType((TENSOR, STRING)), "a"),
        ([1], UnionType((TENSOR, ListType(INT))), [1]),
        (3, FLOAT, 3),
        ("no", BOOL, "no"),
    ],
)
def test_literals_follow_the_type(value: object, type: Type, expected: object) -> None:
    assert plain(convert(value, type)) == expected


def test_words_are_positional_or_named() -> None:
    args, kwargs = read_inputs(["[1.0]", "s=a=b", "n=-3"], PARAMETERS)
    assert plain(args) == [("float32", [1.0])]
    assert kwargs == {"s": "a=b", "n": -3}


@pytest.mark.parametrize(("word", "text"), [("hello", "hello"), ("'a b'", "a b"), ("12", "12")])
def test_a_str_parameter_takes_the_text(word: str, text: str) -> None:
    assert read_inputs(["1", "2", word], PARAMETERS)[0][2] == text


def test_arrays_from_files(tmp_path: Path) -> None:
    npy, npz = str(tmp_path / "a.npy"), str(tmp_path / "b.npz")
    np.save(npy, np.arange(3, dtype=">i4"))
    np.savez(npz, n=np.float32(2), x=np.ones(2))
    assert plain(read_inputs([npy], PARAMETERS)[0]) == [("int32", [0, 1, 2])]
    args, kwargs = read_inputs([npz], PARAMETERS)
    assert (args, sorted(kwargs)) == ([], ["n", "x"])
    assert plain(kwargs["x"]) == ("float64", [1.0, 1.0])
    assert plain(read_inputs([f"{npz}:n"], PARAMETERS)[0]) == [("float32", 2.0)]
    assert plain(read_inputs([f"x={npy}"], PARAMETERS)[1]["x"]) == ("int32", [0, 1, 2])
    np.savez(npz, np.zeros(1), np.ones(1))
    both = plain(read_inputs([npz], PARAMETERS)[0])
    assert both == [("float64", [0.0]), ("float64", [1.0])]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["[1, "], r"cannot read '\[1, ' for `x`: expected a Python literal"),
        (["__import__('os')"], "expected a Python literal"),
        (["'text'"], "cannot make a tensor for `x` from 'text'"),
        (["[[1], [1, 2]]"], "cannot make a tensor for `x`: expected sequence of length 1"),
        (["1", "2", "3", "four"], "cannot read 'four': expected"),
        (["n=1", "n=2"], "`n` is given twice"),
        (["missing.npy"], "missing.npy: no such file"),
        (["(" * 2000], "expected a Python literal"),
    ],
)
def test_what_cannot_be_read(words: list[str], text: str) -> None:
    with pytest.raises(CommandError, match=text):
        read_inputs(words, PARAMETERS)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    npz, bad, objects = (str(tmp_path / n) for n in ("a.npz", "b.npz", "c.npy"))
    np.savez(npz, y=np.ones(1))
    Path(bad).write_bytes(b"PK\x03\x04 no zip")
    np.save(objects, np.array(["text"]))
    for word, text in [
        (npz, "`y` is not a parameter; there are: x, n, s"),
        (f"{npz}:z", "no array `z`; there are: y"),
        (bad, "b.npz: "),
        (objects, "a tensor cannot hold <U4"),
    ]:
        with pytest.raises(CommandError, match=text) as caught:
            read_inputs([word], PARAMETERS)
        assert "\n" not in str(caught.value)


def test_what_lies_beside_arrays_is_told(tmp_path: Path) -> None:
    path = str(tmp_path / "a.npz")
    for name in ("x.npy", "x"):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(name, b"text")
        with pytest.raises(CommandError, match="`x` is no array"):
            read_inputs([path], PARAMETERS)


def test_arrays_are_inflated_within_limits() -> None:
    file = io.BytesIO()
    np.savez_compressed(file, x=np.zeros(100_000))
    file.seek(0)
    assert loaded_arrays(file)["x"].sum() == 0
    file.seek(0)
    with pytest.raises(ValueError, match="once inflated"):
        loaded_arrays(file, Limits(inflated=1000, ratio=10))


def test_files_whose_endings_are_of_another_kind(tmp_path: Path) -> None:
    single, several = tmp_path / "single.npz", tmp_path / "several.npy"
    with single.open("wb") as file:
        np.save(file, np.ones(2))
    with several.open("wb") as file:
        np.savez(file, x=np.ones(2), n=np.ones(1))
    for word, text in [
        (str(single), "one array, not an archive of arrays"),
        (f"{single}:x", "one array, not an archive of arrays"),
        (str(several), "an archive of arrays, not one array"),
    ]:
        with pytest.raises(CommandError, match=text):
            read_inputs([word], PARAMETERS)


def test_files_that_lie_about_their_size_or_content(tmp_path: Path) -> None:
    wide = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000,)}"
    large = tmp_path / "large.npy"
    large.write_bytes(b"\x93NUMPY\x01\x00" + len(wide).to_bytes(2, "little") + wide)
    packed = tmp_path / "packed.npz"
    np.savez_compressed(packed, x=np.arange(1000))
    content = packed.read_bytes()
    half = len(content) // 2
    packed.write_bytes(content[:half] + b"\xff" * 20 + content[half + 20 :])
    for path in (large, packed):
        with pytest.raises(CommandError, match=path.name):
            read_inputs([str(path)], [Argument("x", TENSOR)])


@pytest.mark.parametrize("shape", ["(True, True)", f"({2**70}, 0)", "(" * 5000])
def test_headers_that_numpy_fails_over(tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}".encode()
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4))
    with pytest.raises(CommandError, match=r"x\.npy"):
        read_inputs([str(path)], [Argument("x", TENSOR)])


def test_results_are_written_by_name(tmp_path: Path) -> None:
    tensor = Tensor._of(np.ones(2))
    assert dict(arrays_of(tensor)).keys() == {"result"}
    nested = (tensor, {"a": [tensor, 3]}, None, "text")
    assert dict(arrays_of(nested)).keys() == {"0", "1.a.0", "1.a.1"}
    path = tmp_path / "out.npz"
    path.write_text("old")
    write_output(str(path), nested)
    with np.load(path) as loaded:
        assert loaded["1.a.1"] == 3
    assert [p.name for p in tmp_path.iterdir()] == ["out.npz"]
    with pytest.raises(CommandError, match="no tensor and no number"):
        write_output(str(path), "text")
    with pytest.raises(CommandError, match="No such file or directory"):
        write_output(str(tmp_path / "none" / "out.npz"), tensor)


def test_help_says_where_a_size_may_be_a_name() -> None:
    for named in (False, True):
        parser = argparse.ArgumentParser()
        add_sizes(parser, named=named)
        text = " ".join(parser.format_help().split())
        assert ("a name is a size that varies" in text) is named
        given = parser.parse_args(["--input", "2,3:int64"])
        assert given.input[0].numbers == [2, 3]
    assert parser.parse_args(["--input", "n,3"]).input[0].numbers == [1, 3]
