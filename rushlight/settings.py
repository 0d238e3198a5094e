"""Questions about, and settings of, how PyTorch computes; most have one answer here."""

from __future__ import annotations

from typing import Any

from .ops.memory.dtype import DTYPES, Device, place_of
from .ops.memory.entered import ENTERED
from .ops.tensors.overriding import ask_for, asks

__all__ = [
    *("are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_default_device"),
    *("get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_interop_threads"),
    *("has_lapack", "has_mkl", "has_openmp", "has_spectral", "is_anomaly_enabled"),
    *("is_deterministic_algorithms_warn_only_enabled", "is_distributed", "is_vulkan_available"),
    *("is_warn_always_enabled", "set_default_device", "set_default_tensor_type"),
    *("set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads"),
    *("set_warn_always", "sym_float", "sym_int", "sym_max", "sym_min", "sym_not", "typename"),
    "use_deterministic_algorithms",
]

has_mkl = has_lapack = has_openmp = has_spectral = True
"""Whether linear algebra, threads and Fourier transforms are there (NumPy has them)."""

_STATE: dict[str, Any] = {
    **{"deterministic": False, "warn_only": False, "precision": "highest"},
    **{"interop": 1, "warn_always": False},
}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for equal results of equal calls; they always are."""
    _STATE.update(deterministic=bool(mode), warn_only=bool(mode and warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """Whether equal results were asked for."""
    return bool(_STATE["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether other results were to be warned of only."""
    return bool(_STATE["warn_only"])


def get_deterministic_debug_mode() -> int:
    """0, or 1 to warn, or 2 to raise an error of results that differ between calls."""
    if not _STATE["deterministic"]:
        return 0
    return 1 if _STATE["warn_only"] else 2


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given; products are computed in float32."""
    return str(_STATE["precision"])


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 matrices have to be; they are as exact as "highest".

    Raises:
        RuntimeError: not "highest", "high" or "medium".
    """
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'.")
    _STATE["precision"] = precision


def get_num_interop_threads() -> int:
    """How many threads run independent operators."""
    return int(_STATE["interop"])


def set_num_interop_threads(count: int) -> None:
    """Say how many threads may run independent operators; one does."""
    if count < 1:
        raise RuntimeError("Expected a positive number of threads")
    _STATE["interop"] = count


def get_default_device() -> Device:
    """The device on which tensors are made."""
    return place_of(None)


def set_default_device(device: Device | str | int | None) -> None:
    """Choose the device on which this thread makes tensors: the CPU, for None, or `meta`.

    Raises:
        NotImplementedError: tensors cannot live there.
    """
    ENTERED.put([] if device is None else [place_of(device)])


def set_default_tensor_type(t: object) -> None:
    """Set the default dtype by the name of an old tensor class, such as `torch.DoubleTensor`.

    Raises:
        TypeError: not a class of floating-point tensors.
    """
    from .ops.eager.namespace import public_names

    name = t if isinstance(t, str) else getattr(t, "__name__", str(t))
    kinds = {"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16"}
    kinds["BFloat16Tensor"] = "bfloat16"
    short = name.rpartition(".")[2]
    if short not in kinds:
        raise TypeError(f"invalid type object: only floating-point types are supported, not {name}")
    public_names()["set_default_dtype"](DTYPES[kinds[short]])


def set_flush_denormal(mode: bool) -> bool:
    """Ask for numbers too small for their exponent to become zero: False, they are kept."""
    return False


def is_anomaly_enabled() -> bool:
    """Whether gradients are watched for NaN: no."""
    return False


def set_warn_always(b: bool) -> None:
    """Say whether warnings that come once shall come always."""
    _STATE["warn_always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was given."""
    return bool(_STATE["warn_always"])


def is_vulkan_available() -> bool:
    """Whether there is a Vulkan device: never."""
    return False


def is_distributed(input: object) -> bool:
    """Whether a tensor lies on several machines: never."""
    return False


def compiled_with_cxx11_abi() -> bool:
    """Whether C++ extensions would use the newer ABI, as those of PyTorch do."""
    return True


def typename(obj: object) -> str:
    """The name of a value's type: `torch.FloatTensor`, or with its module if it has one."""
    from .ops.tensors.tensor import Tensor

    if isinstance(obj, Tensor):
        return str(obj.type())
    cls = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(cls, "__module__", "") or ""
    name = str(cls.__qualname__)
    return name if module in ("", "builtins") else f"{module}.{name}"


def sym_int(a: Any) -> int:
    """A number without its fraction."""
    if asks(a):
        return ask_for(sym_int, locals())  # type: ignore[no-any-return]
    return int(a)


def sym_float(a: Any) -> float:
    """A number as a float."""
    if asks(a):
        return ask_for(sym_float, locals())  # type: ignore[no-any-return]
    return float(a)


def sym_not(a: object) -> bool:
    """What is not so."""
    if asks(a):
        return ask_for(sym_not, locals())  # type: ignore[no-any-return]
    return not a


def sym_max(a: object, b: Any) -> Any:
    """The larger number; a float if either is one."""
    found = max(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_min(a: object, b: Any) -> Any:
    """The smaller number; a float if either is one."""
    found = min(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found
