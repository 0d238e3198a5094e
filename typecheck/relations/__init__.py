"""How types relate, and how arguments fit signatures."""
