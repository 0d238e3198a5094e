"""Functions of single numbers, each written once, and the formulas made of them."""
