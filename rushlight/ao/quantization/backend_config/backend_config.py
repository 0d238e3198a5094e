"""What a backend can quantize: patterns of operators, and the dtypes they take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from ....module_names import names_of
from ....nn.modules.module import Module
from ....ops.memory.dtype import DType
from ..made_classes import FromFloat

__all__ = [
    "BackendConfig",
    "BackendPatternConfig",
    "DTypeConfig",
    "DTypeWithConstraints",
    "ObservationType",
]


class ObservationType(Enum):
    """Whether an operator's result has an observer of its own, that of its input, or none."""

    OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT = 0
    OUTPUT_SHARE_OBSERVER_WITH_INPUT = 1
    INPUT_OUTPUT_NOT_OBSERVED = 2


@dataclass
class DTypeWithConstraints:
    """A dtype, and bounds of the numbers, scales and zero points that a configuration may have."""

    dtype: DType | None = None
    quant_min_lower_bound: int | float | None = None
    quant_max_upper_bound: int | float | None = None
    scale_min_lower_bound: int | float | None = None
    scale_max_upper_bound: int | float | None = None
    scale_exact_match: float | None = None
    zero_point_exact_match: int | None = None


Given = DType | DTypeWithConstraints | None


def _bounded(given: Given) -> DTypeWithConstraints:
    return given if isinstance(given, DTypeWithConstraints) else DTypeWithConstraints(given)


@dataclass
class DTypeConfig:
    """Dtypes that go together: of the input, the result, the weight and the bias."""

    input_dtype_with_constraints: DTypeWithConstraints
    output_dtype_with_constraints: DTypeWithConstraints
    weight_dtype_with_constraints: DTypeWithConstraints
    bias_dtype: DType | None
    is_dynamic: bool | None

    def __init__(
        self,
        input_dtype: Given = None,
        output_dtype: Given = None,
        weight_dtype: Given = None,
        bias_dtype: DType | None = None,
        is_dynamic: bool | None = None,
    ) -> None:
        self.input_dtype_with_constraints = _bounded(input_dtype)
        self.output_dtype_with_constraints = _bounded(output_dtype)
        self.weight_dtype_with_constraints = _bounded(weight_dtype)
        self.bias_dtype = bias_dtype
        self.is_dynamic = is_dynamic

    @property
    def input_dtype(self) -> DType | None:
        """That of the input."""
        return self.input_dtype_with_constraints.dtype

    @property
    def output_dtype(self) -> DType | None:
        """That of the result."""
        return self.output_dtype_with_constraints.dtype

    @property
    def weight_dtype(self) -> DType | None:
        """That of the weight."""
        return self.weight_dtype_with_constraints.dtype

    @classmethod
    def from_dict(cls, dtype_config_dict: Mapping[str, Any]) -> DTypeConfig:
        """What `to_dict` gave, or a dict of dtypes.

        Raises:
            ValueError: what should be a dtype is none.
        """
        names = ("input_dtype", "output_dtype", "weight_dtype")
        for name in names:
            given = dtype_config_dict.get(name)
            if given is not None and not isinstance(given, DType | DTypeWithConstraints):
                raise ValueError("Expected dtype to be either torch.dtype or DTypeWithConstraints")
        kept = {name: dtype_config_dict.get(name) for name in (*names, "bias_dtype", "is_dynamic")}
        return cls(**kept)

    def to_dict(self) -> dict[str, object]:
        """The dtypes that are set, by name."""
        made: dict[str, object] = {}
        for name in ("input_dtype", "output_dtype", "weight_dtype"):
            each: DTypeWithConstraints = getattr(self, f"{name}_with_constraints")
            if each.dtype is not None:
                made[name] = each
        if self.bias_dtype is not None:
            made["bias_dtype"] = self.bias_dtype
        if self.is_dynamic is not None:
            made["is_dynamic"] = self.is_dynamic
        return made


Pattern = Any
"""An operator (a class of modules, a function, a method's name), or several in order."""

_FIELDS: Final = {
    "pattern": "pattern",
    "observation_type": "observation_type",
    "dtype_configs": "dtype_configs",
    "root_module": "root_module",
    "qat_module": "qat_module",
    "reference_quantized_module": "reference_quantized_module_for_root",
    "fused_module": "fused_module",
    "fuser_method": "fuser_method",
    "_num_tensor_args_to_observation_type": "num_tensor_args_to_observation_type",
    "_input_type_to_index": "input_type_to_index",
}
"""What a pattern's entry says, and the names of that in dicts."""


