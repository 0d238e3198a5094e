"""What binds names: assignments, their targets, the loops of comprehensions."""
