"""Logs for TensorBoard: their records are read again here, as protobuf's fields."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.utils.tensorboard import FileWriter, SummaryWriter
from rushlight.utils.tensorboard.records import RecordWriter

Fields = dict[int, list[Any]]


def varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
        if byte < 128:
            return value, place


def fields(data: bytes) -> Fields:
    found: Fields = {}
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        if key & 7 == 0:
            value: Any
            value, place = varint(data, place)
        else:
            size, place = varint(data, place) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], place)
            value, place = data[place : place + size], place + size
        found.setdefault(key >> 3, []).append(value)
    return found


def events(folder: Path) -> Iterator[Fields]:
    for path in sorted(folder.glob("events.out.tfevents.*")):
        data = path.read_bytes()
        while data:
            (size,) = struct.unpack("<Q", data[:8])
            yield fields(data[12 : 12 + size])
            data = data[16 + size :]


def values(folder: Path) -> dict[str, Fields]:
    """All values by their tags, of events in order."""
    found = {}
    for event in events(folder):
        for summary in event.get(5, []):
            for value in fields(summary).get(1, []):
                seen = fields(value)
                found[seen[1][0].decode()] = {**seen, 0: event.get(2, [])}
    return found


def doubles(data: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def plugin(value: Fields) -> tuple[str, bytes]:
    told = fields(fields(value[9][0])[1][0])
    return told[1][0].decode(), told.get(2, [b""])[0]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SummaryWriter]:
    with SummaryWriter(tmp_path) as made:
        yield made


def test_records_have_their_checksums(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "r") as records:
        records.write(b"123456789")
    data = (tmp_path / "r").read_bytes()
    (masked,) = struct.unpack("<I", data[-4:])
    turned = masked - 0xA282EAD8 & 0xFFFFFFFF
    assert turned << 15 & 0xFFFFFFFF | turned >> 17 == 0xE3069283  # RFC 3720's own example
    assert data[:8] == struct.pack("<Q", 9)
    assert data[12:-4] == b"123456789"


def test_scalars_have_steps(writer: SummaryWriter, tmp_path: Path) -> None:
    writer.add_scalar("loss", torch.tensor(2.5), 3, walltime=7.0)
    writer.add_scalar("exact", 0.1, double_precision=True)
    writer.add_scalar("late", np.float32(1), -1)
    writer.flush()
    first, loss, *_ = events(tmp_path)
    assert first[3] == [b"brain.Event:2"]
    assert (doubles(loss[1][0]), loss[2]) == ([7.0], [3])
    found = values(tmp_path)
    assert struct.unpack("<f", found["loss"][2][0]) == (2.5,)
    assert doubles(fields(found["exact"][8][0])[6][0]) == [0.1]
    assert plugin(found["exact"]) == ("scalars", b"")
    assert found["late"][0] == [2**64 - 1]


def test_scalars_of_one_chart_have_folders(writer: SummaryWriter, tmp_path: Path) -> None:
    writer.add_scalars("run/x", {"a": 1, "b": 2}, 4)
    writer.flush()
    assert struct.unpack("<f", values(tmp_path / "run_x_b")["run/x"][2][0]) == (2.0,)


def test_histograms_leave_empty_ends_out(writer: SummaryWriter, tmp_path: Path) -> None:
    writer.add_histogram("h", np.array([1, 2, 5]), bins=3)
    writer.add_histogram("grown", torch.tensor([-1.0, 0.0, 1.0]))
    writer.add_histogram("raw", torch.arange(4.0), max_bins=2, bins=4)
    writer.flush()
    found = {tag: fields(value[5][0]) for tag, value in values(tmp_path).items()}
    told = [doubles(found["h"][place][0])[0] for place in range(1, 6)]
    assert told == [1.0, 5.0, 3.0, 8.0, 30.0]
    assert doubles(found["h"][6][0]) == pytest.approx([1.0, 7 / 3, 11 / 3, 5.0])
    assert doubles(found["h"][7][0]) == [0.0, 2.0, 0.0, 1.0]
    assert sum(doubles(found["grown"][7][0])) == 3
    assert doubles(found["grown"][6][0])[-1] > 1.0
    assert doubles(found["raw"][7][0]) == [0.0, 2.0, 2.0]


def pixels_of(value: Fields) -> Any:
    seen = fields(value[4][0])
    height, width, channels, data = (seen[place][0] for place in range(1, 5))
    start = data.index(b"IDAT") + 4
    lines = zlib.decompress(data[start : data.index(b"IEND") - 8])
    return (
        np.frombuffer(lines, np.uint8).reshape(height, -1)[:, 1:].reshape(height, width, channels)
    )


def test_pictures_are_rows_of_pixels(writer: SummaryWriter, tmp_path: Path) -> None:
    picture = torch.arange(24, dtype=torch.uint8).reshape(3, 2, 4)
    writer.add_image("chw", picture)
    writer.add_image("grey", torch.tensor([[0.5, 2.0]]), dataformats="HW")
    writer.add_images("nine", torch.ones(9, 1, 2, 2))
    writer.flush()
    found = {tag: pixels_of(value) for tag, value in values(tmp_path).items()}
    assert found["chw"].tolist() == picture.permute(1, 2, 0).tolist()
    assert found["grey"].tolist() == [[[127] * 3, [255] * 3]]
    assert found["nine"].shape == (4, 16, 3)
    assert found["nine"][2:, 2:].max() == 0


def test_sounds_texts_and_tensors(writer: SummaryWriter, tmp_path: Path) -> None:
    writer.add_audio("sound", torch.tensor([[-1.0, 0.0, 1.0]]), sample_rate=8)
    writer.add_text("words", "*hello*")
    writer.add_tensor("kept", torch.tensor([[1, -1]]))
    writer.flush()
    found = values(tmp_path)
    sound = fields(found["sound"][6][0])
    assert sound[4][0][-6:] == struct.pack("<3h", -32767, 0, 32767)
    assert (sound[2], sound[3], sound[5]) == ([1], [3], [b"audio/wav"])
    assert fields(found["words/text_summary"][8][0])[8] == [b"*hello*"]
    kept = fields(found["kept"][8][0])
    assert kept[10][0] == b"\x01" + b"\xff" * 9 + b"\x01"
    assert [fields(each)[1] for each in fields(kept[2][0])[2]] == [[1], [2]]


def test_curves_charts_and_meshes(writer: SummaryWriter, tmp_path: Path) -> None:
    truth, said = torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.6, 0.7])
    writer.add_pr_curve("curve", truth, said, num_thresholds=5)
    writer.add_custom_scalars({"A": {"x": ["Multiline", ["a", "b"]], "y": ["Margin", list("mlh")]}})
    writer.add_mesh("m", torch.zeros(1, 3, 3), faces=torch.tensor([[[0, 1, 2]]]))
    writer.flush()
    found = values(tmp_path)
    rows = np.frombuffer(fields(found["curve"][8][0])[5][0], "<f4").reshape(6, 5)
    assert rows[:4].tolist() == [[2, 2, 2, 0, 0], [1, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 0, 0, 2, 2]]
    assert plugin(found["curve"]) == ("pr_curves", b"\x10\x05")
    charts = fields(found["custom_scalars__config__"][8][0])[8][0]
    lines = b"\x12\x0b\n\x01x\x12\x06\n\x01a\n\x01b"
    margin = b"\x12\x10\n\x01y\x1a\x0b\n\t\n\x01m\x12\x01l\x1a\x01h"
    assert charts == b'\x12"\n\x01A' + lines + margin
    assert plugin(found["m_FACE"]) == ("mesh", b"\x12\x01m\x18\x02*\x02{}2\x03\x01\x01\x038\x06")


def test_hyperparameters_have_a_folder(writer: SummaryWriter, tmp_path: Path) -> None:
    tried = {"lr": 0.1, "s": "x", "f": True, "none": None}
    writer.add_hparams(tried, {"acc": 0.5}, {"f": [True, False]}, run_name="hp")
    found = values(tmp_path / "hp")
    name, told = plugin(found["_hparams_/experiment"])
    infos = [fields(each) for each in fields(fields(told)[2][0])[4]]
    assert (name, [each[1][0] for each in infos]) == ("hparams", [b"lr", b"s", b"f"])
    assert [each[4] for each in infos] == [[3], [1], [3]]
    assert fields(infos[2][5][0])[1] == [b"\x20\x01", b"\x20\x00"]
    assert plugin(found["_hparams_/session_end_info"])[1] == b'"\x02\x08\x01'
    assert struct.unpack("<f", found["acc"][2][0]) == (0.5,)


def test_a_writer_goes_on_in_another_file(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path, purge_step=5, filename_suffix=".x")
    writer.close()
    writer.add_scalar("later", 1.0)
    writer.close()
    assert len(list(tmp_path.glob("*.x"))) == 2
    assert any(event.get(7) == [b"\x08\x01"] and event[2] == [5] for event in events(tmp_path))
    files = FileWriter(tmp_path / "f")
    files.close()
    files.reopen()
    files.close()
    assert len(list((tmp_path / "f").iterdir())) == 2


REFUSED = [
    (lambda w: w.add_scalar("x", torch.ones(2)), AssertionError, "should contain one element"),
    (lambda w: w.add_scalar("x", None), NotImplementedError, "Got <class 'NoneType'>"),
    (lambda w: w.add_histogram("x", torch.ones(0)), ValueError, "The input has no element"),
    (lambda w: w.add_histogram_raw("x", 0, 0, 0, 0, 0, [1], []), ValueError, "bucket_limits"),
    (lambda w: w.add_image("x", torch.ones(2, 2)), AssertionError, "size of input tensor"),
    (lambda w: w.add_hparams([], {}), TypeError, "should be dictionary"),
    (lambda w: w.add_hparams({"a": [1]}, {}), ValueError, "should be one of int, float"),
    (lambda w: w.add_graph(None), NotImplementedError, "SummaryWriter.add_graph"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_is_refused(case: int, writer: SummaryWriter) -> None:
    attempt, kind, sentence = REFUSED[case]
    with pytest.raises(kind, match=sentence):
        attempt(writer)