@dataclass(eq=False)
class BackendPatternConfig:
    """What is known of one pattern; each setter gives the entry back."""

    pattern: Pattern | None = None
    observation_type: ObservationType = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
    dtype_configs: list[DTypeConfig] = field(default_factory=list)
    root_module: object = None
    qat_module: FromFloat | None = None
    reference_quantized_module: object = None
    fused_module: object = None
    fuser_method: Callable[..., Module] | None = None
    _num_tensor_args_to_observation_type: dict[int, ObservationType] = field(default_factory=dict)
    _input_type_to_index: dict[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if value}
        return f"BackendPatternConfig({shown})"

    def set_pattern(self, pattern: Pattern) -> BackendPatternConfig:
        """Set the operator, or the operators in the order in which they compute."""
        self.pattern = pattern
        return self

    def set_observation_type(self, observation_type: ObservationType) -> BackendPatternConfig:
        """Set how results are observed."""
        self.observation_type = observation_type
        return self

    def add_dtype_config(self, dtype_config: DTypeConfig) -> BackendPatternConfig:
        """Add dtypes that go together."""
        self.dtype_configs.append(dtype_config)
        return self

    def set_dtype_configs(self, dtype_configs: list[DTypeConfig]) -> BackendPatternConfig:
        """Set all of them."""
        self.dtype_configs = dtype_configs
        return self

    def set_root_module(self, root_module: object) -> BackendPatternConfig:
        """Set the class of the module with the weight."""
        self.root_module = root_module
        return self

    def set_qat_module(self, qat_module: FromFloat) -> BackendPatternConfig:
        """Set the class of modules for training."""
        self.qat_module = qat_module
        return self

    def set_reference_quantized_module(
        self, reference_quantized_module: object
    ) -> BackendPatternConfig:
        """Set the class of reference modules."""
        self.reference_quantized_module = reference_quantized_module
        return self

    def set_fused_module(self, fused_module: object) -> BackendPatternConfig:
        """Set the class of modules that the pattern is fused to."""
        self.fused_module = fused_module
        return self

    def set_fuser_method(self, fuser_method: Callable[..., Module]) -> BackendPatternConfig:
        """Set what fuses: it takes whether it is for training, and the modules in order."""
        self.fuser_method = fuser_method
        return self

    def _set_num_tensor_args_to_observation_type(
        self, num_tensor_args_to_observation_type: dict[int, ObservationType]
    ) -> BackendPatternConfig:
        self._num_tensor_args_to_observation_type = num_tensor_args_to_observation_type
        return self

    def _set_input_type_to_index(self, input_type_to_index: dict[str, int]) -> BackendPatternConfig:
        self._input_type_to_index = input_type_to_index
        return self

    @classmethod
    def from_dict(cls, backend_pattern_config_dict: Mapping[str, Any]) -> BackendPatternConfig:
        """What `to_dict` gave.

        Raises:
            ValueError: dtypes of another form.
        """
        made = cls()
        for name, key in _FIELDS.items():
            if key in backend_pattern_config_dict:
                setattr(made, name, backend_pattern_config_dict[key])
        configs: list[dict[str, DTypeWithConstraints | DType]] = backend_pattern_config_dict.get(
            "dtype_configs", []
        )
        for each in configs:
            if not isinstance(each, DTypeConfig | Mapping):
                raise ValueError(f"Expected DTypeConfig or dict in dtype_configs, got {each!r}")
        made.dtype_configs = [
            each if isinstance(each, DTypeConfig) else DTypeConfig.from_dict(each)
            for each in configs
        ]
        return made

    def to_dict(self) -> dict[str, object]:
        """What is set, by name."""
        made: dict[str, object] = {
            "observation_type": self.observation_type,
            "dtype_configs": [each.to_dict() for each in self.dtype_configs],
        }
        for name, key in _FIELDS.items():
            value = getattr(self, name)
            if key not in made and value is not None and value != {}:
                made[key] = value
        return made


class BackendConfig:
    """The patterns of a backend; each setter gives the configuration back."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._by_pattern: dict[Pattern, BackendPatternConfig] = {}

    def __repr__(self) -> str:
        return f"BackendConfig({self.__dict__})"

    def set_name(self, name: str) -> BackendConfig:
        """Set the name."""
        self.name = name
        return self

    def set_backend_pattern_config(self, config: BackendPatternConfig) -> BackendConfig:
        """Add what is known of a pattern, or replace what was.

        Raises:
            ValueError: it has no pattern.
        """
        if config.pattern is None:
            raise ValueError("set_backend_pattern_config: the configuration has no pattern")
        self._by_pattern[config.pattern] = config
        return self

    def set_backend_pattern_configs(self, configs: Sequence[BackendPatternConfig]) -> BackendConfig:
        """Do so for each of several."""
        for each in configs:
            self.set_backend_pattern_config(each)
        return self

    @property
    def configs(self) -> list[BackendPatternConfig]:
        """What is known of all patterns."""
        return list(self._by_pattern.values())

    @classmethod
    def from_dict(cls, backend_config_dict: Mapping[str, Any]) -> BackendConfig:
        """What `to_dict` gave.

        Raises:
            ValueError: a pattern's entry of another form.
        """
        made = cls(backend_config_dict.get("name", ""))
        for each in backend_config_dict.get("configs", []):
            if isinstance(each, BackendPatternConfig):
                made.set_backend_pattern_config(each)
            elif isinstance(each, Mapping):
                made.set_backend_pattern_config(BackendPatternConfig.from_dict(each))
            else:
                raise ValueError(
                    f"Expected backend_config_dict['configs'] to be a dict, got {each!r}"
                )
        return made

    def to_dict(self) -> dict[str, object]:
        """The name, and the entries as dicts."""
        return {"name": self.name, "configs": [each.to_dict() for each in self.configs]}


__getattr__ = names_of(__name__)
