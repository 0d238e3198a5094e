"""Contents of files, decoded by the ends of their names."""

from __future__ import annotations

import io
import json
import os
import pickle
import tempfile
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import numpy as np

from .....ops.tensors.construct import tensor as tensor_of
from .common import StreamWrapper

__all__ = [
    *("Decoder", "ImageHandler", "MatHandler", "audiohandler", "basichandlers"),
    *("extension_extract_fn", "handle_extension", "imagehandler", "mathandler", "videohandler"),
]

Handler = Callable[[str, Any], object]
"""Decodes contents by a key; None says that it is for another one."""

_NUMBERS: Final = frozenset(("cls", "cls2", "class", "count", "index", "inx", "id"))
_IMAGES: Final = frozenset(("jpg", "jpeg", "png", "ppm", "pgm", "pbm", "pnm"))
_VIDEOS: Final = frozenset(("mp4", "ogv", "mjpeg", "avi", "mov", "h264", "mpg", "webm", "wmv"))
_SOUNDS: Final = frozenset(("flac", "mp3", "sox", "wav", "m4a", "ogg", "wma"))


def basichandlers(extension: str, data: bytes) -> object:
    """Text, numbers, JSON, pickles and archives of weights; None for what is none of these.

    Pickles run what they name, so files of others are not safe here.
    """
    if extension == "pt":  # before texts: torch finds these letters in `transcript`
        from .....weights import load  # with the interpreter, which layers alone do without

        return load(io.BytesIO(data))
    if extension in "txt text transcript":
        return data.decode("utf-8")
    if extension in _NUMBERS:
        return _number(data)
    if extension in "json jsn":
        return json.loads(data)
    return pickle.loads(data) if extension in ("pyd", "pickle") else None


def _number(data: bytes) -> int | None:
    try:
        return int(data)
    except ValueError:  # some other file of that name
        return None


def handle_extension(extensions: str, f: Callable[[Any], object]) -> Handler:
    """A decoder that gives what ends in one of some extensions (`"seg.jpg jpg"`) to a function.

    As in torch an extension that is not longer than the key's ends the search, found or not.
    """
    wanted = [each.split(".") for each in extensions.lower().split()]

    def decode(key: str, data: object) -> object:
        parts = key.lower().split(".")
        compared = next((end for end in wanted if len(end) <= len(parts)), None)
        return f(data) if compared is not None and parts[-len(compared) :] == compared else None

    return decode


def _imagespecs() -> dict[str, tuple[str, str | None, str]]:
    """What images become, by name: of which library, of which numbers, with which planes."""
    specs: dict[str, tuple[str, str | None, str]] = {}
    for library, prefix in (("numpy", ""), ("torch", "torch")):
        for planes in ("l", "rgb", "rgba"):
            specs[f"{prefix}{planes}8"] = (library, "uint8", planes)
            specs[f"{prefix}{planes}"] = (library, "float", planes)
    specs["torch"] = specs["torchrgb"]
    specs["pil"] = specs["pilrgb"] = ("pil", None, "rgb")
    return specs | {"pill": ("pil", None, "l"), "pilrgba": ("pil", None, "rgba")}


imagespecs = _imagespecs()


