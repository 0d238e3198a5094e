"""A weight divided by its largest singular value (arXiv:1802.05957)."""

from __future__ import annotations

from typing import TypeVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Parameter, Tensor
from ..functional import normalize
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import refuse_lazy
from ..state import Metadata

__all__ = [
    *("SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook"),
    *("as_matrix", "power_steps", "remove_spectral_norm", "spectral_norm"),
]

M = TypeVar("M", bound=Module)

_dot = eager_function("aten::dot")
_mv = eager_function("aten::mv")
_pinv = eager_function("aten::linalg_pinv")
TRANSPOSED = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with `dim` first and all else as its columns."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    matrix: Tensor = weight.reshape(weight.size(0), -1)
    return matrix


def power_steps(matrix: Tensor, u: Tensor, v: Tensor, steps: int, eps: float) -> None:
    """Move u and v towards the singular vectors of the largest singular value, in place."""
    for _ in range(steps):
        v.copy_(normalize(_mv(matrix.t(), u), dim=0, eps=eps))
        u.copy_(normalize(_mv(matrix, v), dim=0, eps=eps))


class SpectralNorm:
    """The hook that makes the weight anew before every call; in training it steps on first."""

    _version = 1
    """That of the states it keeps; those without one hold the weight, and no `v`."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight divided by what the vectors say its largest singular value is."""
        weight: Tensor = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            power_steps(matrix.detach(), u, v, self.n_power_iterations, self.eps)
            u, v = u.clone(), v.clone()
        scaled: Tensor = weight / _dot(u, _mv(matrix, v))
        return scaled

    @classmethod
    def apply(
        cls, module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Divide a parameter of a module by its largest singular value, from now on.

        Raises:
            KeyError: the module has no such parameter.
            RuntimeError: the module does so already.
            ValueError: no steps, or the parameter is None.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two spectral_norm hooks on the same parameter {name}"
                )
        made = cls(name, n_power_iterations, dim, eps)
        if (weight := module._parameters[name]) is None:
            raise ValueError(f"spectral_norm: the parameter {name} is None")
        refuse_lazy(weight, "SpectralNorm", "spectral normalization")
        rows, columns = as_matrix(weight, dim).shape
        u = normalize(weight.detach().new_empty(rows).normal_(0, 1), dim=0, eps=eps)
        v = normalize(weight.detach().new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(SpectralNormStateDictHook(made))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(made))
        return made

    def __call__(self, module: Module, inputs: object) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module, do_power_iteration=False)
        for name in (self.name, f"{self.name}_u", f"{self.name}_v", f"{self.name}_orig"):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))


class SpectralNormStateDictHook:
    """Says in the metadata of a state dict which version of the hook's state it holds."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, module: Module, state_dict: object, prefix: str, local_metadata: Metadata
    ) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Brings states that older versions wrote to those of today: `v` is found for the `u`, and the
    singular value, that they hold."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: dict[str, Tensor],
        prefix: str,
        local_metadata: Metadata,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        key = prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(f"{self.fn.name}.version")
        if version is not None and version >= SpectralNorm._version:
            return
        held = {end: f"{key}{end}" in state_dict for end in ("", "_orig", "_u", "_v")}
        if held["_orig"] and held["_u"] and held["_v"] and not held[""]:
            return
        missing = [f"{key}{end}" for end in ("_orig", "", "_u") if not held[end]]
        if missing:
            missing_keys.extend(missing if strict else ())
            return
        original, weight = state_dict[f"{key}_orig"], state_dict.pop(key)
        matrix = as_matrix(original.detach(), self.fn.dim)
        sigma = (original / weight).mean().detach()
        state_dict[f"{key}_v"] = _right_vector(matrix, state_dict[f"{key}_u"].detach(), sigma)


def _right_vector(matrix: Tensor, u: Tensor, sigma: Tensor) -> Tensor:
    """The `v` nearest to `matrix @ v ~ u` that has `u @ matrix @ v == sigma`."""
    v = _mv(_pinv(matrix), u)
    found: Tensor = v * (sigma / _dot(u, _mv(matrix, v)))
    return found


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value.

    Raises:
        RuntimeError: the module does so already.
        ValueError: no steps.
    """
    if dim is None:
        dim = 1 if isinstance(module, TRANSPOSED) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Take `spectral_norm` away again.

    Raises:
        ValueError: it is not there.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            _forget_states(module, name)
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")


def _forget_states(module: Module, name: str) -> None:
    """Take away the hooks that write and read the states of a weight."""
    for key, hook in module._state_dict_hooks.items():
        if isinstance(hook, SpectralNormStateDictHook) and hook.fn.name == name:
            del module._state_dict_hooks[key]
            break
    for key, wrapped in module._load_state_dict_pre_hooks.items():
        inner = getattr(wrapped, "hook", None)
        if isinstance(inner, SpectralNormLoadStateDictPreHook) and inner.fn.name == name:
            del module._load_state_dict_pre_hooks[key]
            break


__getattr__ = names_of(__name__)
