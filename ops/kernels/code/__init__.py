"""Native code that we write ourselves, as LLVM's text: target, text, scalars, loops, objects."""
