"""The rows of the table, by families of operators: gradients as formulas of other operators."""
