"""GradScaler: losses times a factor, so that small gradients are not lost in float16."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypedDict

from ..module_names import names_of
from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import DTYPES, Device
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor
from .factors import _amp_foreach_non_finite_check_and_unscale_, _amp_update_scale_

if TYPE_CHECKING:
    from ..optim.optimizer import Optimizer

__all__ = ["GradScaler", "OptState"]

_PASSED: Final = (
    "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In "
    "the near future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the "
    "passed optimizer and let the optimizer use them directly."
)


class OptState(Enum):
    """How far an optimizer's iteration is."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _State(TypedDict):
    stage: OptState
    found_inf_per_device: dict[Device, Tensor]


def _refresh_per_optimizer_state() -> _State:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


def _with_gradients(optimizer: Optimizer) -> Iterable[tuple[Tensor, Tensor]]:
    for group in optimizer.param_groups:
        yield from ((each, each.grad) for each in group["params"] if each.grad is not None)


def _filled(value: float, dtype: str = "float32") -> Tensor:
    made: Tensor = eager_function("aten::full")((), value, dtype=DTYPES[dtype])
    return made


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
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states = self._no_states()

    @staticmethod
    def _no_states() -> defaultdict[int, _State]:
        return defaultdict(_refresh_per_optimizer_state)

    def scale(self, outputs: object) -> Any:
        """A tensor, or all tensors of lists and tuples, times the factor.

        Raises:
            ValueError: something else.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale
        if isinstance(outputs, list | tuple):
            scaled = [self.scale(each) for each in outputs]
            is_named = hasattr(outputs, "_fields")
            return type(outputs)(*scaled) if is_named else type(outputs)(scaled)
        if isinstance(outputs, Iterable):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _lazy_init_scale_growth_tracker(self, dev: object) -> None:
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = _filled(self._init_scale)
        self._growth_tracker = _filled(self._init_growth_tracker, "int32")

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        fix = (
            "This may indicate your script did not use scaler.scale(loss or outputs) earlier in "
            "the iteration."
        )
        if self._scale is None:
            raise AssertionError(f"Attempted {funcname} but _scale is None.  {fix}")
        if self._growth_tracker is None:
            raise AssertionError(f"Attempted {funcname} but _growth_tracker is None.  {fix}")
        return self._scale, self._growth_tracker

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Device, Tensor]:
        """Multiply gradients by a factor; where they lie, and what was found there.

        Raises:
            ValueError: a gradient is float16, and that is not allowed.
        """
        gradients: list[Tensor] = []
        with no_grad():
            for each, grad in _with_gradients(optimizer):
                half = grad.dtype is DTYPES["float16"]
                if half and not allow_fp16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                if grad.is_sparse and half:
                    each.grad = grad = grad.coalesce()  # sums of equal places may overflow
                gradients.append(grad._values() if grad.is_sparse else grad)
            if not gradients:
                return {}
            _amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, inv_scale)
        return {found_inf.device: found_inf}

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the factor.

        Raises:
            RuntimeError: that was done since the last `update`, or the step was made.
            ValueError: a gradient is float16.
        """
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()
        found = self._unscale_grads_(optimizer, inverse, _filled(0.0), False)
        state["found_inf_per_device"] = found
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(
        self, optimizer: Optimizer, optimizer_state: _State, *args: Any, **kwargs: Any
    ) -> object:
        found = sum(each.item() for each in optimizer_state["found_inf_per_device"].values())
        return None if found else optimizer.step(*args, **kwargs)

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step, unless a gradient is infinite or NaN; what it gives, or None.

        Raises:
            AssertionError: it has no gradients.
            RuntimeError: it was made since the last `update`, or a closure is given.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_of_its_own(optimizer, state, args, kwargs)
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        made = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return made

    def _step_of_its_own(
        self,
        optimizer: Any,  # which is given attributes
        state: _State,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        """The step of an optimizer that unscales gradients, and leaves out what is not finite,
        itself: it finds the factor and whether that is so in attributes, or asks this object."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(_PASSED, FutureWarning, stacklevel=3)
            state["stage"] = OptState.STEPPED
            return optimizer.step(*args, **{**kwargs, "grad_scaler": self})
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale, _ = self._check_scale_growth_tracker("step")
        unscaled = state["stage"] is OptState.UNSCALED
        factor = scale * getattr(optimizer, "grad_scale", 1)
        optimizer.grad_scale = None if unscaled else factor
        optimizer.found_inf = sum(state["found_inf_per_device"].values(), _filled(0.0))
        try:
            made = optimizer.step(*args, **kwargs)
            state["stage"] = OptState.STEPPED
        finally:
            del optimizer.grad_scale, optimizer.found_inf
        return made

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Have the factor grow or shrink after the steps of all optimizers, or be another one.

        Raises:
            AssertionError: no gradients were looked at, or the new factor is no number.
        """
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            scale.copy_(self._as_factor(new_scale))
        else:
            self._moved(scale, tracker)
        self._per_optimizer_states = self._no_states()

    @staticmethod
    def _as_factor(given: float | Tensor) -> Tensor:
        if not isinstance(given, Tensor):
            return _filled(given)
        fits = given.dtype is DTYPES["float32"] and given.numel() == 1 and not given.requires_grad
        if not fits:
            raise AssertionError(
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                "torch.FloatTensor with requires_grad=False."
            )
        return given

    def _moved(self, scale: Tensor, tracker: Tensor) -> None:
        found = [
            each
            for state in self._per_optimizer_states.values()
            for each in state["found_inf_per_device"].values()
        ]
        if not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        growth, backoff = self._growth_factor, self._backoff_factor
        all_found = sum(found[1:], found[0])
        _amp_update_scale_(scale, tracker, all_found, growth, backoff, self._growth_interval)

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """The factor; 1 if disabled."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale if self._scale is None else self._scale.item())

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """By what the factor grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Have it grow by something else."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the factor shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Have it shrink by something else."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps it grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Have it grow after another number."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        kept = self._growth_tracker
        return self._init_growth_tracker if kept is None else int(kept.item())

    def state_dict(self) -> dict[str, float]:
        """What `load_state_dict` takes; nothing if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where another scaler was.

        Raises:
            RuntimeError: that one was disabled.
        """
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)
        if not self._enabled:
            return state
        if self._per_optimizer_states:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or "
                "at the end after scaler.update()."
            )
        kept = {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker()}
        return {**state, **kept, "_scale": None, "_growth_tracker": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer: Optimizer) -> dict[Device, Tensor]:
        """Look at the gradients without changing them."""
        self._check_scale_growth_tracker("_check_inf_per_device")
        found = self._unscale_grads_(optimizer, _filled(1.0), _filled(0.0), True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: object) -> dict[Device, Tensor]:
        found: dict[Device, Tensor] = self._per_optimizer_states[id(optimizer)][
            "found_inf_per_device"
        ]
        return found


__getattr__ = names_of(__name__)
