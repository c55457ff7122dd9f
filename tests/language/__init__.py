"""Functions as people write them, one table for every part of the language, for the compiler's tests."""
