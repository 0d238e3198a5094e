"""From a function to its clean graph, and calls replaced by what they do."""
