"""The rows that `rushlight map` reads, and the folder that it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight.scoring.errors import CannotScore
from rushlight.scoring.folder import claim_folder, parts_of, rows_in_a_part, write_part
from rushlight.scoring.rows import files_of, rows_of


def saved(path: Path, array: Any) -> Path:
    np.save(path, array)
    return path


@pytest.mark.parametrize("dtype", ["float32", ">f8", "int16", "bool", "complex64"])
def test_rows_of_an_array(tmp_path: Path, dtype: str) -> None:
    array = np.arange(60).reshape(10, 2, 3).astype(dtype)
    rows = rows_of(saved(tmp_path / "x.npy", array))
    assert (rows.count, rows.row_bytes) == (10, array[0].nbytes)
    got = rows.read(3, 7)
    assert got.dtype.isnative
    assert np.array_equal(got, array[3:7])
    assert rows.read(10, 10).shape == (0, 2, 3)


def test_arrays_that_have_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    with pytest.raises(CannotScore, match="one number, and has no rows"):
        rows_of(saved(path, np.float32(3)))
    with pytest.raises(CannotScore, match="columns first"):
        rows_of(saved(path, np.ones((3, 4), order="F")))
    with pytest.raises(CannotScore, match="cannot hold <U3"):
        rows_of(saved(path, np.array(["abc"])))
    np.save(path, np.array([{}]), allow_pickle=True)
    with pytest.raises(CannotScore, match=r"x\.npy: a tensor cannot hold object"):
        rows_of(path)
    path.write_bytes(b"no array")
    with pytest.raises(CannotScore, match=r"x\.npy: the magic string is not correct"):
        rows_of(path)
    saved(path, np.ones((8, 4)))
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(CannotScore, match="ends before the last of its 8 rows"):
        rows_of(path)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("(2**62, 0)", "malformed"),
        (f"({2**62}, 0)", "the rows hold nothing"),
        (f"({2**70}, 0)", "the rows hold nothing"),
        ("(-4, -3)", "no array has the shape"),
        ("(True, True)", "no array has the shape"),
        (f"({'1,' * 200})", "no array has the shape"),
        (f"({'-' * 9000}1,)", "x.npy"),
        ("(" * 5000, "x.npy"),
    ],
)
def test_headers_that_lie(tmp_path: Path, shape: str, said: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}".encode()
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4))
    with pytest.raises(CannotScore, match=said):
        rows_of(path)


def test_arrays_have_no_columns(tmp_path: Path) -> None:
    with pytest.raises(CannotScore, match="columns are chosen of tables"):
        rows_of(saved(tmp_path / "x.npy", np.ones((2, 2))), ["a"])


def test_a_file_that_becomes_shorter(tmp_path: Path) -> None:
    rows = rows_of(saved(tmp_path / "x.npy", np.ones((8, 4))))
    os.truncate(tmp_path / "x.npy", 200)
    with pytest.raises(CannotScore, match="has become shorter"):
        rows.read(4, 8)


def test_files_of_folders(tmp_path: Path) -> None:
    with pytest.raises(CannotScore, match="no such file or folder"):
        files_of(tmp_path / "x")
    with pytest.raises(CannotScore, match=r"no \.npy and no \.parquet"):
        files_of(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    for name in ("b", "a"):
        saved(tmp_path / f"{name}.npy", np.ones((2, 2)))
    assert [path.name for path in files_of(tmp_path)] == ["a.npy", "b.npy"]
    with pytest.raises(CannotScore, match=r"is an \.npy or \.parquet file"):
        files_of(tmp_path / "notes.txt")


def test_parts(tmp_path: Path) -> None:
    rows = rows_of(saved(tmp_path / "x.npy", np.ones((10, 4), np.float32)))
    parts = parts_of([rows], 4)
    assert [(part.name, part.begin, part.end) for part in parts] == [
        ("x-00000", 0, 4),
        ("x-00001", 4, 8),
        ("x-00002", 8, 10),
    ]
    assert parts[2].where().endswith("x.npy, rows 8 to 9")
    assert rows_in_a_part([rows], 64) == (8 << 20) // 16
    (tmp_path / "other").mkdir()
    again = rows_of(saved(tmp_path / "other" / "x.npy", np.ones((1, 4))))
    with pytest.raises(CannotScore, match="parts of both would have one name"):
        parts_of([rows, again], 4)


def test_a_folder_belongs_to_one_run(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    claim_folder(out, {"archive": "1", "rows": 4})
    claim_folder(out, {"archive": "1", "rows": 4})
    with pytest.raises(CannotScore, match=r"of another run \(archive, rows differ\)"):
        claim_folder(out, {"archive": "2", "rows": 5})
    assert json.loads((out / "map.json").read_text()) == {"archive": "1", "rows": 4}
    (out / "map.json").write_text("{")
    with pytest.raises(CannotScore, match=r"map\.json: "):
        claim_folder(out, {"rows": 4})
    (out / "map.json").unlink()
    (out / "thesis.txt").write_text("x")
    with pytest.raises(CannotScore, match=r"not empty, and has no map\.json"):
        claim_folder(out, {"rows": 4})
    with pytest.raises(CannotScore, match="there is such a file"):
        claim_folder(out / "thesis.txt", {"rows": 4})


def test_results_are_arrays_or_several(tmp_path: Path) -> None:
    (part,) = parts_of([rows_of(saved(tmp_path / "x.npy", np.ones((2, 4))))], 4)
    write_part(tmp_path, part, {"result": np.ones(2)})
    assert np.load(tmp_path / "x-00000.npy").tolist() == [1, 1]
    write_part(tmp_path, part, {"a": np.ones(2), "b": np.zeros(2)})
    assert sorted(np.load(tmp_path / "x-00000.npz").files) == ["a", "b"]


def test_rows_of_tables(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"

    def written(columns: dict[str, Any], size: int = 3) -> Path:
        parquet.write_table(arrow.table(columns), path, row_group_size=size)
        return path

    written({"a": [1.0, 2, 3, 4, 5, 6, 7], "b": list(range(7)), "name": ["x"] * 7})
    with pytest.raises(CannotScore, match="column `name` holds string, and no numbers"):
        rows_of(path).read(0, 2)
    with pytest.raises(CannotScore, match="no column `c`; there are: a, b, name"):
        rows_of(path, ["c"])
    rows = rows_of(path, ["b", "a"])
    assert rows.count == 7
    assert rows.read(2, 7).tolist() == [[2, 3], [3, 4], [4, 5], [5, 6], [6, 7]]
    assert rows.read(0, 1).tolist() == [[0, 1]]
    written({"v": [[1, 2], [3, 4], [5, 6], [7, 8]]})
    assert rows_of(path).read(1, 4).tolist() == [[3, 4], [5, 6], [7, 8]]
    with pytest.raises(CannotScore, match="the lists of column `v` differ in length"):
        rows_of(written({"v": [[1, 2], [3]]})).read(0, 2)
    with pytest.raises(CannotScore, match="row 3 has nothing in column `a`"):
        rows_of(written({"a": [1, 2, 3, None]})).read(3, 4)
    with pytest.raises(CannotScore, match="the table has no columns"):
        rows_of(written({}))
    path.write_bytes(b"PAR1 no table")
    with pytest.raises(CannotScore, match=r"t\.parquet: "):
        rows_of(path)


@pytest.mark.parametrize("said", ["[1]", "3", "null", "NaN", "[" * 100_000, '{"a":' * 100_000, ""])
def test_a_folder_that_says_what_is_no_run(tmp_path: Path, said: str) -> None:
    (tmp_path / "map.json").write_text(said)
    with pytest.raises(CannotScore, match=r"map\.json"):
        claim_folder(tmp_path, {"rows": 1})
