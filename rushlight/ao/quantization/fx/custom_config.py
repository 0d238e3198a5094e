"""What a user wants otherwise, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from ....module_names import names_of

__all__ = ["ConvertCustomConfig", "FuseCustomConfig", "PrepareCustomConfig"]


class _Preserving:
    """Attributes of the model to keep, which no graph names."""

    def __init__(self) -> None:
        self.preserved_attributes: list[str] = []

    def set_preserved_attributes(self, attributes: list[str]) -> Self:
        """Set the names of attributes to keep."""
        self.preserved_attributes = attributes
        return self

    @classmethod
    def from_dict(cls, config: Mapping[str, object]) -> Self:
        """A configuration of a dict; entries of other names are refused.

        Raises:
            ValueError: an entry that is not known.
        """
        made = cls()
        for name, value in config.items():
            if name not in vars(made):
                raise ValueError(f"{cls.__name__}.from_dict: there is no entry {name!r}")
            setattr(made, name, value)
        return made

    def to_dict(self) -> dict[str, object]:
        """The entries that are set."""
        return {name: value for name, value in vars(self).items() if value}


class FuseCustomConfig(_Preserving):
    """For `fuse_fx`."""


class PrepareCustomConfig(_Preserving):
    """For `prepare_fx` and `prepare_qat_fx`."""

    def __init__(self) -> None:
        super().__init__()
        self.non_traceable_module_names: list[str] = []
        self.non_traceable_module_classes: list[type] = []
        self.input_quantized_indexes: list[int] = []
        self.output_quantized_indexes: list[int] = []

    def set_non_traceable_module_names(self, module_names: list[str]) -> PrepareCustomConfig:
        """Set the names of modules that stay as they are."""
        self.non_traceable_module_names = module_names
        return self

    def set_non_traceable_module_classes(self, module_classes: list[type]) -> PrepareCustomConfig:
        """Set the classes of modules that stay as they are."""
        self.non_traceable_module_classes = module_classes
        return self

    def set_input_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """Set which arguments come quantized."""
        self.input_quantized_indexes = indexes
        return self

    def set_output_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """Set which results go out quantized; 0 is the only one there is."""
        self.output_quantized_indexes = indexes
        return self

    def set_standalone_module_name(self, *given: object) -> PrepareCustomConfig:
        """Refused: there are no modules that are quantized by themselves.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("PrepareCustomConfig: standalone modules are not supported")

    set_standalone_module_class = set_standalone_module_name

    def set_float_to_observed_mapping(self, *given: object) -> PrepareCustomConfig:
        """Refused: there are no modules that observe themselves.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("PrepareCustomConfig: observed custom modules are not supported")


class ConvertCustomConfig(_Preserving):
    """For `convert_fx` and `convert_to_reference_fx`."""

    def set_observed_to_quantized_mapping(self, *given: object) -> ConvertCustomConfig:
        """Refused: there are no modules that observe themselves.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("ConvertCustomConfig: observed custom modules are not supported")


__getattr__ = names_of(__name__)
