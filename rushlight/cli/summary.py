"""`rushlight summary`: the layers of a model, their outputs, parameters and multiply-adds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ..ops.tensors.tensor import Tensor
from ..serialization.files.identify import (
    LEGACY_PICKLE,
    PICKLED_MODULE,
    SAFETENSORS,
    STATE_DICT,
    identify,
)
from .archive import open_archive
from .dtypes import dtypes_of
from .failure import FAILED, CommandError, report
from .json_lines import tell_data
from .several import ARCHIVES, each_file
from .speech import complain, script_output, tell_lines

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    dtypes_of(arguments)  # which is wrong for all archives, if for one
    kinds = (*ARCHIVES, *_WEIGHTS)
    return each_file(
        arguments.archives, lambda path: _tell(path, arguments), kinds, headed=not arguments.json
    )


def _tell(path: str, arguments: argparse.Namespace) -> int:
    from .. import summary  # which needs layers and their hooks; other commands do not

    given = [each.numbers for each in arguments.input] if arguments.input else None
    dtypes = dtypes_of(arguments)
    if _holds_weights(path):
        if given:
            raise CommandError(f"{path}: weights alone cannot be run; leave --input out")
        found = summary.of_tensors("", dict(_named(_weights(path), "")), arguments.depth)
    else:
        module = open_archive(path, arguments.trust, without_data=not arguments.values)
        try:
            with script_output(arguments.trust):
                found = summary.summary(
                    module, given, dtypes=dtypes, depth=arguments.depth, values=arguments.values
                )
        except Exception as error:  # whatever the script raises is the user's to read
            report(error)
            if "meta tensors" in str(error):
                complain("the model decides by values, and ran without any: try --values")
            return FAILED
    if arguments.json:
        tell_data({"file": path, **found.data()})
    else:
        tell_lines(str(found).split("\n"))
    return 0


def _holds_weights(path: str) -> bool:
    if not Path(path).exists():
        raise CommandError(f"{path}: no such file")
    return identify(path) in _WEIGHTS


_WEIGHTS = (STATE_DICT, PICKLED_MODULE, SAFETENSORS, LEGACY_PICKLE)


def _weights(path: str) -> object:
    from ..serialization.weights.load import load_weights

    return load_weights(path, without_data=True)


def _named(value: object, name: str) -> Iterator[tuple[str, Tensor]]:
    """The tensors in dicts and lists by dotted names."""
    if isinstance(value, Tensor):
        yield name or "tensor", value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _named(each, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from _named(each, f"{name}.{number}" if name else str(number))
