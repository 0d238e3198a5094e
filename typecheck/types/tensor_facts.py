"""What may be known of a tensor besides that it is one: element type, sizes, device.

To the language there is one tensor type; facts are what traced graphs, graph text and frozen
constants say in addition (`Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)`).
"""

from __future__ import annotations

from dataclasses import dataclass

from .types import TENSOR, SimpleType, Type

__all__ = ["RefinedTensor", "facts_of", "has_facts", "without_facts"]


@dataclass(frozen=True, eq=False)
class RefinedTensor(SimpleType):
    """`Tensor`, with facts; it equals `TENSOR` and every other refined tensor type.

    `scalar` is the element type as graphs spell it ("Float"); a size or stride that is not known is
    None; `sizes` is None where not even the number of dimensions is known.
    """

    text: str = "Tensor"
    scalar: str | None = None
    sizes: tuple[int | None, ...] | None = None
    strides: tuple[int | None, ...] | None = None
    requires_grad: bool | None = None
    device: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RefinedTensor) or other == TENSOR or NotImplemented

    def __hash__(self) -> int:
        return hash(TENSOR)

    @property
    def facts(self) -> tuple[object, ...]:
        """All that is known, comparable."""
        return (self.scalar, self.sizes, self.strides, self.requires_grad, self.device)

    @property
    def is_complete(self) -> bool:
        """Whether element type, device, all sizes and all strides are known."""
        known = (self.scalar, self.sizes, self.strides, self.device)
        if None in known or self.sizes is None or self.strides is None:
            return False
        return None not in (*self.sizes, *self.strides)

    @property
    def graph_text(self) -> str:
        """How graphs spell it."""
        if self.sizes is None:
            head = f"{self.scalar}Tensor" if self.scalar is not None else "Tensor"
            notes = self._notes()
            return f"{head}({', '.join(notes)})" if notes else head
        parts = ["*" if size is None else str(size) for size in self.sizes]
        strides = self.strides
        if strides and len(strides) == len(parts) and None not in strides:
            parts.append(f"strides=[{', '.join(map(str, strides))}]")
        return f"{self.scalar or 'Tensor'}({', '.join([*parts, *self._notes()])})"

    def _notes(self) -> list[str]:
        notes = []
        if self.requires_grad is not None:
            notes.append(f"requires_grad={int(self.requires_grad)}")
        if self.device is not None:
            notes.append(f"device={self.device}")
        return notes


def facts_of(type: Type) -> RefinedTensor | None:
    """The facts of a tensor type, none known for plain `Tensor`; None for any other type."""
    if isinstance(type, RefinedTensor):
        return type
    return RefinedTensor() if type == TENSOR else None


def has_facts(type: Type) -> bool:
    """Whether facts are known of it, or of a type in it."""
    return isinstance(type, RefinedTensor) or any(map(has_facts, type.contained))


def without_facts(type: Type) -> Type:
    """The type as the language has it."""
    if not has_facts(type):
        return type
    if isinstance(type, RefinedTensor):
        return TENSOR
    return type.with_contained(tuple(map(without_facts, type.contained)))
