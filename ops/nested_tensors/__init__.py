"""Tensors made of tensors of different sizes: `torch.nested`."""
