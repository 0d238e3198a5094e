"""What programs may ask of a kind of device that is not here.

Questions are answered (there is none, it holds nothing), seeds and caches are nothing to see to,
and whatever needs the device fails with torch's sentence.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any, Final

__all__ = ["GPU_TYPES", "names_without"]

_OWN: Final = __name__.partition(".")[0]
GPU_TYPES: Final = ["cuda", "mps", "xpu", "mtia"]
"""Kinds of devices that torch's compiler takes for GPUs."""

_EMPTY: Final[dict[str, Callable[[], object]]] = {
    "bool": bool,
    "dict": OrderedDict,
    "int": int,
    "list": list,
    "none": lambda: None,
    "str": str,
}
_ANSWERS: Final = {
    "bool": """is_available is_initialized is_bf16_supported is_tf32_supported
        is_current_stream_capturing""",
    "dict": "memory_stats memory_stats_as_nested_dict",
    "int": """device_count memory_allocated max_memory_allocated memory_reserved
        max_memory_reserved memory_cached max_memory_cached""",
    "list": "get_arch_list get_rng_state_all",
    "none": """empty_cache manual_seed manual_seed_all seed seed_all set_rng_state
        set_rng_state_all""",
    "str": "get_gencode_flags",
}
_REFUSED: Final = """can_device_access_peer current_blas_handle current_device current_stream
    default_stream get_device_capability get_device_name get_device_properties get_rng_state
    init initial_seed ipc_collect mem_get_info memory_snapshot memory_summary memory_usage
    reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached
    reset_peak_memory_stats set_device set_per_process_memory_fraction set_stream
    set_sync_debug_mode synchronize utilization attach_out_of_memory_observer
    caching_allocator_alloc caching_allocator_delete caching_allocator_enable
    change_current_allocator check_error clock_rate cudart current_solver_handle device_memory_used
    get_allocator_backend get_per_process_memory_fraction get_stream_from_external
    get_sync_debug_mode graph graph_pool_handle host_memory_stats host_memory_stats_as_nested_dict
    list_gpu_processes make_graphed_callables power_draw record_memory_history
    reset_accumulated_host_memory_stats reset_peak_host_memory_stats snapshot temperature
    use_mem_pool""".split()
_CLASSES: Final = """CUDAGraph CUDAPluggableAllocator Event ExternalStream GreenContext MTIAGraph
    MemPool Stream XPUGraph XPUPluggableAllocator""".split()


class _Chosen:
    """A block that would choose a device or a stream: nothing where none is named.

    Raises:
        AssertionError: one is named.
    """

    said = ""

    def __init__(self, chosen: object = None) -> None:
        self._chosen = chosen

    def __enter__(self) -> None:
        if self._chosen is not None:
            raise AssertionError(self.said)

    def __exit__(self, *raised: object) -> None:
        return None


class _DeviceOf(_Chosen):
    """A block on the device of a tensor, which is the CPU."""

    def __enter__(self) -> None:
        return None


@cache
def names_without(library: str) -> dict[str, Any]:
    """The names of a module such as `torch.cuda`, where torch is built without `library`."""
    said = f"Torch not compiled with {library} enabled"

    def refusing() -> Callable[..., object]:
        def refuse(*arguments: object, **named: object) -> object:
            raise AssertionError(said)

        return refuse

    def answering(kind: str) -> Callable[..., object]:
        return lambda *arguments, **named: _EMPTY[kind]()

    names: dict[str, Any] = {name: refusing() for name in _REFUSED}
    for kind, asked in _ANSWERS.items():
        names.update({name: answering(kind) for name in asked.split()})
    module = f"{_OWN}.{library.lower()}"
    for name, function in names.items():  # so that pickles find them
        function.__name__ = function.__qualname__ = name
        function.__module__ = module
    for name in _CLASSES:
        names[name] = type(name, (), {"__module__": module, "__new__": _needing(said)})
    for name, base in (("device", _Chosen), ("device_of", _DeviceOf), ("stream", _Chosen)):
        names[name] = type(name, (base,), {"__module__": module, "said": said})
    return {**names, "StreamContext": names["stream"], "default_generators": ()}


def _needing(said: str) -> Callable[..., object]:
    def make(cls: type, *arguments: object, **named: object) -> object:
        raise RuntimeError(f"{cls.__name__}: {said}")

    return make
