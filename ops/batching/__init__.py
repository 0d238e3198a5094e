"""Tensors that stand for one slice of many, so that a function runs once for all (`torch.vmap`)."""
