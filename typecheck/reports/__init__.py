"""What is said of faults, and the edits that mend them."""
