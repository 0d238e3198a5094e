"""Write rushlight/homes.txt: the modules of torch that have what lies in other files here.

    python tools/make_homes.py TORCH_PYTHON

Public classes and functions of torch 2.13 (`tools/torch_names.txt`) are looked up here and there.
Of one that lies here in a file that torch has not, or has under another name, a line says the
module in which torch's pickles find it.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import textwrap
import warnings
from collections import defaultdict
from pathlib import Path
from types import FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tools" / "torch_names.txt"
FILE = ROOT / "rushlight" / "homes.txt"

PRIVATE = """
    torch: _assert _running_with_deploy while_loop
    torch._C: _Await _VariableFunctionsClass
    torch._tensor: _rebuild_from_type_v2
    torch._utils: _rebuild_meta_tensor_no_storage _rebuild_qtensor _rebuild_tensor_v3
    torch._utils: _rebuild_wrapper_subclass
    torch.distributed: FileStore HashStore TCPStore
    torch.jit: RecursiveScriptClass RecursiveScriptModule ScriptWarning
    torch.jit: TopLevelTracedModule TracedModule TracerWarning TracingCheckError fuser
    torch.jit: is_scripting is_tracing jit_module_from_flatbuffer optimized_execution
    torch.jit: run_frozen_optimizations save_jit_module_to_flatbuffer script_method
    torch.library: CustomOpDef opcheck register_autograd register_kernel
    torch.onnx: OperatorExportTypes TensorProtoDataType TrainingMode register_custom_op_symbolic
    torch.onnx: unregister_custom_op_symbolic
    torch.profiler: ProfilerActivity
    torch.serialization: _get_layout
    torch.storage: _load_from_bytes
    torch.testing: assert_allclose assert_close make_tensor
    torch.utils._pytree: ConstantNode GetAttrKey KeyEntry MappingKey NodeDef SequenceKey
    torch.utils._pytree: is_constant_class is_namedtuple is_namedtuple_class
    torch.utils._pytree: is_namedtuple_instance is_structseq is_structseq_class
    torch.utils._pytree: is_structseq_instance key_get keystr register_constant
    torch.utils._pytree: register_dataclass register_pytree_node
"""
"""Names beside the listed ones that pickles, printed code and whoever asks for a module say."""

Places = dict[str, list[str]]
"""For each `module name` of torch's the places in torch, the best one first."""


def listed() -> list[tuple[str, str]]:
    """Public names of torch, each with its module."""
    found = []
    for line in (NAMES.read_text(encoding="utf-8") + PRIVATE).splitlines():
        module, _, names = line.strip().partition(":")
        found += [(module, name) for name in names.split()]
    return [(module, name) for module, name in found if module != "torch.Tensor"]


def member(module: str, name: str) -> Any:
    """What a module has under a name; None if that cannot be had."""
    try:
        return getattr(importlib.import_module(module), name, None)
    except Exception:  # what a module does when it is imported is its own
        return None


def found_at(value: object, module: object, name: str) -> bool:
    """Whether pickles find a value there."""
    if not isinstance(module, str) or module.partition(".")[0] not in ("torch", "functorch"):
        return False
    return member(module, name) is value


def places() -> Places:
    """Run with torch: for each name, the modules that have its value under that name."""
    having: dict[int, list[str]] = defaultdict(list)
    pairs = [(module, name, member(module, name)) for module, name in listed()]
    for module, name, value in pairs:
        if found_at(value, getattr(value, "__module__", None), name):
            having[id(value)].insert(0, value.__module__)
        having[id(value)].append(module)
    return {
        f"{module} {name}": list(dict.fromkeys(having[id(value)]))
        for module, name, value in pairs
        if callable(value)
    }


def homes(there: Places) -> dict[str, dict[str, set[str]]]:
    """Torch's modules, in each our files, in each the names."""
    sys.path.insert(0, str(ROOT))
    rushlight = importlib.import_module("rushlight")
    is_public = importlib.import_module("rushlight.torch_homes").is_public
    own = {}
    for module, name in listed():
        value = member(module.replace("torch", "rushlight", 1), name)
        is_named = isinstance(value, type | FunctionType) and value.__qualname__ == name
        if is_named and value.__module__.partition(".")[0] == "rushlight":
            own[module, name] = value.__module__.partition(".")[2]
    found: dict[tuple[str, str], str] = {}
    best: dict[tuple[str, str], tuple[bool, int]] = {}
    with rushlight.as_torch():
        for (module, name), inside in own.items():
            value = member(module, name)
            for at, place in enumerate(there.get(f"{module} {name}", ())):
                rank = at == 0, _nearness(place, inside)
                if member(place, name) is value and rank > best.get((inside, name), (False, -1)):
                    found[inside, name], best[inside, name] = place, rank
    made: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (inside, name), place in found.items():
        if place != (f"torch.{inside}".rstrip(".") if is_public(inside) else None):
            made[place][inside].add(name)
    return made


def _nearness(place: str, inside: str) -> int:
    """How many names the way to a module of torch's and to a file of ours have in common."""
    pairs = zip(place.split(".")[1:], inside.split("."), strict=False)
    return next((i for i, (one, other) in enumerate(pairs) if one != other), place.count("."))


def text(made: dict[str, dict[str, set[str]]]) -> str:
    """The file."""
    lines = []
    for module, files in sorted(made.items()):
        lines.append(f"= {module}")
        for inside, names in sorted(files.items()):
            line = f"{inside}: {' '.join(sorted(names))}"
            lines += textwrap.wrap(line, 100, subsequent_indent="    ", break_on_hyphens=False)
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["--places"]:
        print("\n" + json.dumps(places()))
        raise SystemExit
    run = [sys.argv[1], __file__, "--places"]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    FILE.write_text(text(homes(json.loads(said.splitlines()[-1]))), encoding="utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}")
