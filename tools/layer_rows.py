"""What the rows of layer tables make of a library: rushlight, or the torch that runs this file.

A row is `CONSTRUCTOR => INPUT, INPUT`, both Python expressions over `nn` and the library's names:

    nn.Conv2d(3, 4, 3, padding=1) => randn(2, 3, 8, 8)

Blank lines and lines that begin with `#` count for nothing.  Run by a Python that has torch, this
writes what torch makes of them: OUT/results.pickle, and torch's archives as OUT/NUMBER.pt.

    python tools/layer_rows.py TABLES OUT [--replay ARCHIVES]

With `--replay` the results are those of the archives ARCHIVES/NUMBER.pt instead.
"""

from __future__ import annotations

import argparse
import io
import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Row", "arrays_of", "replay", "rows", "run", "same", "summary"]


@dataclass(frozen=True)
class Row:
    """A layer and what goes into it."""

    family: str
    constructor: str
    inputs: str

    def layer(self, library: Any) -> Any:
        """The layer, its parameters drawn after `manual_seed(0)`."""
        library.manual_seed(0)
        return eval(self.constructor, _names(library))

    def arguments(self, library: Any) -> tuple[Any, ...]:
        """The inputs, drawn after `manual_seed(1)`."""
        library.manual_seed(1)
        given: tuple[Any, ...] = eval(f"({self.inputs},)", _names(library))
        return given


def rows(folder: Path) -> list[Row]:
    """The rows of all `*.txt` of a folder, in the order of their names."""
    found = []
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                constructor, _, inputs = line.partition(" => ")
                found.append(Row(file.stem, constructor.strip(), inputs.strip()))
    return found


def _names(library: Any) -> dict[str, Any]:
    return _Names(library)


class _Names(dict[str, Any]):
    def __init__(self, library: Any) -> None:
        super().__init__(torch=library, nn=library.nn)
        self._library = library

    def __missing__(self, name: str) -> Any:
        try:
            return getattr(self._library, name)
        except AttributeError:
            raise KeyError(name) from None


def arrays_of(value: Any) -> Iterator[Any]:
    """The leaves of a result: arrays, and everything that is no tensor as it is."""
    if hasattr(value, "detach"):
        yield np.array(value.detach().numpy())
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from arrays_of(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from arrays_of(item)
    else:
        yield value


def _outcome(act: Callable[[], Any]) -> Any:
    """The leaves of a result, or the first line of what was raised."""
    try:
        return list(arrays_of(act()))
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        return f"{type(error).__name__}: {lines[0] if lines else ''}"


def _called(library: Any, layer: Any, row: Row) -> dict[str, Any]:
    """The results in both modes, twice in training, with the state that leaves behind."""
    found = {}
    for mode in ("eval", "train", "train again"):
        layer.train(mode != "eval")
        arguments = row.arguments(library)
        library.manual_seed(2)
        found[mode] = _outcome(lambda given=arguments: layer(*given))
    found["state afterwards"] = list(arrays_of(dict(layer.state_dict())))
    return found


def run(library: Any, row: Row) -> dict[str, Any]:
    """Everything that is compared, and under "archive" the bytes of the scripted layer's archive.

    Keys that begin with "script" are missing where the layer cannot be scripted; "refused" then
    says why.
    """
    try:
        layer = row.layer(library)
    except Exception as error:
        return {"construction": _sets_in_order(f"{type(error).__name__}: {error}")}
    found: dict[str, Any] = {
        "repr": repr(layer),
        "state": list(arrays_of(dict(layer.state_dict()))),
        "inputs": list(arrays_of(row.arguments(library))),
    }
    found.update({f"eager {k}": v for k, v in _called(library, layer, row).items()})
    try:
        scripted = library.jit.script(row.layer(library))
        found["script schema"] = _unmangled(str(scripted.forward.schema))
        buffer = io.BytesIO()
        library.jit.save(scripted.eval(), buffer)
        found["archive"] = buffer.getvalue()
    except Exception as error:
        found["refused"] = str(error)
        return found
    found.update({f"script {k}": v for k, v in _called(library, scripted, row).items()})
    return found


def replay(library: Any, row: Row, archive: bytes) -> dict[str, Any]:
    """The results of an archive, under the names that `run` gives them."""
    try:
        loaded = library.jit.load(io.BytesIO(archive))
    except Exception as error:
        return {"script eval": f"{type(error).__name__}: {error}"}
    return {f"script {k}": v for k, v in _called(library, loaded, row).items()}


def same(wanted: Any, got: Any) -> bool:
    """Whether results agree: numbers within rounding, everything else exactly."""
    if isinstance(wanted, list) and isinstance(got, list):
        return len(wanted) == len(got) and all(map(same, wanted, got))
    if isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        if wanted.shape != got.shape or wanted.dtype != got.dtype:
            return False
        if wanted.dtype.kind not in "fc":
            return bool(np.array_equal(wanted, got))
        size = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=1e-3))
        rough = 1e-5 if wanted.dtype.itemsize >= 4 else 2e-3
        return bool(np.allclose(wanted, got, rough, rough * size, equal_nan=True))
    return bool(wanted == got)


def summary(leaf: Any) -> Any:
    """A key as it is; an array as its type, shape and two sums, which show order as well."""
    if not isinstance(leaf, np.ndarray):
        return leaf
    flat = leaf.astype(np.float64).reshape(-1)
    sums = [float(flat.sum()), float(flat @ np.arange(flat.size))]
    return [str(leaf.dtype), list(leaf.shape), *sums]


def _unmangled(text: str) -> str:
    return re.sub(r"\.___torch_mangle_\d+", "", text)


def _sets_in_order(text: str) -> str:
    """A message with the elements of sets, which come as they please, in alphabetical order."""
    return re.sub(r"\{([^{}]*)\}", lambda m: str(sorted(m[1].split(", "))), text)


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    results: dict[int, dict[str, Any]] = {}
    for number, row in enumerate(rows(options.tables)):
        if options.only not in f"{row.family} {row.constructor}":
            continue
        if options.replay is None:
            results[number] = run(torch, row)
        elif (options.replay / f"{number}.pt").exists():
            archive = (options.replay / f"{number}.pt").read_bytes()
            results[number] = replay(torch, row, archive)
    (options.out / "results.pickle").write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    sys.exit(main())
