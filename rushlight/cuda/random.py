"""`torch.cuda.random`: see `torch.cuda`."""

from __future__ import annotations

from ..absent_devices import names_without

__all__ = [
    *("get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all"),
    *("seed", "seed_all", "set_rng_state", "set_rng_state_all"),
]
_NAMES = names_without("CUDA")
globals().update({name: _NAMES[name] for name in __all__})
