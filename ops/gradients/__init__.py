"""The gradients of the operators: one row an operator, loaded when a first result needs them."""
