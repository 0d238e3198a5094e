"""Nothing that a file holds reaches the terminal with characters that control it."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import unicodedata
import warnings
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.cli.json_lines import tell_data
from rushlight.frontend.diagnostics.cells import clean, clean_lines
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.container_writer import ContainerWriter

Captured = pytest.CaptureFixture[str]

HOSTILE = "\x1b[2J\r\x00\x9b31m\u202e\u200b\u2028\x07"
CLI = Path(__file__).resolve().parent.parent.parent / "rushlight" / "cli"


class Speaks(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.text = "MARK"

    def forward(self, x: torch.Tensor) -> str:
        """Returns and prints what it likes."""
        print("printed MARK", self.text)
        warnings.warn("warned MARK", stacklevel=2)
        return "returned MARK" + self.text

    @torch.jit.export
    def fails(self, x: torch.Tensor) -> str:
        raise ValueError("raised MARK " + self.text)


def write_archive(path: Path, records: dict[str, bytes]) -> str:
    with open(path, "wb") as file:
        writer = ContainerWriter(file, "m")
        for record, content in records.items():
            writer.add(record, content)
        writer.finish()
    return str(path)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An archive whose texts, names and extra files try to control the terminal."""
    data = torch.jit.script(Speaks()).save_to_buffer()
    with ArchiveReader(data) as reader:
        records = {record: reader.read(record) for record in reader.records()}
    escaped = HOSTILE.encode("unicode_escape")
    for record, content in records.items():
        if record.endswith(".py"):
            records[record] = content.replace(b"MARK", escaped)
        elif record.endswith("data.pkl"):
            mark = HOSTILE.encode()
            assert b"X\4\0\0\0MARK" in content
            records[record] = content.replace(
                b"X\4\0\0\0MARK", b"X" + len(mark).to_bytes(4, "little") + mark
            )
    records[f"extra/{HOSTILE}\nx"] = b"extra"
    records[f"odd/{HOSTILE}\n  nothing found"] = b"odd"
    records["code/__torch__/other.py"] = f"def f(x: Tensor) -> str:\n  return '{HOSTILE}'\n".encode(
        "utf-8", "surrogatepass"
    )
    return write_archive(tmp_path_factory.mktemp("hostile") / "m.pt", records)


