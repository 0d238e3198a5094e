"""The operator table, how operators are declared in it, and the rules that many of them share."""
