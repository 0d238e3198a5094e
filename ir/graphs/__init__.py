"""The graph: nodes, their kinds, constants, copies, and what must hold of it."""
