"""`torch.distributed.algorithms._checkpoint`: layers that are computed again on the way back."""
