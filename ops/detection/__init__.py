"""The compiled operators of torchvision: boxes, regions of interest, deformable convolution."""

from . import boxes, deformable, position_sensitive, region_align, region_pool

__all__ = ["boxes", "deformable", "position_sensitive", "region_align", "region_pool"]
