"""Numba, taught Python's own meaning: what the cuda gear makes LLVM's code of a function with."""
