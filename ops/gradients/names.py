"""The names of nodes, where torch's differ from the operators'."""
