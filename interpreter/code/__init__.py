"""Register code: its instructions, how it is made of a graph, the machine that walks it."""
