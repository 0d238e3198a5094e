"""The syntax tree, and what becomes one: text, live functions, Python's own trees."""
