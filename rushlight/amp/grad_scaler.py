"""GradScaler: losses times a factor, so that small gradients are not lost in float16."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any, Final

from ..module_names import names_of
from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import DTYPES
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.construct import finfo, tensor
from ..ops.tensors.tensor import Tensor

__all__ = ["GradScaler"]

_LARGEST: Final = finfo(DTYPES["float32"]).max
"""The factor is a tensor of float32."""


_PASSED: Final = (
    "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In "
    "the near future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the "
    "passed optimizer and let the optimizer use them directly."
)


def _gradients_of(optimizer: Any) -> Iterator[Tensor]:
    """The gradients of an optimizer's parameters; the values that sparse ones hold."""
    for group in optimizer.param_groups:
        for each in group["params"]:
            if each.grad is not None:
                yield each.grad._values() if each.grad.is_sparse else each.grad


class GradScaler:
    """Scales losses, and skips the steps of optimizers whose gradients overflowed.

    The factor grows by `growth_factor` after `growth_interval` good steps in a row, and shrinks by
    `backoff_factor` after a bad one (Micikevicius et al., arXiv:1710.03740, section 3.2).  As in
    torch it is disabled, with a warning, for a device that is not there: say `device="cpu"`.

    Raises:
        AssertionError: factors that would not grow or shrink.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled and device == "cpu"
        if enabled and not self._enabled:
            warnings.warn(
                f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available. "
                " Disabling.",
                stacklevel=2,
            )
        self._state: dict[str, Any] = {}
        self._scale: Tensor | None = None
        self._unscaled: dict[int, bool] = {}
        self._stepped: set[int] = set()
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._state = {
            "scale": init_scale,
            "growth_factor": growth_factor,
            "backoff_factor": backoff_factor,
            "growth_interval": growth_interval,
            "_growth_tracker": 0,
        }

    def scale(self, outputs: Any) -> Any:
        """A tensor, or all tensors of lists and tuples, times the factor.

        Raises:
            ValueError: something else.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._factor()
        if isinstance(outputs, list | tuple):
            scaled = [self.scale(each) for each in outputs]
            is_named = hasattr(outputs, "_fields")
            return type(outputs)(*scaled) if is_named else type(outputs)(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _factor(self) -> Tensor:
        if self._scale is None:
            full = eager_function("aten::full")
            self._scale = full((), self._state["scale"], dtype=DTYPES["float32"])
        return self._scale

    def _needed(self, what: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {what} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor.

        Raises:
            RuntimeError: that was done since the last `update`, or the step was made.
            ValueError: a gradient is float16.
        """
        if not self._enabled:
            return
        if id(optimizer) in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if id(optimizer) in self._unscaled:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        inverse = 1.0 / float(self._needed("unscale_").item())
        good = True
        with no_grad():
            for values in _gradients_of(optimizer):
                if values.dtype is DTYPES["float16"]:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                good = bool(values.isfinite().all().item()) and good
                values.mul_(inverse)
        self._unscaled[id(optimizer)] = good

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step, unless a gradient is infinite or NaN; what it gives, or None.

        Raises:
            RuntimeError: it was made since the last `update`, or a closure is given.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._needed("step")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_of_its_own(optimizer, args, kwargs)
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        return optimizer.step(*args, **kwargs) if self._unscaled[id(optimizer)] else None

    def _step_of_its_own(
        self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The step of an optimizer that unscales gradients, and leaves out what is not finite,
        itself: it finds the factor and whether that is so in attributes, or asks this object."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(_PASSED, FutureWarning, stacklevel=3)
            self._stepped.add(id(optimizer))
            return optimizer.step(*args, **{**kwargs, "grad_scaler": self})
        unscaled = id(optimizer) in self._unscaled
        if not unscaled:
            found = [bool(each.isfinite().all().item()) for each in _gradients_of(optimizer)]
            self._unscaled[id(optimizer)] = all(found)
        factor = self._needed("step") * getattr(optimizer, "grad_scale", 1)
        optimizer.grad_scale = None if unscaled else factor
        optimizer.found_inf = tensor(0.0 if self._unscaled[id(optimizer)] else 1.0)
        try:
            made = optimizer.step(*args, **kwargs)
            self._stepped.add(id(optimizer))
        finally:
            del optimizer.grad_scale, optimizer.found_inf
        return made

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Have the factor grow or shrink after the steps of all optimizers, or be another one."""
        if not self._enabled:
            return
        factor, state = float(self._needed("update").item()), self._state
        if new_scale is not None:
            factor = float(new_scale)
        elif not self._unscaled:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif not all(self._unscaled.values()):
            factor *= state["backoff_factor"]
            state["_growth_tracker"] = 0
        else:
            state["_growth_tracker"] += 1
            if state["_growth_tracker"] == state["growth_interval"]:
                grown = factor * state["growth_factor"]
                factor = grown if grown <= _LARGEST else factor
                state["_growth_tracker"] = 0
        state["scale"] = factor
        self._scale = None
        self._factor()
        self._unscaled.clear()
        self._stepped.clear()

    def get_scale(self) -> float:
        """The factor; 1 if disabled."""
        return float(self._state["scale"]) if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """By what the factor grows."""
        return float(self._state["growth_factor"])

    def set_growth_factor(self, new_factor: float) -> None:
        """Have it grow by something else."""
        self._state["growth_factor"] = new_factor

    def get_backoff_factor(self) -> float:
        """By what the factor shrinks."""
        return float(self._state["backoff_factor"])

    def set_backoff_factor(self, new_factor: float) -> None:
        """Have it shrink by something else."""
        self._state["backoff_factor"] = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps it grows."""
        return int(self._state["growth_interval"])

    def set_growth_interval(self, new_interval: int) -> None:
        """Have it grow after another number."""
        self._state["growth_interval"] = new_interval

    def _get_growth_tracker(self) -> int:
        return int(self._state.get("_growth_tracker", 0))

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` takes; nothing if disabled."""
        return dict(self._state)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where another scaler was.

        Raises:
            RuntimeError: that one was disabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._state = {key: state_dict[key] for key in self._state}
        if self._scale is not None:
            self._scale = None
            self._factor()


__getattr__ = names_of(__name__)
