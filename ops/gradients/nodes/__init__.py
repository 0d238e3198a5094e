"""The nodes that operators leave behind, what they keep, and the walk back over them."""
