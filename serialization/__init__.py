"""Archives, and graphs as source code; and, under torch's names, the settings of `torch.load`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..ir.graphs.graph import SOURCE_PRINTER
from ..ops.memory.dtype import LAYOUTS, Layout
from .printing.printer import print_graph_source

SOURCE_PRINTER.install(print_graph_source)

_SETTINGS = """DEFAULT_PROTOCOL LoadEndianness MAGIC_NUMBER MAP_LOCATION PROTOCOL_VERSION
    add_safe_globals clear_safe_globals default_restore_location
    get_default_load_endianness get_default_mmap_options get_safe_globals
    get_unsafe_globals_in_checkpoint load safe_globals save set_default_load_endianness
    set_default_mmap_options skip_data""".split()


_LOCATIONS = """SourceChangeWarning StorageType check_module_version_greater_or_equal
    get_crc32_options location_tag mkdtemp normalize_storage_type set_crc32_options
    storage_to_tensor_type validate_cuda_device validate_hpu_device""".split()


_RECORD_FILES = {
    "_is_torchscript_zip": "is_script_archive",
    "_is_zipfile": "is_zipfile",
    "_open_zipfile_reader": "opened_reader",
    "_open_zipfile_writer": "opened_writer",
}


def _get_layout(name: str) -> Layout:
    """The layout of a name (`torch.strided`), as pickles have it.

    Raises:
        KeyError: there is none of that name.
    """
    return LAYOUTS[name.removeprefix("torch.")]


def __getattr__(name: str) -> Any:
    if name in _SETTINGS:
        return getattr(import_module("..loading_settings", __name__), name)
    if name in _LOCATIONS:
        return getattr(import_module("..storage_locations", __name__), name)
    if name == "pickle":  # what packages give for `pickle_module`
        return import_module("pickle")
    if name in _RECORD_FILES:
        return getattr(import_module("..record_files", __name__), _RECORD_FILES[name])
    return import_module("..module_names", __name__).names_of(__name__)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_SETTINGS, *_LOCATIONS})
