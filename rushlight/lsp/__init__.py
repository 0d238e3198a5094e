"""What editors ask of scripts: a language server over standard input and output."""
