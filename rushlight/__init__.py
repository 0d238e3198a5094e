"""TorchScript without PyTorch; `import rushlight as torch`.

The names are torch's: functions over tensors (`rushlight.tanh`), `Tensor`, dtypes, and the packages
`jit` and `nn`.  All of them are looked up when first used, so that importing costs little.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

# In a checkout the parts lie beside this folder, and links in it lead to them (ir -> ../ir).  An
# archive of the checkout may come without links.
if not (Path(__file__).parent / "ir").is_dir():
    __path__.append(str(Path(__file__).parent.parent))

from .entrances import Entrances as _Entrances  # behind the line that finds the parts
from .entrances import imported as _imported

if TYPE_CHECKING:
    from . import autograd as autograd
    from . import backends as backends
    from . import compiler as compiler
    from . import cpu as cpu
    from . import cuda as cuda
    from . import distributions as distributions
    from . import fft as fft
    from . import func as func
    from . import jit as jit
    from . import library as library
    from . import linalg as linalg
    from . import masked as masked
    from . import nn as nn
    from . import ops as ops
    from . import optim as optim
    from . import random as random
    from . import signal as signal
    from . import special as special
    from . import storage as storage
    from . import testing as testing
    from . import utils as utils
    from . import version as version
    from .debugging import debug as debug
    from .interpreter.values.tasks import Future as Future
    from .jit.graph_text import parse_ir as parse_ir
    from .weights import load as load
    from .weights import save as save

__version__ = "0.1.0"
_NAME = __name__  # which is `torch` while this stands in for that

_PACKAGES = (
    "_C",
    "_VF",
    "__config__",
    "__future__",
    "_awaits",
    "_custom_ops",
    "_decomp",
    "_dynamo",
    "_functorch",
    "_jit_internal",
    "_library",
    "_lobpcg",
    "_logging",
    "_lowrank",
    "_tensor_str",
    "_guards",
    "_higher_order_ops",
    "_ops",
    "_prims",
    "_prims_common",
    "_refs",
    "_subclasses",
    "_tensor",
    "_utils",
    "_utils_internal",
    "_vmap_internals",
    "accelerator",
    "amp",
    "ao",
    "as_torch",
    "autograd",
    "backends",
    "classes",
    "compiler",
    "cpu",
    "cuda",
    "distributed",
    "distributions",
    "export",
    "fft",
    "func",
    "functional",
    "futures",
    "fx",
    "hub",
    "jit",
    "library",
    "linalg",
    "masked",
    "monitor",
    "nested",
    "mps",
    "mtia",
    "multiprocessing",
    "nn",
    "onnx",
    "ops",
    "optim",
    "overrides",
    "package",
    "profiler",
    "quantization",
    "quasirandom",
    "random",
    "return_types",
    "serialization",
    "signal",
    "sparse",
    "special",
    "storage",
    "testing",
    "torch_version",
    "types",
    "utils",
    "version",
    "xpu",
)
_TENSOR_CLASSES = """FloatTensor DoubleTensor HalfTensor BFloat16Tensor ByteTensor CharTensor
ShortTensor IntTensor LongTensor BoolTensor""".split()
_SETTINGS = """are_deterministic_algorithms_enabled compiled_with_cxx11_abi get_default_device
get_deterministic_debug_mode get_num_interop_threads has_lapack
has_mkl has_openmp has_spectral is_anomaly_enabled is_deterministic_algorithms_warn_only_enabled
is_distributed is_vulkan_available is_warn_always_enabled set_default_device
set_default_tensor_type set_flush_denormal set_num_interop_threads
set_warn_always typename use_deterministic_algorithms PRIVATE_OPS USE_GLOBAL_DEPS
USE_RTLD_GLOBAL_WITH_LIBTORCH classproperty get_file_path init_num_threads
is_anomaly_check_nan_enabled prepare_multiprocessing_environment set_anomaly_enabled
set_deterministic_debug_mode set_vital _nnpack_available""".split()
_CHECKS = """_check _check_index _check_is_size _check_not_implemented _check_tensor_all
_check_tensor_all_with _check_type _check_value _check_with""".split()
_SYM = "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum".split()
_ERRORS = "AcceleratorError FatalError JITException OutOfMemoryError".split()
_QUANTIZED = """empty_quantized quantized_max_pool1d quantized_max_pool2d
quantized_max_pool3d""".split()
_COPIES = """ccol_indices_copy col_indices_copy crow_indices_copy indices_copy row_indices_copy
values_copy""".split()
_AUTOCAST = """autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache
get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled
is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled set_autocast_cpu_dtype
set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype""".split()
_FUNCTIONAL = "cdist lu norm stft tensordot unique unique_consecutive".split()
_SPARSE = [f"sparse_{kept}_tensor" for kept in "compressed coo csc csr bsc bsr".split()]
_INNER = """AliasDb AnyType Argument AwaitType Block BoolType ClassType CompilationUnit ComplexType
DeviceObjType DictType DisableTorchFunction DisableTorchFunctionSubclass DispatchKeySet EnumType
FloatType FunctionSchema FutureType Graph IntType InterfaceType ListType Node NoneType NumberType
OptionalType RRefType ScriptDict ScriptFunction ScriptList ScriptMethod ScriptModule ScriptObject
StreamObjType StringType TensorType TupleType Type UnionType Use Value parse_schema""".split()
_STORAGES = """BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage
ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage QInt32Storage
QInt8Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage ShortStorage Storage StorageBase
TypedStorage UntypedStorage""".split()
_ELSEWHERE = {
    "Future": ".interpreter.values.tasks",
    "_disable_dynamo": ".compiler",
    "compile": ".compiler",
    "debug": ".debugging",
    "_assert": ".jit.special_names",
    **dict.fromkeys(_FUNCTIONAL, ".functional"),
    **dict.fromkeys(_INNER, "._C"),
    **dict.fromkeys(("fork", "wait"), ".jit"),
    "GradScaler": ".amp",
    "_amp_foreach_non_finite_check_and_unscale_": ".amp.factors",
    "_amp_update_scale_": ".amp.factors",
    **dict.fromkeys("dsmm hsmm hspmm saddmm smm spmm sspaddmm".split(), ".sparse.older"),
    **dict.fromkeys(_SPARSE, ".ops.sparse_tensors.creation"),
    "pca_lowrank": ".low_rank",
    "svd_lowrank": ".low_rank",
    "load": ".weights",
    "save": ".weights",
    "parse_ir": ".jit.graph_text",
    "vmap": "._functorch.vmap",
    **dict.fromkeys(_STORAGES, ".storage"),
    "is_inference_mode_enabled": ".autograd.grad_mode",
    "DisableTorchFunction": "._C.asked",
    "DisableTorchFunctionSubclass": "._C.asked",
    **dict.fromkeys(("DispatchKey", "Tag"), "._C.dispatch"),
    **dict.fromkeys(_TENSOR_CLASSES, ".legacy_tensors"),
    **dict.fromkeys(_SETTINGS, ".settings"),
    **dict.fromkeys(_CHECKS, ".checks"),
    **dict.fromkeys(_SYM, ".sym_numbers"),
    **dict.fromkeys(_QUANTIZED, ".quantized_functions"),
    "resize_as_sparse_": ".sparse.parts",
    **dict.fromkeys(_COPIES, ".sparse.parts"),
    **{
        f"_validate_sparse_{kind}_tensor_args": ".sparse.checks"
        for kind in ("compressed", "coo", "csc", "csr")
    },
    **dict.fromkeys(("cond", "while_loop"), ".higher_order"),
    **dict.fromkeys(_ERRORS, ".exceptions"),
    "from_file": ".mapped_file",
    "get_device_module": "._utils",
    "lobpcg": ".lobpcg",
    "get_float32_matmul_precision": ".float_precision",
    "set_float32_matmul_precision": ".float_precision",
    "autocast": ".amp.autocast_mode",
    **dict.fromkeys(("Event", "Stream"), ".streams"),
    **dict.fromkeys(_AUTOCAST, ".amp.state"),
}


@cache
def _public_names() -> dict[str, object]:
    """What `ops` offers; the first look-up imports it, and NumPy with it."""
    found: dict[str, object] = _loaded(".ops.eager.namespace").public_names()
    own = globals()  # in which some look for dtypes and functions by name
    for name, value in found.items():
        if name not in _PACKAGES and name not in _ELSEWHERE:
            own.setdefault(name, value)
    return found


def _foreach(name: str) -> object:
    """An operator over lists of tensors; None if the name is none of them."""
    if not name.startswith(("_foreach_", "_fused_")):
        return None
    return import_module(".ops.tensor_lists.calls", _NAME).function(name)


def _listed(name: str) -> object:
    """What stands for a name of torch that is kept elsewhere, or refused; None for others."""
    return import_module(".module_names", _NAME).listed(name)


def _unknown(name: str) -> AttributeError:
    if name.startswith("_"):  # asked for by the import system and inspection: import nothing
        return AttributeError(f"module '{__name__}' has no attribute '{name}'")
    names = import_module(".ops.eager.unknown_names", _NAME)
    error: AttributeError = names.unknown_in_module(__name__, name, __dir__)
    return error


class _Finder:
    """Finds modules of torch that are nothing but names (see `made_modules`)."""

    @staticmethod
    def find_spec(fullname: str, path: object, target: object = None) -> object:
        """How a module of ours that has no file is made; None for other modules."""
        if not fullname.startswith(f"{_NAME}."):
            return None
        return import_module(".made_modules", _NAME).spec_of(fullname)


sys.meta_path.append(_Finder)


sys.meta_path.insert(0, _Entrances(_NAME, _PACKAGES))


def _loaded(name: str) -> object:
    """A module of ours with all that it imports, among which Python looks for no garbage."""
    found = sys.modules.get(f"{_NAME}{name}")
    if found is not None:
        return import_module(name, _NAME)  # which waits for who is loading it
    return _imported(name, _NAME)


def __getattr__(name: str) -> Any:
    if name == "torch":  # as in torch, where `torch.torch` is torch
        return import_module(_NAME)
    if name in _PACKAGES:
        return _loaded(f".{name}")
    if name == "Storage":  # goes with the default dtype
        return import_module(".storage", _NAME).default_class()
    if name in _ELSEWHERE:
        value: object = getattr(_loaded(_ELSEWHERE[name]), name)
    elif name == "__all__":
        listed = import_module(".module_names", _NAME).names_in(_NAME)
        names = (*_public_names(), *_ELSEWHERE, *listed)
        value = import_module(".starred", _NAME).starred(names)
    elif not name.startswith("__") and name in _public_names():
        value = _public_names()[name]
    elif (made := _foreach(name) if name.startswith("_") else _listed(name)) is not None:
        value = made
    else:
        raise _unknown(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PACKAGES, *_ELSEWHERE, *_public_names()})


class _StandingIn:
    """Finds PyTorch's modules where somebody wrote `sys.modules["torch"] = rushlight`.

    Without it Python would load files of ours again, by these names.  Where there is no torch, who
    looks for it may want to know of `as_torch`.
    """

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> object:
        if fullname.partition(".")[0] not in ("torch", "functorch"):
            return None
        own = sys.modules.get(_NAME)
        if own is None or sys.modules.get("torch") is not own:
            if own is not None and fullname == "torch":
                import_module(".frontend.diagnostics.uncaught", _NAME).tell_of_torch()
            return None
        return import_module(".as_torch", _NAME).torchs_module(fullname)


sys.meta_path.insert(0, _StandingIn)
