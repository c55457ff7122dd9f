"""The compiler: from a function and the kinds of its elements to machine code that runs over lanes."""
