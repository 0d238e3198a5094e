"""`rushlight convert`: an archive in another form."""

from __future__ import annotations

import argparse
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ..jit.module import RecursiveScriptModule
from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor
from ..serialization.source.load import weight_arrays
from ..serialization.source.text import write_source
from ..serialization.weights.safetensors import write_safetensors
from .archive import find_method, open_archive
from .atomic import refuse_existing, replacing
from .dtypes import dtypes_of
from .failure import CommandError
from .json_lines import tell_data
from .progress import progress
from .several import ARCHIVES, each_file, files_in
from .speech import tell_lines

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    sources, target = arguments.sources, Path(arguments.target)
    if len(sources) == 1 and not os.path.isdir(sources[0]) and arguments.to is None:
        return _convert(sources[0], target, arguments)
    if arguments.to is None:
        known = ", ".join(_FORMS)
        raise CommandError(f"convert: several archives need --to with one of {known}")
    targets = dict(_targets(sources, target, arguments.to))
    refuse_existing((f for each in targets.values() for f in _files(each)), arguments.force)
    return each_file(
        list(targets), lambda source: _convert(source, targets[source], arguments), ARCHIVES
    )


def _targets(sources: list[str], folder: Path, suffix: str) -> Iterator[tuple[str, Path]]:
    """Of every archive the file it goes to: below a folder of sources, names stay as they are.

    Raises:
        CommandError: two archives would go to one file.
    """
    taken: dict[Path, str] = {}
    for word in sources:
        for source in files_in([word], ARCHIVES):
            name = os.path.relpath(source, word) if os.path.isdir(word) else Path(source).name
            target = (folder / name).with_suffix(suffix)
            if target in taken:
                raise CommandError(f"{source} and {taken[target]} would both go to {target}")
            taken[target] = source
            yield source, target


def _files(target: Path) -> list[Path]:
    """What is written: weights have the model's source beside them."""
    return [target, target.with_suffix(".py")] if target.suffix == ".safetensors" else [target]


def _convert(source: str, target: Path, arguments: argparse.Namespace) -> int:
    make = _FORMS.get(target.suffix)
    if make is None:
        known = ", ".join(_FORMS)
        raise CommandError(f"{target}: the name must end with one of {known}")
    files = _files(target)
    refuse_existing(files, arguments.force)
    module = open_archive(source, arguments.trust, only_here=False)
    try:
        if arguments.to is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
        make(module, argparse.Namespace(**{**vars(arguments), "source": source}), files)
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror or error}") from None
    if arguments.json:
        tell_data({"source": source, "written": list(map(str, files))})
    else:
        tell_lines(f"wrote {path}" for path in files)
    return 0


def _lite(module: RecursiveScriptModule, arguments: argparse.Namespace, files: list[Path]) -> None:
    flat = files[0].suffix == ".ff"
    module._save_for_lite_interpreter(str(files[0]), _use_flatbuffer=flat)


def _archive(
    module: RecursiveScriptModule, arguments: argparse.Namespace, files: list[Path]
) -> None:
    module.save(str(files[0]))


def _npz(module: RecursiveScriptModule, arguments: argparse.Namespace, files: list[Path]) -> None:
    arrays = weight_arrays(module.state_dict())
    if not arrays:
        raise CommandError(f"{arguments.source}: there are no weights")
    for name in arrays:
        if "\0" in name or not _is_text(name):
            raise CommandError(f"{files[0]}: .npz cannot hold a weight called {name!r}")
    with (
        replacing(files[0]) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as target,
    ):
        for name, array in progress(arrays.items(), "writing"):
            plain = array.astype(np.float32) if array.dtype.isbuiltin != 1 else array
            with target.open(f"{name}.npy", "w", force_zip64=True) as record:
                np.lib.format.write_array(record, plain, allow_pickle=False)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _safetensors(
    module: RecursiveScriptModule, arguments: argparse.Namespace, files: list[Path]
) -> None:
    weights = {name: Tensor._of(array) for name, array in _distinct(module)}
    written = write_safetensors(weights, {"format": "pt"})
    source = _source_of(module, arguments, files[1], files[0].name)
    for path, content in zip(files, (written, source), strict=True):
        with replacing(path) as file:
            file.write(content)


def _distinct(module: RecursiveScriptModule) -> Iterator[tuple[str, Array]]:
    yield from progress(weight_arrays(module.state_dict()).items(), "reading")


def _python(
    module: RecursiveScriptModule, arguments: argparse.Namespace, files: list[Path]
) -> None:
    source = _source_of(module, arguments, files[0], "")
    with replacing(files[0]) as file:
        file.write(source)


def _source_of(
    module: RecursiveScriptModule, arguments: argparse.Namespace, path: Path, weights: str
) -> bytes:
    return write_source(
        module._c,
        module.state_dict(),
        module=path.stem,
        origin=Path(arguments.source).name,
        weights=weights,
        trust=arguments.trust,
    ).encode()


def _onnx(module: RecursiveScriptModule, arguments: argparse.Namespace, files: list[Path]) -> None:
    from ..onnx import OnnxExporterError, export  # which other commands do not need

    inputs, dtypes = arguments.input or [], dtypes_of(arguments)
    forward = find_method(module, "forward")
    names = [argument.name for argument in forward.schema.arguments[1:]]
    axes: dict[str, dict[int, str]] = {}
    given = []
    for name, each, dtype in zip(names, inputs, dtypes, strict=False):
        axes[name] = {n: size for n, size in enumerate(each.sizes) if isinstance(size, str)}
        given.append(Tensor._of(np.zeros(each.numbers, dtype.numpy)))
    try:
        export(
            module,
            tuple(given),
            files[0],
            dynamic_axes=axes,
            opset_version=arguments.opset,
            dynamo=False,
        )
    except OnnxExporterError as error:
        raise CommandError(str(error)) from None


_FORMS: dict[str, Callable[[RecursiveScriptModule, argparse.Namespace, list[Path]], None]] = {
    ".ptl": _lite,
    ".ff": _lite,
    ".pt": _archive,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".py": _python,
    ".onnx": _onnx,
}
