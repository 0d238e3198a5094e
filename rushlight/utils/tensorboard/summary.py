"""What logs hold: values with a tag, in the form in which TensorBoard's plugins want them."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...ops.memory.dtype import Array
from ...ops.tensors.tensor import Tensor
from .pictures import as_bytes, boxed, pixels, png
from .records import Message, decimals, double, field, number, numbers, single

__all__ = [
    *("as_array", "audio", "custom_scalars", "histogram", "histogram_raw", "hparams"),
    *("image", "image_boxes", "mesh", "pr_curve", "pr_curve_raw", "scalar", "tensor_proto", "text"),
]


def as_array(values: object) -> Array:
    """A tensor, an array, a number or a list as an array of at least one dimension.

    Raises:
        NotImplementedError: it is something else.
    """
    if isinstance(values, Tensor):
        seen = values.detach()
        kind = seen.dtype.name
        return np.atleast_1d((seen.float() if kind == "bfloat16" else seen).numpy())
    if isinstance(values, (np.ndarray, np.generic, int, float, complex, list)):
        return np.atleast_1d(np.asarray(values))
    raise NotImplementedError(f"Got {type(values)}, but numpy array or torch tensor are expected.")


def _value(tag: str, content: bytes, plugin: str = "", told: bytes = b"") -> bytes:
    """One value; `told` is what the plugin keeps beside it."""
    if plugin:
        beside = field(1, plugin) + (field(2, told) if told else b"")
        content += field(9, field(1, beside))
    return field(1, field(1, tag) + content)


_DTYPES: Final = {
    "float32": (1, 5), "float64": (2, 6), "int32": (3, 7), "uint8": (4, 7), "int16": (5, 7),
    "int8": (6, 7), "int64": (9, 10), "bool": (10, 11), "float16": (19, 13),
}  # fmt: skip
"""TensorFlow's number of a dtype, and the field that holds its elements."""


def _tensor(values: Array, sizes: Sequence[int] | None = None) -> bytes:
    if values.dtype.name not in _DTYPES:
        raise ValueError(f"Unsupported tensor dtype: {values.dtype}")
    kind, place = _DTYPES[values.dtype.name]
    message = number(1, kind)
    if sizes is not None:
        message += field(2, b"".join(field(2, number(1, each)) for each in sizes))
    if place in (5, 6):
        return message + field(place, values.astype(values.dtype.newbyteorder("<")).tobytes())
    bits = values.view(np.uint16) if place == 13 else values
    return message + numbers(place, [int(each) for each in bits.ravel()])


def scalar(
    tag: str, value: object, new_style: bool = False, double_precision: bool = False
) -> Message:
    """A number.

    Raises:
        AssertionError: there are several.
    """
    given = as_array(value)
    assert given.squeeze().ndim == 0, (
        "Tensor should contain one element (0 dimensions). Was given size: "
        f"{given.size} and {given.ndim} dimensions."
    )
    found = float(given.squeeze())
    if new_style or double_precision:
        kind = np.float64 if double_precision else np.float32
        content = field(8, _tensor(np.array([found], kind)))
        return Message(_value(tag, content, "scalars"))
    return Message(_value(tag, single(2, found)))


def tensor_proto(tag: str, values: object) -> Message:
    """A tensor."""
    given = as_array(values)
    sizes = values.shape if isinstance(values, Tensor) else given.shape
    return Message(_value(tag, field(8, _tensor(given, sizes)), "tensor"))


def text(tag: str, words: str) -> Message:
    """A text, in Markdown."""
    content = number(1, 7) + field(2, field(2, number(1, 1))) + field(8, words)
    return Message(_value(f"{tag}/text_summary", field(8, content), "text"))


# --------------------------------------------------------------------------- histograms


def histogram_raw(
    tag: str, min: float, max: float, num: float, sum: float, sum_squares: float,
    bucket_limits: Sequence[float], bucket_counts: Sequence[float],
) -> Message:  # fmt: skip
    """A histogram that was counted elsewhere; a limit is the upper end of its bucket."""
    told = (min, max, num, sum, sum_squares)
    content = b"".join(double(place, float(each)) for place, each in enumerate(told, 1))
    content += decimals(6, [float(each) for each in bucket_limits])
    content += decimals(7, [float(each) for each in bucket_counts])
    return Message(_value(tag, field(5, content)))