def controls(text: str) -> set[str]:
    found = {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    return found - {"\n", "\t"}


COMMANDS = [
    ["what", "M"],
    ["audit", "M"],
    ["audit", "--json", "M"],
    ["show", "M"],
    ["show", "M", "--graph"],
    ["show", "M", "--inlined-graph"],
    ["show", "M", "--instructions"],
    ["show", "M", "--tree"],
    ["show", "M", "--modules"],
    ["show", "M", "--constants"],
    ["show", "M", "--extra"],
    ["show", "M", "--extra", "--json"],
    ["show", "M", "--method", HOSTILE],
    ["run", "M", "1.0"],
    ["run", "M", "--method", "fails", "1.0"],
    ["run", "M", HOSTILE],
    ["run", "M", "--each", "1.0"],
    ["diff", "M", "M"],
    ["view", "M", "--svg"],
    ["view", "M", "--dot"],
    ["view", "M", "M", "-o", "-"],
    ["explain", HOSTILE],
    ["explain", "--op", HOSTILE],
    ["what", f"/none/{HOSTILE}"],
    ["check", f"/none/{HOSTILE}"],
    ["convert", "M", f"/none/{HOSTILE}.pt"],
    ["frob", HOSTILE],
    ["show", HOSTILE, HOSTILE],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: ascii(" ".join(words))[:40])
@pytest.mark.filterwarnings("ignore:warned")
def test_no_command_lets_controls_through(words: list[str], hostile: str, capsys: Captured) -> None:
    try:
        status = main([hostile if word == "M" else word for word in words])
    except SystemExit as stop:
        status = stop.code
    printed = capsys.readouterr()
    assert status in {0, 1, 2}
    assert controls(printed.out + printed.err) == set()
    assert printed.out or printed.err
    assert "Traceback" not in printed.err
    if "--json" in words:
        json.loads(printed.out)


def test_lines_of_an_audit_are_not_faked(hostile: str, capsys: Captured) -> None:
    assert main(["audit", hostile]) in {1, 2}
    assert "\n  nothing found" not in capsys.readouterr().out


def test_what_a_trusted_script_prints_is_its_own(hostile: str, capsys: Captured) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["run", "--trust", "full", hostile, "1.0"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"printed {HOSTILE}")
    assert controls(printed.splitlines()[-1]) == set()


def test_errors_about_archives_are_clean(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "m.pt", {f"data{HOSTILE}": b""})
    module = torch.jit.script(Speaks())
    with ArchiveReader(module.save_to_buffer()) as reader:
        records = {record: reader.read(record) for record in reader.records()}
    code = next(record for record in records if record.endswith(".py"))
    records[code] += f"  def g(self, x: Tensor) -> int:\n    return '{HOSTILE}'\n".encode()
    broken = write_archive(tmp_path / "b.pt", records)
    for bad in (path, broken):
        with pytest.raises(RuntimeError) as caught:
            torch.jit.load(bad, trust="none")
        assert (
            controls("".join([str(caught.value), *getattr(caught.value, "__notes__", ())])) == set()
        )


def test_errors_of_scripts_that_are_not_trusted_are_clean(hostile: str) -> None:
    with pytest.raises(torch.jit.Error) as caught:
        torch.jit.load(hostile, trust="none").fails(torch.ones(1))
    assert controls("".join([str(caught.value), *caught.value.__notes__])) == set()
    with pytest.raises(torch.jit.Error) as caught:
        torch.jit.load(hostile).fails(torch.ones(1))
    own = HOSTILE.partition("\0")[0]  # texts of errors end at a NUL, as torch's
    assert own in str(caught.value)  # the program's own text, where the program is trusted


def rushlight(
    *words: str, encoding: str = "utf-8", **how: object
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "rushlight", *words]
    return subprocess.run(command, env=environment, stderr=subprocess.PIPE, **how)  # type: ignore[call-overload,no-any-return]


def test_output_of_any_encoding_and_kind(hostile: str, tmp_path: Path) -> None:
    found = rushlight("run", hostile, "1.0", encoding="ascii", stdout=subprocess.PIPE)
    assert found.returncode == 0, found.stderr
    assert found.stdout.isascii()
    assert b"\\ufffd" in found.stdout
    assert controls(found.stderr.decode()) == set()  # where the script's warning is
    assert b"warned" in found.stderr
    with open("/dev/full", "wb") as full:
        found = rushlight("run", hostile, "1.0", stdout=full)
    assert found.returncode == 2
    assert b"No space left on device" in found.stderr
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as pipe:
        found = rushlight("explain", stdout=pipe)
    assert (found.returncode, found.stderr) == (141, b"")


def test_a_closed_output(hostile: str) -> None:
    found = rushlight("show", hostile, preexec_fn=lambda: os.close(1))
    assert (found.returncode, found.stderr) == (0, b"")


def test_commands_print_in_one_place_alone() -> None:
    """What is printed elsewhere would not be clean."""
    for file in CLI.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print" or file.name == "progress.py", file


def test_cleaning() -> None:
    assert clean_lines("a\tb\r\nc\n") == "a\tb\nc\n"
    assert clean_lines(HOSTILE + "é漢\u00a0\U0001f600") == clean(HOSTILE + "é漢\u00a0\U0001f600")
    assert clean("a\nb\x1b\ud800") == "a\ufffdb\ufffd\ufffd"
    io.StringIO(clean_lines("".join(map(chr, range(0x3000))))).read().encode()


class _Counted(io.StringIO):
    flushes = 0

    def flush(self) -> None:
        self.flushes += 1


def test_data_is_told_at_once_where_there_is_an_output(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Counted()
    monkeypatch.setattr(sys, "stdout", stream)
    tell_data({"a": 1})
    assert json.loads(stream.getvalue()) == {"a": 1}
    assert stream.flushes
    monkeypatch.setattr(sys, "stdout", None)
    tell_data({"a": 1})
