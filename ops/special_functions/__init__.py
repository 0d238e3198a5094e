"""Special functions of float64 arrays, which operators are made of."""
