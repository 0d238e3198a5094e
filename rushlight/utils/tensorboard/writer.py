"""Writers of logs: events with a time and a step, in files of a folder."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence, Sized
from itertools import count
from typing import Final, NoReturn, Protocol, Self

import numpy as np

from ...ops.memory.dtype import Array
from . import summary
from .records import Message, RecordWriter, double, field, number

__all__ = ["FileWriter", "SummaryWriter"]

Folder = str | os.PathLike[str]

_NUMBERS: Final = count()
"""Files of one process, begun within a second, differ by these."""


class Serialized(Protocol):
    """A message of protobuf's form."""

    def SerializeToString(self) -> bytes:
        """Its bytes."""


class FileWriter:
    """Appends events to a new file in a folder.

    Args:
        log_dir: the folder, which is made.
        max_queue: how many events may wait until they are handed to the system.
        flush_secs: how long they may.
        filename_suffix: the end of the file's name.
    """

    def __init__(
        self,
        log_dir: object,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self._folder, self._suffix = str(log_dir), filename_suffix
        self._most, self._seconds = max_queue, flush_secs
        self._begin()

    def _begin(self) -> None:
        os.makedirs(self._folder, exist_ok=True)
        made = f"{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_NUMBERS)}"
        name = f"events.out.tfevents.{made}{self._suffix}"
        self._records = RecordWriter(os.path.join(self._folder, name))
        self._waiting, self._flushed = 0, time.monotonic()
        self.add_event(Message(field(3, "brain.Event:2")))
        self.flush()

    def get_logdir(self) -> str:
        """The folder."""
        return self._folder

    def add_event(
        self, event: Serialized, step: int | None = None, walltime: float | None = None
    ) -> None:
        """Append an event, whatever has `SerializeToString`, at a time: now, if none is given."""
        if self._records.closed:
            self._begin()
        content = event.SerializeToString()
        content += double(1, time.time() if walltime is None else walltime)
        if step is not None:
            content += number(2, int(step))
        self._records.write(content)
        self._waiting += 1
        if self._waiting >= self._most or time.monotonic() - self._flushed > self._seconds:
            self.flush()

    def add_summary(
        self, summary: Serialized, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Append values."""
        content = field(5, summary.SerializeToString())
        self.add_event(Message(content), global_step, walltime)

    def flush(self) -> None:
        """Hand to the system what was written."""
        if not self._records.closed:
            self._records.flush()
        self._waiting, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        """Flush, and end the file."""
        self._records.close()

    def reopen(self) -> None:
        """Go on in a new file after `close`."""
        if self._records.closed:
            self._begin()


class SummaryWriter:
    """Logs of training in a folder, for TensorBoard.

    Args:
        log_dir: the folder; one in `runs` that is named by the time and the machine, if None.
        comment: the end of that name.
        purge_step: events from this step on that older files hold are to be forgotten.
        max_queue: how many events may wait until they are handed to the system.
        flush_secs: how long they may.
        filename_suffix: the end of the files' names.
    """

    def __init__(
        self, log_dir: Folder | None = None, comment: str = "", purge_step: int | None = None,
        max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        if not log_dir:
            name = time.strftime("%b%d_%H-%M-%S_") + socket.gethostname() + comment
            log_dir = os.path.join("runs", name)
        self.log_dir = log_dir
        self.purge_step, self.max_queue = purge_step, max_queue
        self.flush_secs, self.filename_suffix = flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The writer of the folder, anew after `close`."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._of_folder(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                begun = field(7, number(1, 1))  # a session that starts
                self.file_writer.add_event(Message(begun), self.purge_step)
                self.purge_step = None
        return self.file_writer

    def _of_folder(self, folder: object) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _add(self, made: Message, step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(made, step, walltime)

    def get_logdir(self) -> Folder:
        """The folder."""
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: object, global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """A number at a step."""
        made = summary.scalar(tag, scalar_value, new_style, double_precision)
        self._add(made, global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, object], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Numbers for one chart, each in a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        writers = self.all_writers or {}
        for tag, value in tag_scalar_dict.items():
            name = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if name not in writers:
                writers[name] = self._of_folder(name)
            writers[name].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(
        self,
        tag: str,
        tensor: object,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A tensor."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self, tag: str, values: object, global_step: int | None = None,
        bins: str | int | Sequence[float] = "tensorflow",
        walltime: float | None = None, max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """The histogram of some values; `bins` is what NumPy's function takes, or `tensorflow`."""
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: float, max: float, num: float, sum: float, sum_squares: float,
        bucket_limits: Sequence[float], bucket_counts: Sequence[float],
        global_step: int | None = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A histogram that was counted elsewhere.

        Raises:
            ValueError: there are not as many limits as counts.
        """
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        told = (min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(summary.histogram_raw(tag, *told), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: object, global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """A picture: bytes, or numbers from 0 to 1."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: object, global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Pictures side by side, eight in a row."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_image_with_boxes(
        self, tag: str, img_tensor: object, box_tensor: Sized, global_step: int | None = None,
        walltime: float | None = None, rescale: float = 1, dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """A picture with boxes (left, top, right, bottom) drawn on it.

        Raises:
            NotImplementedError: it is to be scaled.
        """
        if rescale != 1:
            raise NotImplementedError("add_image_with_boxes: pictures are logged in their own size")
        named = [labels] * len(box_tensor) if isinstance(labels, str) else labels
        made = summary.image_boxes(tag, img_tensor, box_tensor, dataformats, named)
        self._add(made, global_step, walltime)

    def add_figure(
        self, tag: str, figure: object, global_step: int | None = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A figure of matplotlib, or several side by side; they are closed, if `close`."""
        given = figure if isinstance(figure, list) else [figure]
        made = np.stack([_drawn(each, close) for each in given])
        self._add(summary.image(tag, made, "NHWC"), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: object, global_step: int | None = None,
        sample_rate: int = 44100, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A sound of one channel, its samples from -1 to 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A text, in Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_pr_curve(
        self, tag: str, labels: object, predictions: object, global_step: int | None = None,
        num_thresholds: int = 127, weights: object = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Precision and recall of predictions from 0 to 1."""
        made = summary.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: object, false_positive_counts: object,
        true_negative_counts: object, false_negative_counts: object, precision: object,
        recall: object,
        global_step: int | None = None, num_thresholds: int = 127, weights: object = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A curve of precision and recall that was counted elsewhere."""
        positive = (true_positive_counts, false_positive_counts)
        counts = (*positive, true_negative_counts, false_negative_counts)
        made = summary.pr_curve_raw(tag, *counts, precision, recall, num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[object]]]) -> None:
        """Which scalars share a chart: `{category: {title: ["Multiline" or "Margin", tags]}}`."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """One chart of several scalars."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """One chart of a scalar between two others."""
        assert len(tags) == 3
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_mesh(
        self, tag: str, vertices: object, colors: object = None, faces: object = None,
        config_dict: object = None, global_step: int | None = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Points in space, with colours, and triangles between them, if they are given."""
        made = summary.mesh(tag, vertices, colors, faces, config_dict)
        self._add(made, global_step, walltime)

    def add_hparams(
        self, hparam_dict: Mapping[str, object], metric_dict: Mapping[str, object],
        hparam_domain_discrete: Mapping[str, Sequence[object]] | None = None,
        run_name: str | None = None, global_step: int | None = None,
    ) -> None:  # fmt: skip
        """What was tried, and what came of it, in a folder of their own."""
        made = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self.get_logdir(), run_name if run_name else str(time.time()))
        with SummaryWriter(folder) as inner:
            for each in made:
                inner._add(each, global_step, None)
            for name, value in metric_dict.items():
                inner.add_scalar(name, value, global_step)

    def _refuse(self, name: str, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(
            f"torch.utils.tensorboard.SummaryWriter.{name}: rushlight writes scalars, histograms, "
            "pictures, sounds, texts, curves, meshes and hyperparameters"
        )

    def add_graph(self, *args: object, **kwargs: object) -> None:
        """Refused by name: graphs are shown by `rushlight view`."""
        self._refuse("add_graph")

    def add_onnx_graph(self, *args: object, **kwargs: object) -> None:
        """Refused by name."""
        self._refuse("add_onnx_graph")

    def add_video(self, *args: object, **kwargs: object) -> None:
        """Refused by name."""
        self._refuse("add_video")

    def add_embedding(self, *args: object, **kwargs: object) -> None:
        """Refused by name."""
        self._refuse("add_embedding")

    def flush(self) -> None:
        """Hand to the system what was written."""
        for each in (self.all_writers or {}).values():
            each.flush()

    def close(self) -> None:
        """Flush, and end the files; what is added later goes to new ones."""
        for each in (self.all_writers or {}).values():
            each.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _drawn(figure: object, close: bool) -> Array:
    """The pixels of a figure."""
    from matplotlib import pyplot  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from matplotlib.backends import backend_agg  # type: ignore[import-not-found,import-untyped,unused-ignore]

    canvas = backend_agg.FigureCanvasAgg(figure)
    canvas.draw()
    if close:
        pyplot.close(figure)
    return np.asarray(canvas.buffer_rgba())[..., :3]