def _growing_edges() -> Array:
    """Edges on both sides of 0, each a tenth further out than the last, up to 1e20."""
    edges, edge = [], 1e-12
    while edge < 1e20:
        edges.append(edge)
        edge *= 1.1
    return np.array([*(-each for each in reversed(edges)), 0.0, *edges])


def histogram(
    tag: str,
    values: object,
    bins: str | int | Sequence[float] = "tensorflow",
    max_bins: int | None = None,
) -> Message:
    """The histogram of some values, without the empty buckets at both ends.

    Raises:
        ValueError: there are no values, or all lie outside.
    """
    given = as_array(values).astype(float).ravel()
    if not given.size:
        raise ValueError("The input has no element.")
    edges = _growing_edges() if isinstance(bins, str) and bins == "tensorflow" else bins
    counts, limits = np.histogram(given, bins=edges)
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = _joined(counts, limits, len(counts) // max_bins)
    (filled,) = counts.nonzero()
    if not filled.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = int(filled[0]), int(filled[-1])
    return histogram_raw(
        tag, given.min(), given.max(), given.size, given.sum(), (given * given).sum(),
        limits[first : last + 2].tolist(), [0, *counts[first : last + 1].tolist()],
    )  # fmt: skip


def _joined(counts: Array, limits: Array, together: int) -> tuple[Array, Array]:
    starts = np.arange(0, len(counts), together)
    return np.add.reduceat(counts, starts), np.append(limits[starts], limits[-1])


# --------------------------------------------------------------------------- pictures and sounds


def _picture(tag: str, picture: Array) -> Message:
    height, width, channels = picture.shape
    content = number(1, height) + number(2, width) + number(3, channels)
    return Message(_value(tag, field(4, content + field(4, png(picture)))))


def image(tag: str, values: object, dataformats: str = "NCHW") -> Message:
    """One picture, or several side by side."""
    return _picture(tag, as_bytes(pixels(as_array(values), dataformats)))


def image_boxes(
    tag: str,
    values: object,
    boxes: object,
    dataformats: str = "CHW",
    labels: Sequence[str] | None = None,
) -> Message:
    """A picture with boxes drawn on it."""
    picture = as_bytes(pixels(as_array(values), dataformats))
    return _picture(tag, boxed(picture, as_array(boxes).reshape(-1, 4), labels))


def audio(tag: str, values: object, sample_rate: int = 44100) -> Message:
    """A sound of one channel, its samples from -1 to 1."""
    samples = as_array(values).squeeze()
    if abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    assert samples.ndim == 1, "input tensor should be 1 dimensional."
    held = io.BytesIO()
    with wave.open(held, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(sample_rate)
        written.writeframes((samples * 32767.0).astype("<i2").tobytes())
    content = single(1, sample_rate) + number(2, 1) + number(3, len(samples))
    content += field(4, held.getvalue()) + field(5, "audio/wav")
    return Message(_value(tag, field(6, content)))


# --------------------------------------------------------------------------- curves, charts, meshes


def pr_curve_raw(
    tag: str, tp: object, fp: object, tn: object, fn: object, precision: object, recall: object,
    num_thresholds: int = 127, weights: object = None,
) -> Message:  # fmt: skip
    """A curve of precision and recall that was counted elsewhere."""
    given = (tp, fp, tn, fn, precision, recall)
    rows = np.stack([as_array(each) for each in given]).astype(np.float32)
    content = field(8, _tensor(rows, rows.shape))
    return Message(_value(tag, content, "pr_curves", number(2, min(num_thresholds, 127))))


def pr_curve(
    tag: str, labels: object, predictions: object, num_thresholds: int = 127, weights: object = None
) -> Message:
    """Precision and recall by the threshold from which on a prediction says yes."""
    count = min(num_thresholds, 127)
    truth = as_array(labels).astype(float).ravel()
    heavy = np.ones_like(truth) if weights is None else as_array(weights).astype(float).ravel()
    places = np.floor(as_array(predictions).ravel() * (count - 1)).astype(int)

    def from_threshold_on(share: Array) -> Array:
        return np.bincount(places, share, count)[::-1].cumsum()[::-1]

    tp, fp = from_threshold_on(truth * heavy), from_threshold_on((1 - truth) * heavy)
    tn, fn = fp[0] - fp, tp[0] - tp
    least = 1e-7
    precision, recall = tp / np.maximum(least, tp + fp), tp / np.maximum(least, tp + fn)
    return pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, count)


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Message:
    """Which scalars share a chart: `{category: {title: ["Multiline" or "Margin", tags]}}`."""
    categories = b""
    for category, charts in layout.items():
        held = b"".join(field(2, _chart(title, *chart)) for title, chart in charts.items())
        categories += field(2, field(1, category) + held)
    content = number(1, 7) + field(2, b"") + field(8, categories)
    return Message(_value("custom_scalars__config__", field(8, content), "custom_scalars"))


def _chart(title: str, kind: str, tags: Sequence[str]) -> bytes:
    if kind == "Margin":
        assert len(tags) == 3
        series = b"".join(field(place, tag) for place, tag in enumerate(tags, 1))
        return field(1, title) + field(3, field(1, series))
    return field(1, title) + field(2, b"".join(field(1, tag) for tag in tags))


_PARTS: Final = {"VERTEX": 1, "FACE": 2, "COLOR": 3}


def mesh(
    tag: str, vertices: object, colors: object, faces: object, config_dict: object = None
) -> Message:
    """Points in space, with colours, and triangles between them, if they are given."""
    given = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
    present = {name: as_array(each) for name, each in given.items() if each is not None}
    components = sum(1 << _PARTS[name] for name in present)
    values = b""
    for name, each in present.items():
        told = field(2, tag) + number(3, _PARTS[name]) + field(5, json.dumps(config_dict or {}))
        told += numbers(6, list(each.shape)) + number(7, components)
        content = field(8, _tensor(each.astype(np.float32), each.shape))
        values += _value(f"{tag}_{name}", content, "mesh", told)
    return Message(values)


# --------------------------------------------------------------------------- hyperparameters

_TEXT, _FLAG, _NUMBER = 1, 2, 3


def _plain(value: object) -> tuple[int, bytes]:
    """The kind of a hyperparameter, and its value.

    Raises:
        ValueError: it is neither a number, a text nor a tensor.
    """
    if isinstance(value, (int, float)):
        return _NUMBER, double(2, float(value))
    if isinstance(value, str):
        return _TEXT, field(3, value)
    if isinstance(value, Tensor):
        return _NUMBER, double(2, float(as_array(value).ravel()[0]))
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def _domain(values: Sequence[object]) -> bytes:
    held = b""
    for value in values:
        told = number(4, int(value)) if isinstance(value, bool) else _plain(value)[1]
        held += field(1, told)
    return field(5, held)


def hparams(
    hparam_dict: Mapping[str, object],
    metric_dict: Mapping[str, object],
    hparam_domain_discrete: Mapping[str, Sequence[object]] | None = None,
) -> tuple[Message, Message, Message]:
    """What was tried, where one session begins with what, and where it ends.

    Raises:
        TypeError: an argument is no dictionary.
        ValueError: a value is neither a number, a text nor a tensor.
    """
    if not (isinstance(hparam_dict, dict) and isinstance(metric_dict, dict)):
        raise TypeError("hparam_dict and metric_dict should be dictionary.")
    domains = hparam_domain_discrete or {}
    infos = begun = b""
    for key, value in hparam_dict.items():
        if value is None:
            continue
        kind, content = _plain(value)
        domain = _domain(domains[key]) if key in domains else b""
        infos += field(4, field(1, key) + number(4, kind) + domain)
        begun += field(1, field(1, key) + field(2, content))
    infos += b"".join(field(5, field(1, field(2, key))) for key in metric_dict)
    told = {"experiment": field(2, infos), "session_start_info": field(3, begun)}
    told["session_end_info"] = field(4, number(1, 1))  # it was a success
    first, second, third = (
        Message(_value(f"_hparams_/{name}", b"", "hparams", content))
        for name, content in told.items()
    )
    return first, second, third
