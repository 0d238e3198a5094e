"""Functions of functions: `torch.func` and what it is made of."""
