"""Values on their way between Python and running code, and what running code does with them."""
