"""What tracers write down, and traces that become one graph."""
