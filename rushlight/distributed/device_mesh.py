"""`torch.distributed.device_mesh`: processes in rows and columns, of which there are none."""

from __future__ import annotations

from .one_process import refusing_class, refusing_function

__all__ = ["DeviceMesh", "init_device_mesh"]

DeviceMesh = refusing_class("torch.distributed.device_mesh.DeviceMesh")
init_device_mesh = refusing_function("torch.distributed.init_device_mesh")
