"""Questions about, and settings of, how PyTorch computes; most have one answer here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .frontend.foundations.chosen import Chosen
from .ops.memory.determinism import DETERMINISM
from .ops.memory.dtype import DTYPES, Device, place_of, set_default_dtype
from .ops.memory.entered import ENTERED
from .ops.memory.warned import ALWAYS, warn_caller, warn_caller_once
from .ops.table.grad_mode import ANOMALY, LOOKS_FOR_NAN

__all__ = [
    *("are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_default_device"),
    *("get_deterministic_debug_mode", "get_num_interop_threads"),
    *("has_lapack", "has_mkl", "has_openmp", "has_spectral", "is_anomaly_enabled"),
    *("is_deterministic_algorithms_warn_only_enabled", "is_distributed", "is_vulkan_available"),
    *("is_warn_always_enabled", "set_default_device", "set_default_tensor_type"),
    *("set_flush_denormal", "set_num_interop_threads"),
    *("set_warn_always", "typename"),
    *("PRIVATE_OPS", "USE_GLOBAL_DEPS", "USE_RTLD_GLOBAL_WITH_LIBTORCH", "classproperty"),
    *("get_file_path", "init_num_threads", "is_anomaly_check_nan_enabled"),
    *("prepare_multiprocessing_environment", "set_anomaly_enabled"),
    *("set_deterministic_debug_mode", "set_vital", "use_deterministic_algorithms"),
    "_nnpack_available",
]

PRIVATE_OPS: Final = ("unique_dim",)
USE_GLOBAL_DEPS: Final = True
USE_RTLD_GLOBAL_WITH_LIBTORCH: Final = False
"""How torch loads its libraries, of which there are none."""

has_mkl = has_lapack = has_openmp = has_spectral = True
"""Whether linear algebra, threads and Fourier transforms are there (NumPy has them)."""

_INTEROP: Final = Chosen(1)
_CHECKS_NAN: Final = Chosen(True)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for equal results of equal calls: new memory is filled then, all else always is equal."""
    for name, given in (("'mode' (position 1)", mode), ("'warn_only'", warn_only)):
        if not isinstance(given, bool):
            raise TypeError(
                f"_set_deterministic_algorithms(): argument {name} must be bool, not "
                f"{type(given).__name__}"
            )
    DETERMINISM.become(is_wanted=mode, only_warns=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether equal results were asked for."""
    return DETERMINISM.is_wanted


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether other results were to be warned of only."""
    return DETERMINISM.only_warns


def get_deterministic_debug_mode() -> int:
    """0, or 1 to warn, or 2 to raise an error of results that differ between calls."""
    if not DETERMINISM.is_wanted:
        return 0
    return 1 if DETERMINISM.only_warns else 2


_DEBUG_MODES: Final = ("default", "warn", "error")


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Ask for equal results by a number, or by its word: 0 "default", 1 "warn", 2 "error".

    Raises:
        RuntimeError: none of these.
        TypeError: neither a number nor a word.
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = _DEBUG_MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_num_interop_threads() -> int:
    """How many threads run independent operators."""
    return _INTEROP.now


def set_num_interop_threads(count: int) -> None:
    """Say how many threads may run independent operators; one does."""
    if count < 1:
        raise RuntimeError("Expected a positive number of threads")
    _INTEROP.choose(count)


def get_default_device() -> Device:
    """The device on which tensors are made."""
    return place_of(None)


def set_default_device(device: Device | str | int | None) -> None:
    """Choose the device on which this thread makes tensors: the CPU, for None, or `meta`.

    Raises:
        AssertionError, RuntimeError: tensors cannot live there.
    """
    ENTERED.put([] if device is None else [place_of(device)])


def set_default_tensor_type(t: object) -> None:
    """Set the default dtype by the name of an old tensor class, such as `torch.DoubleTensor`.

    Raises:
        TypeError: not a class of floating-point tensors.
    """
    warn_caller_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )
    name = t if isinstance(t, str) else getattr(t, "__name__", str(t))
    if ".cuda" in (name if isinstance(t, str) else str(getattr(t, "__module__", ""))):
        raise TypeError(
            f"type torch.cuda.{name.rpartition('.')[2]} not available. Torch not compiled with "
            "CUDA enabled."
        )
    kinds = {"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16"}
    kinds["BFloat16Tensor"] = "bfloat16"
    short = name.rpartition(".")[2]
    if short not in kinds:
        raise TypeError(f"invalid type object: only floating-point types are supported, not {name}")
    set_default_dtype(DTYPES[kinds[short]])


def set_flush_denormal(mode: bool) -> bool:
    """Ask for numbers too small for their exponent to become zero: False, they are kept."""
    return False


def is_anomaly_enabled() -> bool:
    """What `set_anomaly_enabled` was given."""
    return ANOMALY[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether that was said to look for NaN."""
    return _CHECKS_NAN.now


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Have gradients be looked at while they are computed: one with a NaN is an error.

    Raises:
        TypeError: not truth values.
    """
    for place, (name, value) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {place}) must be bool, "
                f"not {type(value).__name__}"
            )
    _CHECKS_NAN.choose(check_nan)
    ANOMALY[0], LOOKS_FOR_NAN[0] = enabled, enabled and check_nan


def set_warn_always(b: bool) -> None:
    """Say whether warnings that come once shall come always."""
    ALWAYS.choose(bool(b))


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was given."""
    return ALWAYS.now


def is_vulkan_available() -> bool:
    """Whether there is a Vulkan device: never."""
    return False


def _nnpack_available() -> bool:
    """Whether convolutions can be NNPACK's: never."""
    return False


def is_distributed(input: object) -> bool:
    """Whether a tensor lies on several machines: never."""
    return False


def compiled_with_cxx11_abi() -> bool:
    """Whether C++ extensions would use the newer ABI, as those of PyTorch do."""
    return True


def set_vital(vital: str, attr: str, value: str) -> None:
    """Once noted which parts of torch a program uses; nothing does now."""
    del vital, attr, value
    warn_caller("'set_vital' is deprecated, please do not call")


def typename(obj: object) -> str:
    """The name of a value's type: `torch.FloatTensor`, or with its module if it has one."""
    from .ops.tensors.tensor import Tensor

    if isinstance(obj, Tensor):
        return str(obj.type())
    cls = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(cls, "__module__", "") or ""
    name = str(cls.__qualname__)
    return name if module in ("", "builtins") else f"{module}.{name}"


def init_num_threads() -> None:
    """Read how many threads there may be, which is done where the first one is needed."""


def prepare_multiprocessing_environment(path: str) -> None:
    """Prepare for other processes: nothing is to be done."""


def get_file_path(*path_components: str) -> str:
    """The path of a file that would lie in the package."""
    return str(Path(__file__).parent.joinpath(*path_components))


def classproperty(func: Callable[[object], object]) -> Any:
    """A property of a class, which a function of the class computes."""

    class _Property:
        def __get__(self, instance: object, owner: type) -> Any:
            return func(owner)

    return _Property()
