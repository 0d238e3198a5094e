"""`torch.utils.model_dump`: what is in an archive, as plain data and as one page for a browser.

    python -m rushlight.utils.model_dump --style html m.pt > m.html

Nothing in the archive is run: its pickles are read as data.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from ...frontend.sources.source import Span
from ...serialization.files.container import ArchiveReader
from ...serialization.loading.debug_info import read_debug_records
from ...serialization.pickles.nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    EnumNode,
    Global,
    ListNode,
    Node,
    ObjectNode,
    OrderedDictNode,
    QuantizerNode,
    SparseNode,
    StorageNode,
    TensorNode,
    TupleNode,
)
from ...serialization.pickles.reader import read_pickle

__all__ = [
    *("burn_in_info", "get_info_and_burn_skeleton", "get_inline_skeleton", "get_model_info"),
    *("get_storage_info", "hierarchical_pickle", "main"),
]

DEFAULT_EXTRA_FILE_SIZE_LIMIT: Final = 16 * 1024
_PLACE: Final = "/*model_info*/null"


def get_storage_info(storage: StorageNode) -> list[object]:
    """The kind of a storage's elements, its record, its place and how many elements it has."""
    return [storage.kind, storage.key, storage.location, storage.numel]


def hierarchical_pickle(data: object) -> Any:
    """What an archive's pickle holds, in the forms that JSON has.

    Raises:
        Exception: there is something else in it.
    """
    match data:
        case None | bool() | int() | float() | str():
            return data
        case list() | ListNode():
            return [hierarchical_pickle(each) for each in _items(data)]
        case tuple() | TupleNode():
            return {"__tuple_values__": [hierarchical_pickle(each) for each in _items(data)]}
        case dict() | DictNode():
            pairs = list(data.items()) if isinstance(data, dict) else data.items
            return {
                "__is_dict__": True,
                "keys": [hierarchical_pickle(key) for key, _ in pairs],
                "values": [hierarchical_pickle(value) for _, value in pairs],
            }
        case ObjectNode(cls, state):
            name = cls.qualified_name
            return {"__module_type__": name, "state": hierarchical_pickle(state)}
        case TensorNode():
            return _tensor(data)
        case EnumNode(cls, value):
            name = cls.qualified_name
            return {"__module_type__": name, "state": hierarchical_pickle(value)}
        case ComplexNode(value):
            return {"__complex__": [value.real, value.imag]}
        case DeviceNode(name):
            return {"__device__": name}
        case SparseNode(layout, size, parts):
            dense = [hierarchical_pickle(part) for part in parts]
            return {"__sparse_tensor__": [layout, list(size), *dense]}
        case OrderedDictNode():
            return {"__is_dict__": True, "keys": [], "values": []}
        case Global():
            return {"__global__": data.qualified_name}
    raise Exception(f"Can't prepare data of type for JS: {type(data)}")


def _items(data: Any) -> Any:
    return data if isinstance(data, (list, tuple)) else data.items


def _tensor(node: TensorNode) -> dict[str, object]:
    storage = get_storage_info(node.storage)
    window = [node.offset, list(node.size), list(node.stride)]
    if node.quantizer is None:
        return {"__tensor_v2__": [storage, *window, node.requires_grad]}
    made = node.quantizer
    scale, zero = hierarchical_pickle(made.scale), hierarchical_pickle(made.zero_point)
    quantizer = [made.scheme.removeprefix("torch."), scale, zero]
    return {"__qtensor__": [storage, *window, quantizer, node.requires_grad]}


def get_model_info(
    path_or_file: str | Path | IO[bytes],
    title: str | None = None,
    extra_file_size_limit: int = DEFAULT_EXTRA_FILE_SIZE_LIMIT,
) -> dict[str, Any]:
    """What is in an archive, in the forms that JSON has.

    Args:
        path_or_file: a path, or a file that can be read at any place.
        title: what the archive is called; its path otherwise.
        extra_file_size_limit: JSON texts and pickles beyond these many bytes are left out.

    Raises:
        ArchiveError: the file is no archive, or it is damaged.
        OSError: it cannot be read.
    """
    if isinstance(path_or_file, (str, os.PathLike)):
        path_or_file = Path(path_or_file)
        default, size = str(path_or_file), path_or_file.stat().st_size
    else:
        default, size = "buffer", path_or_file.seek(0, 2)
        path_or_file.seek(0)
    with ArchiveReader(path_or_file) as archive:
        strings: dict[str, int] = {"": 0}
        code = {
            f"{archive.name}/{record}": list(_code(archive, record, strings))
            for record in archive.records("code/")
            if record.endswith(".py")
        }
        small = [r for r in archive.records() if archive.size(r) <= extra_file_size_limit]
        constants = "constants.pkl" in archive
        return {
            "model": {
                "title": title if title is not None else default,
                "file_size": size,
                "version": archive.read("version").decode("utf-8", "replace").strip(),
                "zip_files": [
                    {
                        "filename": entry.name,
                        "compression": entry.method,
                        "compressed_size": entry.compressed,
                        "file_size": entry.size,
                    }
                    for entry in archive.entries.values()
                ],
                "interned_strings": list(strings),
                "code_files": code,
                "model_data": hierarchical_pickle(_pickle(archive, "data.pkl")),
                "constants": hierarchical_pickle(_pickle(archive, "constants.pkl"))
                if constants
                else {"__tuple_values__": []},
                "extra_files_jsons": dict(_jsons(archive, small)),
                "extra_pickles": {
                    f"{archive.name}/{record}": _text(_pickle(archive, record)) + "\n"
                    for record in small
                    if record.endswith(".pkl") and "/" not in record
                },
            }
        }


