"""Linear layers that round their weights, for dynamic quantization."""

from __future__ import annotations

from ......ops.memory.dtype import Device, DType
from .....nn.qat.modules import linear as static
from ....configuration import Configuration

__all__ = ["Linear"]


class Linear(static.Linear):
    """`nn.qat.Linear` for dynamic quantization: its values' ranges are those of each call.

    Raises:
        ValueError: a configuration that keeps ranges.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Configuration | None = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, qconfig, device, dtype)
        assert qconfig is not None
        observer = qconfig.activation()
        observer = getattr(observer, "activation_post_process", observer)
        if getattr(observer, "averaging_constant", None) != 1:
            raise ValueError(
                "Dynamic QAT requires a memoryless observer."
                "This means a MovingAverage observer with averaging constant equal to 1"
            )
