"""Elements and rows at places, and elements that masks choose."""
