"""Programs compiled ahead of time: an object file and a C header of a frozen module.

`walk` does each operator of the graph once on examples, by which all sizes are known, and writes
down which kernels that runs (`calls`); `program` is what comes of it, `emit` makes an object of
that, with the kernels' own texts, and `c_files` what C needs.
"""