def _pickle(archive: ArchiveReader, record: str) -> Node:
    return read_pickle(archive.read(record), f"`{record}` in `{archive.title}`", archive.limits)


def _jsons(archive: ArchiveReader, records: Sequence[str]) -> Iterator[tuple[str, object]]:
    for record in records:
        if record.startswith("extra/") and record.endswith(".json"):
            try:
                yield f"{archive.name}/{record}", json.loads(archive.read(record))
            except (ValueError, RecursionError):  # it is no JSON then, whatever it is called
                continue


def _code(archive: ArchiveReader, record: str, strings: dict[str, int]) -> Iterator[list[object]]:
    """A code text in pieces, each with the place of the program that it was printed for."""
    text = archive.read(record).decode("utf-8", "replace")
    debug = f"{record}.debug_pkl"
    origins = None
    if debug in archive:
        origins = read_debug_records(_pickle(archive, debug), text)
    start, last = 0, _place(None if origins is None else origins(0), strings)
    for offset in range(1, len(text) if origins is not None else 0):
        assert origins is not None
        place = _place(origins(offset), strings)
        if place != last:
            yield [text[start:offset], *last]
            start, last = offset, place
    if text[start:]:
        yield [text[start:], *last]


def _place(span: Span | None, strings: dict[str, int]) -> tuple[int, ...]:
    if span is None or span.filename is None:
        return (0, 0, 0, 0, 0)
    numbers = (strings.setdefault(t, len(strings)) for t in (span.filename, span.source.text))
    name, text = numbers
    return (name, span.source.first_line, text, span.start, span.end)


# ---------------------------------------------------------------------- pickles as text


def _text(node: object) -> str:
    """A pickle as an expression, its names not looked up."""
    match node:
        case ListNode(items, tag):
            inner = f"[{', '.join(map(_text, items))}]"
            return f"torch.jit._pickle.restore_type_tag({inner}, {tag!r})" if tag else inner
        case TupleNode(items):
            return f"({', '.join(map(_text, items))}{',' if len(items) == 1 else ''})"
        case DictNode(items, tag):
            inner = ", ".join(f"{_text(key)}: {_text(value)}" for key, value in items)
            inner = f"{{{inner}}}"
            return f"torch.jit._pickle.restore_type_tag({inner}, {tag!r})" if tag else inner
        case ObjectNode(cls, state):
            return f"{cls.qualified_name}()(state={_text(state)})"
        case TensorNode(storage, offset, size, stride, requires_grad):
            window = f"{offset}, {size!r}, {stride!r}, {requires_grad}"
            if isinstance(node.quantizer, QuantizerNode):
                return f"torch._utils._rebuild_qtensor({_text(storage)}, {window})"
            empty = "collections.OrderedDict()"
            return f"torch._utils._rebuild_tensor_v2({_text(storage)}, {window}, {empty})"
        case StorageNode(kind, key, location, numel):
            named = f"'storage', torch.{kind}Storage, {key!r}, {location!r}, {numel}"
            return f"pers.obj(({named}),)"
        case EnumNode(cls, value):
            return f"{cls.qualified_name}({_text(value)})"
        case SparseNode(layout, size, parts):
            dense = ", ".join(map(_text, parts))
            return f"torch._utils._rebuild_sparse_tensor({layout}, ({dense}, {size!r}))"
        case ComplexNode(value):
            return repr(value)
        case DeviceNode(name):
            return f"torch.device({name!r})"
        case OrderedDictNode():
            return "collections.OrderedDict()"
        case Global():
            return node.qualified_name
    return repr(node)


# ---------------------------------------------------------------------- the page


def get_inline_skeleton() -> str:
    """The page without an archive: HTML with its script and style in it."""
    return Path(__file__).with_name("page.html").read_text("utf-8")


def burn_in_info(skeleton: str, info: Mapping[str, object]) -> str:
    """The page with what `get_model_info` says; it needs nothing else to be shown.

    Raises:
        ValueError: `skeleton` has no place for it, or more than one.
    """
    if skeleton.count(_PLACE) != 1:
        raise ValueError("burn_in_info: the skeleton has no place for the information, or several")
    text = json.dumps(info, sort_keys=True).replace("/", "\\/").replace("<", "\\u003c")
    return skeleton.replace(_PLACE, text)


def get_info_and_burn_skeleton(path_or_bytesio: str | Path | IO[bytes], **kwargs: Any) -> str:
    """The page of an archive; raises as `get_model_info`."""
    return burn_in_info(get_inline_skeleton(), get_model_info(path_or_bytesio, **kwargs))


def main(argv: Sequence[str], *, stdout: IO[str] | None = None) -> None:
    """The command: `argv` begins with the program's name."""
    parser = argparse.ArgumentParser(description="what is in an archive")
    parser.add_argument("--style", choices=["json", "html"])
    parser.add_argument("--title")
    parser.add_argument("model")
    given = parser.parse_args(argv[1:])
    info = get_model_info(given.model, title=given.title)
    say = partial(print, file=sys.stdout if stdout is None else stdout)
    if given.style == "html":
        say(burn_in_info(get_inline_skeleton(), info))
    else:
        say(json.dumps(info, sort_keys=True))