def _needed(module: str, package: str, what: str) -> ModuleType:
    """A module of a package that a decoder is made of.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = package.lower() if package != "Pillow" else "PIL"
        raise ModuleNotFoundError(
            f"Package `{name}` is required to be installed for {what}."
            f"Please use `pip install {package}`"
            f"{' ' if package == 'Pillow' else ''}to install the package"
        ) from error


class ImageHandler:
    """Decodes images with Pillow.

    Args:
        imagespec: what they become: `"l8"`, `"rgb8"`, `"rgba8"` are NumPy's arrays (height, width
            and planes) of uint8, without the 8 of float32 from 0 to 1; with `torch` before it
            tensors, with the planes first; with `pil` images.

    Raises:
        AssertionError: another word.
    """

    def __init__(self, imagespec: str) -> None:
        if imagespec not in imagespecs:
            raise AssertionError(f"unknown image specification: {imagespec}")
        self.imagespec = imagespec.lower()

    def __call__(self, extension: str, data: bytes) -> object:
        if extension.lower() not in _IMAGES:
            return None
        images = _needed("PIL.Image", "Pillow", "default image decoder")
        library, numbers, planes = imagespecs[self.imagespec]
        with io.BytesIO(data) as stream:
            image = images.open(stream).convert(planes.upper())
        if library == "pil":
            return image
        array = np.asarray(image)
        if library == "numpy":
            return array if numbers == "uint8" else array.astype(np.float32) / 255.0
        tensor = tensor_of(np.array(array.transpose(2, 0, 1)))
        return tensor if numbers == "uint8" else tensor / 255.0


def imagehandler(imagespec: str) -> ImageHandler:
    """A decoder of images (see `ImageHandler`)."""
    return ImageHandler(imagespec)


def _from_file(function: Callable[[str], object], extension: str, data: bytes) -> object:
    """What a function that reads files makes of bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"file.{extension}")
        with open(path, "wb") as stream:
            stream.write(data)
        return function(path)


def videohandler(extension: str, data: bytes) -> object:
    """Frames and sound of a video, by torchvision; None for what is no video."""
    if extension not in _VIDEOS:
        return None
    reader = _needed("torchvision.io", "torchvision", "default video file loader")
    return _from_file(reader.read_video, extension, data)


def audiohandler(extension: str, data: bytes) -> object:
    """Samples and rate of a sound, by torchaudio; None for what is none."""
    if extension not in _SOUNDS:
        return None
    reader = _needed("torchaudio", "torchaudio", "default audio file loader")
    return _from_file(reader.load, extension, data)


class MatHandler:
    """Decodes MATLAB's files with SciPy; keywords are those of `scipy.io.loadmat`."""

    def __init__(self, **loadmat_kwargs: object) -> None:
        self.sio = _needed("scipy.io", "scipy", "mat file")
        self.loadmat_kwargs = loadmat_kwargs

    def __call__(self, extension: str, data: bytes) -> object:
        if extension != "mat":
            return None
        with io.BytesIO(data) as stream:
            return self.sio.loadmat(stream, **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs: object) -> MatHandler:
    """A decoder of MATLAB's files (see `MatHandler`)."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname: str) -> str:
    """What stands behind the last dot of a path's name."""
    return os.path.splitext(pathname)[1][1:]


class Decoder:
    """Decodes paths with their contents by the first function that gives something.

    Args:
        handler: functions of a key and the contents; None says that it is for another one.
        key_fn: the key of a path.
    """

    def __init__(
        self,
        *handler: Handler,
        key_fn: Callable[[str], str] = extension_extract_fn,
    ) -> None:
        self.handlers, self.key_fn = list(handler), key_fn

    def add_handler(self, *handler: Handler) -> None:
        """Ask these functions before the others."""
        self.handlers = [*handler, *self.handlers]

    def decode1(self, key: str, data: Any) -> object:
        """Decode contents, or a stream of them, which is closed."""
        if not data:
            return data
        stream = data.file_obj if isinstance(data, StreamWrapper) else data
        if isinstance(stream, io.BufferedIOBase | io.RawIOBase):
            contents = b"".join(data)
            data.close()
            data = contents
        decoded = (handler(key, data) for handler in self.handlers)
        return next((each for each in decoded if each is not None), data)

    def decode(self, data: Any) -> dict[str, object]:
        """What becomes of a path with its contents, or of several, by path.

        Bytes of a name that begins with `_` are text.
        """
        pairs = [data] if isinstance(data, tuple) else data or []
        return {
            path: contents.decode("utf-8")
            if path.startswith("_") and isinstance(contents, bytes)
            else self.decode1(self.key_fn(path), contents)
            for path, contents in pairs
        }

    def __call__(self, data: object) -> dict[str, object]:
        return self.decode(data)
