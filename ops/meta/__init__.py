"""Operators over tensors that have sizes and a dtype, but no data: the device `meta`."""
