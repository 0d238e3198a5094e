"""The table of gradients: what a row is, where rows are found, and the names of their nodes."""
